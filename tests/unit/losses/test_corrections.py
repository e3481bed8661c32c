"""Clamp and flip, and which scores they teach."""

import torch

from unnoted.losses.corrections import CORRECTIONS, Clamp, Flip, Uncorrected
from unnoted.losses.estimators import PositiveUnlabelled
from unnoted.losses.positive_unlabelled import PULoss
from unnoted.losses.surrogates import Squared
from unnoted.priors import Priors

torch.set_num_threads(1)

LABELS = torch.tensor([[True, True], [False, False]])
# Class 0: the labelled pair is scored high, the unlabelled one just right: the negative part is below 0.
SCORES = torch.tensor([[0.0, 3.0, 0.5], [0.0, -0.9, 0.5]], dtype=torch.float64)


def value_and_gradient(correction):
    scores = SCORES.clone().requires_grad_()
    priors = Priors(("a", "b"), (0.1, 0.1), (0.5, 0.5))
    loss = PULoss(priors, PositiveUnlabelled(), Squared(), correction)
    value = loss(scores, LABELS)
    (gradient,) = torch.autograd.grad(value, scores)
    return value, gradient


def part_gradients():
    """By hand, π = ½ and γ = 1: of the positive part ½ ¼ (f − 1)² and of ¼ (f + 1)² − ½ ¼ (f + 1)²."""
    labelled, unlabelled = SCORES[0, 1:], SCORES[1, 1:]
    positive, negative = torch.zeros(2, 3, dtype=torch.float64), torch.zeros(2, 3, dtype=torch.float64)
    positive[0, 1:] = (labelled - 1) / 4
    negative[0, 1:] = -(labelled + 1) / 4
    negative[1, 1:] = (unlabelled + 1) / 2
    values = ((labelled - 1) ** 2 / 8, (unlabelled + 1) ** 2 / 4 - (labelled + 1) ** 2 / 8)
    return positive, negative, values


def test_the_first_class_is_below_zero_and_the_second_is_not():
    negative_part = part_gradients()[2][1]
    assert negative_part[0] < 0 < negative_part[1]


def test_uncorrected_adds_the_parts():
    positive, negative, values = part_gradients()
    value, gradient = value_and_gradient(Uncorrected())
    torch.testing.assert_close(value, values[0].sum() + values[1].sum())
    torch.testing.assert_close(gradient, positive + negative)


def test_clamp_leaves_the_positives_to_teach():
    positive, negative, values = part_gradients()
    value, gradient = value_and_gradient(Clamp())
    torch.testing.assert_close(value, values[0].sum() + values[1][1])
    expected = positive + negative
    expected[:, 1] = positive[:, 1]
    torch.testing.assert_close(gradient, expected)
    assert gradient[1, 1] == 0  # the unlabelled pair teaches nothing


def test_flip_climbs_the_negative_part_and_drops_the_positives():
    positive, negative, values = part_gradients()
    value, gradient = value_and_gradient(Flip())
    torch.testing.assert_close(value, -values[1][0] + values[0][1] + values[1][1])
    expected = positive + negative
    expected[:, 1] = -negative[:, 1]
    torch.testing.assert_close(gradient, expected)


def test_a_step_of_flip_raises_the_negative_part():
    _, gradient = value_and_gradient(Flip())
    scores = SCORES - 0.01 * gradient

    def negative_part(s):
        return (s[1, 1] + 1) ** 2 / 4 - (s[0, 1] + 1) ** 2 / 8

    assert negative_part(scores) > negative_part(SCORES)


def test_corrections_differ_only_below_zero():
    parts = torch.tensor([2.0, 0.5]), torch.tensor([0.0, 1.5])
    assert all(torch.equal(c(*parts), torch.tensor([2.0, 2.0])) for c in CORRECTIONS.values())
