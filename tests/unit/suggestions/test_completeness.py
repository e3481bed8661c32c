"""The interval of completeness holds the truth in simulated reviews of the generated corpus."""

from random import Random

import numpy as np
import pytest

import unnoted
from unnoted.data import write_documents
from unnoted.data.hide_labels import Uniform
from unnoted.data.synthetic import generate_documents
from unnoted.suggestions import Order, Suggestion, Unlisted, chances, completeness, ordered, random_sample

LISTED = 0.02


class Review:
    """A generated corpus under a share of its labels, listed by simulated scores, and its complete truth.

    Args:
        seed: of corpus, labels and scores.
        documents: how many.
        sureness: what the log odds that the model states are multiplied by; 1 is calibrated.
    """

    def __init__(self, seed, documents, sureness=1.0):
        random = np.random.default_rng(seed)
        listed, truth, labels, self.noted = [], [], {}, 0
        rest, self.hidden = [], 0
        for document in generate_documents(documents, seed=seed):
            kept = {fact.triple for fact in Uniform(0.35).choose(document, Random(seed))}
            self.noted += len(kept)
            for _, _, relation in kept:
                labels[relation] = labels.get(relation, 0) + 1
            relations = sorted({fact.relation for fact in document.facts})
            true = {fact.triple for fact in document.facts}
            for triple in self.candidates(document, relations):
                if triple in kept:
                    continue
                margin = random.normal(1.5 if triple in true else -1.5, 1.4)
                odds = 2 * 1.5 / 1.4**2 * margin + np.log(0.02 / 0.98)  # Bayes, for facts that are 1 in 50
                chance = 1 / (1 + np.exp(-sureness * odds))
                if chance >= LISTED:
                    listed.append(Suggestion(document.id, *triple, chance, chance))
                    truth.append(triple in true)
                else:
                    rest.append(chance)
                    self.hidden += triple in true
        self.listed, self.truth, self.labels = listed, np.array(truth), labels
        self.chance, self.unlisted = chances(listed), Unlisted(len(rest), float(np.sum(rest)))

    @staticmethod
    def candidates(document, relations):
        entities = range(len(document.entities))
        return [(h, t, relation) for h in entities for t in entities if h != t for relation in relations]

    def covers(self, order, decisions, audited, seed):
        """Whether the interval holds the truth, for what is listed and for everything, and its width."""
        decided = np.zeros(len(self.listed), np.bool_)
        decided[ordered(self.listed, order, labels=self.labels)[:decisions]] = True
        audit = ordered(self.listed, Order.AUDIT, seed=seed)
        decided[audit[~decided[audit]][:audited]] = True
        holds = np.where(decided, self.truth, -1).astype(np.int8)
        sample = random_sample(audit, decided)
        assert sample.sum() >= audited
        found = self.noted + (holds == 1).sum()
        outcomes = []
        for unlisted, hidden in ((None, 0), (self.unlisted, self.hidden)):
            result = completeness(self.noted, self.chance, holds, sample, unlisted, seed=seed)
            true = found / (self.noted + self.truth.sum() + hidden)
            assert result.found == found
            outcomes.append(result.low <= true <= result.high)
        return outcomes


@pytest.mark.parametrize(
    "sureness", [1.0, pytest.param(1.6, marks=pytest.mark.slow), pytest.param(0.7, marks=pytest.mark.slow)]
)
def test_the_interval_holds_the_truth_in_nine_reviews_of_ten(sureness):
    """Also where the model is too sure or not sure enough of what it says."""
    reviews = [Review(seed, 12, sureness) for seed in range(3)]
    outcomes = np.array([
        reviews[seed % 3].covers(order, decisions, audited, seed)
        for seed in range(12) for order in (Order.PROBABILITY, Order.GAIN, Order.DOCUMENT)
        for decisions, audited in ((0, 100), (60, 40), (150, 100))
    ])  # fmt: skip
    assert outcomes[:, 0].mean() >= 0.9
    if sureness == 1.0:  # what is not listed is known from the model alone
        assert outcomes[:, 1].mean() >= 0.9


def simulated(seed, size=3000):
    random = np.random.default_rng(seed)
    chance = random.beta(0.3, 2, size)
    return chance, random.random(size) < chance, random


def test_more_of_the_sample_makes_it_narrower():
    chance, truth, _ = simulated(0)
    widths = []
    for sampled in (0, 50, 500, 3000):
        sample = np.arange(len(chance)) < sampled
        found = completeness(400, chance, np.where(sample, truth, -1).astype(np.int8), sample)
        widths.append(found.high - found.low)
        assert found.low <= found.estimate <= found.high
        assert found.sampled == sampled
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0.8  # nothing is known
    assert widths[-1] == 0  # everything was decided


def test_it_is_not_biased_by_what_other_orders_took():
    errors = []
    for seed in range(30):
        chance, truth, random = simulated(seed)
        truth = random.random(len(chance)) < np.where(chance > 0.4, chance / 3, chance)  # too sure above
        decided = np.zeros(len(chance), np.bool_)
        audit = random.permutation(len(chance))
        decided[audit[:300]] = True
        decided[np.argsort(-chance)[:600]] = True
        holds = np.where(decided, truth, -1).astype(np.int8)
        found = completeness(300, chance, holds, random_sample(audit, decided))
        errors.append(found.missing - truth[~decided].sum())
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))


def test_without_a_sample_the_model_is_believed_and_nothing_is_certain():
    chance = np.array([0.5, 0.25])
    found = completeness(3, chance, np.full(2, -1, np.int8), np.zeros(2, np.bool_))
    assert (found.missing, found.estimate, found.high) == (0.75, 3 / 3.75, 1.0)
    assert found.low == 3 / 5


def test_what_cannot_be_told_says_nothing():
    chance, truth, _ = simulated(1)
    sample = np.arange(len(chance)) < 200
    holds = np.where(sample, truth, -1).astype(np.int8)
    holds[:50] = -1
    assert completeness(400, chance, holds, sample).sampled == 150


def test_unlisted_facts_count_as_the_lowest_band_scales_them():
    chance = np.full(1000, 0.1)
    sample = np.arange(1000) < 100
    holds = np.where(sample, np.arange(1000) % 20 == 0, -1).astype(np.int8)  # half as many as stated
    found = completeness(50, chance, holds, sample, Unlisted(10**6, 80.0))
    assert found.unlisted == pytest.approx(40)
    assert found.missing == pytest.approx(45 + 40)


def test_an_empty_list_is_complete():
    nothing = np.zeros(0)
    found = completeness(5, nothing, nothing.astype(np.int8), nothing.astype(np.bool_))
    assert (found.estimate, found.low, found.high) == (1.0, 1.0, 1.0)


def test_the_sample_ends_before_the_first_open_suggestion():
    order = np.array([3, 1, 0, 2])
    assert random_sample(order, np.array([True, True, False, True])).tolist() == [True, True, False, True]
    assert random_sample(order, np.array([True, False, True, True])).tolist() == [False, False, False, True]


@pytest.mark.slow
def test_the_interval_holds_the_truth_of_a_corpus_that_models_have_judged(tmp_path):
    """As above, but the list is of models of folds, weak ones, and its probabilities are what they are."""
    documents = list(generate_documents(60))
    kept = [each.with_facts(Uniform(0.35).choose(each, Random(each.id))) for each in documents]
    write_documents(tmp_path / "own.jsonl", kept)
    changes = {"embedding": 32, "block": 8, "epochs": 4, "typed_markers": False}
    found = unnoted.suggest(
        tmp_path / "own.jsonl", encoder="recurrent", changes=changes, prior_multiplier=1 / 0.35
    )
    listed = [each for each in found.suggestions if not each.labelled]
    truth = {each.id: each.labels for each in documents}
    holds = np.array([each.triple in truth[each.document] for each in listed])
    noted, total = (sum(len(each.labels) for each in some) for some in (kept, documents))
    chance, positions = chances(listed), ordered(listed, Order.PROBABILITY)
    outcomes = []
    for seed in range(100):
        decided = np.zeros(len(listed), np.bool_)
        decided[positions[:200]] = True
        audit = ordered(listed, Order.AUDIT, seed=seed)
        decided[audit[~decided[audit]][:150]] = True
        said = np.where(decided, holds, -1).astype(np.int8)
        sample = random_sample(audit, decided)
        for unlisted, true in ((None, noted + holds.sum()), (found.unlisted, total)):
            result = completeness(noted, chance, said, sample, unlisted, seed=seed)
            outcomes.append(result.low <= result.found / true <= result.high)
    covers = np.array(outcomes).reshape(-1, 2).mean(0)
    print(f"{len(listed)} listed, {holds.sum()} true; covers {covers}")
    assert covers[0] >= 0.9 and covers[1] >= 0.9
