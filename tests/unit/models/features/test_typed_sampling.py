"""Unlabelled pairs drawn by the types of head and tail: chances, weights and expectations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.models.features.making import RELATIONS, TYPES, documents, patient, word_piece

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.models.features import Epoch, UnlabelledByTypes, featurise, relative_rates
from unnoted.models.features.typed_sampling import LEAST, pair_types

relative = st.lists(st.floats(0, 5), min_size=16, max_size=16).map(
    lambda values: np.array(values).reshape(4, 4)
)


def features_of(*made):
    return featurise(list(made), word_piece(), RELATIONS, CandidatePairs(), types=TYPES)


@patient
@given(documents(), relative, st.sampled_from([0.05, 0.5, 1.0]), st.integers(0, 5))
def test_labelled_pairs_stay_and_others_weigh_by_their_chance(document, relative, rate, epoch):
    (features,) = features_of(document)
    now = Epoch()
    now.set(epoch)
    sample = UnlabelledByTypes(rate, relative, seed=1, epoch=now)
    rows, weights = sample.draw(features)
    assert set(features.fact_pair) <= set(rows) and (np.diff(rows) > 0).all()
    types = [entity.mentions[0].type for entity in document.entities]
    for row, weight in zip(rows, weights, strict=True):
        head, tail = (TYPES.index(types[end[row]]) + 1 for end in (features.head, features.tail))
        chance = min(1, max(rate * relative[head, tail], LEAST * rate))
        assert weight == pytest.approx(1 if row in features.fact_pair else 1 / chance)
    again = sample.draw(features)
    assert all(np.array_equal(one, other) for one, other in zip((rows, weights), again, strict=True))


def crowded():
    """A document with many pairs of every kind."""
    entities = tuple(Entity((Mention(0, n, n + 1, TYPES[n % 3], "x"),)) for n in range(12))
    facts = tuple(Fact(head, head + 1, RELATIONS[0]) for head in (0, 3, 6))  # PER to LOC
    return Document("d", (("abc",) * 12,), entities, facts)


def test_sums_over_pairs_keep_their_expectation():
    (features,) = features_of(crowded())
    values, epoch = np.random.default_rng(0).normal(3, 1, len(features.head)), Epoch()
    sample = UnlabelledByTypes(0.3, relative_rates([features], 3), epoch=epoch)
    sums = []
    for number in range(600):
        epoch.set(number)
        rows, weights = sample.draw(features)
        sums.append((weights * values[rows]).sum())
    assert np.mean(sums) == pytest.approx(values.sum(), abs=4 * np.std(sums) / 600**0.5)
    assert len({round(found, 6) for found in sums}) > 500


def test_rates_follow_the_labels_and_are_1_on_average():
    (features,) = features_of(crowded())
    rates = relative_rates([features], 3)
    head, tail = pair_types(features)
    assert rates[head, tail].mean() == pytest.approx(1)
    assert rates[1, 2] == rates[1:, 1:].max() > 2 * rates[2, 2]
    assert (relative_rates([], 3) == 1).all()


def test_the_first_mention_says_the_type():
    mixed = Entity((Mention(0, 1, 2, "ORG", "x"), Mention(0, 0, 1, "PER", "x")))
    other = Entity((Mention(0, 2, 3, "LOC", "x"),))
    (features,) = features_of(Document("d", (("abc",) * 3,), (mixed, other)))
    head, tail = pair_types(features)
    named = {(TYPES[h - 1], TYPES[t - 1]) for h, t in zip(head, tail, strict=True)}
    first = features.mention_type[features.mention_entity == 0][0]
    assert named == {(TYPES[first - 1], "LOC"), ("LOC", TYPES[first - 1])}


@pytest.mark.parametrize(
    ("rate", "rates", "message"),
    [
        (0.0, np.ones((2, 2)), "unlabelled rate: found 0.0"),
        (0.5, np.ones((2, 3)), r"relative rates: found \[2, 3\], expected \[types"),
        (0.5, -np.ones((2, 2)), "relative rates: found one that is negative"),
    ],
)
def test_what_cannot_be_is_refused(rate, rates, message):
    with pytest.raises(ValueError, match=message):
        UnlabelledByTypes(rate, rates)
