"""How learning rates change from step to step; each schedule is one of transformers' own."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR
from transformers.optimization import (
    get_constant_schedule_with_warmup,
    get_cosine_schedule_with_warmup,
    get_linear_schedule_with_warmup,
)

from unnoted.training.optimisation import HALF_A_PERIOD, Optimisation
from unnoted.utils import plural


def undertrained(step: int, warm_up: float) -> str | None:
    """How far a training came that has not gone beyond its warm-up, in words; None for one that has.

    Args:
        step: how many steps it has made.
        warm_up: how many of them the rates rise in; less than one is a training too short to have any.

    Example:
        >>> undertrained(5, 7.5), undertrained(8, 7.5)
        ('trained for 5 steps, of which 7 are its warm-up', None)
        >>> undertrained(10, 0.6)
        'trained for 10 steps, too few for a warm-up'
    """
    if 0 < warm_up < 1:
        return f"trained for {plural(step, 'step')}, too few for a warm-up"
    if step <= int(warm_up):
        return f"trained for {plural(step, 'step')}, of which {int(warm_up)} are its warm-up"
    return None


def make_schedule(optimiser: Optimizer, optimisation: Optimisation, steps: int) -> LambdaLR:
    """The schedule of all learning rates of an optimiser over so many steps.

    Example:
        >>> import torch
        >>> optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> schedule = make_schedule(optimiser, Optimisation(warm_up=0, schedule="cosine"), steps=4)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(optimiser.param_groups[0]["lr"], 3))
        ...     optimiser.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.854, 0.5, 0.146, 0.0]
    """
    warm_up = int(steps * optimisation.warm_up)
    made: LambdaLR
    match optimisation.schedule:
        case "constant":
            made = get_constant_schedule_with_warmup(optimiser, warm_up)
        case "cosine":
            periods = optimisation.cosine_periods or HALF_A_PERIOD
            made = get_cosine_schedule_with_warmup(optimiser, warm_up, steps, num_cycles=periods)
        case "linear":
            made = get_linear_schedule_with_warmup(optimiser, warm_up, steps)  # type: ignore[no-untyped-call]
    return made
