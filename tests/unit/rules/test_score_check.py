"""Rules checked by scores: of two that labels cannot tell apart, scores keep the right one."""

import numpy as np
from pytest import approx, fixture
from tests.reference.rules import mixture
from tests.unit.rules.making import make_document

from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import Constraints, Rule, RuleSet, SamePair, ScoreCheck, checked

DOCUMENTS = 60
TYPES = ["PER", "PER", "LOC", "LOC"]
RIGHT, WRONG = Rule(SamePair("good"), "s"), Rule(SamePair("bad"), "s")


@fixture(scope="module")
def world():
    """s holds where `good` is noted and never for `bad`; of s half is noted, beside a few errors."""
    random = np.random.default_rng(0)
    documents, heads, tails, margins, labelled = [], [], [], [], []
    for number in range(DOCUMENTS):
        facts = [(0, 1, "good"), (1, 0, "bad")] + [(0, 1, "s")] * (number % 2)
        document = make_document(TYPES, facts, f"d{number}")
        documents.append(document)
        for head in range(4):
            for tail in set(range(4)) - {head}:
                heads.append(head)
                tails.append(tail)
                margins.append(random.normal(1.0 if (head, tail) == (0, 1) else -1.0, 0.7))
                labelled.append((head, tail, "s") in document.labels)
    scores = LabelledScores(
        ("s",), tuple(document.id for document in documents), np.repeat(np.arange(DOCUMENTS), 12),
        np.array(heads), np.array(tails), np.array(margins)[:, None], np.array(labelled)[:, None],
    )  # fmt: skip
    constraints = Constraints({"s": frozenset({("PER", "PER")})})
    return documents, scores, constraints


def test_the_rule_whose_conclusions_score_like_facts_is_kept(world):
    documents, scores, constraints = world
    check = ScoreCheck(scores, documents, constraints)
    kept = checked(RuleSet((RIGHT, WRONG), constraints), check)
    assert [rule.body for rule in kept] == [RIGHT.body]
    assert kept[0].confidence > 0.85 and kept[0].low > 0.6
    assert check.precision(WRONG).share < 0.1


def test_the_share_is_that_of_plain_loops(world):
    documents, scores, constraints = world
    found = ScoreCheck(scores, documents, constraints).precision(RIGHT)
    margin, labelled = scores.margin[:, 0], scores.labelled[:, 0]
    ours = (scores.head == 0) & (scores.tail == 1) & ~labelled
    others = (scores.head < 2) & (scores.tail < 2) & ~labelled & ~ours  # two people, as what is added
    assert found.added == DOCUMENTS // 2 == ours.sum()
    assert found.share == approx(min(1.0, mixture(margin[ours], margin[labelled], margin[others])))


def test_documents_without_scores_and_rules_without_additions_are_left_out(world):
    documents, scores, constraints = world
    more = [*documents, make_document(TYPES, [(2, 3, "good")], "unscored")]
    check = ScoreCheck(scores, more, constraints)
    assert check.precision(RIGHT).added == DOCUMENTS // 2
    assert check.precision(Rule(SamePair("nowhere"), "s")).low == 0.0
