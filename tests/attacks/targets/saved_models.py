"""Folders of saved models: loaded as they were, or refused; never silently something else."""

import hashlib
import random
from pathlib import Path

import torch

from tests.attacks.judging import Files, Wrong
from tests.attacks.mutations import mutate
from tests.attacks.overlays import MISSING, lay_over
from tests.unit.inference.making import corpus, saved_model
from unnoted.inference import Extractor
from unnoted.models.model import ModelError, RelationModel


def identity(model: RelationModel) -> str:
    """Everything that the facts found by a model depend on."""
    parts = hashlib.sha256(
        repr((model.relations, model.entity_types, model.candidates, model.decoder)).encode()
    )
    for name, tensor in sorted(model.state_dict().items()):
        parts.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode() + tensor.numpy().tobytes())
    if model.tokenizer is not None:
        parts.update(repr(model.tokenizer("Ada met * Bo", add_special_tokens=True)["input_ids"]).encode())
    return parts.hexdigest()


class SavedModels:
    """`RelationModel.from_pretrained`, and the facts of a document with what it gave."""

    errors = (ModelError,)

    def prepare(self, folder: Path) -> None:
        """Save a tiny model."""
        torch.set_num_threads(1)
        saved_model(folder)
        self.files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        self.manifest = {name for name in self.files if "checksum" in name}
        self.identity = identity(RelationModel.from_pretrained(folder))

    def case(self, rng: random.Random) -> Files:
        """One file damaged, missing or empty; in one case of four in a model that was saved without checksums."""
        unverified = rng.random() < 0.25
        files = {f"{name}{MISSING}": b"" for name in self.manifest if unverified}
        name = rng.choice(sorted(self.files.keys() - (self.manifest if unverified else ())))
        match rng.randrange(12):
            case 0:
                return files | {f"{name}{MISSING}": b""}
            case 1:
                return files | {name: b""}
            case 2:
                return files | {name: self.files[rng.choice(sorted(self.files))]}
            case _:
                return files | {name: mutate(self.files[name], rng)}

    def attempt(self, folder: Path) -> None:
        """Lay the case over the saved model, load it, and find facts with it."""
        lay_over(folder, self.files)
        model = RelationModel.from_pretrained(folder)
        verified = bool(self.manifest) and all((folder / name).exists() for name in self.manifest)
        if verified and identity(model) != self.identity:
            raise Wrong("loaded another model than was saved")
        if not all(tensor.isfinite().all() for tensor in model.state_dict().values()):
            raise Wrong("loaded weights that are not finite")
        try:
            list(Extractor(model).extract(corpus()[:2]))
        except ModelError as error:
            raise ModelError(f"{folder}: {error}") from error  # the extractor was given no folder to name
