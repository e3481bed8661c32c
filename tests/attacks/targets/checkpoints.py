"""Checkpoints of an interrupted training: continued to the very same weights, or refused."""

import os
import random
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file

from tests.attacks.judging import Files, Wrong
from tests.attacks.mutations import mutate
from tests.attacks.overlays import MISSING, lay_over
from tests.unit.training.factories import config_file
from unnoted.models.model import ModelError
from unnoted.training import load_config, run
from unnoted.training.checkpoints import CheckpointError
from unnoted.training.run_directory import RunError
from unnoted.training.trainer import Trainer

STEPS = 5
"""After which the training is interrupted, out of 6; there is a checkpoint after every second one."""


class Interrupted(BaseException):
    """Not an error: nothing that the training does about errors is done."""


class Refused(Exception):
    """What a run says that is not continued."""


class Checkpoints:
    """`run(..., resume=True)`; the case holds what differs from the interrupted run."""

    errors = (Refused,)

    def prepare(self, folder: Path) -> None:
        """Train once to the end, and once until it is interrupted."""
        torch.set_num_threads(1)
        folder.mkdir(parents=True)
        os.environ["UNNOTED_CACHE"] = str(folder / "cache")
        self.config = config_file(
            folder, documents=6, epochs=2, checkpoint_steps=2, embedding=8, batch_size=2
        )
        self.folder = load_config(self.config).output
        run(load_config(self.config))
        self.weights = load_file(self.folder / "model.safetensors")
        shutil.rmtree(self.folder)
        original = Trainer.training_step

        def interrupted(trainer, *arguments, **options):
            if trainer.state.global_step == STEPS:
                raise Interrupted
            return original(trainer, *arguments, **options)

        Trainer.training_step = interrupted
        try:
            run(load_config(self.config))
        except Interrupted:
            pass
        finally:
            Trainer.training_step = original
        self.files = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.name != ".lock"
        }
        assert any(name.startswith("checkpoints/checkpoint-4") for name in self.files), sorted(self.files)

    def case(self, rng: random.Random) -> Files:
        """A file of the last checkpoint, or now and then of another one or of the run's folder, damaged."""
        last = [name for name in self.files if "checkpoint-4" in name]
        name = rng.choice(last if rng.random() < 0.7 else sorted(self.files))
        match rng.randrange(12):
            case 0:
                return {f"{name}{MISSING}": b""}
            case 1:
                return {name: b""}
            case _:
                return {name: mutate(self.files[name], rng)}

    def attempt(self, folder: Path) -> None:
        """Lay the case over the interrupted run, and continue it."""
        lay_over(folder, self.files)
        shutil.rmtree(self.folder)
        folder.rename(self.folder)
        try:
            run(load_config(self.config), resume=True)
        except (CheckpointError, RunError, ModelError) as error:
            # The message names the run's folder, as it should; the judge knows the case's.
            raise Refused(str(error).replace(str(self.folder), str(folder))) from error
        weights = load_file(self.folder / "model.safetensors")
        if any(not torch.equal(weights[name], self.weights[name]) for name in self.weights):
            raise Wrong("ended with other weights")
