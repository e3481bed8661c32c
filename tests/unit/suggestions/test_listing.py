"""What comes onto the list, what stays off it, and what the files for people hold."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data.synthetic import generate_documents
from unnoted.rules import Constraints, Inverse, Rule, RuleSet
from unnoted.suggestions import SuggestionSet, Unlisted
from unnoted.suggestions.judged import JudgedPairs, judged_out_of_fold
from unnoted.suggestions.listing import ListLimits, list_suggestions
from unnoted.suggestions.missing import missing_labels


def scored(documents, relations, seed=0):
    """Simulated out-of-fold scores of generated documents; of the true facts the plain ones are labelled."""
    random = np.random.default_rng(seed)
    places = [
        (number, head, tail)
        for number, each in enumerate(documents)
        for head in range(len(each.entities))
        for tail in range(len(each.entities))
        if head != tail
    ]
    true = np.array([[(h, t, r) in documents[n].labels for r in relations] for n, h, t in places])
    margin = random.normal(np.where(true, 1, -2), 1.0)
    odds = 3 * (margin + 0.5) + np.log(true.mean() / (1 - true.mean()))  # of being true, given the margin
    labelled = true & (random.random(true.shape) < 1 / (1 + np.exp(0.8 - 0.2 * odds)))
    kept = []
    for number, each in enumerate(documents):
        rows = [row for row, place in enumerate(places) if place[0] == number]
        triples = {
            (*places[row][1:], relations[column]) for row in rows for column in labelled[row].nonzero()[0]
        }
        kept.append(each.with_facts([fact for fact in each.facts if fact.triple in triples]))
    arrays = (np.array(column, np.int32) for column in zip(*places, strict=True))
    names = tuple(each.id for each in documents)
    scores = OutOfFoldScores(tuple(relations), names, *arrays, margin.astype(np.float32), labelled)
    return {each.id: each for each in kept}, scores, true


@pytest.fixture(scope="module")
def judged():
    documents = list(generate_documents(25))
    relations = sorted({fact.relation for document in documents for fact in document.facts})[:4]
    labelled, scores, true = scored(documents, relations)
    return labelled, judged_out_of_fold(scores, true.sum() / scores.labelled.sum()), true


def test_the_list_is_ranked_unlabelled_and_adds_up(judged):
    documents, pairs, true = judged
    listed, unlisted = list_suggestions(pairs, documents, ListLimits(0.05, doubtful=5))
    suggested = [each for each in listed if not each.labelled]
    doubtful = [each for each in listed if each.labelled]
    assert list(listed) == suggested + doubtful
    chances = [each.probability for each in suggested]
    assert chances == sorted(chances, reverse=True) and min(chances) >= 0.05
    assert all(each.triple not in documents[each.document].labels for each in suggested)
    assert all(each.triple in documents[each.document].labels and each.confidence < 0.5 for each in doubtful)
    assert len(suggested) + unlisted.candidates == (~pairs.scores.labelled).sum()
    expected = pairs.if_unlabelled()[~pairs.scores.labelled].sum()
    assert sum(chances) + unlisted.expected == pytest.approx(expected, rel=1e-3)
    missing = (true & ~pairs.scores.labelled).sum()
    assert expected == pytest.approx(missing, rel=0.25)  # calibrated for pairs that are not labelled


def test_a_list_is_bounded_and_what_was_rejected_does_not_return(judged):
    documents, pairs, _ = judged
    (best,), unlisted = list_suggestions(pairs, documents, ListLimits(0.0, 1, 0))
    name = best.document
    rejected = documents | {name: replace(documents[name], negatives=(best.triple,))}
    (other,), fewer = list_suggestions(pairs, rejected, ListLimits(0.0, 1, 0))
    assert (other.document, other.triple) != (best.document, best.triple)
    assert fewer.candidates == unlisted.candidates - 1


def test_a_rule_is_named_where_it_implies_a_suggestion(judged):
    documents, pairs, _ = judged
    relation = pairs.scores.relations[0]
    allowed = {
        relation: frozenset(
            {(h.type, t.type) for d in documents.values() for h in d.entities for t in d.entities}
        )
    }
    rules = RuleSet((Rule(Inverse(relation), relation, 0.9),), Constraints(allowed))
    listed, _ = list_suggestions(pairs, documents, ListLimits(0.0, doubtful=0), rules, {relation: "is near"})
    implied = {(each.document, each.triple) for each in listed if each.rule}
    assert implied == {
        (name, (tail, head, relation)) for name, document in documents.items() for head, tail, r in document.labels
        if r == relation and (tail, head, relation) not in document.labels
    }  # fmt: skip
    assert {each.rule for each in listed if each.rule} == {"is near(t, h) -> is near(h, t)"}


def test_without_a_calibration_confidences_rank(judged):
    documents, pairs, _ = judged
    plain = JudgedPairs(pairs.scores, None, pairs.confidence)
    listed, unlisted = list_suggestions(plain, documents, ListLimits(0.5, doubtful=0))
    assert {each.probability for each in listed} == {None}
    assert min(each.confidence for each in listed) >= 0.5
    assert unlisted.expected is None
    assert missing_labels(plain) == ()


def test_complete_labels_leave_nothing_to_suggest(judged):
    documents, pairs, _ = judged
    complete = judged_out_of_fold(pairs.scores, 1.0)
    listed, unlisted = list_suggestions(complete, documents, ListLimits(0.2, doubtful=0))
    assert len(listed) < 0.1 * pairs.scores.labelled.sum()
    assert unlisted.expected < 0.1 * pairs.scores.labelled.sum()


def test_missing_labels_add_up_and_say_how_far_they_can_be_trusted(judged):
    _, pairs, _ = judged
    found = missing_labels(pairs)
    assert sum(each.missing for each in found) == pytest.approx(
        pairs.if_unlabelled()[~pairs.scores.labelled].sum(), rel=0.01
    )
    for each in found:
        assert 0 <= each.low <= each.missing <= each.high
        # Noted and missing facts together, times and divided by one factor; rounded to a tenth.
        factor = (each.labelled + each.high) / (each.labelled + each.missing)
        assert factor == pytest.approx(np.exp(1.645 * (0.16 + 1 / (each.labelled + 10)) ** 0.5), rel=0.02)
        assert each.low == pytest.approx(
            max(0, (each.labelled + each.missing) / factor - each.labelled), abs=0.15
        )


def test_files_for_people(judged, tmp_path):
    documents, pairs, _ = judged
    hostile = next(iter(documents))
    listed, unlisted = list_suggestions(pairs, documents, ListLimits(0.3, doubtful=2))
    relations = {name: (f"<b>{name}</b>", "") for name in pairs.scores.relations}
    found = SuggestionSet(
        "a.json", "docred", "0", "folds", relations, documents, listed, missing_labels(pairs), unlisted
    )
    found.export(tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(listed)
    first = listed[0]
    assert rows[0]["head_name"] == documents[first.document].entities[first.head].name
    assert float(rows[0]["probability"]) == first.probability
    found.export(tmp_path / "s.html")
    page = (tmp_path / "s.html").read_text("utf-8")
    assert "<b>" not in page and "&lt;b&gt;" in page and hostile in page
    assert "less probable ones are not listed" in page
    found.export(tmp_path / "s.jsonl")
    loaded = SuggestionSet.load(tmp_path / "s.jsonl")
    assert loaded.suggestions == listed and loaded.unlisted == unlisted
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert list(frame["probability"]) == [each.probability for each in listed]


def test_limits_are_checked():
    with pytest.raises(ValueError, match="at_least: found 2"):
        ListLimits(at_least=2)
    with pytest.raises(ValueError, match="expected at least one"):
        ListLimits(most=0)
    assert Unlisted() == Unlisted(0, None)
