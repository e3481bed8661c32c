"""Training: settings, a thin trainer, checkpoints that are whole, and runs that can be resumed."""

from unnoted.training.checkpoints import CheckpointError
from unnoted.training.distil import Teacher
from unnoted.training.fingerprint import RunError
from unnoted.training.record import Failure, Record, Scored
from unnoted.training.run import run
from unnoted.training.settings import Optimisation, Settings, SettingsError, load_settings
from unnoted.training.trainer import Trainer
from unnoted.training.watch import NotFinite

__all__ = [
    "CheckpointError",
    "Failure",
    "NotFinite",
    "Optimisation",
    "Record",
    "RunError",
    "Scored",
    "Settings",
    "SettingsError",
    "Teacher",
    "Trainer",
    "load_settings",
    "run",
]
