"""Every figure equals the plain loops, on gold, predictions and train of every shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import scorer
from tests.strategies import corpora

from unnoted.evaluation import CHEMDISGENE, Prediction, evaluate
from unnoted.evaluation.breakdowns import Distance

RELATIONS = ["P17", "spouse", "chem_gene:affects^binding", "größer als", "unheard of"]


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
        st.sampled_from(RELATIONS),
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
    assert evaluation.submission.repeated == len(rows) - len(distinct)


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
            return Distance.NOWHERE
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
