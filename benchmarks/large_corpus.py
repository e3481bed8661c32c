"""`python -m benchmarks.large_corpus [--encoder FOLDER] [--to FOLDER] abstracts|short`: a large corpus on one machine.

Generates 77,000 abstracts (10 sentences of 25 words, three types, 12 entities, 30 mentions), or 1,000,000 short
documents, then reads, featurises, trains so many steps and predicts them, and prints time and peak memory of each.
"""

import argparse
import json
import random
import resource
import time
from collections.abc import Callable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, TypeVar

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from benchmarks import million
from unnoted import Extractor
from unnoted.data.loading import stream_documents
from unnoted.io import write_lines
from unnoted.training import load_config
from unnoted.training.builders import build_loss, build_model, load_training_data, trainer_options
from unnoted.training.trainer import Trainer, compute_features

Result = TypeVar("Result")

VOCABULARY = 200_000
"""Words, drawn by Zipf's law."""


def abstracts() -> Iterator[dict[str, Any]]:
    """Documents of the shape of ChemDisGene's abstracts."""
    draw = random.Random(0)
    types = ("Chemical", "Disease", "Gene")
    for number in count():
        sentences = [[f"w{int(VOCABULARY ** draw.random())}" for _ in range(25)] for _ in range(10)]
        entities = []
        for entity in range(12):
            places = [(draw.randrange(10), draw.randrange(24)) for _ in range(draw.choice((1, 2, 3, 4)))]
            mentions = [{"sentence": s, "start": w, "end": w + 1} for s, w in sorted(set(places))]
            entities.append({"type": types[entity % 3], "mentions": mentions})
        facts = [
            {
                "head": 3 * draw.randrange(4),
                "tail": 3 * draw.randrange(4) + kind,
                "relation": f"{types[kind]}-{n}",
            }
            for n, kind in enumerate((1, 2, 2))
        ]
        yield {"id": str(number), "sentences": sentences, "entities": entities, "facts": facts}


def short_documents() -> Iterator[dict[str, Any]]:
    """Two sentences, two entities, and in every other document a fact."""
    for document in chain.from_iterable(map(million.documents, count())):
        number = int(document["id"].rpartition("-")[2])
        fact = {"head": 0, "tail": 1, "relation": ("born", "rules")[number % 4 == 0]}
        yield {**document, "facts": [fact] if number % 2 == 0 else []}


SHAPES: dict[str, tuple[Callable[[], Iterator[dict[str, Any]]], int]] = {
    "abstracts": (abstracts, 77_000),
    "short": (short_documents, 1_000_000),
}


class StopAfter(TrainerCallback):
    """Ends the training after so many steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Compare the number of the step."""
        control.should_training_stop |= state.global_step >= self.steps


def measured(name: str, documents: int, call: Callable[[], Result]) -> Result:
    """What a function returns; prints what it took."""
    wall, cpu = time.monotonic(), time.process_time()
    result = call()
    row = {
        "stage": name,
        "documents": documents,
        "seconds": round(time.monotonic() - wall, 1),
        "CPU seconds": round(time.process_time() - cpu, 1),
        "peak memory (MB)": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    }
    print(json.dumps(row), flush=True)
    return result


def main() -> None:
    """Generate, read, featurise, train, predict."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_corpus", description=__doc__)
    parser.add_argument("shape", choices=list(SHAPES))
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--documents", type=int)
    parser.add_argument("--predicted", type=int, help="so many documents are predicted; by default all")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--to", type=Path, default=Path("runs/large"))
    given = parser.parse_args()
    generate, documents = SHAPES[given.shape]
    documents = given.documents or documents
    given.to.mkdir(parents=True, exist_ok=True)
    file = given.to / f"{given.shape}-{documents}.jsonl"
    if not file.exists():
        write_lines(file, islice(generate(), documents))
    changes = {"train": file, "encoder": given.encoder, "encoder_layers": 1, "output": given.to / "run"}
    config = load_config("small", changes)
    data = measured("read", documents, lambda: load_training_data(config))
    model = build_model(config, data.corpus)
    features = measured("featurise", documents, lambda: compute_features(model, data.corpus))
    loss = build_loss(config, data.priors())
    trainer = Trainer(model, loss, data.corpus, features=features, **trainer_options(config))
    trainer.add_callback(StopAfter(given.steps))
    measured(f"train {given.steps} steps", documents, trainer.train)
    predicted = given.predicted or documents
    found = Extractor(model).extract(islice(stream_documents(file), predicted))
    measured("predict", predicted, lambda: sum(len(each.facts) for each in found))


if __name__ == "__main__":
    main()
