"""A model in evaluation mode for as long as anybody uses it, and afterwards in the mode in which it was.

A training asks its model now and then what it finds by now, and goes on with dropout. A service asks one
model from many threads at once. So the first that comes puts the model into evaluation mode and the last that
leaves puts it back: in between, nobody changes it under another's hands.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

from torch import nn


@dataclass(slots=True)
class _Use:
    """How many use a model at this moment, and whether it was in training before the first of them came."""

    users: int
    training: bool


_lock = Lock()
_uses: WeakKeyDictionary[nn.Module, _Use] = WeakKeyDictionary()


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Keep a model in evaluation mode; several threads may do so at once.

    Example:
        >>> model = nn.Dropout().train()
        >>> with evaluation_mode(model), evaluation_mode(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    with _lock:
        use = _uses.setdefault(model, _Use(0, model.training))
        use.users += 1
        if use.users == 1:
            model.eval()
    try:
        yield
    finally:
        with _lock:
            use.users -= 1
            if use.users == 0:
                del _uses[model]
                model.train(use.training)
