"""What is attacked: everything that reads a file which somebody else may have written or damaged."""

from tests.attacks.targets.checking import Checking
from tests.attacks.targets.checkpoints import Checkpoints
from tests.attacks.targets.configs import Configs
from tests.attacks.targets.partial_results import PartialResultsFiles
from tests.attacks.targets.predictions import PredictionFiles
from tests.attacks.targets.readers import Readers
from tests.attacks.targets.saved_models import SavedModels

TARGETS = {
    "readers": Readers,
    "data-check": Checking,
    "configs": Configs,
    "predictions": PredictionFiles,
    "partial-results": PartialResultsFiles,
    "saved-models": SavedModels,
    "checkpoints": Checkpoints,
}
"""Every target by name."""

SHARES = {
    "readers": 540,
    "data-check": 120,
    "configs": 180,
    "predictions": 100,
    "partial-results": 30,
    "saved-models": 27,
    "checkpoints": 3,
}
"""How many of a thousand cases each gets; those that take longer get fewer."""
