"""The whole way: folds are trained, documents judged by models that never saw them, and a file is written."""

import json

import numpy as np
import pytest
from tests.unit.suggestions.test_listing import scored
from tests.unit.training.making import tiny_encoder, vocabulary_file
from typer.testing import CliRunner

import unnoted
from unnoted.cli.main import app
from unnoted.data import load_documents, write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.suggestions import ListLimits, SuggestionSet
from unnoted.suggestions.fold_processes import mean_scores

TINY = {"embedding": 16, "block": 4, "epochs": 1, "typed_markers": False}


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["suggest", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Labelled documents in a file, and simulated out-of-fold scores of them."""
    folder = tmp_path_factory.mktemp("suggest")
    documents = list(generate_documents(20))
    relations = sorted({fact.relation for document in documents for fact in document.facts})[:4]
    labelled, scores, _ = scored(documents, relations)
    write_documents(folder / "own.json", labelled.values())
    scores.save(folder / "scores.npz")
    return folder


def test_the_command_writes_what_the_function_gives(own, tmp_path):
    to = tmp_path / "s.jsonl"
    shown = run(
        own / "own.json", "--scores", own / "scores.npz", "--to", to, "--at-least", 0.05, "--limit", 30
    )
    assert "Labels that are thought to be missing" in shown.stdout
    assert "30 suggestions" in shown.stdout
    found = SuggestionSet.load(to)
    assert (found.source, found.source_format) == (str(own / "own.json"), "docred")
    limits = ListLimits(0.05, 30)
    again = unnoted.suggest(own / "own.json", scores=own / "scores.npz", limits=limits)
    assert again == found
    assert found.documents == {document.id: document for document in load_documents(own / "own.json")}


def test_descriptions_of_relations_go_with_the_suggestions(own, tmp_path):
    corpus = load_documents(own / "own.json")
    told = {relation: {"name": f"is {relation}"} for relation in corpus.relations}
    first = corpus.relations[0]
    told[first]["description"] = "What it <b>means</b>."
    (tmp_path / "relations.json").write_text(json.dumps(told))
    run(
        own / "own.json", "--scores", own / "scores.npz", "--vocabulary", tmp_path / "relations.json",
        "--to", tmp_path / "s.jsonl",
    )  # fmt: skip
    found = SuggestionSet.load(tmp_path / "s.jsonl").relations
    assert found.pop(first) == (f"is {first}", "What it <b>means</b>.")
    for relation in corpus.relations[1:]:
        assert found[relation] == (f"is {relation}", "")


def test_a_told_multiplier_is_believed(own, tmp_path):
    for multiplier in (2, 6):
        run(
            own / "own.json", "--scores", own / "scores.npz", "--prior-multiplier", multiplier,
            "--to", tmp_path / f"{multiplier}.jsonl",
        )  # fmt: skip
    few, many = (
        sum(each.missing for each in SuggestionSet.load(tmp_path / f"{m}.jsonl").missing) for m in (2, 6)
    )
    assert many > 1.4 * few


def test_folds_are_trained_kept_and_not_repeated(tmp_path):
    documents = load_documents_of(12, tmp_path)
    lines = []
    options = {"encoder": "recurrent", "changes": TINY, "prior_multiplier": 2, "output": tmp_path / "folds"}
    found = unnoted.suggest(documents, tell=lines.append, **options)
    assert [line for line in lines if line.startswith("fold ")] == [
        "fold 1 of 2: 6 documents",
        "fold 2 of 2: 6 documents",
    ]
    assert found.model == "out of fold, 2 folds of best"
    assert {each.document for each in found.suggestions} <= set(found.documents)
    lines.clear()
    assert unnoted.suggest(documents, tell=lines.append, **options) == found
    assert not any(line.startswith("fold ") for line in lines)
    with pytest.raises(ValueError, match="found another run"):  # folds trained with another multiplier
        unnoted.suggest(documents, **(options | {"prior_multiplier": 4}))
    with pytest.raises(ValueError, match="found another run"):
        unnoted.suggest(documents, **(options | {"changes": TINY | {"epochs": 2}}))


def load_documents_of(count, folder):
    path = folder / "own.jsonl"
    write_documents(path, list(generate_documents(count)))
    return path


def test_what_follows_by_written_rules_is_suggested_with_the_rule(tmp_path):
    """For the models it is a label; for the file it is missing."""
    documents = [d.with_facts(f for f in d.facts if f.relation != "parent_of") for d in generate_documents(8)]
    write_documents(tmp_path / "own.json", documents)
    (tmp_path / "rules.txt").write_text("child_of(t, h) -> parent_of(h, t)")
    changes = {**TINY, "rules": str(tmp_path / "rules.txt"), "prior_multiplier": 3}
    found = unnoted.suggest(
        tmp_path / "own.json",
        encoder=str(tiny_encoder(tmp_path / "encoder")),
        vocabulary=vocabulary_file(tmp_path),
        changes=changes,
        output=tmp_path / "run",
        limits=ListLimits(0.0),
    )
    implied = {(d.id, f.tail, f.head) for d in documents for f in d.facts if f.relation == "child_of"}
    said = {(s.document, s.head, s.tail): s.rule for s in found.suggestions if s.relation == "parent_of"}
    assert implied and all(said[place] == "child_of(t, h) -> parent_of(h, t)" for place in implied)
    # The scores alone say the same to whoever names the rules.
    again = unnoted.suggest(
        tmp_path / "own.json",
        scores=tmp_path / "run" / "folds" / "scores.npz",
        vocabulary=vocabulary_file(tmp_path),
        changes=changes,
        limits=ListLimits(0.0),
    )
    assert again.suggestions == found.suggestions and again.missing == found.missing


@pytest.mark.slow
def test_folds_side_by_side_say_the_same(tmp_path):
    documents = load_documents_of(12, tmp_path)
    options = {"encoder": "recurrent", "changes": TINY, "prior_multiplier": 2}
    beside, after = unnoted.suggest(documents, jobs=2, **options), unnoted.suggest(documents, **options)
    # A process of two has half the threads, and sums in another order: the last digits of margins differ, and
    # curves that are fitted on them follow. Another seed moves single probabilities by up to 0.46.
    found, expected = (
        {(one.document, one.head, one.tail, one.relation): one.probability for one in each.suggestions}
        for each in (beside, after)
    )
    assert expected and found == pytest.approx(expected, abs=1e-4)
    assert beside.unlisted.candidates == after.unlisted.candidates
    assert [each.missing for each in beside.missing] == pytest.approx(
        [each.missing for each in after.missing], abs=0.11
    )


def test_a_model_is_not_asked_about_what_it_was_trained_on(own, tmp_path):
    from unnoted.io import content_digest

    model = tmp_path / "model"
    model.mkdir()
    digest = content_digest(own / "own.json")
    (model / "run.json").write_text(json.dumps({"values": {"train": [digest]}}))
    shown = run(own / "own.json", "--model", model, "--to", tmp_path / "s.jsonl", code=1)
    assert "found the file that" in shown.stderr and "expected documents it never saw" in shown.stderr
    assert not (tmp_path / "s.jsonl").exists()


def test_scores_of_other_documents_are_refused(own, tmp_path):
    other = load_documents_of(3, tmp_path)
    shown = run(other, "--scores", own / "scores.npz", "--to", tmp_path / "s.jsonl", code=1)
    assert "scores: found scores of 20 documents" in shown.stderr


def test_no_input_is_written_over(own):
    shown = run(own / "own.json", "--scores", own / "scores.npz", "--to", own / "own.json", code=1)
    assert "is read as input" in shown.stderr


def test_a_mean_of_scores_does_not_mind_the_order_of_documents(own):
    from unnoted.calibration.out_of_fold import OutOfFoldScores

    scores = OutOfFoldScores.load(own / "scores.npz")
    halves = [_only(scores, half) for half in (range(10, 20), range(10))]
    mean = mean_scores([scores, OutOfFoldScores.joined(halves)])
    assert np.array_equal(mean.margin, scores.margin)


def _only(scores, numbers):
    from dataclasses import replace

    rows = np.isin(scores.document, list(numbers))
    columns = {name: getattr(scores, name)[rows] for name in ("head", "tail", "margin", "labelled")}
    document = scores.document[rows] - min(numbers)
    return replace(
        scores, documents=scores.documents[min(numbers) : max(numbers) + 1], document=document, **columns
    )
