import math
from functools import partial

import numpy as np
import pytest
from accelerate.data_loader import prepare_data_loader, skip_first_batches
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.models.factories import RELATIONS, chain_of, documents, patient, word_piece
from torch.utils.data import DataLoader

from unnoted.models.batch import Collator
from unnoted.models.features import FeatureSet, featurise
from unnoted.models.samplers import (
    BatchLimits,
    RatioPairSampler,
    ShuffledBatches,
    UniformPairSampler,
    sort_batches,
)


class Sizes:
    """The part of a feature set that a batch sampler reads."""

    def __init__(self, tokens: list[int], pairs: list[int]) -> None:
        self.token_counts = np.array(tokens, dtype=np.int64)
        self.pair_counts = np.array(pairs, dtype=np.int64)


sizes = st.lists(st.tuples(st.integers(2, 600), st.integers(0, 400)), max_size=60).map(
    lambda rows: Sizes([tokens for tokens, _ in rows], [pairs for _, pairs in rows])
)
limits = st.builds(
    BatchLimits, st.integers(1, 5), st.none() | st.integers(1, 1500), st.none() | st.integers(1, 900)
)
seeds = st.integers(0, 1000)


@patient
@given(sizes, limits, seeds, st.integers(0, 30), st.booleans())
def test_every_document_comes_once_an_epoch_within_the_limits(features, limits, seed, epoch, like_length):
    shuffled = ShuffledBatches(features, limits.documents, seed, like_length=like_length)
    shuffled.set_epoch(epoch)
    ordered = sort_batches(features, limits)
    for batches in (shuffled, ordered):
        assert sorted(d for batch in batches for d in batch) == list(range(len(features.token_counts)))
    assert [len(batch) for batch in shuffled][:-1] == [limits.documents] * (len(shuffled) - 1)
    for batch in ordered:
        tokens, pairs = features.token_counts[batch], features.pair_counts[batch]
        assert 1 <= len(batch) <= limits.documents
        if len(batch) > 1:
            assert limits.tokens is None or len(batch) * tokens.max() <= limits.tokens
            assert limits.pairs is None or pairs.sum() <= limits.pairs


def varied(count: int = 400) -> Sizes:
    generator = np.random.default_rng(1)
    return Sizes(generator.integers(50, 500, count).tolist(), generator.integers(0, 400, count).tolist())


def test_an_epoch_depends_on_seed_and_epoch_only():
    first, second = ShuffledBatches(varied(), seed=3), ShuffledBatches(varied(), seed=3)
    orders = []
    for epoch in (0, 1, 2):
        first.set_epoch(epoch)
        assert list(first) == second.of_epoch(epoch)
        orders.append(str(list(first)))
    orders.append(str(ShuffledBatches(varied(), seed=4).of_epoch(0)))
    assert len(set(orders)) == 4
    one, other = ({frozenset(batch) for batch in second.of_epoch(epoch)} for epoch in (0, 1))
    assert len(one & other) < 5  # the batches differ, not only their order


def padding(features: Sizes, batches) -> float:
    padded = sum(len(batch) * features.token_counts[batch].max() for batch in batches)
    return 1 - features.token_counts.sum() / padded


def test_like_lengths_share_a_batch():
    features = varied()
    assert padding(features, ShuffledBatches(features, like_length=False)) > 0.2
    ordered = sort_batches(features, BatchLimits())
    assert padding(features, ordered) < padding(features, ShuffledBatches(features)) < 0.05
    longest = [max(features.token_counts[batch]) for batch in ordered]
    assert longest == sorted(longest, reverse=True)


@pytest.mark.parametrize("count", [30, 31, 33])
def test_processes_share_each_batch(count):
    one, other = (ShuffledBatches(varied(count), 4, process=process, processes=2) for process in range(2))
    for batch, mine, theirs in zip(ShuffledBatches(varied(count), 4), one, other, strict=True):
        assert sorted(mine + theirs) == sorted(batch) and len(mine) - len(theirs) in (0, 1)


def test_accelerate_sets_the_epoch_of_batches_and_pairs_and_resumes_within_it():
    features = featurise([chain_of(n, f"d{n}") for n in range(3, 14)], word_piece(), RELATIONS)
    sampler = UniformPairSampler(0.5)
    batches = ShuffledBatches(features, 2, pair_sampler=sampler)
    loader = DataLoader(features, batch_sampler=batches, collate_fn=Collator(features, sampler))
    prepared = prepare_data_loader(loader, put_on_device=False)
    expected = [[tuple(features[i].id for i in batch) for batch in batches.of_epoch(n)] for n in range(3)]
    for epoch in (0, 1, 2, 1):
        prepared.set_epoch(epoch)
        assert [batch.documents for batch in prepared] == expected[epoch]
        assert sampler.epoch == epoch
    batches.set_epoch(2)
    skipping = skip_first_batches(prepared, 4)
    skipping.set_epoch(2)
    assert [batch.documents for batch in skipping] == expected[2][4:]


@patient
@given(st.lists(documents(), min_size=1, max_size=3), st.floats(0.01, 1))
def test_uniform_sample_keeps_labelled_pairs_and_the_sum_of_weights(corpus, rate):
    for row in featurise(corpus, word_piece(), RELATIONS):
        rows, weights = UniformPairSampler(rate).sample(row)
        labelled, pairs = set(row.fact_pair.tolist()), len(row.head)
        unlabelled = pairs - len(labelled)
        assert labelled <= set(rows.tolist()) and (np.diff(rows) > 0).all()
        assert len(rows) - len(labelled) == (max(1, round(rate * unlabelled)) if unlabelled else 0)
        assert (weights[np.isin(rows, row.fact_pair)] == 1).all()
        assert weights.sum() == pytest.approx(pairs, rel=1e-6)


def nine_entities() -> FeatureSet:
    return featurise([chain_of(9, entities=9), chain_of(9, entities=9)], word_piece(), RELATIONS)


def test_the_weighted_sum_over_a_uniform_sample_is_unbiased():
    features, values = nine_entities()[0], np.random.default_rng(0).normal(size=72)
    sampler, sums = UniformPairSampler(0.2, seed=5), []
    for sampler.epoch in range(4000):
        rows, weights = sampler.sample(features)
        sums.append(float(weights @ values[rows]))
    error = np.std(sums) / len(sums) ** 0.5
    assert error > 0
    assert abs(np.mean(sums) - values.sum()) < 4 * error


@patient
@given(st.lists(documents(), min_size=1, max_size=3), st.floats(0.1, 20))
def test_ratio_sample_keeps_labelled_pairs_without_weights(corpus, ratio):
    for row in featurise(corpus, word_piece(), RELATIONS):
        rows, weights = RatioPairSampler(ratio).sample(row)
        labelled, pairs = set(row.fact_pair.tolist()), len(row.head)
        wanted = max(20, math.floor(ratio * len(labelled)))
        assert labelled <= set(rows.tolist()) and (np.diff(rows) > 0).all()
        assert len(rows) - len(labelled) == min(wanted, pairs - len(labelled))
        assert (weights == 1).all()


def test_every_unlabelled_pair_is_as_likely_in_a_ratio_sample():
    features, sampler, counts = nine_entities()[0], RatioPairSampler(1), np.zeros(72)
    for sampler.epoch in range(2000):
        counts[sampler.sample(features)[0]] += 1
    unlabelled = np.delete(counts, features.fact_pair)
    share = 20 / len(unlabelled)
    assert (abs(unlabelled - 2000 * share) < 5 * (2000 * share * (1 - share)) ** 0.5).all()


@pytest.mark.parametrize("make", [partial(UniformPairSampler, 0.3), partial(RatioPairSampler, 2)])
def test_a_sample_depends_on_seed_epoch_and_document_only(make):
    features = nine_entities()

    def draw(index=0, seed=0, epoch=0):
        sampler = make(seed)
        sampler.epoch = epoch
        return tuple(sampler.sample(features[index])[0].tolist())

    assert draw() == draw()
    assert len({draw(), draw(index=1), draw(seed=1), draw(epoch=1)}) == 4


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (partial(BatchLimits, documents=0), "documents"),
        (partial(BatchLimits, tokens=0), "tokens"),
        (partial(BatchLimits, pairs=-1), "pairs"),
        (partial(ShuffledBatches, Sizes([3], [1]), seed=-1), "seed"),
        *(
            (partial(RatioPairSampler, ratio), "per labelled")
            for ratio in (0, -1, float("inf"), float("nan"))
        ),
        *((partial(UniformPairSampler, rate), "rate") for rate in (0, -0.1, 1.1, float("nan"))),
        (partial(UniformPairSampler, 0.5, seed=-1), "seed"),
        (partial(RatioPairSampler, 4, seed=-1), "seed"),
    ],
)
def test_impossible_values_are_refused(make, named):
    with pytest.raises(ValueError, match=named):
        make()
