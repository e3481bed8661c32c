"""PU losses and their gradients: plain loops, the paper's theorems, exact limits, corrections, known negatives."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.making import make_loss
from tests.reference.known_negatives import reviewed_loss
from tests.reference.pu_losses import class_terms, coefficients, positive_unlabelled_loss
from tests.unit.losses.factories import ReviewedPopulation, reviewed_batch

from unnoted.losses import (
    SSRPU,
    CosineSoftmax,
    LogSigmoid,
    LogSigmoidRanking,
    PositiveNegative,
    PositiveUnlabelled,
    PULoss,
    ShiftedPositiveUnlabelled,
    Squared,
    SquaredRanking,
)
from unnoted.losses.pu import CORRECTIONS, NORMALISATIONS
from unnoted.priors import Priors

torch.set_num_threads(1)

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
ESTIMATORS = {"pn": PositiveNegative(), "pu": PositiveUnlabelled(), "s-pu": ShiftedPositiveUnlabelled()}
SURROGATES = {
    "squared": Squared(),
    "squared-ranking": SquaredRanking(),
    "log-sigmoid": LogSigmoid(),
    "log-sigmoid-ranking": LogSigmoidRanking(),
    "cosine-softmax": CosineSoftmax(),
}
PLAIN_SURROGATES = [each for name, each in SURROGATES.items() if name != "cosine-softmax"]
BATCH_CHOICES = [pair for pair in product(NORMALISATIONS, CORRECTIONS) if pair != ("expected", "flip")]
"""Normalisation and correction; the pair that is left out is refused."""


def batch(seed, pairs, relations, labelled_share=0.3, weighted=True):
    """Logits that float32 holds exactly, labels and weights."""
    rng = np.random.default_rng(seed)
    logits = torch.tensor(rng.normal(0, 1, (pairs, relations + 1)).astype(np.float32))
    labels = torch.tensor(rng.random((pairs, relations)) < labelled_share)
    weights = torch.tensor(rng.choice([1.0, 2.0, 0.5, 4.0], pairs)) if weighted else torch.ones(pairs)
    return logits, labels, weights.float()


def with_gradient(loss, logits, dtype):
    logits = logits.detach().to(dtype, copy=True).requires_grad_()
    value = loss(logits)
    (gradient,) = torch.autograd.grad(value, logits)
    return value.detach().double(), gradient.double()


def check(fast, plain, logits, dtype, value_scale=None, gradient_scale=0.0):
    """Relative to the terms of values, and to those of the largest gradient: differences cancel digits."""
    found, found_gradient = with_gradient(fast, logits, dtype)
    # The loops over no pair, or over no loss that counts, give a constant.
    expected, expected_gradient = with_gradient(lambda x: plain(x) + 0 * x.sum(), logits, torch.float64)
    value_scale = expected.abs() if value_scale is None else value_scale
    # A loss like -log(1 - 1e-8) is 0 up to the rounding of 1.
    assert (found - expected).abs() <= TOLERANCE[dtype] * value_scale + torch.finfo(dtype).eps
    if logits.numel():
        gradient_scale = max(gradient_scale, expected_gradient.abs().max())
        assert (found_gradient - expected_gradient).abs().max() <= TOLERANCE[dtype] * gradient_scale


def compose(priors, estimator, surrogate, correction, normalisation, class_weight, margin=0.25):
    chosen = SquaredRanking(margin) if surrogate == "squared-ranking" else SURROGATES[surrogate]
    return PULoss(priors, ESTIMATORS[estimator], chosen, correction, normalisation, class_weight)


# --- Values and gradients of plain loops, straight from the equations ---


@pytest.mark.parametrize("class_weight", [True, False])
@pytest.mark.parametrize(("normalisation", "correction"), BATCH_CHOICES)
@pytest.mark.parametrize(("estimator", "surrogate"), [*product(ESTIMATORS, SURROGATES)])
def test_every_composition_equals_plain_loops(estimator, surrogate, normalisation, correction, class_weight):
    logits, labels, weights = batch(seed=3, pairs=11, relations=4)
    # Class 0 has a negative part below 0, the others have not; class 3 was never labelled in training.
    labelled, overall = (0.2, 0.4, 0.05, 0.0), (0.9, 0.42, 0.05, 0.1)
    logits[labels[:, 0], 1], logits[~labels[:, 0], 1] = 3.0, logits[~labels[:, 0], 0]
    if surrogate == "cosine-softmax":
        logits /= 8
    choices = {"estimator": estimator, "loss": surrogate, "margin": 0.25, "normalisation": normalisation,
               "class_weight": class_weight}  # fmt: skip
    terms = [
        class_terms(logits.double(), labels, weights, labelled[k], overall[k], k, **choices) for k in range(4)
    ]
    assert (terms[0][1] + terms[0][2] < 0) == (estimator != "pn")
    assert terms[1][1] + terms[1][2] > 0
    priors = Priors(("a", "b", "c", "d"), labelled, overall)
    loss = compose(priors, estimator, surrogate, correction, normalisation, class_weight)

    def plain(x):
        return positive_unlabelled_loss(
            x, labels, weights, labelled, overall, correction=correction, **choices
        )

    for dtype in TOLERANCE:
        check(lambda x: loss(x, labels, weights), plain, logits, dtype)


@st.composite
def priors_of(draw, relations):
    shares = st.just(0.0) | st.floats(1e-9, 0.9)  # a labelled prior is a count of pairs over all pairs
    labelled = [draw(shares) for _ in range(relations)]
    rest = [draw(st.just(0.0) | st.floats(1e-9, 0.99)) for _ in range(relations)]
    overall = [prior + (1 - prior) * share for prior, share in zip(labelled, rest, strict=True)]
    return Priors(tuple(f"r{k}" for k in range(relations)), tuple(labelled), tuple(overall))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_generated_shapes_priors_labels_and_weights_equal_plain_loops(data):
    pairs, relations = data.draw(st.integers(0, 7), "pairs"), data.draw(st.integers(1, 4), "relations")
    priors = data.draw(priors_of(relations), "priors")
    share = data.draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]), "labelled share")
    weighted = data.draw(st.booleans(), "weighted")
    logits, labels, weights = batch(data.draw(st.integers(0, 999), "seed"), pairs, relations, share, weighted)
    estimator, surrogate = (
        data.draw(st.sampled_from(list(ESTIMATORS))),
        data.draw(st.sampled_from(list(SURROGATES))),
    )
    if surrogate == "cosine-softmax":
        logits = logits / 8  # its logits are cosines
    normalisation, correction = data.draw(st.sampled_from(BATCH_CHOICES))
    class_weight, margin = (
        data.draw(st.booleans()),
        data.draw(st.sampled_from([0.0, 0.1, 0.25, 1.0]), "margin"),
    )
    choices = {"estimator": estimator, "loss": surrogate, "margin": margin, "normalisation": normalisation,
               "class_weight": class_weight}  # fmt: skip
    exact = logits.double().requires_grad_()
    scale, gradient_scale = (
        torch.zeros((), dtype=torch.float64),
        torch.zeros_like(logits, dtype=torch.float64),
    )
    for k in range(relations):
        terms = class_terms(exact, labels, weights, priors.labelled[k], priors.overall[k], k, **choices)
        size = sum(term.detach().abs() for term in terms)
        negative = (terms[1] + terms[2]).detach()
        assume(negative == 0 or abs(negative) > 1e-4 * size)  # else rounding decides whether it is corrected
        scale = scale + size
        for term in terms:
            gradient_scale += torch.autograd.grad(term + 0 * exact.sum(), exact, retain_graph=True)[0].abs()
    gradient_scale = gradient_scale.max() if logits.numel() else 0.0
    loss = compose(priors, estimator, surrogate, correction, normalisation, class_weight, margin)

    def plain(x):
        return positive_unlabelled_loss(
            x, labels, weights, priors.labelled, priors.overall, correction=correction, **choices
        )

    for dtype in TOLERANCE:
        check(
            lambda x: loss(x, labels, weights if weighted else None),
            plain,
            logits,
            dtype,
            scale,
            gradient_scale,
        )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_coefficients_are_the_papers(estimator):
    priors = Priors(("a", "b", "c"), (0.01, 0.2, 0.0), (0.03, 0.2, 0.4))
    found = ESTIMATORS[estimator](priors)
    for k in range(3):
        expected = coefficients(estimator, priors.labelled[k], priors.overall[k])
        assert (found.positive[k], found.unlabelled[k], -found.labelled[k]) == pytest.approx(
            expected, rel=1e-14
        )


# --- What the paper proves, on a population that is written out in full ---


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

    def supervised_loss(self, logits, surrogate, weight=(1.0, 1.0)):
        """Eq. 9, from the posterior itself: what one would minimise if everything had been labelled."""
        if_positive, if_negative = surrogate(logits)
        weight = torch.tensor(weight, dtype=torch.float64)
        losses = weight * self.posterior * if_positive + (1 - self.posterior) * if_negative
        return (self.share[:, None] * losses).sum()


POPULATION = Population()


def population_loss(logits, surrogate, estimator, **choices):
    """The loss of the whole population, from what is labelled."""
    loss = PULoss(POPULATION.priors, estimator, surrogate, "none", **choices)
    return loss(logits[POPULATION.kinds], POPULATION.labels, POPULATION.weights)


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("surrogate", PLAIN_SURROGATES)
@pytest.mark.parametrize("class_weight", [True, False])
def test_theorem_1(surrogate, normalisation, class_weight):
    """The shifted loss, made from labelled and unlabelled pairs only, is the fully supervised one."""
    logits = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = POPULATION.supervised_loss(
        logits, surrogate, POPULATION.priors.class_weight if class_weight else (1.0, 1.0)
    )
    choices = {"normalisation": normalisation, "class_weight": class_weight}
    found = population_loss(logits, surrogate, ShiftedPositiveUnlabelled(), **choices)
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=0)
    for biased in (PositiveNegative(), PositiveUnlabelled()):
        assert abs(population_loss(logits, surrogate, biased, **choices) / expected - 1) > 1e-3


@pytest.mark.parametrize("margin", [0.1, 0.25, 1.0])
@pytest.mark.parametrize("class_weight", [True, False])
def test_theorem_2(margin, class_weight):
    """At the minimum f_i - f_0 = margin (2 Δ - 1), the odds of Δ multiplied by γ where γ is used."""
    logits = torch.zeros(3, 3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=200, tolerance_grad=1e-13, tolerance_change=0,
                                  line_search_fn="strong_wolfe")  # fmt: skip

    def step():
        optimiser.zero_grad()
        loss = population_loss(
            logits, SquaredRanking(margin), ShiftedPositiveUnlabelled(), class_weight=class_weight
        )
        loss.backward()
        return loss

    optimiser.step(step)
    gamma = torch.tensor(POPULATION.priors.class_weight, dtype=torch.float64) if class_weight else 1.0
    delta = gamma * POPULATION.posterior / (gamma * POPULATION.posterior + 1 - POPULATION.posterior)
    ranks = (logits[:, 1:] - logits[:, :1]).detach()
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
    for surrogate, (normalisation, correction) in product(PLAIN_SURROGATES, BATCH_CHOICES):
        results = []
        for estimator in (ShiftedPositiveUnlabelled(), limit):
            logits = torch.randn(9, 3, generator=torch.Generator().manual_seed(2)).to(dtype).requires_grad_()
            loss = PULoss(priors, estimator, surrogate, correction, normalisation)
            value = loss(logits, labels)
            results.append((value, *torch.autograd.grad(value, logits)))
        assert torch.equal(results[0][0], results[1][0])
        assert torch.equal(results[0][1], results[1][1])


def expectation_over_batches(logits, size, normalisation, surrogate):
    """The mean loss of a batch of `size` pairs drawn at random, by going through every such batch."""
    loss = PULoss(POPULATION.priors, ShiftedPositiveUnlabelled(), surrogate, "none", normalisation)
    total = torch.zeros((), dtype=torch.float64)
    for drawn in product(range(len(POPULATION.weights)), repeat=size):
        chance = POPULATION.weights[list(drawn)].prod()
        total += chance * loss(logits[POPULATION.kinds[list(drawn)]], POPULATION.labels[list(drawn)])
    return total


@pytest.mark.parametrize("size", [1, 2])
def test_expected_normalisation_is_unbiased(size):
    logits = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found = expectation_over_batches(logits, size, "expected", SquaredRanking())
    expected = population_loss(logits, SquaredRanking(), ShiftedPositiveUnlabelled())
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("size", [1, 2])
def test_per_batch_normalisation_shrinks_by_the_chance_of_presence(size):
    logits = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found = expectation_over_batches(logits, size, "per-batch", SquaredRanking())
    labelled = torch.tensor(POPULATION.priors.labelled, dtype=torch.float64)
    with_labelled, with_unlabelled = 1 - (1 - labelled) ** size, 1 - labelled**size
    whole = PULoss(POPULATION.priors, ShiftedPositiveUnlabelled(), SquaredRanking(), "none")
    whole._constants._exact[:3] *= torch.stack([with_labelled, with_unlabelled, with_labelled])
    expected = whole(logits[POPULATION.kinds], POPULATION.labels, POPULATION.weights)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    assert abs(found / population_loss(logits, SquaredRanking(), ShiftedPositiveUnlabelled()) - 1) > 0.05


@pytest.mark.parametrize("estimator", ESTIMATORS.values())
@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_a_weighted_sample_of_unlabelled_pairs_is_unbiased(normalisation, estimator):
    """Over all halves of the unlabelled pairs, each weighted by 2, the mean loss is that of all pairs."""
    logits = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    labels = torch.zeros(6, 2, dtype=torch.bool)
    labels[0], labels[1, 0] = True, True
    loss = PULoss(POPULATION.priors, estimator, SquaredRanking(), "none", normalisation)
    halves = [kept for kept in product([0, 1], repeat=4) if sum(kept) == 2]
    sampled, as_weights = [], []
    for kept in halves:
        rows = [0, 1, *(2 + i for i in range(4) if kept[i])]
        weights = torch.tensor([1.0, 1.0, 2.0, 2.0])
        sampled.append(loss(logits[rows], labels[rows], weights))
        as_weights.append(loss(logits, labels, torch.tensor([1.0, 1.0, *(2.0 * k for k in kept)])))
    torch.testing.assert_close(torch.stack(sampled).mean(), loss(logits, labels), rtol=1e-13, atol=0)
    torch.testing.assert_close(torch.stack(sampled), torch.stack(as_weights), rtol=1e-13, atol=0)


def test_expected_counts_refuse_flip():
    """Most batches of a rare class would be corrected, and a flip drops their positives."""
    for make in (lambda **options: SSRPU(POPULATION.priors, **options), lambda **options: make_loss(
        "s-pu", POPULATION.priors, **options
    )):  # fmt: skip
        with pytest.raises(ValueError, match="normalisation"):
            make(normalisation="expected")


@pytest.mark.parametrize(
    ("correction", "positive", "negative"), [("none", 1, 1), ("clamp", 1, 0), ("flip", 0, -1)]
)
def test_what_a_correction_makes_of_a_negative_part_below_0(correction, positive, negative):
    """By hand, π = ½ and γ = 1: of the positive part ½ ¼ (f - 1)² and of ¼ (f + 1)² - ½ ¼ (f + 1)²."""
    logits = torch.tensor([[0.0, 3.0], [0.0, -0.9]], dtype=torch.float64, requires_grad=True)
    labels, (labelled, unlabelled) = torch.tensor([[True], [False]]), logits[:, 1].tolist()
    below = (unlabelled + 1) ** 2 / 4 - (labelled + 1) ** 2 / 8
    assert below < 0
    loss = PULoss(Priors(("a",), (0.1,), (0.5,)), PositiveUnlabelled(), Squared(), correction)
    value = loss(logits, labels)
    (gradient,) = torch.autograd.grad(value, logits)
    assert value.item() == pytest.approx(positive * (labelled - 1) ** 2 / 8 + negative * below)
    expected = [
        positive * (labelled - 1) / 4 - negative * (labelled + 1) / 4,
        negative * (unlabelled + 1) / 2,
    ]
    assert gradient[:, 1].tolist() == pytest.approx(expected)


# Class 0: the labelled pair is scored high, the unlabelled one just right: the negative part is below 0.
# --- Known negatives ---


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 9999), st.integers(1, 6), st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from(sorted(ESTIMATORS)),
    st.sampled_from(sorted(SURROGATES)[1:]), st.sampled_from(BATCH_CHOICES), st.booleans(),
)  # fmt: skip
def test_known_negatives_equal_plain_loops(seed, pairs, share, estimator, surrogate, choices, class_weight):
    priors = Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.2, 0.0))
    logits, labels, negatives, weights = reviewed_batch(seed, pairs, share)
    logits.requires_grad_()
    normalisation, correction = choices
    loss = compose(priors, estimator, surrogate, correction, normalisation, class_weight)
    found = loss(logits, labels, weights, negatives)
    expected = reviewed_loss(
        logits, labels, negatives, weights, priors.labelled, priors.overall, estimator=estimator, loss=surrogate,
        margin=0.25, normalisation=normalisation, class_weight=class_weight, correction=correction,
    )  # fmt: skip
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    gradients = [torch.autograd.grad(each, logits, allow_unused=True)[0] for each in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


LOGITS_BY_KIND = torch.tensor([[0.1, -0.6], [0.0, 0.3], [-0.2, 0.7]], dtype=torch.float64)


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@pytest.mark.parametrize("surrogate", PLAIN_SURROGATES)
def test_a_review_that_does_not_choose_by_score_leaves_the_loss_unbiased(surrogate, normalisation):
    reviewed = ReviewedPopulation(looked=(0.3, 0.3, 0.3))
    loss = PULoss(reviewed.priors(), ShiftedPositiveUnlabelled(), surrogate, "none", normalisation, False)
    found = loss(LOGITS_BY_KIND[reviewed.kinds], reviewed.labels, reviewed.weights, reviewed.negatives)
    torch.testing.assert_close(found, reviewed.supervised(LOGITS_BY_KIND, surrogate), rtol=1e-12, atol=0)


@pytest.mark.parametrize("correction", ["clamp", "flip"])
def test_no_correction_takes_a_known_negative_away(correction):
    """The estimate is below 0: unknown, the unlabelled pair has no gradient, or one of the wrong sign."""
    logits = torch.tensor([[0.0, 3.0], [0.0, 0.0]], requires_grad=True)
    labels, negatives = torch.tensor([[True], [False]]), torch.tensor([[False], [True]])
    priors = Priors(("a",), (0.1,), (0.6,))
    loss = PULoss(priors, ShiftedPositiveUnlabelled(), LogSigmoidRanking(), correction)
    (unknown,) = torch.autograd.grad(loss(logits, labels), logits)
    (known,) = torch.autograd.grad(loss(logits, labels, negatives=negatives), logits)
    assert unknown[1, 1] <= 0 < known[1, 1]
