"""The scores of documents: counted by hand, and adding up to the overall figures."""

from hypothesis import given
from hypothesis import strategies as st

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats.predictions import Prediction
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import IgnScore, Score, evaluate
from unnoted.evaluation.documents import document_scores


def people(name, facts):
    names = ("Ada", "Bo", "Cy")
    entities = tuple(Entity((Mention(0, place, place + 1, "PER", word),)) for place, word in enumerate(names))
    return Document(name, (names,), entities, tuple(Fact(*fact) for fact in facts))


def test_counted_by_hand():
    gold = [
        people("a", [(0, 1, "met"), (1, 2, "met")]),
        people("b", []),
        people("c", [(0, 1, "met")]),
    ]
    train = [people("t", [(0, 1, "met")])]
    predicted = [
        ("a", 0, 1, "met"),
        ("a", 1, 2, "met"),
        ("a", 2, 0, "met"),
        ("b", 0, 1, "met"),
        ("z", 0, 1, "met"),
    ]
    assert document_scores(gold, predicted, train) == {
        "a": IgnScore(Score(correct=2, predicted=3, gold=2), correct_in_train=1),
        "b": IgnScore(Score(correct=0, predicted=1, gold=0), correct_in_train=0),
        "c": IgnScore(Score(correct=0, predicted=0, gold=1), correct_in_train=0),
        "z": IgnScore(Score(correct=0, predicted=1, gold=0), correct_in_train=0),
    }


GOLD = list(generate_documents(6))
FACTS = [(document.id, *fact.triple) for document in GOLD for fact in document.facts]


@given(
    st.lists(
        st.sampled_from([*FACTS, *((name, tail, head, relation) for name, head, tail, relation in FACTS)])
    )
)
def test_they_add_up_to_the_overall_figures(predicted):
    train = GOLD[:2]
    scores = document_scores(GOLD, set(predicted), train)
    evaluation = evaluate(GOLD, [Prediction(*key) for key in set(predicted)], train)
    overall = evaluation.ignoring_train
    assert list(scores) == [document.id for document in GOLD]
    for count in ("correct", "predicted", "gold"):
        assert sum(getattr(ign.score, count) for ign in scores.values()) == getattr(overall.score, count)
    assert sum(ign.correct_in_train for ign in scores.values()) == overall.correct_in_train
