"""Every figure equals plain loops over gold, predictions and train; models are scored as their facts would be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import scorer
from tests.strategies import corpora
from tests.unit.inference.making import RELATIONS, corpus, document_of, reading_model

from unnoted.data import load_documents
from unnoted.data.compare import compare_labels, match_entities
from unnoted.evaluation import CHEMDISGENE, Prediction, evaluate, precision_recall_curve
from unnoted.evaluation.evaluator import FLOOR, evaluate_extractor
from unnoted.evaluation.metrics import Distance
from unnoted.inference import Extractor

NAMES = ["P17", "spouse", "chem_gene:affects^binding", "größer als", "unheard of"]


@st.composite
def cases(draw):
    """Gold with a fact, predictions of which some are right, impossible or repeated, and train."""
    gold = draw(corpora.filter(lambda documents: any(document.facts for document in documents)))
    train = draw(st.lists(st.sampled_from(gold), max_size=2)) + draw(st.just([]) | corpora)
    facts = [(document.id, *fact.triple) for document in gold for fact in document.facts]
    anything = st.tuples(
        st.sampled_from([*(document.id for document in gold), "no such title"]),
        st.integers(-1, 4),
        st.integers(-1, 4),
        st.sampled_from(NAMES),
    )
    rows = st.tuples(
        st.sampled_from(facts) | anything,
        st.lists(st.integers(0, 4), max_size=3),
        st.sampled_from([0.1, 0.25, 0.5, 2.0]),
    )
    predictions = [(*key, evidence, score) for key, evidence, score in draw(st.lists(rows, max_size=12))]
    return gold, predictions, train


def as_predictions(rows):
    return [Prediction(*row[:4], tuple(row[4]), row[5]) for row in rows]


def assert_score(score, counts):
    assert (score.correct, score.predicted, score.gold) == counts
    assert (score.precision, score.recall, score.f1) == pytest.approx(scorer.figures(*counts), abs=1e-12)


@given(cases())
def test_docred(case):
    gold, rows, train = case
    evaluation = evaluate(gold, as_predictions(rows), train)
    facts, distinct = scorer.gold_facts(gold), scorer.distinct(rows)
    assert_score(evaluation.overall, scorer.counts(distinct, facts))
    ign = evaluation.ignoring_train
    assert (ign.precision, ign.recall, ign.f1) == pytest.approx(
        scorer.ign(distinct, facts, gold, train), abs=1e-12
    )
    correct, predicted, total = scorer.evidence(distinct, facts, gold)
    if predicted:
        assert_score(evaluation.evidence, (correct, predicted, total))
    else:
        assert evaluation.evidence is None
    assert evaluation.curve.average_precision == pytest.approx(scorer.average_precision(distinct, facts))
    assert evaluation.predictions.repeated == len(rows) - len(distinct)


@given(cases())
def test_breakdowns(case):
    gold, rows, train = case
    evaluation = evaluate(gold, as_predictions(rows), train)
    facts, distinct = scorer.gold_facts(gold), scorer.distinct(rows)
    for relation, score in evaluation.relations.items():
        assert_score(score, scorer.counts(distinct, facts, lambda key, r=relation: key[3] == r))

    def distance(key):
        document = scorer.document_of(gold, key[0])
        if document is None or not all(0 <= index < len(document.entities) for index in key[1:3]):
            return Distance.UNKNOWN
        return Distance.INTRA if scorer.shares_a_sentence(document, key[1], key[2]) else Distance.INTER

    for name, score in evaluation.distances.items():
        assert_score(score, scorer.counts(distinct, facts, lambda key, d=name: distance(key) is d))
    for parts in (evaluation.relations, evaluation.distances, evaluation.train_frequencies):
        assert sum(score.correct for score in parts.values()) == evaluation.overall.correct
        assert sum(score.predicted for score in parts.values()) == evaluation.overall.predicted
        assert sum(score.gold for score in parts.values()) == evaluation.overall.gold


@given(cases())
def test_published_denominator(case):
    gold, rows, train = case
    published = evaluate(gold, as_predictions(rows), train, benchmark=CHEMDISGENE, frequent=1).published
    facts, distinct = scorer.gold_facts(gold), scorer.distinct(rows)
    counts = scorer.counts(distinct, facts, lambda key: scorer.is_reachable(key, gold, train))
    assert_score(published.overall, counts)
    left_out = published.facts_of_unseen_relations + published.facts_of_shared_mentions
    assert left_out == len(facts) - counts[2]
    assert published.predictions_left_out == len(distinct) - counts[1]


@given(cases(), st.sampled_from([0.0, 0.25, 0.3, 3.0]))
def test_threshold(case, threshold):
    gold, rows, train = case
    evaluation = evaluate(gold, as_predictions(rows), train, threshold=threshold)
    facts, distinct = scorer.gold_facts(gold), scorer.distinct(rows)
    taken = [row for row in distinct if row[5] >= threshold]
    assert_score(evaluation.overall, scorer.counts(taken, facts))
    assert evaluation.curve.average_precision == pytest.approx(scorer.average_precision(distinct, facts))


# Models

ALONE = document_of("alone", "Only one came .", entities=[[(0, 1, 2)]])


@pytest.fixture(scope="module")
def extractor():
    return Extractor(reading_model())


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_the_curve_is_that_of_the_facts_one_by_one(extractor, threshold):
    gold = [*corpus(), ALONE]
    true = {(document.id, *fact.triple) for document in gold for fact in document.facts}
    assert {relation for *_, relation in true} - set(RELATIONS), (
        "some facts are of relations unknown to the model"
    )
    shown = []
    list(extractor.extract(gold, threshold=threshold, on_scores=shown.append))
    found = {
        (scored.document.id, int(scored.head[p]), int(scored.tail[p]), RELATIONS[k]): scored.score[p, k]
        for scored in shown
        for p, k in np.ndindex(scored.decided.shape)
        if scored.decided[p, k] or scored.probability[p, k] >= FLOOR
    }
    expected = precision_recall_curve(list(found.values()), [key in true for key in found], len(true))
    curve = evaluate_extractor(extractor, gold, threshold=threshold).curve
    assert len(curve) == len(expected) > 10
    for name in ("thresholds", "precisions", "recalls"):
        assert np.allclose(getattr(curve, name), getattr(expected, name), rtol=1e-9)


# Real data


def labels_of(documents):
    return [
        Prediction(document.id, *fact.triple, fact.evidence)
        for document in documents
        for fact in document.facts
    ]


@pytest.mark.shared
def test_gold_is_its_own_perfect_prediction(shared):
    gold = load_documents(shared / "data/docred/dev_revised.json")
    train = load_documents(shared / "data/docred/train_annotated.json")
    evaluation = evaluate(gold, labels_of(gold), train)
    scores = [evaluation.overall, evaluation.evidence, evaluation.frequent, *evaluation.distances.values()]
    assert [score.f1 for score in scores] == [1.0] * 5
    ign = evaluation.ignoring_train
    assert 0 < ign.correct_in_train < ign.score.correct
    assert ign.precision == pytest.approx(1, abs=1e-6) and ign.recall == 1
    # the paper: the 10 most frequent relations have about 60 % of the facts
    assert 0.55 < evaluation.frequent.gold / evaluation.overall.gold < 0.65


@pytest.mark.shared
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
    implied = compare_labels(noted, complete)
    assert evaluation.documents == implied.compared == 138
    assert evaluation.overall.recall == implied.overall.in_both / implied.overall.in_b
    assert evaluation.overall.precision == implied.overall.in_both / implied.overall.in_a
    for row in implied.relations:
        score = evaluation.relations[row.relation]
        assert (score.correct, score.predicted, score.gold) == (row.in_both, row.in_a, row.in_b)


@pytest.mark.shared
def test_chemdisgene_denominators(shared):
    folder = shared / "data/chemdisgene"
    gold = load_documents(folder / "curated_abstracts.txt.gz", folder / "curated_all_relationships.tsv.gz")
    train = load_documents(folder / "train_abstracts.txt.gz", folder / "train_relationships.tsv.gz")
    evaluation = evaluate(gold, labels_of(gold), train, benchmark=CHEMDISGENE)
    published = evaluation.published
    assert evaluation.overall.gold == 1954 and published.overall.f1 == 1.0
    assert len(published.unseen_relations) == 4
    assert (published.facts_of_unseen_relations, published.facts_of_shared_mentions) == (44, 45)
    assert published.overall.gold == published.overall.predicted == 1954 - 44 - 45
    assert len(evaluation.frequent_relations) == 5
