"""Config files, and those that they extend."""

from pathlib import Path
from random import Random

from tests.attacks.judging import Files
from tests.attacks.mutations import mutate
from unnoted.training import ConfigError, load_config

BASE = b"""\
# What others begin from.
loss: {name: ssr-pu, prior_multiplier: 3, options: {margin: 0.25}}
model: {architecture: atlop}
optimizer:
  epochs: 2
  head_learning_rate: 1e-4
  encoder_learning_rate: 5.0e-5
data: {candidates: "PER:LOC,LOC:PER"}
"""
CONFIG = b"""\
extends: base.yaml
train: [a.json, b.json]
test: {dev: dev.json}
model: {encoder: "an/encoder", embedding: 768}
output: runs/own
seed: 66
optimizer: {unlabelled_rate: 0.25}
"""
LAUGHS = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n" % (new, new, *[old] * 9)
    for old, new in zip(b"abcdefghij", b"bcdefghijk", strict=True)
)


class Configs:
    """`load_config`."""

    errors = (ConfigError,)

    def prepare(self, folder: Path) -> None:
        """Nothing."""

    def case(self, rng: Random) -> Files:
        """One of the files damaged; now and then with aliases of aliases."""
        files = {"own.yaml": CONFIG, "base.yaml": BASE}
        if rng.random() < 0.02:
            files["own.yaml"] += LAUGHS
        name = rng.choice(sorted(files))
        return files | {name: mutate(files[name], rng)}

    def attempt(self, folder: Path) -> None:
        """Load the config and write it as YAML."""
        load_config(folder / "own.yaml").to_yaml()
