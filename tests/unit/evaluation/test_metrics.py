"""The rules of the official DocRED scorer, each by an example with its numbers worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evaluation.factories import document, entity

from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import IgnScore, Prediction, Score, document_scores, evaluate
from unnoted.evaluation.evaluator import Invalid

GOLD = [
    document(
        "one",
        [entity("Ada", 0), entity("Bo", 0, 1), entity("Cy", 1)],
        [(0, 1, "spouse", 0), (1, 0, "spouse", 0, 1), (1, 2, "child", 1), (0, 2, "child", 0, 1)],
    ),
    document("two", [entity("Ada", 0), entity("Bo", 2)], [(0, 1, "spouse", 0, 2)]),
]


def claims(*keys):
    return [Prediction(*key) for key in keys]


def test_empty_submission():
    evaluation = evaluate(iter(GOLD), iter([]), iter(GOLD))
    assert (evaluation.overall.precision, evaluation.overall.recall, evaluation.overall.f1) == (0, 0, 0)
    assert evaluation.ignoring_train.f1 == 0 and evaluation.evidence is None
    assert evaluation.curve.average_precision == 0 and evaluation.curve.best is None
    assert "all facts" in str(evaluation)
    assert evaluation.to_json()["curve"] == {"average_precision": 0, "recall_at_end": 0, "best": None}


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (("three", 0, 1, "spouse"), Invalid.UNKNOWN_DOCUMENT),
        (("two", 0, 2, "spouse"), Invalid.NO_SUCH_ENTITY),
        (("two", -2, 1, "spouse"), Invalid.NO_SUCH_ENTITY),
        (("two", 0, -1, "spouse"), Invalid.NO_SUCH_ENTITY),
        (("two", 1, 1, "spouse"), Invalid.SAME_ENTITY),
        (("two", 0, 1, "spose"), Invalid.UNKNOWN_RELATION),
    ],
)
def test_an_impossible_prediction_is_wrong_and_reported(key, problem):
    evaluation = evaluate(GOLD, claims(("one", 0, 1, "spouse"), key))
    assert evaluation.overall == Score(1, 2, 5)
    assert evaluation.predictions.invalid == {key: problem}
    reported = evaluation.to_json()["predictions"]["invalid"][problem.slug]
    assert reported == {"meaning": problem.value, "count": 1, "examples": [list(key)]}
    assert f"counted as wrong: 1 × {problem.slug}" in str(evaluation)


def test_a_relation_of_train_or_of_the_vocabulary_is_known():
    claim = claims(("one", 0, 1, "aunt"))
    train = [document("t", [entity("Ed", 0), entity("Flo", 0)], [(0, 1, "aunt")])]
    assert evaluate(GOLD, claim, train).predictions.invalid == {}
    assert evaluate(GOLD, claim, vocabulary=["aunt", "spouse", "child"]).predictions.invalid == {}
    assert len(evaluate(GOLD, claim).predictions.invalid) == 1


def test_ign_corrects_precision_only():
    train = [document("t", [entity("Ada", 0), entity("Bo", 1)], [(0, 1, "spouse")])]
    right = [("one", 0, 1, "spouse"), ("two", 0, 1, "spouse"), ("one", 1, 2, "child")]
    ign = evaluate(GOLD, claims(*right, ("one", 2, 1, "child")), train).ignoring_train
    # Ada–Bo–spouse is a fact of train: both predictions of it are known. 3 right of 4, 2 of them known:
    # P = (3 − 2) / (4 − 2 + 1e-5), R = 3/5 as before
    assert ign == IgnScore(Score(3, 4, 5), 2)
    assert ign.precision == pytest.approx(1 / 2.00001, abs=1e-12)
    assert ign.recall == 0.6
    assert ign.f1 == pytest.approx(2 * (1 / 2.00001) * 0.6 / (1 / 2.00001 + 0.6), abs=1e-12)


@pytest.mark.parametrize(
    ("head", "tail", "relation", "known"),
    [
        ("Ada", "Bo", "spouse", 1),
        ("Bo", "Ada", "spouse", 0),  # the other way round
        ("Ada", "Bo", "child", 0),  # another relation
        ("Ada", "Bob", "spouse", 0),  # names are compared whole
        ("ada", "Bo", "spouse", 0),  # and as they are written
    ],
)
def test_a_fact_is_known_by_exact_names_and_relation(head, tail, relation, known):
    entities = [entity("A", 0), entity("B", 0)]
    renamed = [
        type(item)(tuple(type(m)(m.sentence, m.start, m.end, m.type, name) for m in item.mentions))
        for item, name in zip(entities, (head, tail), strict=True)
    ]
    train = [document("t", renamed, [(0, 1, relation)])]
    ign = evaluate(GOLD, claims(("two", 0, 1, "spouse")), train).ignoring_train
    assert ign.correct_in_train == known


def test_gold_must_be_usable():
    with pytest.raises(ValueError, match=r"^gold: "):
        evaluate([GOLD[0].with_facts([])], [])
    with pytest.raises(ValueError, match=r"gold: .*'one'"):
        evaluate([GOLD[0], GOLD[0]], [])


# Parts of the facts

# Ada and Bo share sentence 0, Bo and Cy share sentence 1, Ada and Cy share none.
PARTS = [
    document(
        "one",
        [entity("Ada", 0), entity("Bo", 0, 1), entity("Cy", 1)],
        [
            (0, 1, "spouse"),
            (1, 0, "spouse"),
            (1, 2, "child"),
            (0, 2, "child"),
            (2, 0, "aunt"),
            (0, 2, "boss"),
        ],
    )
]


def parts(*keys):
    return [Prediction("one", *key) for key in keys]


def test_most_frequent_are_counted_in_gold_and_ties_go_by_name():
    predictions = parts((0, 1, "spouse"), (2, 1, "spouse"), (2, 0, "aunt"), (0, 1, "boss"))
    evaluation = evaluate(PARTS, predictions, frequent=2)
    assert evaluation.frequent_relations == ("child", "spouse")
    # child: nothing predicted, 2 gold; spouse: 1 of 2 predicted right, 2 gold
    assert evaluation.frequent == Score(1, 2, 4)
    assert evaluate(PARTS, predictions, frequent=3).frequent_relations == ("child", "spouse", "aunt")
    assert len(evaluate(PARTS, predictions).frequent_relations) == 4  # there are no more


def test_given_relations():
    evaluation = evaluate(PARTS, parts((2, 0, "aunt"), (0, 1, "spouse")), frequent=["boss", "aunt", "boss"])
    assert evaluation.frequent_relations == ("boss", "aunt")
    assert evaluation.frequent == Score(1, 1, 2)
    with pytest.raises(ValueError, match=r"'bos'.*'boss'"):
        evaluate(PARTS, [], frequent=["bos"])
    with pytest.raises(ValueError, match="not 0"):
        evaluate(PARTS, [], frequent=0)


def test_per_relation_lists_the_most_frequent_first_and_those_only_predicted():
    evaluation = evaluate(PARTS, parts((0, 1, "spouse"), (1, 0, "nephew")))
    assert evaluation.relations == {
        "child": Score(0, 0, 2),
        "spouse": Score(1, 1, 2),
        "aunt": Score(0, 0, 1),
        "boss": Score(0, 0, 1),
        "nephew": Score(0, 1, 0),
    }
    assert (
        list(evaluation.relations)[:2] == ["child", "spouse"] and list(evaluation.relations)[-1] == "nephew"
    )
    # spouse has an F1 of 2/3, the other three of the gold have 0; nephew, not in the gold, does not count.
    assert evaluation.macro_f1 == pytest.approx(2 / 3 / 4) == evaluation.to_json()["macro_f1"]


def test_groups_by_frequency_in_train():
    pair = [entity("Ed", 0), entity("Flo", 0)]
    train = [document(f"t{i}", pair, [(0, 1, "spouse"), *[(1, 0, "child")][: i < 9]]) for i in range(10)]
    evaluation = evaluate(PARTS, parts((0, 1, "spouse"), (0, 1, "child"), (2, 0, "aunt")), train)
    # spouse 10 times, child 9 times, aunt and boss never
    assert evaluation.train_frequencies == {
        "0": Score(1, 1, 2),
        "1 to 9": Score(0, 1, 2),
        "10 to 99": Score(1, 1, 2),
    }


def test_documents_are_scored_also_without_a_fact_or_outside_the_gold():
    empty = document("three", [entity("Ada", 0), entity("Bo", 0)])
    train = [document("t", [entity("Ada", 0), entity("Bo", 1)], [(0, 1, "spouse")])]
    predicted = [
        ("one", 0, 1, "spouse"),
        ("one", 2, 1, "child"),
        ("three", 0, 1, "spouse"),
        ("z", 0, 1, "spouse"),
    ]
    assert document_scores([*GOLD, empty], predicted, train) == {
        "one": IgnScore(Score(correct=1, predicted=2, gold=4), correct_in_train=1),
        "two": IgnScore(Score(correct=0, predicted=0, gold=1), correct_in_train=0),
        "three": IgnScore(Score(correct=0, predicted=1, gold=0), correct_in_train=0),
        "z": IgnScore(Score(correct=0, predicted=1, gold=0), correct_in_train=0),
    }


GENERATED = list(generate_documents(6))
FACTS = [(document.id, *fact.triple) for document in GENERATED for fact in document.facts]


@given(
    st.lists(
        st.sampled_from([*FACTS, *((name, tail, head, relation) for name, head, tail, relation in FACTS)])
    )
)
def test_they_add_up_to_the_overall_figures(predicted):
    train = GENERATED[:2]
    scores = document_scores(GENERATED, set(predicted), train)
    evaluation = evaluate(GENERATED, [Prediction(*key) for key in set(predicted)], train)
    overall = evaluation.ignoring_train
    assert list(scores) == [document.id for document in GENERATED]
    for count in ("correct", "predicted", "gold"):
        assert sum(getattr(ign.score, count) for ign in scores.values()) == getattr(overall.score, count)
    assert sum(ign.correct_in_train for ign in scores.values()) == overall.correct_in_train
