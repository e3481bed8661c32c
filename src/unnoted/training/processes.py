"""Several processes that train one model together, as `torchrun` and `accelerate launch` start them.

Each computes a part of every batch. What happens once, such as writing a file, happens in the main process.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import torch
from accelerate import PartialState  # type: ignore[import-untyped]
from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped]

from unnoted.utils import describe_error

TIMEOUT = timedelta(days=1)
"""So long do processes wait for another, such as for the main one that scores test sets."""

GRACE = 5.0
"""Seconds in which the main process may report an error that all of them have; the launcher then ends the others."""

Result = TypeVar("Result")


class ProcessError(ValueError):
    """What went wrong in another process than the main one."""


def join_processes() -> PartialState:
    """The processes that train together, this one among them; usually it is alone."""
    # accelerate looks for processes on CPUs if it is told to
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return PartialState(cpu=several and not torch.cuda.is_available(), timeout=TIMEOUT)


def on_main(call: Callable[[], Result]) -> Result:
    """What a function returns in the main process, for all; alone it is just called.

    An error is raised in the main process alone. The launcher then ends the others, which wait for it.

    Example:
        >>> on_main(lambda: "written")
        'written'
    """
    state = join_processes()
    if state.num_processes == 1:
        return call()
    found = [call() if state.is_main_process else None]
    broadcast_object_list(found)
    result: Result = found[0]  # type: ignore[assignment]
    return result


@contextmanager
def report_errors() -> Iterator[None]:
    """Report an error that all processes have once, by the main one, and another with the number of its process."""
    state = join_processes()
    try:
        yield
    except Exception as error:
        if state.num_processes == 1:
            raise
        if not state.is_main_process:
            time.sleep(GRACE)
        elif isinstance(error, OSError | ValueError):
            raise
        process = f"process {state.process_index} of {state.num_processes}"
        raise ProcessError(f"{process}: {describe_error(error)}") from error
