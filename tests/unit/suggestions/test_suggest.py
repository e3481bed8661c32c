"""From documents to suggestions: what comes onto the list, with which scores, and from which models."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.training.factories import tiny_encoder, vocabulary_file
from typer.testing import CliRunner

import unnoted
from unnoted.calibration import OutOfFoldScores
from unnoted.cli.main import app
from unnoted.data import load_documents, write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.errors import DataError
from unnoted.priors import Priors
from unnoted.rules import parse_rules
from unnoted.suggestions import SuggestionSet
from unnoted.suggestions.suggest import (
    CorpusScores,
    allocate_total,
    calibrate_scores,
    estimate_missing,
    list_suggestions,
)

ALL = 10**6
TINY = {"embedding": 16, "epochs": 1, "markers": "plain"}


def simulate(documents, relations, seed=0):
    """Out-of-fold scores of generated documents; of the true facts the evident ones are labelled more often."""
    rng = np.random.default_rng(seed)
    places = [
        (number, head, tail)
        for number, each in enumerate(documents)
        for head in range(len(each.entities))
        for tail in range(len(each.entities))
        if head != tail
    ]
    true = np.array([[(h, t, r) in documents[n].labels for r in relations] for n, h, t in places])
    margin = rng.normal(np.where(true, 1, -2), 1.0)
    log_odds = 3 * (margin + 0.5) + np.log(true.mean() / (1 - true.mean()))
    labelled = true & (rng.random(true.shape) < 1 / (1 + np.exp(0.8 - 0.2 * log_odds)))
    kept = []
    for number, each in enumerate(documents):
        rows = [row for row, place in enumerate(places) if place[0] == number]
        triples = {(*places[row][1:], relations[k]) for row in rows for k in labelled[row].nonzero()[0]}
        kept.append(each.with_facts([fact for fact in each.facts if fact.triple in triples]))
    arrays = (np.array(column, np.int32) for column in zip(*places, strict=True))
    names = tuple(each.id for each in documents)
    scores = OutOfFoldScores(tuple(relations), names, *arrays, margin.astype(np.float32), labelled)
    return {each.id: each for each in kept}, scores, true


def generated(count):
    documents = list(generate_documents(count))
    return documents, sorted({fact.relation for document in documents for fact in document.facts})[:4]


@pytest.fixture(scope="module")
def scored():
    labelled, pairs, true = simulate(*generated(25))
    share = tuple(pairs.labelled_share.tolist())
    multiplier = true.sum() / pairs.labelled.sum()
    return labelled, calibrate_scores(pairs, Priors(pairs.relations, share, share) * multiplier), true


def test_the_list_is_ranked_unlabelled_and_adds_up(scored):
    documents, found, true = scored
    listed, rest = list_suggestions(found, documents, 0.05, ALL, 5)
    suggested = [each for each in listed if not each.labelled]
    errors = [each for each in listed if each.labelled]
    assert list(listed) == suggested + errors
    scores = [each.score for each in suggested]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 0.05
    assert all(each.triple not in documents[each.document].labels for each in suggested)
    assert all(each.triple in documents[each.document].labels for each in errors)
    assert all(each.score < found.threshold for each in errors)
    assert len(suggested) + rest.candidates == (~found.pairs.labelled).sum()
    expected = found.given_unlabelled()[~found.pairs.labelled].sum()
    assert sum(scores) + rest.expected == pytest.approx(expected, rel=1e-3)
    assert expected == pytest.approx((true & ~found.pairs.labelled).sum(), rel=0.25)


def test_a_list_is_bounded_and_known_negatives_do_not_return(scored):
    documents, found, _ = scored
    (best,), rest = list_suggestions(found, documents, 0.0, 1, 0)
    rejected = documents | {best.document: replace(documents[best.document], negatives=(best.triple,))}
    (other,), fewer = list_suggestions(found, rejected, 0.0, 1, 0)
    assert (other.document, other.triple) != (best.document, best.triple)
    assert fewer.candidates == rest.candidates - 1


def test_a_rule_is_named_where_it_implies_a_suggestion(scored):
    documents, found, _ = scored
    relation = found.pairs.relations[0]
    rules = parse_rules(f"{relation}(t, h) -> {relation}(h, t)")
    listed, _ = list_suggestions(found, documents, 0.0, ALL, 0, rules=rules, names={relation: "is near"})
    assert {(each.document, each.triple) for each in listed if each.rule} == {
        (name, (tail, head, relation)) for name, document in documents.items() for head, tail, r in document.labels
        if r == relation and (tail, head, relation) not in document.labels
    }  # fmt: skip
    assert {each.rule for each in listed if each.rule} == {"is near(t, h) -> is near(h, t)"}


def test_without_a_calibration_scores_rank_and_nothing_is_estimated(scored):
    documents, found, _ = scored
    plain = replace(found, propensity_slope=None)
    listed, rest = list_suggestions(plain, documents, 0.5, ALL, 0)
    assert min(each.score for each in listed) >= 0.5
    assert rest.expected is None and estimate_missing(plain) == ()


def test_missing_labels_add_up_and_have_intervals(scored):
    _, found, _ = scored
    missing = estimate_missing(found)
    expected = found.given_unlabelled()[~found.pairs.labelled].sum()
    assert sum(each.missing for each in missing) == pytest.approx(expected, rel=0.01)
    for each in missing:
        assert 0 <= each.low <= each.missing <= each.high


@given(st.lists(st.tuples(st.integers(0, 500), st.floats(0, 2000)), min_size=1, max_size=6), st.floats(1, 8))
def test_a_known_total_is_allocated_whole(rows, multiplier):
    labelled = np.array([labels for labels, _ in rows])
    expected = np.array([labels + missing for labels, missing in rows])
    found = allocate_total(expected, labelled, multiplier)
    assert (found >= labelled - 1e-9).all()
    if (expected > labelled).any() and multiplier > 1.01 and labelled.any():
        assert found.sum() == pytest.approx(multiplier * labelled.sum()) or found.sum() == labelled.sum()


def test_exports_hold_the_same_suggestions(scored, tmp_path):
    documents, found, _ = scored
    hostile = "<b>generated</b>"
    first = next(iter(documents))
    renamed = {hostile if name == first else name: document for name, document in documents.items()}
    renamed[hostile] = replace(documents[first], id=hostile)
    pairs = replace(found.pairs, documents=tuple(renamed))
    found = CorpusScores(pairs, found.score, found.threshold, found.propensity_slope)
    listed, rest = list_suggestions(found, renamed, 0.3, ALL, 2)
    relations = {relation: (f"is {relation}", "") for relation in pairs.relations}
    made = SuggestionSet(
        "a.json", "docred", "0", "folds", relations, renamed, listed, estimate_missing(found), rest
    )
    made.export(tmp_path / "s.csv")
    with (tmp_path / "s.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["score"]) for row in rows] == [each.score for each in listed]
    assert rows[0]["head_name"] == renamed[listed[0].document].entities[listed[0].head].name
    made.export(tmp_path / "s.html")
    page = (tmp_path / "s.html").read_text("utf-8")
    assert "<b>gen" not in page and "&lt;b&gt;gen" in page
    made.export(tmp_path / "s.jsonl")
    assert SuggestionSet.load(tmp_path / "s.jsonl") == made
    frame = pytest.importorskip("pandas") and made.to_pandas()
    assert list(frame["score"]) == [each.score for each in listed]


@pytest.mark.parametrize("limits", [{"min_score": 2}, {"max_suggestions": 0}, {"max_label_errors": -1}])
def test_limits_are_checked(limits):
    with pytest.raises(ValueError, match=next(iter(limits))):
        unnoted.suggest("own.json", **limits)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["suggest", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Labelled documents in a file, and simulated out-of-fold scores of them."""
    folder = tmp_path_factory.mktemp("suggest")
    labelled, scores, _ = simulate(*generated(20))
    write_documents(folder / "own.json", labelled.values())
    scores.save(folder / "scores.npz")
    return folder


def test_the_command_writes_what_the_function_gives(own, tmp_path):
    to = tmp_path / "s.jsonl"
    shown = run(
        own / "own.json", "--scores", own / "scores.npz", "--to", to, "--min-score", 0.05, "--limit", 30
    )
    assert "30 suggestions" in shown.stdout
    found = SuggestionSet.load(to)
    assert (found.source, found.source_format, found.calibrated) == (str(own / "own.json"), "docred", True)
    limits = {"min_score": 0.05, "max_suggestions": 30}
    assert unnoted.suggest(own / "own.json", scores=own / "scores.npz", **limits) == found
    assert found.documents == {document.id: document for document in load_documents(own / "own.json")}


def test_descriptions_of_relations_go_with_the_suggestions(own, tmp_path):
    corpus = load_documents(own / "own.json")
    vocabulary = {relation: {"name": f"is {relation}"} for relation in corpus.relations}
    vocabulary[corpus.relations[0]]["description"] = "What it <b>means</b>."
    (tmp_path / "relations.json").write_text(json.dumps(vocabulary))
    options = {"scores": own / "scores.npz", "vocabulary": tmp_path / "relations.json"}
    found = unnoted.suggest(own / "own.json", **options).relations
    assert found[corpus.relations[0]] == (f"is {corpus.relations[0]}", "What it <b>means</b>.")
    assert all(found[relation] == (f"is {relation}", "") for relation in corpus.relations[1:])


def missing(found):
    return sum(each.missing for each in found.missing)


def test_the_multiplier_is_that_of_the_config_unless_it_is_given(own):
    options = {"scores": own / "scores.npz"}
    default = missing(unnoted.suggest(own / "own.json", **options))
    few, three, many = (
        missing(unnoted.suggest(own / "own.json", **options, prior_multiplier=multiplier))
        for multiplier in (2, 3, 6)
    )
    assert default == three and many > 1.4 * few  # `best` trains with 3


def test_a_file_of_priors_counts_as_the_multiplier_does(own, tmp_path):
    (tmp_path / "priors.json").write_text('{"*": {"multiplier": 3}}')
    options = {"scores": own / "scores.npz"}
    from_file = unnoted.suggest(own / "own.json", **options, changes={"prior_file": tmp_path / "priors.json"})
    assert from_file == unnoted.suggest(own / "own.json", **options, prior_multiplier=3)


def documents_file(count, folder):
    write_documents(folder / "own.jsonl", list(generate_documents(count)))
    return folder / "own.jsonl"


def test_folds_are_trained_kept_and_not_repeated(tmp_path):
    documents, lines = documents_file(12, tmp_path), []
    options = {"encoder": "recurrent", "changes": TINY, "prior_multiplier": 2, "output": tmp_path / "folds"}
    found = unnoted.suggest(documents, log=lines.append, **options)
    assert sum(line.startswith("fold ") for line in lines) == 2
    assert {each.document for each in found.suggestions} <= set(found.documents)
    lines.clear()
    assert unnoted.suggest(documents, log=lines.append, **options) == found
    assert not any(line.startswith("fold ") for line in lines)
    # The models of the folds are trained with the multiplier: another one is another run.
    for other in ({"prior_multiplier": 4}, {"changes": TINY | {"epochs": 2}}):
        with pytest.raises(ValueError, match="another run"):
            unnoted.suggest(documents, **(options | other))


def test_what_follows_by_rules_is_suggested_with_the_rule(tmp_path):
    """For the models it is a label; for the file it is missing."""
    documents = [d.with_facts(f for f in d.facts if f.relation != "parent_of") for d in generate_documents(8)]
    write_documents(tmp_path / "own.json", documents)
    (tmp_path / "rules.txt").write_text("child_of(t, h) -> parent_of(h, t)")
    options = {
        "vocabulary": vocabulary_file(tmp_path), "min_score": 0.0,
        "changes": {**TINY, "rules": str(tmp_path / "rules.txt")},
    }  # fmt: skip
    encoder = str(tiny_encoder(tmp_path / "encoder"))
    found = unnoted.suggest(tmp_path / "own.json", encoder=encoder, output=tmp_path / "run", **options)
    implied = {(d.id, f.tail, f.head) for d in documents for f in d.facts if f.relation == "child_of"}
    named = {(s.document, s.head, s.tail): s.rule for s in found.suggestions if s.relation == "parent_of"}
    assert implied and all(named[place] == "child_of(t, h) -> parent_of(h, t)" for place in implied)
    scores = tmp_path / "run" / "folds" / "scores.npz"
    again = unnoted.suggest(tmp_path / "own.json", scores=scores, **options)
    assert again.suggestions == found.suggestions and again.missing == found.missing


def test_a_model_does_not_score_documents_that_it_was_trained_on(tmp_path):
    """Also if their labels have been corrected since."""
    documents = list(generate_documents(6))
    write_documents(tmp_path / "own.json", documents)
    encoder = str(tiny_encoder(tmp_path / "encoder"))
    values = TINY | {"encoder": encoder, "train": tmp_path / "own.json", "output": tmp_path / "run"}
    from unnoted.training import load_config
    from unnoted.training import run as train

    train(load_config("small", values))
    corrected = [documents[0].with_facts(documents[0].facts[1:]), *generate_documents(2, start=40)]
    write_documents(tmp_path / "corrected.jsonl", corrected)
    shown = run(
        tmp_path / "corrected.jsonl", "--model", tmp_path / "run", "--to", tmp_path / "s.jsonl", code=1
    )
    assert documents[0].id in shown.stderr and not (tmp_path / "s.jsonl").exists()
    write_documents(tmp_path / "new.jsonl", corrected[1:])
    found = unnoted.suggest(tmp_path / "new.jsonl", model=tmp_path / "run")
    assert not found.calibrated and found.missing == () and found.below_cutoff.expected is None


def test_scores_of_other_documents_or_labels_are_refused(own, tmp_path):
    corrected = [document.with_facts(document.facts[1:]) for document in load_documents(own / "own.json")]
    write_documents(tmp_path / "corrected.json", corrected)
    for path in (documents_file(3, tmp_path), tmp_path / "corrected.json"):
        with pytest.raises(DataError) as caught:
            unnoted.suggest(path, scores=own / "scores.npz")
        assert (caught.value.defect.file, caught.value.defect.field) == (str(path), "scores")


def test_no_input_is_written_over(own):
    before = (own / "own.json").read_bytes()
    run(own / "own.json", "--scores", own / "scores.npz", "--to", own / "own.json", code=1)
    assert (own / "own.json").read_bytes() == before
