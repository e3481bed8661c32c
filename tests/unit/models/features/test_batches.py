import numpy as np
import pytest
from accelerate.data_loader import BatchSamplerShard, prepare_data_loader, skip_first_batches
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.models.features.making import RELATIONS, chain_of, patient, word_piece
from torch.utils.data import DataLoader

from unnoted.data.candidates import CandidatePairs
from unnoted.models.features import (
    BatchLimits,
    Collator,
    Epoch,
    FeatureSet,
    ShuffledBatches,
    SortedBatches,
    featurise,
)


class Sizes:
    """What a sampler sees of a feature set."""

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
def test_every_document_is_met_once_an_epoch_within_the_limits(features, limits, seed, epoch, like_length):
    shuffled = ShuffledBatches(features, limits, seed, like_length=like_length)
    shuffled.set_epoch(epoch)
    for batches in (shuffled, SortedBatches(features, limits)):
        met = [document for batch in batches for document in batch]
        assert sorted(met) == list(range(len(features.token_counts)))
        assert len(batches) == len(list(batches))
        for batch in batches:
            tokens, pairs = features.token_counts[batch], features.pair_counts[batch]
            assert 1 <= len(batch) <= limits.documents
            if len(batch) > 1:
                assert limits.tokens is None or len(batch) * tokens.max() <= limits.tokens
                assert limits.pairs is None or pairs.sum() <= limits.pairs


@patient
@given(sizes, st.integers(1, 5), seeds)
def test_without_further_limits_only_the_last_batch_may_be_short(features, documents, seed):
    batches = list(ShuffledBatches(features, BatchLimits(documents), seed))
    assert all(len(batch) == documents for batch in batches[:-1])
    assert len(batches) == -(-len(features.token_counts) // documents)


def varied(count: int = 400) -> Sizes:
    generator = np.random.default_rng(1)
    return Sizes(generator.integers(50, 500, count).tolist(), generator.integers(0, 400, count).tolist())


def test_an_epoch_is_reproducible_and_differs_from_the_others():
    first, second = ShuffledBatches(varied(), seed=3), ShuffledBatches(varied(), seed=3)
    orders = []
    for epoch in (0, 1, 2):
        first.set_epoch(epoch)
        assert list(first) == second.of_epoch(epoch)
        orders.append(str(list(first)))
    orders.append(str(ShuffledBatches(varied(), seed=4).of_epoch(0)))
    assert len(set(orders)) == 4
    first.set_epoch(0)
    assert str(list(first)) == orders[0]


def test_the_make_up_of_batches_changes_too_not_only_their_order():
    batches = ShuffledBatches(varied())
    one, other = ({frozenset(batch) for batch in batches.of_epoch(epoch)} for epoch in (0, 1))
    assert len(one & other) < 5


def test_like_lengths_share_a_batch():
    features = varied()
    order = np.random.default_rng(0).permutation(400).reshape(-1, 4)
    longest = features.token_counts[order].max(axis=1)
    random_waste = 1 - features.token_counts.sum() / (4 * longest.sum())
    shuffled, ordered = ShuffledBatches(features), SortedBatches(features)
    assert random_waste > 0.25
    assert 0 < ordered.padding_waste < shuffled.padding_waste < 0.05
    padded = sum(len(batch) * max(features.token_counts[batch]) for batch in shuffled)
    assert shuffled.padding_waste == pytest.approx(1 - features.token_counts.sum() / padded)


def test_random_batches_are_those_of_a_shuffled_list_cut_in_order():
    features = varied(42)
    batches = ShuffledBatches(features, BatchLimits(4), seed=7, like_length=False)
    order = np.random.default_rng([7, 3]).permutation(42).tolist()
    assert batches.of_epoch(3) == [order[start : start + 4] for start in range(0, 42, 4)]
    batches = ShuffledBatches(varied(), seed=7, like_length=False)
    assert 0.2 < batches.padding_waste < 0.35  # lengths of 50 to 500


def test_waste_of_nothing():
    assert ShuffledBatches(Sizes([], [])).padding_waste == 0


def test_sorted_batches_begin_with_the_longest():
    longest = [max(varied().token_counts[batch]) for batch in SortedBatches(varied())]
    assert longest == sorted(longest, reverse=True)


@pytest.mark.parametrize("count", [30, 31, 33])
@pytest.mark.parametrize("limits", [BatchLimits(4), BatchLimits(4, tokens=1200)])
def test_processes_that_share_an_epoch_miss_no_document(count, limits):
    batches = ShuffledBatches(varied(count), limits)
    before = [list(batch) for batch in batches]
    shards = [BatchSamplerShard(batches, 2, process) for process in range(2)]
    shared = [list(shard) for shard in shards]
    assert len(shared[0]) == len(shared[1])
    assert {document for shard in shared for batch in shard for document in batch} == set(range(count))
    assert list(batches) == before  # which accelerate fills up in place


def corpus() -> FeatureSet:
    documents = [chain_of(length, f"d{length}") for length in range(3, 14)]
    return featurise(documents, word_piece(), RELATIONS, CandidatePairs())


def met(loader) -> list[tuple[str, ...]]:
    return [batch.documents for batch in loader]


def test_accelerate_sets_the_epoch_and_resumes_within_it():
    features, epoch = corpus(), Epoch()
    batches = ShuffledBatches(features, BatchLimits(2), epoch=epoch)
    loader = DataLoader(features, batch_sampler=batches, collate_fn=Collator.of(features))
    prepared = prepare_data_loader(loader, put_on_device=False)
    expected = [[tuple(features[i].id for i in batch) for batch in batches.of_epoch(n)] for n in range(3)]
    for number in (0, 1, 2, 1):
        prepared.set_epoch(number)
        assert met(prepared) == expected[number]
        assert epoch.number == number
    batches.set_epoch(2)
    skipping = skip_first_batches(prepared, 4)
    skipping.set_epoch(2)
    assert met(skipping) == expected[2][4:]


@pytest.mark.parametrize("limit", [{"documents": 0}, {"tokens": 0}, {"pairs": -1}])
def test_an_impossible_limit_is_refused(limit):
    [name] = limit
    with pytest.raises(ValueError, match=f"most {name} in a batch: found"):
        BatchLimits(**limit)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="seed: found -1"):
        ShuffledBatches(varied(), seed=-1)
