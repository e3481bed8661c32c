"""Whether pairs that never meet are candidates of a run."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from tests.unit.training.making import settings_file, vocabulary_file

from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.synthetic import generate_documents
from unnoted.models.model import RelationModel
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training import load_settings, narrowing, run
from unnoted.training.cross_fit import FOLDS, NARROWED, SCORES
from unnoted.training.narrowing import fit_candidates, pair_kinds
from unnoted.training.reading_gain import ReadingGain
from unnoted.training.trainer import Trainer


def _unlabelled(document):
    head, tail = CandidatePairs().index_pairs(document)
    nothing = np.zeros((len(head), 1), np.float32)
    return LabelledScores(("r",), (document.id,), np.zeros_like(head), head, tail, nothing, nothing > 0)


def test_places_are_those_of_the_documents():
    documents = list(generate_documents(4))
    scores = LabelledScores.joined([_unlabelled(document) for document in reversed(documents)])
    found = pair_kinds(scores, [documents[:1], documents[1:]])
    kinds = {}
    rows = zip(scores.document, scores.head, scores.tail, strict=True)
    for row, (number, head, tail) in enumerate(rows):
        document = documents[3 - number]
        entities = document.entities[head], document.entities[tail]
        assert found.meet[row] == (
            (head, tail) in list(zip(*CandidatePairs(intra_sentence=True).index_pairs(document), strict=True))
        )
        assert found.fold[row] == (number != 3)
        types = tuple(entity.type for entity in entities)
        assert kinds.setdefault(types, found.types[row]) == found.types[row]
    assert len(set(kinds.values())) == len(kinds) > 1 and 0 < found.meet.sum() < len(found.meet)


def test_without_labels_all_stay():
    documents, told = list(generate_documents(2)), []
    scores = LabelledScores.joined([_unlabelled(document) for document in documents])
    assert fit_candidates(scores, [documents], CandidatePairs(), told.append) == (None, {"kept": True})
    assert told == ["labels do not say whether pairs that never meet should be left out: they are kept"]


def test_a_relation_that_all_pairs_that_meet_have_keeps_the_others(monkeypatch):
    """Nothing can be calibrated on it, which would be refused after hours."""
    monkeypatch.setattr(narrowing, "what_reading_tells", lambda scores, known: ReadingGain(0.5, 1.0, 0.1))
    documents = list(generate_documents(3))
    scores = LabelledScores.joined([_unlabelled(document) for document in documents])
    narrowed, _ = fit_candidates(scores, [documents], CandidatePairs(), str)
    meet = pair_kinds(scores, [documents]).meet
    kept, said = fit_candidates(replace(scores, labelled=meet[:, None]), [documents], CandidatePairs(), str)
    assert (narrowed, kept, said) == (CandidatePairs(intra_sentence=True), None, {"kept": True})


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_has_the_candidates_that_labels_speak_for(tmp_path, monkeypatch, kept):
    said = ReadingGain(1.0 if kept else 0.5, 1.0, 0.1)
    monkeypatch.setattr(narrowing, "what_reading_tells", lambda scores, known: said)
    path = settings_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), loss="label-likelihood", epochs=1, calibrated="true",
        fitted_candidates="true", start="types", lexical_share="fitted",
    )  # fmt: skip
    lines = []
    record = run(load_settings(path), tell=lines.append)
    assert record.training["candidates"] == {"kept": kept, **asdict(said)}
    card = (tmp_path / "run" / "README.md").read_text("utf-8")
    assert ("no facts between entities that no sentence mentions both of" in card) != kept
    assert any(
        line.startswith("reading tells") and line.endswith("kept" if kept else "left out") for line in lines
    )
    model = RelationModel.from_pretrained(tmp_path / "run")
    assert model.candidates == (CandidatePairs() if kept else CandidatePairs(intra_sentence=True))
    share = np.mean([share_of_fold(tmp_path / "run", number) for number in range(2)])
    assert model.config.lexical_share == (share if kept else 1.0), "the network is not heard"
    documents = load_documents(tmp_path / "train.json").documents
    pairs = sum(map(model.candidates.count, documents))
    assert record.training["calibration"]["pairs"] == pairs
    folds = tmp_path / "run" / FOLDS
    assert (folds / NARROWED).exists() != kept
    judged = LabelledScores.load((folds if kept else folds / NARROWED) / SCORES)
    assert judged.pairs == pairs
    # What was asked for stays on record, beside what was chosen.
    assert load_settings(tmp_path / "run" / "settings.yaml").candidates is None


def share_of_fold(folder, number):
    return json.loads((folder / FOLDS / f"lexical-share-{number}.json").read_text("utf-8"))


def less_apart(monkeypatch, tmp_path, **changes):
    """A run in which reading tells less of pairs that never meet; its record, and what it told."""
    monkeypatch.setattr(narrowing, "what_reading_tells", lambda scores, known: ReadingGain(0.5, 1.0, 0.1))
    path = settings_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), epochs=1, fitted_candidates="true",
        **{"loss": "label-likelihood", **changes},
    )  # fmt: skip
    lines = []
    return run(load_settings(path), tell=lines.append), lines


@pytest.fixture
def steps(monkeypatch):
    """Batches that were learnt from, one number for each."""
    seen, compute = [], Trainer.compute_loss

    def counting(trainer, *inputs, **options):
        seen.append(trainer.state.global_step)
        return compute(trainer, *inputs, **options)

    monkeypatch.setattr(Trainer, "compute_loss", counting)
    return seen


def test_folds_and_model_are_trained_once(tmp_path, monkeypatch, steps):
    record, _ = less_apart(monkeypatch, tmp_path, calibrated="true")
    halves = [len(range(first, record.train_documents, 2)) for first in range(2)]
    in_folds = sum(-(-half // record.settings["batch_documents"]) for half in halves)
    assert len(steps) == in_folds + record.training["steps"] > in_folds


def test_the_models_of_the_folds_are_those_that_were_asked_about_all_pairs(tmp_path, monkeypatch):
    less_apart(monkeypatch, tmp_path, start="types")
    folds = tmp_path / "run" / FOLDS
    before, after = (LabelledScores.load(folder / SCORES) for folder in (folds, folds / NARROWED))
    meet = pair_kinds(before, [load_documents(tmp_path / "train.json").documents]).meet
    expected = {row[:3]: row[3:] for row in rows_of(before.of_pairs(meet))}
    found = {row[:3]: row[3:] for row in rows_of(after)}
    assert found.keys() == expected.keys() and 0 < len(found) < before.pairs
    for pair, (margin, labelled) in found.items():
        np.testing.assert_allclose(margin, expected[pair][0], rtol=1e-4, atol=1e-5)
        assert labelled.tolist() == expected[pair][1].tolist()


def rows_of(scores):
    names = (scores.documents[number] for number in scores.document)
    return zip(names, scores.head, scores.tail, scores.margin, scores.labelled, strict=True)


@pytest.mark.parametrize("told", ["candidates", "prior_file"])
def test_what_was_told_is_not_chosen(tmp_path, monkeypatch, told):
    (tmp_path / "priors.json").write_text('{"*": {"multiplier": 2}}', "utf-8")
    changes = {
        "candidates": {"candidates": "all intra-sentence"},
        "prior_file": {"prior_file": tmp_path / "priors.json", "prior_multiplier": "null"},
    }[told]
    record, lines = less_apart(monkeypatch, tmp_path, **changes)
    assert "candidates" not in record.training
    assert not any(line.startswith("reading tells") for line in lines)


def test_thresholds_are_tuned_on_the_pairs_that_are_left(tmp_path, monkeypatch):
    record, _ = less_apart(
        monkeypatch, tmp_path, loss="s-pu", tuned_thresholds="true", dev=tmp_path / "train.json"
    )
    documents = load_documents(tmp_path / "train.json").documents
    expected = sum(map(CandidatePairs(intra_sentence=True).count, documents))
    assert record.training["tuned_thresholds"]["pairs"] == expected


def test_a_run_that_was_interrupted_keeps_its_choice(tmp_path, monkeypatch, steps):
    monkeypatch.setattr(narrowing, "what_reading_tells", lambda scores, known: ReadingGain(0.5, 1.0, 0.1))
    path = settings_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), loss="label-likelihood", epochs=1, calibrated="true",
        fitted_candidates="true",
    )  # fmt: skip
    first = run(load_settings(path))
    (tmp_path / "run" / "record.json").unlink()
    for name in (SCORES, "scores-1.npz"):
        (tmp_path / "run" / FOLDS / NARROWED / name).unlink()
    steps.clear()
    lines = []
    again = run(load_settings(path), resume=True, tell=lines.append)
    assert not any(line.startswith("fold ") for line in lines) and not steps
    assert again.training["candidates"] == first.training["candidates"]
    assert again.training["calibration"] == first.training["calibration"]
