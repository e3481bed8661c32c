"""Parts of the facts: by relation, by distance, by frequency in train."""

import pytest
from tests.unit.evaluation.making import document, entity

from unnoted.evaluation import Prediction, Score, evaluate
from unnoted.evaluation.breakdowns import Distance, scores_by_frequency

# Ada and Bo share sentence 0, Bo and Cy share sentence 1, Ada and Cy share none.
GOLD = [
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


def claims(*keys):
    return [Prediction("one", *key) for key in keys]


def test_most_frequent_are_counted_in_gold_and_ties_go_by_name():
    predictions = claims((0, 1, "spouse"), (2, 1, "spouse"), (2, 0, "aunt"), (0, 1, "boss"))
    evaluation = evaluate(GOLD, predictions, frequent=2)
    assert evaluation.frequent_relations == ("child", "spouse")
    # child: nothing predicted, 2 gold; spouse: 1 of 2 predicted right, 2 gold
    assert evaluation.frequent == Score(1, 2, 4)
    assert evaluate(GOLD, predictions, frequent=3).frequent_relations == ("child", "spouse", "aunt")
    assert len(evaluate(GOLD, predictions).frequent_relations) == 4  # there are no more


def test_given_relations():
    evaluation = evaluate(GOLD, claims((2, 0, "aunt"), (0, 1, "spouse")), frequent=["boss", "aunt", "boss"])
    assert evaluation.frequent_relations == ("boss", "aunt")
    assert evaluation.frequent == Score(1, 1, 2)
    with pytest.raises(ValueError, match=r"found relation 'bos', .*nearest: 'boss'"):
        evaluate(GOLD, [], frequent=["bos"])
    with pytest.raises(ValueError, match="found 0, expected at least 1"):
        evaluate(GOLD, [], frequent=0)


def test_per_relation_lists_the_most_frequent_first_and_those_only_predicted():
    evaluation = evaluate(GOLD, claims((0, 1, "spouse"), (1, 0, "nephew")))
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


def test_within_and_across_sentences():
    evaluation = evaluate(GOLD, claims((0, 1, "spouse"), (2, 1, "child"), (0, 2, "child"), (2, 0, "spouse")))
    # (0, 1), (1, 0), (1, 2) share a sentence; (0, 2) twice and (2, 0) do not
    assert evaluation.distances == {Distance.INTRA: Score(1, 2, 3), Distance.INTER: Score(1, 2, 3)}


def test_predictions_of_no_pair_are_apart():
    evaluation = evaluate(GOLD, [*claims((0, 9, "spouse")), Prediction("two", 0, 1, "spouse")])
    assert evaluation.distances[Distance.NOWHERE] == Score(0, 2, 0)


def test_groups_by_frequency_in_train():
    pair = [entity("Ed", 0), entity("Flo", 0)]
    train = [document(f"t{i}", pair, [(0, 1, "spouse"), *[(1, 0, "child")][: i < 9]]) for i in range(10)]
    evaluation = evaluate(GOLD, claims((0, 1, "spouse"), (0, 1, "child"), (2, 0, "aunt")), train)
    # spouse 10 times, child 9 times, aunt and boss never
    assert evaluation.train_frequencies == {
        "0": Score(1, 1, 2),
        "1 to 9": Score(0, 1, 2),
        "10 to 99": Score(1, 1, 2),
    }


def test_the_last_group_is_open():
    parts = {"a": Score(1, 1, 1), "b": Score(0, 1, 1)}
    assert scores_by_frequency(parts, {"a": 1000, "b": 999}) == {
        "100 to 999": Score(0, 1, 1),
        "1000 or more": Score(1, 1, 1),
    }
