"""Whether pairs that never meet are predicted, against tests/reference/narrowing.py."""

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
from unnoted.training.calibrating import labels_elsewhere, priors_of
from unnoted.training.narrowing import Gain, gain_of_others, rows_of

FACTS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 2), st.integers(-3, 3), st.booleans()), min_size=1, max_size=12
)


def scores_of(rows):
    """One relation; a row is (meets, document, margin, labelled)."""
    meet, document, margin, labelled = (np.array(column) for column in zip(*rows, strict=True))
    numbers = np.arange(len(rows), dtype=np.int32)
    scores = LabelledScores(
        ("r",), ("a", "b", "c"), document.astype(np.int32), numbers, numbers + 1,
        margin[:, None].astype(np.float32), labelled[:, None],
    )  # fmt: skip
    return scores, meet


@settings(max_examples=100)
@given(FACTS)
def test_the_gain_is_that_of_plain_loops(rows):
    scores, meet = scores_of(rows)
    wanted = plain.gain([(meets, [(margin, labelled)]) for meets, _, margin, labelled in rows])
    assert gain_of_others(scores, meet, seed=0).f1 == pytest.approx(wanted)


def test_the_standard_error_is_that_of_documents():
    """Three documents of which one has all that others add."""
    rows = [(True, d, 2, True) for d in range(3)] + [(False, 0, 1, True)] * 3
    scores, meet = scores_of(rows)
    found = gain_of_others(scores, meet, seed=0)
    near = [2 * 3 / (3 + 3 + 3 * many) for many in range(4)]  # the first document is drawn so often
    chance = [8 / 27, 12 / 27, 6 / 27, 1 / 27]
    gains = 1 - np.array(near)
    wanted = np.sqrt(np.dot(chance, gains**2) - np.dot(chance, gains) ** 2)
    assert found.f1 == pytest.approx(0.5 - 1 / 6) and found.error == pytest.approx(wanted, rel=0.15)


@pytest.mark.parametrize(
    ("gain", "kept"),
    [((0.02, 0.003), True), ((0.002, 0.003), False), ((-0.1, 0.003), False), ((0, 0.02), True)],
)
def test_others_stay_where_they_are_worth_it_or_labels_cannot_tell(gain, kept):
    assert Gain(*gain).is_worth_it == kept


def test_rows_are_those_of_the_rule():
    documents = list(generate_documents(3))
    pairs = [
        (number, *pair) for number, each in enumerate(documents) for pair in reversed(AllPairs().pairs(each))
    ]
    document, head, tail = (np.array(column, dtype=np.int32) for column in zip(*pairs, strict=True))
    nothing = np.zeros((len(pairs), 1), np.float32)
    scores = LabelledScores(
        ("r",), tuple(each.id for each in documents), document, head, tail, nothing, nothing > 0
    )
    near = InOneSentence(AllPairs())
    wanted = [(h, t) in near.pairs(documents[d]) for d, h, t in pairs]
    found = rows_of(near, scores, reversed(documents))
    assert found.tolist() == wanted and 0 < found.sum() < len(pairs)
    assert scores.of_pairs(found).pairs == found.sum()


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_predicts_what_is_worth_it(tmp_path, monkeypatch, kept):
    gain = Gain(0.1 if kept else 0.0, 0.005)
    monkeypatch.setattr(narrowing, "gain_of_others", lambda scores, meet, seed: gain)
    path = settings_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), loss="label-likelihood", epochs=1, calibrated="true",
        fitted_candidates="true",
    )  # fmt: skip
    lines = []
    record = run(load_settings(path), tell=lines.append)
    assert record.training["candidates"] == {"kept": kept, "gain": gain.f1, "standard_error": gain.error}
    assert any("pairs that no sentence mentions both of add" in line for line in lines)
    model = RelationModel.from_pretrained(tmp_path / "run")
    documents = load_documents(tmp_path / "train.json").documents
    assert model.candidates == (AllPairs() if kept else InOneSentence(AllPairs()))
    missed = labels_elsewhere(documents, model.candidates)
    assert (missed > 0) != kept and any("no candidates" in line for line in lines) != kept
    pairs, calibration = sum(map(model.candidates.count, documents)), model.meaning.calibration
    assert record.training["calibration"]["pairs"] == pairs
    # As many facts as before are expected in all, those of pairs that are left out among them.
    multiplier = load_settings(path).prior_multiplier
    noted = sum(len(document.labels) for document in documents)
    assert sum(calibration.priors) * pairs == pytest.approx(multiplier * (noted - missed))
    assert calibration.expected.total * pairs > multiplier * missed


def test_priors_of_some_pairs_keep_the_facts_of_a_label():
    scores, meet = scores_of(
        [(True, 0, 1, True), (True, 0, 0, False), (False, 1, 1, True), (False, 2, 0, False)] * 5
    )
    given = priors_of(scores, None) * 1.5
    assert (given.labelled, given.overall) == ((0.5,), (0.75,))
    some = scores.of_pairs(meet | (scores.margin[:, 0] == 0))
    found = priors_of(some, given)
    assert found.labelled == pytest.approx((1 / 3,)) and found.overall == pytest.approx((0.5,))
    assert priors_of(scores.of_pairs(scores.labelled[:, 0] | meet), given).overall[0] < 1
