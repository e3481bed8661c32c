import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.priors.simulating import simulated

from unnoted.priors.audited import Answer, audited_priors
from unnoted.priors.auditing import AuditDesign, draw_audit


def answered(asked, true):
    return [
        Answer(each.relation, each.band, each.probability, bool(true[each.pair, each.relation]))
        for each in asked
    ]


@given(questions=st.integers(1, 400), seed=st.integers(0, 5))
@settings(max_examples=15, deadline=None)
def test_questions_are_unlabelled_different_and_as_many_as_asked_for(questions, seed):
    scores, _ = simulated(3, relations=3, pairs=600)
    design, asked = draw_audit(scores, questions, seed)
    assert abs(len(asked) - min(questions, design.unlabelled.sum())) <= 1 and len(asked) <= questions
    assert len({(each.pair, each.relation) for each in asked}) == len(asked)
    assert not any(scores.labelled[each.pair, each.relation] for each in asked)
    assert all(0 < each.probability <= 1 for each in asked)


def test_the_probability_is_how_often_a_question_is_drawn():
    scores, _ = simulated(3, relations=2, pairs=300)
    drawn = [draw_audit(scores, 40, seed)[1] for seed in range(200)]
    chances = {(each.relation, each.band): each.probability for asked in drawn for each in asked}
    design, _ = draw_audit(scores, 40, 0)
    for (relation, band), chance in chances.items():
        times = sum((each.relation, each.band) == (relation, band) for asked in drawn for each in asked)
        assert times / 200 == pytest.approx(chance * design.unlabelled[relation, band], abs=0.25)


def test_a_whole_audit_counts():
    """Every pair in reach asked about: the ratio is the count, whatever the labels were picked by."""
    scores, true = simulated(3, relations=4, pairs=800)
    design, asked = draw_audit(scores, 10**6)
    assert all(each.probability == 1 for each in asked)
    found = audited_priors(design, answered(asked, true))
    reached = sum(true[each.pair, each.relation] for each in asked)
    assert found.ratio.estimate == pytest.approx(1 + reached / design.within.sum())
    assert found.ratio.low <= found.ratio.estimate <= found.ratio.high


def test_an_estimate_lies_within_its_interval_also_when_only_the_last_band_has_a_yes():
    cells = np.full((1, 5), 2)
    design = AuditDesign(("a",), 10_000, cells.sum(1), cells, cells * [1, 2, 4, 8, 400])
    found = audited_priors(design, [Answer(0, band, 0.1, band == 4) for band in range(5) for _ in range(3)])
    assert found.ratio.low <= found.ratio.estimate <= found.ratio.high


def test_complete_labels_are_found_complete():
    scores, true = simulated(1, relations=4, pairs=800)
    design, asked = draw_audit(scores, 60)
    found = audited_priors(design, answered(asked, true))
    assert found.ratio.estimate == found.ratio.low == 1 and found.overall == found.labelled


def test_pairs_of_one_margin_are_drawn_from_all_documents():
    scores, _ = simulated(3, relations=1, pairs=1000)
    scores.margin[:] = 0
    _, asked = draw_audit(scores, 100)
    assert np.median([each.pair for each in asked]) == pytest.approx(500, abs=150)


def test_nothing_answered_and_nothing_asked():
    scores, _ = simulated(3, relations=1, pairs=100)
    design, _ = draw_audit(scores, 5)
    with pytest.raises(ValueError, match="answers: found none"):
        audited_priors(design, [])
    with pytest.raises(ValueError, match="questions: found 0"):
        draw_audit(scores, 0)


def test_the_design_as_json():
    design, _ = draw_audit(simulated(3, relations=2, pairs=200)[0], 5)
    assert AuditDesign.from_json(design.to_json()).to_json() == design.to_json()
    for wrong in (None, [], {}, design.to_json() | {"within": [[1]]}, design.to_json() | {"pairs": "x"}):
        with pytest.raises(ValueError, match="design: found"):
            AuditDesign.from_json(wrong)


@pytest.mark.slow
def test_how_often_the_interval_over_all_holds_the_truth():
    """Labels picked by score, too: no assumption about them is made within reach."""
    covered = []
    for ratio in (1, 2, 3, 5, 8):
        for seed in range(20):
            scores, true = simulated(ratio, seed=seed, spread=0.6)
            design, asked = draw_audit(scores, 200, seed)
            found = audited_priors(design, answered(asked, true), seed).ratio
            covered.append(found.low <= true.sum() / scores.labelled.sum() <= found.high)
    print("covered", np.mean(covered))
    assert np.mean(covered) > 0.85
