"""Whether pairs that never meet are candidates, against tests/reference/narrowing.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import narrowing as plain
from tests.unit.training.making import settings_file, vocabulary_file

from unnoted.documents import load_documents
from unnoted.documents.candidates import AllPairs, InOneSentence
from unnoted.documents.generator import generate_documents
from unnoted.model import RelationModel
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training import load_settings, narrowing, run
from unnoted.training.cross_fit import FOLDS, NARROWED, SCORES
from unnoted.training.narrowing import Places, Reading, fit_candidates, places, what_reading_tells


def drawn(seed, apart=2.0, together=2.0, documents=150, pairs=6, relations=2):
    """Labels that margins tell from others by so much, for pairs of either kind, of three types."""
    rng = np.random.default_rng(seed)
    rows = documents * pairs
    document = np.repeat(np.arange(documents, dtype=np.int32), pairs)
    meet, types = rng.random(rows) < 0.5, rng.integers(0, 3, rows)
    labelled = rng.random((rows, relations)) < (0.1 + 0.1 * types + 0.1 * meet)[:, None]
    clearness = np.where(meet, together, apart)[:, None]
    margin = (rng.normal(size=labelled.shape) + clearness * labelled).astype(np.float32)
    ids = tuple(map(str, range(documents)))
    numbers = np.arange(rows, dtype=np.int32)
    scores = LabelledScores(("r", "s")[:relations], ids, document, numbers, numbers + 1, margin, labelled)
    return scores, Places(meet, types, document.astype(np.int64) % 2)


@pytest.fixture
def few(monkeypatch):
    """Even so few labels say something."""
    monkeypatch.setattr(narrowing, "FEWEST", 5)


@pytest.mark.parametrize("seed", range(4))
def test_bits_are_those_of_plain_loops(few, seed):
    scores, known = drawn(seed, apart=0.5 * seed, documents=25)
    pairs = zip(
        scores.document.tolist(), known.fold.tolist(), known.meet.tolist(), known.types.tolist(),
        scores.margin.tolist(), scores.labelled.tolist(), strict=True,
    )  # fmt: skip
    assert tuple(what_reading_tells(scores, known)) == pytest.approx(plain.told(list(pairs)), abs=1e-3)


@settings(max_examples=30)
@given(st.integers(0, 99), st.floats(0.02, 50), st.floats(-20, 20))
def test_the_scale_of_margins_does_not_matter(seed, scale, shift):
    """Those of SSR-PU are tenths, log odds are tens."""
    scores, known = drawn(seed)
    moved = LabelledScores(
        scores.relations, scores.documents, scores.document, scores.head, scores.tail,
        (scores.margin * scale + shift).astype(np.float32), scores.labelled,
    )  # fmt: skip
    as_it_is = what_reading_tells(scores, known)
    assert tuple(what_reading_tells(moved, known)) == pytest.approx(tuple(as_it_is), abs=5e-3)


def test_labels_that_the_text_does_not_tell_are_left_out():
    found = what_reading_tells(*drawn(0, apart=0.0))
    assert found.tells_less_apart and found.apart < 0.1 < found.together


@pytest.mark.parametrize("seed", range(10))
def test_labels_that_reading_tells_alike_are_kept(seed):
    assert not what_reading_tells(*drawn(seed)).tells_less_apart
    assert not what_reading_tells(*drawn(seed, together=1.0)).tells_less_apart


def test_the_error_is_what_other_documents_would_change():
    found = [what_reading_tells(*drawn(seed)) for seed in range(60)]
    spread = np.std([each.apart - each.together for each in found])
    # What types say is drawn with the documents, too, and not in the error.
    assert spread == pytest.approx(np.mean([each.error for each in found]), rel=0.35)


@pytest.mark.parametrize("kind", [True, False])
def test_few_labels_say_nothing(kind):
    scores, known = drawn(0)
    all_of_a_kind = known._replace(meet=np.full_like(known.meet, kind))
    assert what_reading_tells(scores, all_of_a_kind) is None
    told = []
    folds = [list(generate_documents(2))]
    near = LabelledScores.joined([_unlabelled(document) for document in folds[0]])
    same = load_settings("best")
    assert fit_candidates(same, near, folds, AllPairs(), told.append) == (same, {"kept": True})
    assert told == []


def _unlabelled(document):
    head, tail = AllPairs().arrays(document)
    nothing = np.zeros((len(head), 1), np.float32)
    return LabelledScores(("r",), (document.id,), np.zeros_like(head), head, tail, nothing, nothing > 0)


def test_places_are_those_of_the_documents():
    documents = list(generate_documents(4))
    scores = LabelledScores.joined([_unlabelled(document) for document in reversed(documents)])
    found = places(scores, [documents[:1], documents[1:]])
    kinds = {}
    rows = zip(scores.document, scores.head, scores.tail, strict=True)
    for row, (number, head, tail) in enumerate(rows):
        document = documents[3 - number]
        entities = document.entities[head], document.entities[tail]
        assert found.meet[row] == ((head, tail) in InOneSentence(AllPairs()).pairs(document))
        assert found.fold[row] == (number != 3)
        types = tuple(entity.type for entity in entities)
        assert kinds.setdefault(types, found.types[row]) == found.types[row]
    assert len(set(kinds.values())) == len(kinds) > 1 and 0 < found.meet.sum() < len(found.meet)


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_has_the_candidates_that_labels_speak_for(tmp_path, monkeypatch, kept):
    said = Reading(1.0 if kept else 0.5, 1.0, 0.1)
    monkeypatch.setattr(narrowing, "what_reading_tells", lambda scores, known: said)
    path = settings_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), loss="label-likelihood", epochs=1, calibrated="true",
        fitted_candidates="true", start="types", lexical_share="fitted",
    )  # fmt: skip
    lines = []
    record = run(load_settings(path), tell=lines.append)
    assert record.training["candidates"] == {"kept": kept, **said._asdict()}
    assert any(
        line.startswith("reading tells") and line.endswith("kept" if kept else "left out") for line in lines
    )
    model = RelationModel.from_pretrained(tmp_path / "run")
    assert model.candidates == (AllPairs() if kept else InOneSentence(AllPairs()))
    documents = load_documents(tmp_path / "train.json").documents
    pairs = sum(map(model.candidates.count, documents))
    assert record.training["calibration"]["pairs"] == pairs
    assert (tmp_path / "run" / NARROWED).exists() != kept
    judged = LabelledScores.load(tmp_path / "run" / (FOLDS if kept else NARROWED) / SCORES)
    assert judged.pairs == pairs
    # What was asked for stays on record, beside what was chosen.
    assert load_settings(tmp_path / "run" / "settings.yaml").candidates is None
