"""What an interrupted prediction left: continued to the very same file, or refused."""

import random
import shutil
from pathlib import Path

import torch

from tests.attacks.judging import Files, Wrong
from tests.attacks.mutations import mutate
from tests.unit.inference.making import corpus, saved_model
from unnoted.data.formats import write_documents
from unnoted.inference import Extractor
from unnoted.inference.predict_files import predict_files


class Interrupted(BaseException):
    """Not an error: what is done about errors is not done."""


class PartialResultsFiles:
    """`predict_files` with a damaged `.partial` beside its output."""

    errors = (ValueError,)

    def prepare(self, folder: Path) -> None:
        """Predict once to the end, and once until it is interrupted."""
        torch.set_num_threads(1)
        self.model = saved_model(folder / "model")
        self.documents = folder / "documents.jsonl"
        write_documents(self.documents, corpus()[:6])
        self.extractor = Extractor.from_pretrained(self.model, device="cpu", chunk=2)
        self._predict(folder / "out.jsonl")
        self.whole = (folder / "out.jsonl").read_bytes()

        def stop(done: int) -> None:
            if done == 5:
                raise Interrupted

        try:
            self._predict(folder / "cut.jsonl", stop)
        except Interrupted:
            self.partial = (folder / "cut.jsonl.partial").read_bytes()

    def _predict(self, to: Path, told=lambda done: None) -> None:
        predict_files(self.extractor, self.model, [self.documents], to, "jsonl", on_progress=told)

    def case(self, rng: random.Random) -> Files:
        """The results so far, damaged."""
        return {"out.jsonl.partial": mutate(self.partial, rng)}

    def attempt(self, folder: Path) -> None:
        """Continue the prediction."""
        before = (folder / "out.jsonl.partial").read_bytes()
        try:
            self._predict(folder / "out.jsonl")
        except ValueError:
            if (folder / "out.jsonl.partial").read_bytes() != before:
                raise Wrong("changed a file that it refused") from None
            raise
        if (folder / "out.jsonl").read_bytes() != self.whole:
            raise Wrong("ended with another file")
        shutil.rmtree(folder)
