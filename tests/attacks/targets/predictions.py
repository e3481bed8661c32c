"""Prediction files, scored by `unnoted evaluate`."""

import json
from pathlib import Path
from random import Random

import typer
from typer.testing import CliRunner

from tests.attacks.judging import Files, Wrong
from tests.attacks.mutations import mutate
from unnoted.cli.evaluate import evaluate
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents


class Refused(Exception):
    """What the command says when it fails."""


class PredictionFiles:
    """The command, in this process, with a damaged prediction file and whole documents."""

    errors = (Refused,)

    def prepare(self, folder: Path) -> None:
        """Make documents, predictions of half of their facts, and the command."""
        folder.mkdir(parents=True, exist_ok=True)
        documents = list(generate_documents(2))
        self.gold = folder / "gold.json"
        write_documents(self.gold, documents)
        rows = [
            {"title": d.id, "h_idx": f.head, "t_idx": f.tail, "r": f.relation, "evidence": [0], "score": 0.5}
            for d in documents
            for f in d.facts[::2]
        ]
        self.whole = json.dumps(rows[:12]).encode()
        self.app = typer.Typer()
        self.app.command()(evaluate)

    def case(self, rng: Random) -> Files:
        """The predictions damaged."""
        return {"predictions.json": mutate(self.whole, rng)}

    def attempt(self, folder: Path) -> None:
        """Read and score them."""
        result = CliRunner().invoke(
            self.app,
            ["--predictions", str(folder / "predictions.json"), "--gold", str(self.gold), "--per-relation"],
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if result.exit_code == 1:
            raise Refused(result.stderr.strip())
        if result.exit_code != 0 or "F1" not in result.output:
            raise Wrong(f"exit code {result.exit_code}: {result.output[-200:]}")
