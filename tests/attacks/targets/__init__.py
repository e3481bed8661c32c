"""What is attacked: everything that reads a file which somebody else may have written or damaged."""

from importlib import import_module

from tests.attacks.judging import Target

TARGETS = {
    "readers": "readers:Readers",
    "data-check": "checking:Checking",
    "configs": "configs:Configs",
    "predictions": "predictions:PredictionFiles",
    "saved-models": "saved_models:SavedModels",
    "checkpoints": "checkpoints:Checkpoints",
}
"""Where each target is; imported when it is attacked, because some need torch and some do not."""

SHARES = {
    "readers": 570,
    "data-check": 120,
    "configs": 180,
    "predictions": 100,
    "saved-models": 27,
    "checkpoints": 3,
}
"""How many of a thousand cases each gets; those that take longer get fewer."""


def target_named(name: str) -> Target:
    """A target, ready to be prepared."""
    module, _, kind = TARGETS[name].partition(":")
    made: Target = getattr(import_module(f"tests.attacks.targets.{module}"), kind)()
    return made
