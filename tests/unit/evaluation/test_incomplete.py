"""Scores corrected for missing gold: equal to plain loops, unbiased, and with intervals that hold the truth."""

import itertools
from collections import Counter
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import incomplete as reference
from tests.unit.inference.making import corpus, reading_model

from unnoted.data.document import Fact
from unnoted.evaluation import LabelFrequency, correct_scores, evaluate_extractor
from unnoted.evaluation.incomplete import NORMAL, Ranking
from unnoted.evaluation.metrics import Gold
from unnoted.evaluation.significance import draw_documents
from unnoted.inference import Extractor
from unnoted.priors import Priors


def gold_of(facts, documents=()):
    return Gold(dict.fromkeys([*documents, *(key[0] for key in facts)]), dict.fromkeys(facts))


def ranking_of(scores, gold):
    """Of predictions with their scores, {key: score}."""
    documents, relations = ([key[part] for key in scores] for part in (0, 3))
    return Ranking(documents, relations, list(scores.values()), [key in gold.facts for key in scores])


@st.composite
def cases(draw):
    """Gold facts, predictions with scores (some of documents that do not exist), and label frequencies."""
    document, relation = st.sampled_from(["a", "b", "c"]), st.sampled_from(["r", "s"])
    keys = st.tuples(document | st.just("nowhere"), st.integers(0, 2), st.integers(3, 4), relation)
    facts = st.lists(
        st.tuples(document, st.integers(0, 2), st.integers(3, 4), relation), min_size=1, unique=True
    )
    shares = {name: draw(st.sampled_from([0.2, 0.5, 1.0])) for name in "rs"}
    scores = draw(st.dictionaries(keys, st.sampled_from([0.1, 0.4, 0.7]), max_size=15))
    return draw(facts), scores, shares


def by_relation(shares, gold):
    """A label frequency for each relation, and over all of these facts."""
    counts = Counter(key[3] for key in gold)
    all_ = sum(counts.values()) / sum(count / shares[name] for name, count in counts.items())
    return LabelFrequency(all_, all_, all_, relations=shares)


@given(cases(), st.integers(0, 5))
def test_the_equations_in_plain_loops(case, seed):
    facts, scores, shares = case
    gold = gold_of(facts, "abc")
    decided = [key for key, score in scores.items() if score > 0.2]
    frequency = by_relation(shares, facts)
    found = correct_scores(gold, decided, frequency, ranking=ranking_of(scores, gold), resamples=7, seed=seed)
    rows = [(key[0], key[3]) for key in facts]
    ranked = [(key[0], key[3], score, key in gold.facts) for key, score in scores.items()]
    chosen = [row for row in ranked if row[2] > 0.2]

    def expected(drawn=None):
        area = reference.average_precision(rows, ranked, shares, drawn)
        return *reference.figures(rows, chosen, shares, drawn=drawn), area

    assert astuple(found.estimate) == pytest.approx(expected())
    for favour, figures in found.by_favour:
        assert astuple(figures)[:3] == pytest.approx(reference.figures(rows, chosen, shares, favour))
    names = [*"abc", *(["nowhere"] if any(key[0] == "nowhere" for key in scores) else [])]
    (times,) = draw_documents(len(names), 7, seed)
    values = [expected([name for name, n in zip(names, row, strict=True) for _ in range(n)]) for row in times]
    for end, share in ((found.low, 2.5), (found.high, 97.5)):
        assert astuple(end) == pytest.approx(np.percentile(values, share, axis=0))


@pytest.mark.parametrize("shares", [{"r": 0.5, "s": 0.5}, {"r": 0.25, "s": 0.8}])
def test_unbiased_over_all_labellings(shares):
    """Exactly, of the true predictions, the true facts and the area under the curve, weighted by probability."""
    true = [("d", 0, number, "rs"[number % 2]) for number in range(1, 8)]
    missed = 2  # true facts that are not predicted
    wrong = [("d", 1, number, "r") for number in range(50)]  # ranked first, so that no precision reaches 1
    ranked = [*wrong[:45], *true[missed:], *wrong[45:]]
    scores = {key: -float(place) for place, key in enumerate(ranked)}
    frequency = LabelFrequency(0.5, 0.5, 0.5, relations=shares)
    sums = np.zeros(3)
    for labels in itertools.product([False, True], repeat=len(true)):
        chance = np.prod(
            [shares[key[3]] if on else 1 - shares[key[3]] for key, on in zip(true, labels, strict=True)]
        )
        gold = gold_of([key for key, on in zip(true, labels, strict=True) if on], "d")
        if gold.facts:  # without any, all three are 0
            found = correct_scores(gold, ranked, frequency, ranking=ranking_of(scores, gold), resamples=1)
            area = found.estimate.average_precision * found.true_facts
            sums += chance * np.array([found.true_predictions, found.true_facts, area])
    area = sum((place + 1) / (46 + place) for place in range(len(true) - missed))
    assert sums == pytest.approx([len(true) - missed, len(true), area])


def test_complete_gold_needs_no_correction():
    gold = gold_of([("d", 0, 1, "r"), ("d", 0, 2, "r"), ("e", 0, 1, "s")])
    found = correct_scores(gold, [("d", 0, 1, "r"), ("d", 5, 1, "r")], LabelFrequency.from_range(1, 1))
    assert (found.estimate.precision, found.estimate.recall) == (0.5, pytest.approx(1 / 3))
    assert found.least == found.most
    assert found.relations["s"].recall == 0 and found.macro_f1 == pytest.approx(0.25)


LABELLED = [("d", 0, number, "r") for number in range(1, 5)]
UNLABELLED = [("d", 1, number, "r") for number in range(2, 8)]


def test_more_true_predictions_than_predictions_are_refuted():
    found = correct_scores(
        gold_of(LABELLED), LABELLED[:3] + UNLABELLED[:1], LabelFrequency.from_range(0.5, 0.5)
    )
    assert found.excess == 1.5
    assert astuple(found.estimate) == (pytest.approx(2 / 3), 1.0, 0.5, None)  # 4 of 4 hold, of 8 facts


def test_bounds_hold_whatever_was_labelled():
    """3 of 8 predictions are labelled, and 4 facts of 8: the 4 others may all be among the 5, or none."""
    found = correct_scores(
        gold_of(LABELLED), LABELLED[:3] + UNLABELLED[:5], LabelFrequency.from_range(0.5, 0.5)
    )
    assert (found.least.precision, found.least.recall) == (3 / 8, 3 / 8)
    assert (found.most.precision, found.most.recall) == (7 / 8, 7 / 8)


def test_checked_predictions_tell_without_the_assumption():
    predicted = LABELLED[:2] + UNLABELLED
    frequency = LabelFrequency.from_range(0.4, 0.4)
    found = correct_scores(gold_of(LABELLED), predicted, frequency, checked=(1, 3))
    assert (found.true_predictions, found.estimate.precision) == (4, 0.5)
    assert found.estimate.recall == pytest.approx(0.4) and found.favour == pytest.approx((2 / 4) / 0.4)
    assert not found.by_favour and found.estimate.average_precision is None
    # 8 of 8 hold, and 2 more are labelled: there cannot be as few true facts as 4 ÷ 0.5
    all_hold = correct_scores(
        gold_of(LABELLED), predicted, LabelFrequency.from_range(0.5, 0.5), checked=(6, 6)
    )
    assert all_hold.true_facts == 10 and all_hold.estimate.recall == 0.8
    for checked in ((2, 7), (3, 2), (-1, 3)):
        with pytest.raises(ValueError, match="checked"):
            correct_scores(gold_of(LABELLED), predicted, frequency, checked=checked)


def test_label_frequencies():
    counted = LabelFrequency.from_counts(54, 150)
    for end in (
        counted.low,
        counted.high,
    ):  # where a share is as far from the estimate as Wilson's interval is
        assert (counted.estimate - end) ** 2 == pytest.approx(NORMAL**2 * end * (1 - end) / 150)
    assert LabelFrequency.from_counts(3, 3).high == 1
    again = LabelFrequency.from_interval(counted.estimate, counted.low, counted.high)
    assert again.sample == pytest.approx(150, rel=0.05)
    labelled = Priors.from_counts(("r", "s", "none"), {"r": 10, "s": 5}, 1000)
    priors = LabelFrequency.from_priors(Priors(labelled.relations, labelled.labelled, (0.02, 0.02, 0.0)))
    assert priors.relations == {"r": 0.5, "s": 0.25} and priors.estimate == pytest.approx(15 / 40)
    assert priors.weights(["s", "r"], priors.estimate) == pytest.approx([4, 2])


@pytest.mark.parametrize(
    "make",
    [
        lambda: LabelFrequency.from_priors(Priors(("r",), (0.0,), (0.1,))),
        lambda: LabelFrequency.from_range(0, 0.5),
        lambda: LabelFrequency.from_range(0.5, 0.3),
        lambda: LabelFrequency.from_range(0.5, 1.3),
        lambda: LabelFrequency.from_range(float("nan"), 0.5),
        lambda: LabelFrequency.from_counts(0, 5),
        lambda: LabelFrequency.from_counts(6, 5),
    ],
)
def test_impossible_label_frequencies(make):
    with pytest.raises(ValueError, match="label frequency"):
        make()


def test_models_are_corrected_over_all_their_scores():
    extractor = Extractor(reading_model())
    gold = [
        document.with_facts(Fact(fact.head, fact.tail, fact.relation) for fact in found.facts[::2])
        for document, found in zip(corpus(), extractor.extract(corpus()), strict=True)
    ]
    evaluation = evaluate_extractor(extractor, gold, label_frequency=LabelFrequency.from_range(1, 1))
    estimate = evaluation.corrected.estimate
    assert estimate.average_precision == pytest.approx(evaluation.curve.average_precision)
    assert 0 < estimate.f1 == pytest.approx(evaluation.overall.f1)


# Simulations


class World:
    """Documents of which some are easy for a system; pairs may have two relations; some facts are never predicted."""

    def __init__(self, seed, share=0.36, favour=1.0, documents=120, relations=(0.2, 0.35, 0.6)):
        rng = np.random.default_rng(seed)
        self.true, self.scores, labelled = set(), {}, []
        for document in map(str, range(documents)):
            skill = rng.beta(4, 3)
            for head in range(rng.poisson(8)):
                for relation in rng.permutation(3)[: 1 + (rng.random() < 0.3)].tolist():
                    fact = document, head, 99, f"r{relation}"
                    self.true.add(fact)
                    is_scored = rng.random() < skill + 0.2
                    if is_scored:
                        self.scores[fact] = rng.normal(1)
                    is_decided = is_scored and self.scores[fact] > 0.5
                    chance = relations[relation] if share is None else share * (favour if is_decided else 1)
                    if rng.random() < chance:
                        labelled.append(fact)
            for number in range(rng.poisson(10 * (1.2 - skill))):
                self.scores[document, number, 100, f"r{rng.integers(3)}"] = rng.normal()
        self.gold = gold_of(labelled, map(str, range(documents)))
        self.decided = [key for key, score in self.scores.items() if score > 0.5]
        self.share = len(labelled) / len(self.true)
        self.rng = rng

    def corrected(self, frequency, checked=None):
        ranking = ranking_of(self.scores, self.gold)
        return correct_scores(
            self.gold, self.decided, frequency, ranking=ranking, checked=checked, resamples=200
        )

    def truth(self):
        """The same figures against complete gold."""
        complete = gold_of(self.true, self.gold.documents)
        return correct_scores(
            complete,
            self.decided,
            LabelFrequency.from_range(1, 1),
            ranking=ranking_of(self.scores, complete),
            resamples=1,
        ).estimate

    def checked(self, number):
        open_ = [key for key in self.decided if key not in self.gold.facts]
        drawn = self.rng.permutation(len(open_))[:number]
        return sum(open_[each] in self.true for each in drawn), number


def counted(world, number=150):
    return LabelFrequency.from_counts(world.rng.binomial(number, 0.36), number)


SCENARIOS = {
    "exact": lambda seed: World(seed).corrected(LabelFrequency.from_range(0.36, 0.36)),
    "counted": lambda seed: (world := World(seed)).corrected(counted(world)),
    "range": lambda seed: World(seed).corrected(LabelFrequency.from_range(0.33, 0.42)),
    "by relation": lambda seed: World(seed, share=None).corrected(
        LabelFrequency(0.38, 0.38, 0.38, relations={"r0": 0.2, "r1": 0.35, "r2": 0.6})
    ),
    "favoured, checked": lambda seed: (world := World(seed, favour=2.0)).corrected(
        LabelFrequency.from_range(world.share, world.share), world.checked(60)
    ),
}
WORLDS = {"by relation": {"share": None}, "favoured, checked": {"favour": 2.0}}


def simulate(scenario, repeats):
    """Coverage of each figure's interval, and the mean error of its estimate, in points."""
    covered, errors = [], []
    for seed in range(repeats):
        truth = astuple(World(seed, **WORLDS.get(scenario, {})).truth())
        found = SCENARIOS[scenario](seed)
        ends = [astuple(each) for each in (found.low, found.high, found.estimate)]
        known = [number for number, end in enumerate(ends[0]) if end is not None]
        covered.append([ends[0][number] <= truth[number] <= ends[1][number] for number in known])
        errors.append([100 * (ends[2][number] - truth[number]) for number in known])
    return np.mean(covered, 0), np.mean(errors, 0)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(
    ("repeats", "least"),
    [(6, 0.6), pytest.param(500, 0.93, marks=pytest.mark.slow)],  # two standard errors below 0.95
)
def test_the_interval_covers_the_truth(scenario, repeats, least):
    covered, bias = simulate(scenario, repeats)
    assert (covered >= least).all()
    assert (np.abs(bias) < (6 if repeats < 100 or scenario == "range" else 1)).all()
