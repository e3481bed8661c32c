"""What reading tells of labels, against tests/reference/reading_gain.py."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import reading_gain as plain

from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training import reading_gain
from unnoted.training.reading_gain import PairKinds, what_reading_tells


def drawn(seed, apart=2.0, together=2.0, documents=150, pairs=6, relations=2, meeting=0.5, kinds=3):
    """Labels that margins tell from others by so much, for pairs of either kind, of some kinds of types."""
    rng = np.random.default_rng(seed)
    rows = documents * pairs
    document = np.repeat(np.arange(documents, dtype=np.int32), pairs)
    meet, types = rng.random(rows) < meeting, rng.integers(0, kinds, rows)
    share = 0.1 + 0.2 * rng.random((kinds, relations))
    labelled = rng.random((rows, relations)) < share[types]
    clearness = np.where(meet, together, apart)[:, None]
    margin = (rng.normal(size=labelled.shape) + clearness * labelled).astype(np.float32)
    ids = tuple(map(str, range(documents)))
    numbers = np.arange(rows, dtype=np.int32)
    scores = LabelledScores(
        tuple(map(str, range(relations))), ids, document, numbers, numbers + 1, margin, labelled
    )
    return scores, PairKinds(meet, types, document.astype(np.int64) % 2)


@pytest.fixture
def few(monkeypatch):
    """Even so few labels say something."""
    monkeypatch.setattr(reading_gain, "FEWEST", 5)


@pytest.mark.parametrize("seed", range(4))
def test_bits_are_those_of_plain_loops(few, seed):
    scores, known = drawn(seed, apart=0.5 * seed, documents=25)
    pairs = zip(
        scores.document.tolist(), known.fold.tolist(), known.meet.tolist(), known.types.tolist(),
        scores.margin.tolist(), scores.labelled.tolist(), strict=True,
    )  # fmt: skip
    assert astuple(what_reading_tells(scores, known)) == pytest.approx(plain.told(list(pairs)), abs=1e-3)


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
    assert astuple(what_reading_tells(moved, known)) == pytest.approx(astuple(as_it_is), abs=5e-3)


def test_labels_that_the_text_does_not_tell_are_left_out():
    found = what_reading_tells(*drawn(0, apart=0.0))
    assert found.tells_less_apart and found.apart < 0.1 < found.together


@pytest.mark.parametrize("seed", range(10))
def test_labels_that_reading_tells_alike_are_kept(seed):
    assert not what_reading_tells(*drawn(seed)).tells_less_apart
    assert not what_reading_tells(*drawn(seed, together=1.0)).tells_less_apart


def test_a_kind_with_few_labels_is_not_favoured():
    """What types mean would be known less well for it, were it counted for each kind alone."""
    for meeting in (0.15, 0.85):
        found = [
            what_reading_tells(*drawn(seed, documents=100, relations=10, kinds=16, meeting=meeting))
            for seed in range(10)
        ]
        assert not any(each.tells_less_apart for each in found)
        ratios = [each.apart / each.together for each in found]
        assert np.mean(ratios) == pytest.approx(1, abs=0.05)


def test_the_error_is_what_other_documents_would_change():
    found = [what_reading_tells(*drawn(seed)) for seed in range(60)]
    spread = np.std([each.apart - 0.9 * each.together for each in found])
    # What types say is drawn with the documents, too, and not in the error.
    assert spread == pytest.approx(np.mean([each.error for each in found]), rel=0.35)


@pytest.mark.parametrize("kind", [True, False])
def test_few_labels_say_nothing(kind):
    scores, known = drawn(0)
    assert what_reading_tells(scores, known._replace(meet=np.full_like(known.meet, kind))) is None
    every = LabelledScores(
        scores.relations, scores.documents, scores.document, scores.head, scores.tail, scores.margin,
        scores.labelled | (known.meet == kind)[:, None],
    )  # fmt: skip
    assert what_reading_tells(every, known) is None
