"""ChemDisGene's two denominators."""

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.evaluation import CHEMDISGENE, Prediction, Score, evaluate


def gene(*places):
    return Entity(tuple(Mention(0, place, place + 1, "Gene", f"w{place}") for place in places))


def chemical(*places):
    return Entity(tuple(Mention(0, place, place + 1, "Chemical", f"w{place}") for place in places))


WORDS = (tuple(f"w{place}" for place in range(6)),)
# entity 2 is only ever mentioned together with entity 1; entity 1 is also mentioned alone;
# the chemical 3 shares its place with gene 4, which is of another type
ENTITIES = (chemical(0), gene(1, 2), gene(2), chemical(3), gene(3))
GOLD = [
    Document(
        "1",
        WORDS,
        ENTITIES,
        (
            Fact(0, 1, "binds"),
            Fact(0, 2, "binds"),
            Fact(0, 1, "moves"),
            Fact(3, 4, "binds"),
            Fact(0, 2, "moves"),
        ),
    )
]
TRAIN = [Document("t", WORDS, ENTITIES, (Fact(0, 1, "binds"),))]


def claims(*keys):
    return [Prediction("1", *key) for key in keys]


def test_both_denominators():
    predictions = claims((0, 1, "binds"), (0, 2, "binds"), (0, 1, "moves"), (3, 1, "binds"), (2, 4, "binds"))
    evaluation = evaluate(GOLD, predictions, TRAIN, benchmark=CHEMDISGENE)
    assert evaluation.overall == Score(3, 5, 5)
    published = evaluation.published
    # left out: "moves" (2 facts, 1 prediction), entity 2 (1 more fact, 2 predictions)
    assert published.overall == Score(1, 2, 2)
    assert published.unseen_relations == ("moves",)
    assert (published.facts_of_unseen_relations, published.facts_of_shared_mentions) == (2, 1)
    assert published.predictions_left_out == 3
    assert "leaves out 2 facts of 1 relation " in str(evaluation)
    assert evaluation.to_json()["published"]["left_out"]["predictions"] == 3


def test_frequent_relations_are_the_same_under_both():
    predictions = claims((0, 1, "binds"), (0, 2, "binds"), (0, 1, "moves"))
    evaluation = evaluate(GOLD, predictions, TRAIN, benchmark=CHEMDISGENE, frequent=1)
    assert evaluation.frequent_relations == ("binds",)
    assert evaluation.frequent == Score(2, 2, 3)
    assert evaluation.published.frequent == Score(1, 1, 2)
