"""Training: settings, a thin trainer, checkpoints that are whole, and runs that can be resumed."""

from unnoted.training.checkpoints import CheckpointError
from unnoted.training.distil import Teacher
from unnoted.training.run import RunReport, train_from_settings
from unnoted.training.run_folder import RunError
from unnoted.training.settings import Optimisation, Settings, SettingsError, load_settings
from unnoted.training.trainer import Trainer
from unnoted.training.watch import NotFinite

__all__ = [
    "CheckpointError",
    "NotFinite",
    "Optimisation",
    "RunError",
    "RunReport",
    "Settings",
    "SettingsError",
    "Teacher",
    "Trainer",
    "load_settings",
    "train_from_settings",
]
