"""The interval of completeness holds the truth in simulated reviews with filters and orders mixed."""

import math

import numpy as np
import pytest

from unnoted.suggestions import BelowCutoff, Order, ReviewDecision, estimate_completeness

LABELLED = 500


class Review:
    """A list of suggestions whose truth departs from the scores by relation and by document, and a reviewer."""

    def __init__(self, seed, size=3000, relations=10):
        self.rng = rng = np.random.default_rng(seed)
        self.relation, self.document = rng.integers(relations, size=size), rng.integers(size // 15, size=size)
        self.scores = rng.beta(0.35, 2.2, size).clip(0.01, 0.99)
        shift = rng.uniform(-1.5, 1.5, relations)
        log_odds = np.log(self.scores / (1 - self.scores)) + shift[self.relation]
        log_odds += rng.normal(size=size // 15)[self.document] / 2
        self.truth = rng.random(size) < 1 / (1 + np.exp(-log_odds))
        self.best_relations = np.argsort(-shift)
        self.permutation = rng.permutation(size)
        self.decided = np.zeros(size, np.bool_)
        self.decisions = []

    def decide(self, items, order, filtered):
        for item in items:
            self.decided[item] = True
            number = len(self.decisions)
            self.decisions.append(ReviewDecision(int(item), bool(self.truth[item]), order, filtered, number))

    def random(self, count, only=None):
        open_ = ~self.decided if only is None else ~self.decided & only
        self.decide(self.permutation[open_[self.permutation]][:count], Order.RANDOM, only is not None)

    def by_score(self, count, only=None):
        open_ = np.flatnonzero(~self.decided if only is None else ~self.decided & only)
        best = open_[np.argsort(-self.scores[open_], kind="stable")]
        self.decide(best[:count], Order.SCORE, only is not None)

    def best(self, place):
        return self.relation == self.best_relations[place]

    def relations(self, *places):
        for place in places:
            self.by_score(len(self.scores), self.best(place))

    def what_reads_as_true(self):
        true = np.flatnonzero(~self.decided & self.truth & (self.rng.random(len(self.truth)) < 0.5))
        self.decide(self.rng.permutation(true)[:250], Order.SCORE, False)

    def mixed(self):
        for _ in range(5):
            self.random(25)
            self.by_score(60)
            self.random(40, self.relation == self.rng.integers(10))
            self.by_score(30, self.document < 20)

    def outcome(self):
        """Whether the interval holds the truth, and the error of the missing facts."""
        missing = self.truth[~self.decided].sum()
        found = estimate_completeness(LABELLED, self.scores, self.decisions)
        assert found.found == LABELLED + self.truth[self.decided].sum()
        assert found.missing_low <= found.missing <= found.missing_high
        return found.missing_low <= missing <= found.missing_high, found.missing - missing


SCENARIOS = {
    "random": lambda review: review.random(100),
    "much random": lambda review: review.random(400),
    "best relations, then random": lambda review: (review.relations(0, 1), review.random(100)),
    "random, then best relations": lambda review: (review.random(100), review.relations(0, 1)),
    "random, then poor relations": lambda review: (review.random(100), review.relations(-2, -1)),
    "what reads as true, then random": lambda review: (review.what_reads_as_true(), review.random(100)),
    "random, then what reads as true": lambda review: (review.random(100), review.what_reads_as_true()),
    "random under a filter, then random": lambda review: (
        review.random(200, review.best(0)),
        review.random(100),
    ),
    "by score, then random": lambda review: (review.by_score(300), review.random(60)),
    "all mixed": Review.mixed,
}


def coverage(scenario, repeats):
    outcomes = []
    for seed in range(repeats):
        review = Review(seed)
        SCENARIOS[scenario](review)
        outcomes.append(review.outcome())
    covered, errors = np.array(outcomes).T
    return covered.mean(), errors.mean() / (errors.std() / math.sqrt(repeats))


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    ("repeats", "least"),
    [(100, 0.9), pytest.param(600, 0.93, marks=pytest.mark.slow)],  # two standard errors below 0.95
)
def test_the_interval_covers_the_truth(scenario, repeats, least):
    covered, bias = coverage(scenario, repeats)
    assert covered >= least
    assert abs(bias) < 4


def test_an_undisturbed_sample_has_the_hypergeometric_likelihood():
    """20 of 60 are drawn, 5 of them hold: the estimate maximises C(S, 5) C(60 - S, 15)."""
    decisions = [ReviewDecision(i, i < 5, Order.RANDOM, False, i) for i in range(20)]
    found = estimate_completeness(0, np.full(60, 0.5), decisions)
    likelihood = {s: math.comb(s, 5) * math.comb(60 - s, 15) for s in range(5, 46)}
    assert found.missing == max(likelihood, key=likelihood.get) - 5
    weight = {  # times the prior of the rate, Beta(1/2, 1/2)
        s: likelihood[s] * math.gamma(s + 0.5) / math.gamma(s + 1) * math.gamma(60.5 - s) / math.gamma(61 - s)
        for s in likelihood
    }
    total, cumulated = sum(weight.values()), 0.0
    for s, each in weight.items():
        cumulated += each / total
        if cumulated >= 0.975:
            assert found.missing_high == pytest.approx(s - 5, abs=1)
            break


def test_more_decisions_make_it_narrower_and_all_make_it_certain():
    review, widths = Review(0), []
    for count in (0, 50, 450, 2500):
        review.random(count)
        found = estimate_completeness(LABELLED, review.scores, review.decisions)
        widths.append(found.high - found.low)
        assert found.sampled == len(review.decisions)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0.8  # nothing is known
    assert widths[-1] == 0


def test_without_a_sample_the_model_is_believed_and_nothing_is_certain():
    found = estimate_completeness(3, np.array([0.5, 0.25]), [])
    assert (found.missing, found.estimate, found.low, found.high) == (0.75, 3 / 3.75, 3 / 5, 1.0)
    only_filtered = [ReviewDecision(0, True, Order.RANDOM, True, 0)]
    found = estimate_completeness(3, np.array([0.5, 0.25]), only_filtered)
    assert (found.found, found.missing, found.sampled, found.low) == (4, 0.25, 0, 4 / 5)


def test_where_no_draw_holds_nothing_need_be_missing():
    decisions = [ReviewDecision(i, False, Order.RANDOM, False, i) for i in range(50)]
    found = estimate_completeness(10, np.full(1000, 0.1), decisions)
    assert found.missing == found.missing_low == 0 and 10 < found.missing_high < 100


def test_what_cannot_be_told_is_left_out_on_both_sides():
    review = Review(1)
    review.random(200)
    told = [each for each in review.decisions if each.number >= 50]
    untold = [ReviewDecision(e.suggestion, None, e.order, False, e.number) for e in review.decisions[:50]]
    kept = np.ones(len(review.scores), np.bool_)
    kept[[each.suggestion for each in untold]] = False
    position = np.cumsum(kept) - 1
    without = [ReviewDecision(int(position[e.suggestion]), e.holds, e.order, False, e.number) for e in told]
    found = estimate_completeness(400, review.scores, [*untold, *told])
    assert found == estimate_completeness(400, review.scores[kept], without)
    assert found.sampled == 150


def test_facts_below_the_cutoff_are_scaled_as_the_undecided_ones():
    decisions = [ReviewDecision(i, i % 20 == 0, Order.RANDOM, False, i) for i in range(100)]
    found = estimate_completeness(50, np.full(1000, 0.1), decisions, BelowCutoff(10**6, 80.0))
    assert found.below_cutoff == pytest.approx(40, abs=1)  # half as many as the model expects
    assert found.missing == pytest.approx(45 + 40, abs=2)
    assert estimate_completeness(50, np.full(1000, 0.1), decisions, BelowCutoff(7, 80.0)).below_cutoff == 7


def test_the_multiplier_of_the_label_frequency_covers_the_truth():
    """The same random decisions say how many true facts there are for each label before the review."""
    covered = []
    for seed in range(40):
        review = Review(100 + seed)
        SCENARIOS["random, then best relations"](review)
        found = estimate_completeness(LABELLED, review.scores, review.decisions)
        true = (LABELLED + review.truth.sum()) / LABELLED
        _, low, high = found.multiplier(LABELLED)
        covered.append(low <= true <= high)
        assert found.multiplier()[0] == pytest.approx(1 / found.estimate)
    assert np.mean(covered) >= 0.88
