"""Two labellings of one corpus: entities are matched by their mentions."""

from dataclasses import replace

from unnoted.data import Document, Entity, Fact, Mention
from unnoted.data.compare import compare_labels, match_entities


def document(name, facts=(), entities=6):
    words = tuple(f"w{index}" for index in range(entities))
    made = tuple(Entity((Mention(0, i, i + 1, "T", words[i]),)) for i in range(entities))
    return Document(name, (words,), made, tuple(Fact(*fact) for fact in facts))


def test_entities_are_matched_by_place():
    a = document("1", [(0, 1, "r"), (2, 3, "s")])
    order = [5, 4, 3, 2, 1, 0]
    facts = (Fact(5, 4, "r"), Fact(4, 5, "r"), Fact(0, 1, "t"))
    b = Document("1", a.sentences, tuple(a.entities[i] for i in order), facts)
    assert match_entities(a, b) == order
    result = compare_labels([a], [b])
    assert [
        (r.relation, r.in_a, r.in_b, r.in_both, r.missed, r.only_a, r.ratio) for r in result.relations
    ] == [("r", 1, 2, 1, 1, 0, 2.0), ("t", 0, 1, 0, 1, 0, None), ("s", 1, 0, 0, 0, 1, 0.0)]
    assert (result.overall.in_a, result.overall.in_b, result.median_ratio) == (2, 3, 1.0)


def test_entities_of_one_place_are_told_apart_by_type_then_order():
    a = document("1", [(0, 1, "r")])
    person, *rest = a.entities
    thing = Entity(tuple(replace(mention, type="MISC") for mention in person.mentions))
    both = replace(a, entities=(person, thing, *rest[1:]))
    swapped = replace(both, entities=(thing, person, *rest[1:]))
    assert match_entities(both, both) == list(range(6))
    assert match_entities(both, swapped) == [1, 0, 2, 3, 4, 5]
    twice = replace(a, entities=(person, person, *rest[1:]))
    assert match_entities(twice, twice) == list(range(6))
    assert match_entities(twice, a) is None and match_entities(a, twice) is None


def test_documents_that_cannot_be_compared_are_listed():
    same, fewer, other = document("1"), document("2", entities=5), document("3")
    changed = Document("3", (("x",),), ())
    missing = Document("2", fewer.sentences, fewer.entities[:4])
    result = compare_labels([same, fewer, other, document("4")], [same, missing, changed, document("5")])
    assert result.compared == 1
    assert result.not_compared == {
        "entities differ": ["2"], "words differ": ["3"], "only in A": ["4"], "only in B": ["5"],
    }  # fmt: skip
