"""Real data: what is known of their scores."""

import pytest

from unnoted.data import load_documents, write_documents
from unnoted.data.comparison import compare, match_entities
from unnoted.evaluation import CHEMDISGENE, Prediction, evaluate, read_predictions

pytestmark = pytest.mark.shared


def claims(documents):
    return [
        Prediction(document.id, *fact.triple, fact.evidence)
        for document in documents
        for fact in document.facts
    ]


def test_gold_is_its_own_perfect_prediction(shared, tmp_path):
    gold = load_documents(shared / "data/docred/dev_revised.json")
    write_documents(tmp_path / "predictions.json", gold, "predictions")
    train = load_documents(shared / "data/docred/train_annotated.json")
    evaluation = evaluate(gold, read_predictions(tmp_path / "predictions.json"), train)
    scores = [evaluation.overall, evaluation.evidence, evaluation.frequent, *evaluation.distances.values()]
    assert [score.f1 for score in scores] == [1.0] * 5
    ign = evaluation.ignoring_train
    assert 0 < ign.correct_in_train < ign.score.correct
    assert ign.precision == pytest.approx(1, abs=1e-6) and ign.recall == 1
    # the paper: the 10 most frequent relations have about 60 % of the facts
    assert 0.55 < evaluation.frequent.gold / evaluation.overall.gold < 0.65


def test_incomplete_labels_have_the_recall_that_compare_implies(shared):
    noted, complete = (load_documents(shared / f"data/docred/{name}.json") for name in ("dev", "dev_revised"))
    others = {document.id: document for document in complete}
    gold, predictions = [], []
    for document in noted:
        mapping = match_entities(document, others[document.id])
        if mapping is None:
            continue
        gold.append(others[document.id])
        predictions += [
            Prediction(document.id, mapping[fact.head], mapping[fact.tail], fact.relation)
            for fact in document.facts
        ]
    evaluation = evaluate(gold, predictions)
    implied = compare(noted, complete)
    assert evaluation.documents == implied.compared == 138
    assert evaluation.overall.recall == implied.overall.in_both / implied.overall.in_b
    assert evaluation.overall.precision == implied.overall.in_both / implied.overall.in_a
    for row in implied.relations:
        score = evaluation.relations[row.relation]
        assert (score.correct, score.predicted, score.gold) == (row.in_both, row.in_a, row.in_b)


def test_chemdisgene_denominators(shared):
    folder = shared / "data/chemdisgene"
    gold = load_documents(folder / "curated_abstracts.txt.gz", folder / "curated_all_relationships.tsv.gz")
    train = load_documents(folder / "train_abstracts.txt.gz", folder / "train_relationships.tsv.gz")
    evaluation = evaluate(gold, claims(gold), train, benchmark=CHEMDISGENE)
    published = evaluation.published
    assert evaluation.overall.gold == 1954 and published.overall.f1 == 1.0
    assert len(published.unseen_relations) == 4
    assert (published.facts_of_unseen_relations, published.facts_of_shared_mentions) == (44, 45)
    assert published.overall.gold == published.overall.predicted == 1954 - 44 - 45
    assert len(evaluation.frequent_relations) == 5
