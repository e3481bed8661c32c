"""Config files, and those that they extend."""

from pathlib import Path
from random import Random

from tests.attacks.judging import Files
from tests.attacks.mutations import mutate
from unnoted.training.settings import SettingsError, load_settings

BASE = b"""\
# Settings that others begin from.
loss: ssr-pu
architecture: atlop
prior_multiplier: 3
margin: 0.25
epochs: 2
head_learning_rate: 1e-4
encoder_learning_rate: 5.0e-5
candidates: PER:LOC,LOC:PER
"""
CONFIG = b"""\
extends: base.yaml
train: [a.json, b.json]
test: {dev: dev.json}
encoder: "an/encoder"
output: runs/own
seed: 66
unlabelled_share: 0.25
embedding: 768
block: 64
"""
LAUGHS = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n" % (new, new, *[old] * 9)
    for old, new in zip(b"abcdefghij", b"bcdefghijk", strict=True)
)


class Configs:
    """`load_settings`."""

    errors = (SettingsError,)

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
        """Load the settings and write them as YAML."""
        load_settings(folder / "own.yaml").to_yaml()
