"""How learning rates change from step to step."""

import math

import pytest
import torch

from unnoted.training import Optimisation
from unnoted.training.schedule import make_schedule

STEPS, RISE = 40, 8


def scheduled(**choices):
    """An optimiser with two rates, and its schedule, over 40 steps of which 8 are warm-up."""
    groups = [{"params": [torch.zeros(1)], "lr": rate} for rate in (1e-5, 1e-3)]
    optimiser = torch.optim.SGD(groups)
    return optimiser, make_schedule(optimiser, Optimisation(warm_up=RISE / STEPS, **choices), STEPS)


def shares(optimiser, schedule, steps=STEPS):
    """The share of its highest value that each rate has at each step; both have the same."""
    found = []
    for _ in range(steps):
        one, other = (
            group["lr"] / highest for group, highest in zip(optimiser.param_groups, (1e-5, 1e-3), strict=True)
        )
        assert one == pytest.approx(other)
        found.append(one)
        optimiser.step()
        schedule.step()
    return found


AFTER_WARM_UP = {
    "linear": lambda done: 1 - done,
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
    "constant": lambda done: 1.0,
}


@pytest.mark.parametrize("schedule", AFTER_WARM_UP)
def test_rates_follow_their_formula(schedule):
    expected = [
        step / RISE if step < RISE else AFTER_WARM_UP[schedule]((step - RISE) / (STEPS - RISE))
        for step in range(STEPS)
    ]
    assert shares(*scheduled(schedule=schedule)) == pytest.approx(expected)


def test_a_cosine_of_several_periods_is_that_of_gain():
    """There, half a period is a quarter of the epochs and one more; with 300 epochs, 76."""
    optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    how = Optimisation(warm_up=0, schedule="cosine", cosine_periods=300 / (2 * 76))
    schedule = make_schedule(optimiser, how, 300)
    for epoch in range(300):
        published = (1 + math.cos(math.pi * epoch / 76)) / 2
        assert optimiser.param_groups[0]["lr"] == pytest.approx(published, abs=1e-9)
        optimiser.step()
        schedule.step()


@pytest.mark.parametrize("schedule", AFTER_WARM_UP)
def test_a_schedule_goes_on_where_it_was(schedule):
    whole = shares(*scheduled(schedule=schedule))
    optimiser, first = scheduled(schedule=schedule)
    begun = shares(optimiser, first, 17)
    saved = optimiser.state_dict(), first.state_dict()
    again, second = scheduled(schedule=schedule)
    again.load_state_dict(saved[0])
    second.load_state_dict(saved[1])
    assert begun + shares(again, second, STEPS - 17) == whole


def test_periods_are_for_a_cosine_only():
    with pytest.raises(ValueError, match="cosine_periods: found 2, expected none: the schedule is 'linear'"):
        Optimisation(cosine_periods=2)
