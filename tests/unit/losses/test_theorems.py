"""What the paper proves, checked on populations that are written out in full."""

from itertools import product

import pytest
import torch

from unnoted.losses.corrections import CORRECTIONS, FLIP, Uncorrected
from unnoted.losses.estimators import (
    ESTIMATORS,
    PositiveNegative,
    PositiveUnlabelled,
    ShiftedPositiveUnlabelled,
)
from unnoted.losses.normalisations import NORMALISATIONS, PER_BATCH, Expected, PerBatch
from unnoted.losses.positive_unlabelled import PULoss
from unnoted.losses.surrogates import LogSigmoid, LogSigmoidRanking, Squared, SquaredRanking
from unnoted.priors import Priors

SURROGATES = [Squared(), SquaredRanking(0.25), LogSigmoid(), LogSigmoidRanking()]

torch.set_num_threads(1)


class Population:
    """Three kinds of pair, two relations; a relation that holds is labelled with a known chance.

    Whether the relations hold, and whether they are labelled, is independent given the kind of pair. So the
    whole population is the kinds times the four ways of labelling, each with its probability as a weight.
    """

    share = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    posterior = torch.tensor([[0.05, 0.6], [0.4, 0.1], [0.9, 0.3]], dtype=torch.float64)
    labelling = torch.tensor([0.25, 0.7], dtype=torch.float64)

    def __init__(self):
        overall = self.share @ self.posterior
        labelled = overall * self.labelling
        self.priors = Priors(("a", "b"), tuple(labelled.tolist()), tuple(overall.tolist()))
        kinds, patterns, weights = [], [], []
        for kind, pattern in product(range(3), product([True, False], repeat=2)):
            chance = self.posterior[kind] * self.labelling
            weight = self.share[kind].clone()
            for relation, is_labelled in enumerate(pattern):
                weight *= chance[relation] if is_labelled else 1 - chance[relation]
            kinds.append(kind)
            patterns.append(pattern)
            weights.append(weight)
        self.kinds, self.labels = torch.tensor(kinds), torch.tensor(patterns)
        self.weights = torch.stack(weights)

    def supervised_risk(self, scores, surrogate, weight=(1.0, 1.0)):
        """Eq. 9, from the posterior itself: what one would minimise if everything had been labelled."""
        if_positive, if_negative = surrogate(scores)
        weight = torch.tensor(weight, dtype=torch.float64)
        losses = weight * self.posterior * if_positive + (1 - self.posterior) * if_negative
        return (self.share[:, None] * losses).sum()


POPULATION = Population()


def population_loss(scores, surrogate, estimator, **choices):
    """The loss of the whole population, from what is labelled."""
    loss = PULoss(POPULATION.priors, estimator, surrogate, Uncorrected(), **choices)
    return loss(scores[POPULATION.kinds], POPULATION.labels, POPULATION.weights)


@pytest.mark.parametrize("normalisation", NORMALISATIONS.values())
@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("class_weight", [True, False])
def test_theorem_1(surrogate, normalisation, class_weight):
    """The shifted loss, made from labelled and unlabelled pairs only, is the fully supervised one."""
    scores = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = POPULATION.supervised_risk(
        scores, surrogate, POPULATION.priors.class_weight if class_weight else (1.0, 1.0)
    )
    choices = {"normalisation": normalisation, "class_weight": class_weight}
    found = population_loss(scores, surrogate, ShiftedPositiveUnlabelled(), **choices)
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=0)
    for biased in (PositiveNegative(), PositiveUnlabelled()):
        assert abs(population_loss(scores, surrogate, biased, **choices) / expected - 1) > 1e-3


@pytest.mark.parametrize("margin", [0.1, 0.25, 1.0])
@pytest.mark.parametrize("class_weight", [True, False])
def test_theorem_2(margin, class_weight):
    """At the minimum f_i − f_0 = margin (2 Δ − 1), the odds of Δ multiplied by γ where γ is used."""
    scores = torch.zeros(3, 3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([scores], max_iter=200, tolerance_grad=1e-13, tolerance_change=0,
                                  line_search_fn="strong_wolfe")  # fmt: skip

    def step():
        optimiser.zero_grad()
        loss = population_loss(
            scores, SquaredRanking(margin), ShiftedPositiveUnlabelled(), class_weight=class_weight
        )
        loss.backward()
        return loss

    optimiser.step(step)
    gamma = torch.tensor(POPULATION.priors.class_weight, dtype=torch.float64) if class_weight else 1.0
    delta = gamma * POPULATION.posterior / (gamma * POPULATION.posterior + 1 - POPULATION.posterior)
    ranks = (scores[:, 1:] - scores[:, :1]).detach()
    torch.testing.assert_close(ranks, margin * (2 * delta - 1), rtol=1e-7, atol=1e-9)


LIMITS = [
    ("π_u = 0 is PN", Priors(("a", "b"), (0.1, 0.02), (0.1, 0.02)), PositiveNegative()),
    ("π_u = π is PU", Priors(("a", "b"), (0.0, 0.0), (0.3, 0.017)), PositiveUnlabelled()),
]


@pytest.mark.parametrize(("priors", "limit"), [row[1:] for row in LIMITS], ids=[row[0] for row in LIMITS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_limits_of_the_shifted_estimator_are_exact(priors, limit, dtype):
    """Bit for bit, value and gradient, with every surrogate, correction and normalisation."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.rand(9, 2, generator=generator) < 0.4
    for surrogate, correction, normalisation in product(
        SURROGATES, CORRECTIONS.values(), NORMALISATIONS.values()
    ):
        results = []
        for estimator in (ShiftedPositiveUnlabelled(), limit):
            scores = torch.randn(9, 3, generator=torch.Generator().manual_seed(2)).to(dtype).requires_grad_()
            loss = PULoss(priors, estimator, surrogate, correction, normalisation)
            value = loss(scores, labels)
            results.append((value, *torch.autograd.grad(value, scores)))
        assert torch.equal(results[0][0], results[1][0])
        assert torch.equal(results[0][1], results[1][1])


def expectation_over_batches(scores, size, normalisation, surrogate):
    """The mean loss of a batch of `size` pairs drawn at random, by going through every such batch."""
    loss = PULoss(POPULATION.priors, ShiftedPositiveUnlabelled(), surrogate, Uncorrected(), normalisation)
    total = torch.zeros((), dtype=torch.float64)
    for drawn in product(range(len(POPULATION.weights)), repeat=size):
        chance = POPULATION.weights[list(drawn)].prod()
        total += chance * loss(scores[POPULATION.kinds[list(drawn)]], POPULATION.labels[list(drawn)])
    return total


@pytest.mark.parametrize("size", [1, 2])
def test_expected_normalisation_is_unbiased(size):
    scores = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found = expectation_over_batches(scores, size, Expected(), SquaredRanking())
    expected = population_loss(scores, SquaredRanking(), ShiftedPositiveUnlabelled())
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("size", [1, 2])
def test_per_batch_normalisation_shrinks_by_the_chance_of_presence(size):
    scores = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found = expectation_over_batches(scores, size, PerBatch(), SquaredRanking())
    labelled = torch.tensor(POPULATION.priors.labelled, dtype=torch.float64)
    with_labelled, with_unlabelled = 1 - (1 - labelled) ** size, 1 - labelled**size
    whole = PULoss(POPULATION.priors, ShiftedPositiveUnlabelled(), SquaredRanking(), Uncorrected())
    whole._per_class[:3] *= torch.stack([with_labelled, with_unlabelled, with_labelled])
    expected = whole(scores[POPULATION.kinds], POPULATION.labels, POPULATION.weights)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    assert abs(found / population_loss(scores, SquaredRanking(), ShiftedPositiveUnlabelled()) - 1) > 0.05


@pytest.mark.parametrize("estimator", ESTIMATORS.values())
@pytest.mark.parametrize("normalisation", NORMALISATIONS.values())
def test_a_weighted_sample_of_unlabelled_pairs_is_unbiased(normalisation, estimator):
    """Over all halves of the unlabelled pairs, each weighted by 2, the mean loss is that of all pairs."""
    scores = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    labels = torch.zeros(6, 2, dtype=torch.bool)
    labels[0], labels[1, 0] = True, True
    loss = PULoss(POPULATION.priors, estimator, SquaredRanking(), Uncorrected(), normalisation)
    halves = [kept for kept in product([0, 1], repeat=4) if sum(kept) == 2]
    sampled, as_weights = [], []
    for kept in halves:
        rows = [0, 1, *(2 + i for i in range(4) if kept[i])]
        weights = torch.tensor([1.0, 1.0, 2.0, 2.0])
        sampled.append(loss(scores[rows], labels[rows], weights))
        as_weights.append(loss(scores, labels, torch.tensor([1.0, 1.0, *(2.0 * k for k in kept)])))
    torch.testing.assert_close(torch.stack(sampled).mean(), loss(scores, labels), rtol=1e-13, atol=0)
    torch.testing.assert_close(torch.stack(sampled), torch.stack(as_weights), rtol=1e-13, atol=0)


def test_defaults_are_the_authors():
    loss = PULoss(POPULATION.priors, ShiftedPositiveUnlabelled(), SquaredRanking())
    assert (loss.correction, loss.normalisation, loss.class_weight) == (FLIP, PER_BATCH, True)
    assert SquaredRanking().margin == 0.25
