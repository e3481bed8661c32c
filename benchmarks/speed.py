"""How fast things are: rates, and ratios to a plain implementation within one run.

Sides take turns, and the shortest time of each counts: the machine is noisy, and noise only adds.
"""

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tests.reference.atlop import PlainATLOP
from tests.reference.loss_by_class import ssr_pu_by_class
from torch import nn
from torch.nn.utils import clip_grad_norm_

from unnoted.data import load_documents, stream_documents, write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import Prediction, evaluate
from unnoted.inference import Extractor
from unnoted.losses import SSRPU
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import featurise
from unnoted.models.model import RelationModel
from unnoted.models.samplers import ShuffledBatches

ROUNDS = 3
GENERATED, TRAINED, PREDICTED, BATCH = 2_000, 32, 32, 4
_MEMORY = """
import json, sys, tracemalloc
from unnoted.data import load_documents
tracemalloc.start()
corpus = load_documents(*sys.argv[1:])
print(json.dumps(tracemalloc.get_traced_memory()[0] / 1000 / len(corpus)))
"""


def shortest(*works: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The shortest time of each of several works that take turns, in seconds."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def documents(data: Path) -> dict[str, float]:
    """Documents a second that are generated, written, read and scored, and their size in memory."""
    made = list(generate_documents(GENERATED))
    claims = [Prediction(d.id, *fact.triple, score=0.5) for d in made for fact in d.facts]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        generated, written, read, scored = shortest(
            lambda: deque(generate_documents(GENERATED), maxlen=0),
            lambda: write_documents(path, made),
            lambda: deque(stream_documents(path), maxlen=0),
            lambda: evaluate(made, claims, made),
        )
    docred = data / "data/docred/train_annotated.json"
    abstracts = [
        data / "data/chemdisgene" / name for name in ("train_abstracts.txt.gz", "train_relationships.tsv.gz")
    ]
    (docred_read, pubtator_read) = shortest(
        lambda: deque(stream_documents(docred), maxlen=0),
        lambda: deque(stream_documents(*abstracts), maxlen=0),
    )
    memory = subprocess.run(
        [sys.executable, "-c", _MEMORY, docred], check=True, capture_output=True, text=True
    )
    return {
        "generate (documents/s)": GENERATED / generated,
        "write JSONL (documents/s)": GENERATED / written,
        "read and check JSONL (documents/s)": GENERATED / read,
        "score predictions (documents/s)": GENERATED / scored,
        "read and check DocRED (documents/s)": 548 / docred_read,
        "read and check PubTator (abstracts/s)": 1521 / pubtator_read,
        "DocRED document in memory (kB)": json.loads(memory.stdout),
    }


def training(data: Path) -> dict[str, float]:
    """A training step on the same documents: ours, and one entity, pair and class at a time."""
    torch.manual_seed(0)
    corpus = load_documents(data / "data/docred/train_annotated.json")
    model = RelationModel.from_encoder(data / "encoders/minilm", relations=corpus.relations)
    assert model.tokenizer is not None
    (prepared,) = shortest(
        lambda: featurise(corpus.documents, model.tokenizer, corpus.relations.ids, corpus.candidates),
        rounds=1,
    )
    features = featurise(corpus.documents, model.tokenizer, corpus.relations.ids, corpus.candidates)
    indices = list(ShuffledBatches(features, BATCH, seed=0))[: TRAINED // BATCH]
    collate = Collator(features)
    batches = [collate([features[index] for index in batch]) for batch in indices]
    priors = corpus.labelled_priors * 3
    loss, plain = SSRPU(priors=priors), PlainATLOP.from_model(model)

    def our_loss(batch: Batch) -> torch.Tensor:
        return loss(model(batch), batch.labels(), batch.pair_weight)

    def plain_loss(batch: Batch) -> torch.Tensor:
        return ssr_pu_by_class(plain(batch), batch.labels(), priors.labelled, priors.overall)

    ours, theirs = shortest(
        *(_steps(net, each, batches) for net, each in ((model, our_loss), (plain, plain_loss)))
    )
    return {
        "tokenise (documents/s)": len(corpus) / prepared,
        "training step (documents/s)": TRAINED / ours,
        "training step against plain": theirs / ours,
    }


def _steps(net: nn.Module, loss: Callable[[Batch], torch.Tensor], batches: list[Batch]) -> Callable[[], None]:
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.0)
    net.train()

    def work() -> None:
        for batch in batches:
            loss(batch).backward()
            clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

    return work


def inference(data: Path) -> dict[str, float]:
    """Documents a second that facts are predicted of, by each backend, and against the plain implementation."""
    train = load_documents(data / "data/docred/train_annotated.json")
    gold = load_documents(data / "data/docred/dev_revised.json").documents[:PREDICTED]
    model = RelationModel.from_encoder(data / "encoders/minilm", relations=train.relations).eval()
    with torch.no_grad():
        model.head.bias[0] += 100  # or it would predict thousands of facts, and spend its time on them
    assert model.tokenizer is not None
    features = featurise(gold, model.tokenizer, model.relations.ids, model.candidates)
    collate = Collator(features)
    starts = range(0, len(gold), BATCH)
    batches = [collate([features[i] for i in range(s, min(s + BATCH, len(gold)))]) for s in starts]
    plain = PlainATLOP.from_model(model)

    def predict_plainly() -> None:
        with torch.no_grad():
            for batch in batches:
                plain(batch)

    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        backends = {name: Extractor(folder, backend=name) for name in ("torch", "int8")}
        works = [lambda extractor=each: list(extractor.extract(gold)) for each in backends.values()]
        taken, *each = shortest(predict_plainly, *works)
    result = {f"predict, {name} (documents/s)": len(gold) / s for name, s in zip(backends, each, strict=True)}
    return result | {
        f"predict, {name} against plain": taken / s for name, s in zip(backends, each, strict=True)
    }


BENCHMARKS: dict[str, Callable[[Path], dict[str, float]]] = {
    "documents": documents,
    "training": training,
    "inference": inference,
}


def measure(names: list[str], data: Path) -> dict[str, Any]:
    """Run benchmarks, all without names, and print their figures."""
    results = {}
    for name in names or BENCHMARKS:
        print(f"\n{name}", flush=True)
        results[name] = BENCHMARKS[name](data)
        for what, value in results[name].items():
            print(f"  {what:<60} {value:>12,.2f}", flush=True)
    return results
