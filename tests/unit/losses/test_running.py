"""The correction by running estimates: against plain loops, in the toy that shows why, and its memory."""

import numpy as np
import pytest
import torch
from tests.making import make_loss
from tests.reference.pu_losses import running_loss

from unnoted.losses import PULoss
from unnoted.losses.corrections import CORRECTIONS, Running
from unnoted.losses.estimators import ShiftedPositiveUnlabelled
from unnoted.losses.normalisations import NORMALISATIONS
from unnoted.losses.surrogates import SquaredRanking
from unnoted.priors import Priors

torch.set_num_threads(1)

UNBIASED = {"correction": "running", "normalisation": "expected"}
PRIORS = Priors(("a", "b"), (0.05, 0.2), (0.4, 0.3))


def batches(count=12, pairs=9):
    rng = np.random.default_rng(4)
    for _ in range(count):
        labels = torch.tensor(rng.random((pairs, 2)) < (0.05, 0.2))
        scores = torch.tensor(rng.normal(-0.2, 0.3, (pairs, 3)))
        scores[:, 1:] += 0.6 * labels  # labelled pairs are known too well
        yield scores, labels, torch.tensor(rng.choice([1.0, 2.0], pairs))


def test_values_and_gradients_are_those_of_plain_loops():
    loss = make_loss("ssr-pu", PRIORS, **UNBIASED)
    seen = [(scores.requires_grad_(), labels, weights) for scores, labels, weights in batches()]
    plain = running_loss(seen, PRIORS.labelled, PRIORS.overall)
    differ = 0
    for batch, expected in zip(seen, plain, strict=True):
        found = loss(*batch)
        torch.testing.assert_close(found, expected)
        gradients = [torch.autograd.grad(value, batch[0])[0] for value in (found, expected)]
        torch.testing.assert_close(*gradients)
        clamped = make_loss("ssr-pu", PRIORS, correction="clamp", normalisation="expected")(*batch)
        differ += not torch.allclose(found, clamped)
    assert differ > 3


def corrected_share(running, share, negatives=-0.23, steps=400, seed=0):
    """How many class-batches are corrected near the optimum, with a share of the unlabelled pairs."""
    rng = np.random.default_rng(seed)
    labelled = np.geomspace(3e-5, 3e-3, 24)
    priors = Priors(tuple(f"r{k}" for k in range(24)), tuple(labelled), tuple(3 * labelled))
    name = "running" if running else "flip"
    loss = PULoss(
        priors,
        ShiftedPositiveUnlabelled(),
        SquaredRanking(),
        Noting(CORRECTIONS[name]),
        NORMALISATIONS["expected"],
    )
    labels, place = rows(24)
    scores = torch.full((49, 25), negatives)
    scores[:, 0] = 0
    scores[place] = 0.2
    for _ in range(steps):
        loss(scores, labels, counted(rng, labelled, share))
    return float(torch.stack(loss.correction.seen[steps // 4 :]).mean())


class Noting:
    """A correction that notes which classes it corrects."""

    def __init__(self, correction):
        self.correction, self.is_running, self.name = correction, correction.is_running, correction.name
        self.seen = []

    def __call__(self, positive, negative, judged=None):
        self.seen.append(((negative if judged is None else judged) < 0).float())
        return self.correction(positive, negative, judged)


class RunningFlip(Running):
    """What was tried and does worse: where the running estimate is below 0, minus the negative part."""

    def __call__(self, positive, negative, judged=None):
        return (-negative).where(judged < 0, positive + negative)


def rows(classes):
    """Two rows for each class, labelled and hidden positives, and one for all others; where positives score."""
    labels = torch.zeros(2 * classes + 1, classes, dtype=torch.bool)
    labels[torch.arange(classes), torch.arange(classes)] = True
    return labels, (torch.arange(2 * classes), torch.arange(classes).repeat(2) + 1)


def counted(rng, labelled, share=1.0, pairs=1500):
    """How many pairs each row stands for in a batch drawn at random, with a sample of the unlabelled ones."""
    found = rng.binomial(pairs, labelled)
    hidden = rng.binomial(rng.binomial(pairs, 2 * labelled), share) / share
    rest = pairs - found.sum() - hidden.sum()
    return torch.tensor([*found, *hidden, rest], dtype=torch.float32)


def test_a_sample_of_unlabelled_pairs_hardly_adds_corrections():
    by_batch = [corrected_share(False, share) for share in (1, 0.25, 0.05)]
    running = [corrected_share(True, share) for share in (1, 0.25, 0.05)]
    assert by_batch[2] > by_batch[0] + 0.05, (by_batch, running)
    assert all(found < before for found, before in zip(running, by_batch, strict=True)), (by_batch, running)
    assert running[2] < by_batch[0], (by_batch, running)


def learnt(correction, normalisation, steps=1500, copies=4, rate=8e-3):
    """The margin of a certain positive after training, for each labelled prior: one class, exact priors."""
    levels = (3e-5, 1e-4, 1e-3)
    labelled, rng = np.repeat(levels, copies), np.random.default_rng(0)
    classes = len(labelled)
    priors = Priors(tuple(f"r{k}" for k in range(classes)), tuple(labelled), tuple(3 * labelled))
    loss = PULoss(
        priors,
        ShiftedPositiveUnlabelled(),
        SquaredRanking(),
        RunningFlip() if correction == "running-flip" else CORRECTIONS[correction],
        NORMALISATIONS[normalisation],
    )
    labels, place = rows(classes)
    positive, negative = torch.zeros(classes, requires_grad=True), torch.zeros(classes, requires_grad=True)
    optimiser = torch.optim.Adam([positive, negative], rate)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * (1 - step / steps)
        none = torch.zeros(len(labels), 1)
        scores = torch.cat([none, negative.expand(len(labels), -1)], 1)
        scores = scores.index_put(place, positive.repeat(2))
        loss(scores, labels, counted(rng, labelled)).backward()
        optimiser.step()
        optimiser.zero_grad()
    return positive.detach().view(len(levels), copies).mean(1).tolist()


@pytest.mark.parametrize(
    ("correction", "normalisation", "lowest", "highest"),
    [
        ("running", "expected", (0.24, 0.245, 0.245), 0.2505),
        ("flip", "per-batch", (-0.25, -0.25, 0.19), 0.235),  # the paper's: rare classes are not learnt
    ],
)
def test_a_separable_class_is_learnt_however_rare(correction, normalisation, lowest, highest):
    margins = learnt(correction, normalisation)
    assert all(low < margin < highest for low, margin in zip(lowest, margins, strict=True)), margins


def test_what_was_seen_is_kept_forgotten_and_left_alone_in_evaluation():
    loss = make_loss("ssr-pu", PRIORS, **UNBIASED)
    first, second, *_ = batches()
    alone = loss(*first)
    kept = {name: value.clone() for name, value in loss.state_dict().items()}
    assert list(kept) == ["recent.sums"] and kept["recent.sums"].count_nonzero() > 0
    loss.eval()
    loss(*second)
    assert torch.equal(loss.state_dict()["recent.sums"], kept["recent.sums"])
    loss.train()
    loss(*second)
    assert not torch.equal(loss.state_dict()["recent.sums"], kept["recent.sums"])
    loss.forget()
    assert torch.equal(loss(*first), alone)
    other = make_loss("ssr-pu", PRIORS, **UNBIASED)
    other.load_state_dict(kept)
    assert torch.equal(other(*second), loss(*second))


def test_a_flip_by_expected_counts_is_refused():
    with pytest.raises(
        ValueError, match=r"correction: found 'flip' with normalisation 'expected', expected 'running'"
    ):
        make_loss("ssr-pu", PRIORS, normalisation="expected")
    with pytest.raises(
        ValueError, match="largest_weight: found 5 with normalisation 'per-batch', expected none"
    ):
        make_loss("ssr-pu", PRIORS, largest_weight=5)


def test_a_limit_divides_the_class_weight_and_nothing_else():
    """Of 10 pairs, 0.5 and 2 are to be expected; one of the first class weighs 2, with a limit 1."""
    priors = Priors(("a", "b"), (0.05, 0.2), (0.1, 0.4))
    scores, labels, _ = next(batches(pairs=10))
    labels[0] = True
    parts = {}
    for limit in (None, 1.0):
        for weighted in (True, False):
            loss = make_loss(
                "ssr-pu", priors, correction="none", normalisation="expected", largest_weight=limit,
                class_weight=weighted,
            )  # fmt: skip
            parts[limit, weighted] = loss.of_classes(scores, labels, torch.ones(10, dtype=torch.float64))
    gamma = torch.tensor(priors.class_weight, dtype=torch.float64)
    positive = (parts[None, True] - parts[None, False]) / (gamma - 1)
    limited = (parts[1.0, True] - parts[1.0, False]) / (gamma - 1)
    torch.testing.assert_close(limited, positive * torch.tensor([0.5, 1.0], dtype=torch.float64))
    torch.testing.assert_close(parts[1.0, True] - gamma * limited, parts[None, True] - gamma * positive)
