"""Training: configuration, a thin trainer, checkpoints that can be trusted, and runs that can be resumed."""

from unnoted.configs import ConfigError
from unnoted.training.callbacks import NotFiniteError
from unnoted.training.checkpoints import CheckpointError
from unnoted.training.config import OptimizerConfig, TrainingConfig, load_config
from unnoted.training.distillation import Teacher
from unnoted.training.results import Failure, Record, RunScores
from unnoted.training.run import run, train
from unnoted.training.run_directory import RunError
from unnoted.training.trainer import Trainer

__all__ = [
    "CheckpointError",
    "ConfigError",
    "Failure",
    "NotFiniteError",
    "OptimizerConfig",
    "Record",
    "RunError",
    "RunScores",
    "Teacher",
    "Trainer",
    "TrainingConfig",
    "load_config",
    "run",
    "train",
]
