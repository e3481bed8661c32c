"""How complete the labels are, and how frequent labels were, estimated from the decisions of a review.

Completeness is the share of true facts that is in the corpus: labelled before, or accepted since. What is not
known is how many of the undecided suggestions hold. Model probabilities may be wrong by any factor, so the
estimate rests on the design of the review alone.

**The sample** is what the random order brought without a filter. Its next suggestion is a uniform draw from
those that were undecided *then*, whatever had been decided before, in whichever order and for whatever
reason. Decisions in other orders, or under a filter, are no sample of anything; their outcome is known.

**The likelihood.** Let S facts hold among the N suggestions at the start. Before the j-th draw, n_j are
undecided, and S - D_j of them hold, where D_j is the number of facts accepted until then in any way. So

    P(draw j holds | everything before it) = (S - D_j) / n_j,

and the product over draws is the likelihood of S: hypergeometric for an undisturbed sample, and right however
other decisions come between. Its maximum is the estimate. The missing facts are S minus all accepted ones.
The upper end of the interval is a quantile under the prior Beta(1/2, 1/2) of the rate, the lower end one
under Beta(0, 1), so that no fact need be missing where no draw held.

Strata by score would not make the interval narrower: in simulated reviews they did not (tests).

**What is outside.** Facts below the list's cutoff cannot be drawn. They are counted as the model expects
them, scaled as the undecided suggestions are. Facts between entities that were not marked, and of relations
that are not scored, are not counted. Suggestions that nobody can tell are left out on both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.suggestions.ranking import Order

LEVEL = 0.95
"""Nominal coverage of the interval; at least 93 % is what is tested."""

ENOUGH_DECISIONS = 200
"""Random decisions from which the interval covers the truth as often as it says, on DocRED's suggestions (docs)."""

GRID = 2000
"""How many numbers of missing facts the likelihood is computed for at most."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What a review knows of one suggestion that is decided.

    Attributes:
        suggestion: its position in the list.
        holds: what stands now; None if it cannot be told.
        order: in which it was first brought to a reviewer who decided it.
        filtered: whether a filter (on relations, documents, scores) was on then.
        number: the sequence number of that first decision: decisions with lower numbers came before it.
    """

    suggestion: int
    holds: bool | None
    order: Order
    filtered: bool
    number: int

    @property
    def is_random(self) -> bool:
        """Whether it is a uniform draw from what was undecided."""
        return self.order is Order.RANDOM and not self.filtered


@dataclass(frozen=True, slots=True)
class BelowCutoff:
    """What was scored and did not come onto the list: too improbable, or one too many.

    Attributes:
        candidates: how many unlabelled facts.
        expected: how many of them hold by their probabilities; None if the scores are not calibrated.
    """

    candidates: int = 0
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class Completeness:
    """An estimate of how complete labels are.

    Attributes:
        found: facts in the corpus: labelled, accepted or added.
        missing: true facts that are thought to be missing.
        missing_low: the lower end of its interval.
        missing_high: the upper end.
        sampled: random decisions that it rests on.
        below_cutoff: how many of `missing` were never listed.

    Example:
        >>> found = Completeness(found=60, missing=40.0, missing_low=20.0, missing_high=90.0, sampled=100)
        >>> found.estimate, found.low, found.high
        (0.6, 0.4, 0.75)
        >>> found.multiplier(50)  # of the labels before the review
        (2.0, 1.6, 3.0)
    """

    found: int
    missing: float
    missing_low: float
    missing_high: float
    sampled: int
    below_cutoff: float = 0.0

    @property
    def estimate(self) -> float:
        """The share of true facts that is in the corpus."""
        return self._share(self.missing)

    @property
    def low(self) -> float:
        """The lower end of its interval."""
        return self._share(self.missing_high)

    @property
    def high(self) -> float:
        """The upper end of its interval."""
        return self._share(self.missing_low)

    def multiplier(self, labels: int | None = None) -> tuple[float, float, float]:
        """True facts for each label, which is 1 over the label frequency, with its interval.

        Args:
            labels: how many labels; by default those of the reviewed corpus, for training on it.
        """
        count = max(self.found if labels is None else labels, 1)
        missing = self.missing, self.missing_low, self.missing_high
        estimate, low, high = ((self.found + each) / count for each in missing)
        return estimate, low, high

    def _share(self, missing: float) -> float:
        return self.found / (self.found + missing) if self.found + missing else 1.0


def estimate_completeness(
    labelled: int,
    scores: Array,
    decisions: Sequence[ReviewDecision],
    below_cutoff: BelowCutoff | None = None,
) -> Completeness:
    """Estimate how complete labels are, with an interval.

    Args:
        labelled: facts in the corpus apart from accepted suggestions: labels that nobody rejected, and facts
            that reviewers added.
        scores: float [N], of every suggestion of the list.
        decisions: at most one for each suggestion, in any order.
        below_cutoff: what was scored and is not on the list.

    Example:
        >>> random = np.random.default_rng(1)
        >>> scores = random.random(2000)
        >>> truth = random.random(2000) < scores / 2  # the model is twice too sure
        >>> order = random.permutation(2000)[:200].tolist()
        >>> decisions = [ReviewDecision(i, bool(truth[i]), Order.RANDOM, False, n) for n, i in enumerate(order)]
        >>> found = estimate_completeness(500, scores, decisions)
        >>> true = truth.sum() - truth[order].sum()
        >>> bool(found.missing_low < true < found.missing_high), bool(abs(found.missing - true) < 60)
        (True, True)
    """
    told = sorted((each for each in decisions if each.holds is not None), key=lambda each: each.number)
    holds = np.array([bool(each.holds) for each in told], dtype=np.float64)
    draws = np.flatnonzero([each.is_random for each in told])
    undecided = np.ones(len(scores), np.bool_)
    undecided[[each.suggestion for each in decisions]] = False
    if len(draws):
        missing, low, high = _missing(int(undecided.sum()), holds, draws)
    else:  # as the model says, and nothing is certain
        missing, low, high = float(scores[undecided].sum()), 0.0, float(undecided.sum())
    rest, expected = below_cutoff or BelowCutoff(), float(scores[undecided].sum())
    outside, least, most = (
        min((rest.expected or 0.0) * (each / expected if expected and len(draws) else 1.0), rest.candidates)
        for each in (missing, low, high)
    )
    return Completeness(
        labelled + int(holds.sum()), missing + outside, low + least, high + most, len(draws), outside
    )


def _missing(undecided: int, holds: Array, draws: NDArray[np.int64]) -> tuple[float, float, float]:
    """How many of the undecided hold: the estimate, and both ends of the interval.

    Args:
        undecided: how many suggestions are left.
        holds: 0 or 1 for each decision, in their sequence.
        draws: which of them are random draws, ascending.
    """
    missing = np.unique(np.linspace(0, undecided, min(GRID, undecided + 1)).round())  # m, [G]
    pool = undecided + len(holds) - draws  # n_j
    accepted = (np.cumsum(holds[::-1])[::-1])[draws]  # of the facts among these n_j, those that were found
    log_likelihood = np.zeros(len(missing))
    with np.errstate(divide="ignore"):
        for n, k, y in zip(pool, accepted, holds[draws], strict=True):
            log_likelihood += np.log((missing + k) / n if y else 1 - (missing + k) / n)
    total = missing + accepted[0]  # S, among the N = n_1 at the first draw

    def quantile(share: float, a: float, b: float) -> float:
        log_prior = (a - 1) * np.log(total + 0.5) + (b - 1) * np.log(pool[0] - total + 0.5)
        weight = np.exp(log_likelihood + log_prior - np.max(log_likelihood + log_prior))
        if len(missing) > 1:
            weight *= np.gradient(missing)
        return float(missing[np.searchsorted(np.cumsum(weight) / weight.sum(), share)])

    estimate = float(missing[np.argmax(log_likelihood)])
    low = quantile((1 - LEVEL) / 2, 0, 1) if holds[draws].any() else 0.0
    return estimate, min(low, estimate), max(quantile((1 + LEVEL) / 2, 0.5, 0.5), estimate)
