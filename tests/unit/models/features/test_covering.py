"""Documents that come more often and weigh less: every expectation stays, by enumeration of all draws."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.models.features.making import RELATIONS, chain_of, word_piece

from unnoted.data.candidates import CandidatePairs
from unnoted.losses import SSRPU, CrossEntropy, Expected, Uncorrected
from unnoted.models.features import BatchLimits, Collator, CoveringBatches, Epoch, ShuffledBatches, featurise
from unnoted.models.features.covering import expected_visits
from unnoted.models.features.systematic import draw_counts
from unnoted.priors import Priors
from unnoted.training.objective import CountedByPairs, FromLabels


class Fixed:
    """In the place of a generator: leaves orders as they are, and starts where it is told."""

    def __init__(self, start):
        self.start = start

    def permutation(self, things):
        return np.arange(things) if isinstance(things, int) else things

    def random(self):
        return self.start


def every_draw(expected):
    """Each generator that draws something else, and how probable it is: counts change at a few starts only."""
    # The first whole number lies within rounding of the ends; steps shorter than that say nothing.
    edges = np.unique(np.concatenate([[0, 1], (-np.cumsum(expected)) % 1]))
    for low, high in pairwise(edges):
        if high - low > 1e-7:
            yield Fixed((low + high) / 2), high - low


@settings(deadline=None)
@given(st.lists(st.floats(0, 3), max_size=8))
def test_a_draw_has_its_expectation(expected):
    expected = np.array(expected)
    total = np.zeros(len(expected))
    for generator, chance in every_draw(expected):
        counts = draw_counts(expected, generator)
        assert (np.abs(counts - expected) < 1 + 1e-6).all()
        total += chance * counts
    np.testing.assert_allclose(total, expected, atol=1e-5)


labelled_sets = st.lists(st.sets(st.integers(0, 3), max_size=3), min_size=1, max_size=6)


@given(labelled_sets)
def test_visits_add_up_and_bound_the_weights(labelled):
    visits = expected_visits(labelled)
    assert visits.sum() == pytest.approx(len(labelled))
    assert (visits >= 0.5 - 1e-12).all()
    holders = [[visits[d] for d, found in enumerate(labelled) if r in found] for r in range(4)]
    found = [sum(each) for each in holders if each]
    # Half of the places are dealt to relations in equal parts.
    assert not found or min(found) >= 0.5 * len(labelled) / len(found)


class Corpus(list):
    """What a sampler sees of a feature set."""

    def __init__(self, labelled, pairs):
        super().__init__(
            SimpleNamespace(fact_relation=np.array(sorted(each), dtype=int)) for each in labelled
        )
        self.token_counts = np.arange(len(labelled)) + 5
        self.pair_counts = np.array(pairs)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sets(st.integers(0, 2), max_size=2), st.integers(1, 4)), min_size=1, max_size=5),
       st.integers(1, 3), st.sampled_from(["ssr-pu", "cross-entropy"]))  # fmt: skip
def test_the_mean_over_all_draws_of_an_epoch_is_that_over_all_pairs(rows, documents, loss):
    labelled, pairs = [labels for labels, _ in rows], [count for _, count in rows]
    features = Corpus(labelled, pairs)
    torch.manual_seed(0)
    scores = [torch.randn(count, 4, dtype=torch.float64) for count in pairs]
    labels = [torch.zeros(count, 3, dtype=torch.bool) for count in pairs]
    for each, of_document in zip(labelled, labels, strict=True):
        of_document[0, sorted(each)] = True
    share = tuple((torch.cat(labels).double().mean(0) * 0.5).tolist())
    priors = Priors(("a", "b", "c"), share, tuple(1.5 * each for each in share))
    unbiased = SSRPU(priors, correction=Uncorrected(), normalisation=Expected())
    risk = unbiased if loss == "ssr-pu" else CrossEntropy()
    covering = CoveringBatches(features, BatchLimits(documents))
    weights = 1 / covering._visits
    mean, drawn_batches = torch.zeros((), dtype=torch.float64), -(-len(rows) // documents)
    objective = CountedByPairs(FromLabels(risk), sum(pairs) / drawn_batches)
    for generator, chance in every_draw(covering._visits):
        order = covering._order(generator)
        assert len(order) == len(rows)
        for batch in covering.limits.cut(order.tolist(), features.token_counts, features.pair_counts):
            weight = torch.cat([scores[d].new_full((pairs[d],), weights[d]) for d in batch])
            found = torch.cat([labels[d] for d in batch])
            as_batch = SimpleNamespace(
                labels=lambda found=found: found, negatives=lambda: None, pair_weight=weight
            )
            mean += chance * objective(torch.cat([scores[d] for d in batch]), as_batch) / drawn_batches
    torch.testing.assert_close(mean, risk(torch.cat(scores), torch.cat(labels)), rtol=1e-4, atol=1e-6)


def corpus(documents=11):
    chains = [chain_of(length, f"d{length}") for length in range(3, 3 + documents)]
    rare = chains[4].facts[0]
    chains[4] = type(chains[4])(
        chains[4].id, chains[4].sentences, chains[4].entities, (rare, type(rare)(1, 2, RELATIONS[1]))
    )
    return featurise(chains, word_piece(), RELATIONS, CandidatePairs())


def test_an_epoch_is_decided_by_seed_and_number_and_favours_rare_relations():
    features = corpus()
    one, other = (CoveringBatches(features, BatchLimits(2), seed=3) for _ in range(2))
    met = []
    for epoch in range(40):
        batches = one.of_epoch(epoch)
        assert batches == other.of_epoch(epoch)
        assert sorted(map(len, batches)) == [1, 2, 2, 2, 2, 2]
        met += [document for batch in batches for document in batch]
    visits = np.bincount(met, minlength=11) / 40
    np.testing.assert_allclose(visits, one._visits, atol=0.25)
    assert visits[4] > 3 and one.document_weights[4] == pytest.approx(1 / one._visits[4])
    assert one.of_epoch(0) != one.of_epoch(1)
    assert one.of_epoch(0) != CoveringBatches(features, BatchLimits(2), seed=4).of_epoch(0)


def test_a_document_is_not_met_twice_in_a_batch_where_others_are_left():
    batches = CoveringBatches(corpus(), BatchLimits(2), seed=3)
    twice = [
        batch for epoch in range(20) for batch in batches.of_epoch(epoch) if len(set(batch)) < len(batch)
    ]
    assert len(twice) < 30  # of 120; the rare document alone comes three to four times


def test_weights_of_documents_reach_their_pairs():
    features, epoch = corpus(), Epoch()
    covering = CoveringBatches(features, BatchLimits(2), epoch=epoch)
    batch = Collator.of(features, None, covering.document_weights)([features[4], features[0]])
    expected = covering.document_weights[[4, 0]].repeat([6, 6])
    np.testing.assert_array_equal(batch.pair_weight.numpy(), expected)


def test_all_documents_alike_come_once_an_epoch():
    features = featurise(
        [chain_of(length, f"d{length}") for length in range(3, 9)], word_piece(), RELATIONS, CandidatePairs()
    )
    covering = CoveringBatches(features, BatchLimits(2))
    assert sorted(document for batch in covering.of_epoch(0) for document in batch) == list(range(6))
    assert (covering.document_weights == 1).all()
    assert ShuffledBatches(features).document_weights is None
