"""Cross-validation: every document judged by a model that never saw its labels, and what becomes of the scores."""

import json

import numpy as np
import pytest
from tests.unit.training.factories import config_file, vocabulary_file

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data import load_documents
from unnoted.data.synthetic import generate_documents
from unnoted.models.model import RelationModel
from unnoted.training import load_config, run
from unnoted.training.cross_validation import FOLDS, SCORES, cross_validate, k_fold

OPTIONS = {"loss": "label-likelihood", "prior_multiplier": 3, "folds": 2,
           "use_type_bias": True, "epochs": 1}  # fmt: skip


def config_of(folder):
    return load_config(config_file(folder, documents=6, vocabulary=vocabulary_file(folder), **OPTIONS))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run with priors and calibrated probabilities; not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    path = config_file(folder, vocabulary=vocabulary_file(folder), **OPTIONS)
    lines = []
    run(load_config(path), log=lines.append)
    return folder, lines


@pytest.mark.parametrize(("documents", "folds"), [(5, 2), (7, 3), (4, 4)])
def test_every_document_is_in_one_fold(documents, folds):
    made = list(generate_documents(documents))
    found = k_fold(made, folds, seed=3)
    assert sorted(document.id for fold in found for document in fold) == sorted(d.id for d in made)
    assert max(map(len, found)) - min(map(len, found)) <= 1
    with pytest.raises(ValueError, match="folds"):
        k_fold(made, documents + 1, seed=0)


def test_scores_are_those_of_all_pairs_with_their_labels(finished):
    folder, _ = finished
    scores = OutOfFoldScores.load(folder / "run" / FOLDS / SCORES)
    corpus = load_documents(folder / "train.json", vocabulary=None)
    documents = {document.id: document for document in corpus}
    assert sorted(scores.documents) == sorted(documents)
    assert scores.pairs == sum(map(corpus.candidates.count, corpus))
    for number, name in enumerate(scores.documents):
        rows = np.flatnonzero(scores.document == number)
        found = {
            (int(scores.head[row]), int(scores.tail[row]), scores.relations[k])
            for row in rows
            for k in np.flatnonzero(scores.labelled[row])
        }
        assert found == set(documents[name].labels)


def test_the_model_has_priors_and_calibrated_probabilities(finished):
    folder, _ = finished
    model = RelationModel.from_pretrained(folder / "run")
    priors = model.decoder.priors
    assert all(overall >= labelled for labelled, overall in zip(priors.labelled, priors.overall, strict=True))
    assert model.decoder.is_calibrated and model.type_bias.is_initialised
    rows = json.loads((folder / "run" / "priors.json").read_text())
    assert [row["overall"] for row in rows] == list(priors.overall)
    assert json.loads((folder / "run" / "record.json").read_text())["training"]["calibration"]["pairs"] > 0


def test_no_model_of_a_fold_saw_its_labels(tmp_path):
    """Other labels in one fold change what the models of other folds say, and nothing of what its own says."""
    settings = config_of(tmp_path)
    before = cross_validate(settings)
    documents = list(load_documents(tmp_path / "train.json"))
    (held_out, _) = k_fold(documents, 2, settings.seed)
    names = {document.id for document in held_out}
    content = json.loads((tmp_path / "train.json").read_text())
    for document in content:
        if document["title"] in names:
            document["labels"] = document["labels"][:1]
    (tmp_path / "train.json").write_text(json.dumps(content))
    after = cross_validate(settings.model_copy(update={"output": tmp_path / "again"}))
    inside = np.isin(np.array(before.documents)[before.document], list(names))
    assert np.array_equal(before.margin[inside], after.margin[inside])
    assert not np.array_equal(before.margin[~inside], after.margin[~inside])


def test_folds_do_not_start_from_weights_that_saw_their_labels(finished, tmp_path):
    folder, _ = finished
    settings = load_config(folder / "config.yaml", {"init_from": folder / "run", "output": tmp_path / "run"})
    with pytest.raises(ValueError, match="was trained on"):
        cross_validate(settings)


def test_a_finished_fold_is_not_repeated(tmp_path):
    settings, lines = config_of(tmp_path), []
    first = cross_validate(settings, log=lines.append)
    assert [line for line in lines if line.startswith("fold")] == [
        "fold 1 of 2: 3 documents", "fold 2 of 2: 3 documents"
    ]  # fmt: skip
    (settings.output / FOLDS / SCORES).unlink()
    (settings.output / FOLDS / "scores-1.npz").unlink()
    lines.clear()
    again = cross_validate(settings, log=lines.append)
    assert [line for line in lines if line.startswith("fold")] == ["fold 2 of 2: 3 documents"]
    assert np.array_equal(first.margin, again.margin)


@pytest.mark.slow
def test_folds_side_by_side_give_the_same_scores(tmp_path):
    settings = config_of(tmp_path)
    after = cross_validate(settings)
    beside = cross_validate(settings.model_copy(update={"output": tmp_path / "again"}), jobs=2)
    assert beside.documents == after.documents and (beside.labelled == after.labelled).all()
    # A process has another number of threads, and sums in another order.
    assert beside.margin == pytest.approx(after.margin, abs=1e-4)


def test_a_mean_of_scores_does_not_depend_on_the_order_of_documents(finished):
    scores = OutOfFoldScores.load(finished[0] / "run" / FOLDS / SCORES)
    half = len(scores.documents) // 2
    parts = []
    for numbers in (range(half, len(scores.documents)), range(half)):
        rows = np.isin(scores.document, list(numbers))
        columns = [getattr(scores, name)[rows] for name in ("head", "tail", "margin", "labelled")]
        documents = scores.documents[numbers.start : numbers.stop]
        parts.append(
            OutOfFoldScores(scores.relations, documents, scores.document[rows] - numbers.start, *columns)
        )
    mean = OutOfFoldScores.mean([scores, OutOfFoldScores.concatenate(parts)])
    assert np.array_equal(mean.margin, scores.margin)
