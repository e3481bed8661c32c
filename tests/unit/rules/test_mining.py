"""Rule proposals: what is counted, corrected and refused."""

import random
from dataclasses import replace

from pytest import approx
from tests.factories import make_document

from unnoted.data.synthetic import generate_documents
from unnoted.rules import deductive_closure, parse_rules, proposals_text, propose_rules

PEOPLE = ["PER"] * 4


def couples(both_ways, total):
    """Documents with one couple each; in some, both directions are labelled."""
    both = [(0, 1, "spouse"), (1, 0, "spouse")]
    return [make_document(PEOPLE, both if i < both_ways else both[:1], f"d{i}") for i in range(total)]


def test_confidence_is_divided_by_the_label_frequency():
    # Of 20 couples 10 are labelled both ways: 30 bodies, 20 of them with their conclusion.
    (plain,), (corrected,) = (propose_rules(couples(10, 20), multiplier) for multiplier in (1.0, 1.25))
    assert str(plain.rule) == "spouse(t, h) -> spouse(h, t)"
    assert (plain.support, plain.pairs, plain.added) == (20, 30, 10)
    assert plain.confidence == approx(2 / 3) and corrected.confidence == approx(2 / 3 * 1.25)
    assert plain.example == "e0 | spouse | e1 -> e1 | spouse | e0"


def test_known_negatives_are_not_proposed():
    documents = couples(10, 20)
    rejected = [replace(d, negatives=((1, 0, "spouse"),)) if len(d.facts) == 1 else d for d in documents]
    (found,) = propose_rules(rejected, 1.0)
    assert (found.support, found.pairs, found.added, found.example) == (20, 20, 0, "")


def text_of(found):
    return {str(each.rule): each for each in found}


def test_types_that_the_conclusion_never_joins_are_not_counted():
    triples = [(0, 1, "r"), (0, 1, "s"), (1, 2, "r")]
    documents = [make_document(["PER", "PER", "LOC", "PER"], triples, f"d{i}") for i in range(9)]
    found = text_of(propose_rules(documents, 1.0))
    assert (found["r(h, t) -> s(h, t)"].pairs, found["r(h, t) -> s(h, t)"].support) == (9, 9)
    assert "r(h, t) -> r(h, t)" not in found  # a relation does not imply itself


def test_what_the_types_alone_explain_is_no_rule():
    # Every person has every place as s, and some as r: s is labelled with r as often as without.
    triples = [(person, place, "s") for person in (0, 1) for place in (2, 3)] + [(0, 2, "r")]
    documents = [make_document(["PER", "PER", "LOC", "LOC"], triples, f"d{i}") for i in range(9)]
    assert "r(h, t) -> s(h, t)" not in text_of(propose_rules(documents, 1.0))


def test_rules_of_a_generated_world_are_found_where_labels_are_missing_at_random():
    complete = list(generate_documents(150))
    dice = random.Random(0)
    thin = [document.with_facts(f for f in document.facts if dice.random() < 0.5) for document in complete]
    found = [each for each in propose_rules(thin, 2.0) if each.confidence > 0.8]
    truth = {document.id: document.labels for document in complete}
    derived = [
        (each.document.id, one.fact.triple)
        for each in deductive_closure(thin, [each.rule for each in found])
        for one in each.derived
    ]
    right = sum(triple in truth[name] for name, triple in derived)
    missing = sum(len(truth[document.id]) - len(document.facts) for document in thin)
    assert right / len(derived) > 0.9 and right / missing > 0.2


def test_a_person_chooses_in_the_file():
    found = propose_rules(couples(10, 20), 1.0)
    text = proposals_text(found)
    assert parse_rules(text) == ()
    assert parse_rules(text.replace("# spouse(t", "spouse(t")) == (found[0].rule,)
