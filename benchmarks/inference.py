"""How many documents a second are predicted on: the plain implementation, the default, torch, ONNX Runtime.

    python -m benchmarks.inference [MODEL] [--documents 48] [--rounds 3] [--threads 1 2] [--score]

MODEL is a trained model of the architecture `atlop`; without it, MiniLM with new layers, which predicts
nothing. All sides take turns, with each number of threads. With one thread, CPU time is counted, so that what
else the machine does matters little; with more, time by the clock. `plain` is `tests/reference/atlop.py`, in
batches of four documents in the order of the file, and only scores; all others go from documents to facts
with supporting sentences. `--score` adds F1 on all of `dev_revised.json`.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from tests.reference.atlop import PlainATLOP

from benchmarks.__main__ import SHARED
from benchmarks.measure import times_in_turns
from unnoted.data import load_documents
from unnoted.data.relation_types import RelationTypes
from unnoted.evaluation import evaluate
from unnoted.inference import Extractor
from unnoted.inference.onnx import export_onnx
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.model import RelationModel

PLAIN_BATCH = 4
LONGEST = 1000
"""Words; the plain implementation has two windows."""


def typed_model(path, train, folder):
    """A copy of a model that knows which types relations connect."""
    if path is None:
        encoder = SHARED / "encoders/minilm"
        types = train.entity_types
        model = RelationModel.from_encoder(encoder, relations=train.relations, entity_types=types).eval()
        with torch.no_grad():
            model.scores.bias[0] += 100  # or it would predict thousands of facts, and spend its time on them
    else:
        model = RelationModel.from_pretrained(path)
    model.relation_types = RelationTypes.of(train)
    model.save_pretrained(folder)
    return folder


def plain_side(model, documents):
    """Scores by the plain implementation; documents are made into features beforehand."""
    plain = PlainATLOP.of(model)
    features = featurise(documents, model.tokenizer, model.relations.ids, model.candidates)
    collate, starts = Collator(features), range(0, len(documents), PLAIN_BATCH)
    batches = [
        collate([features[at] for at in range(start, min(start + PLAIN_BATCH, len(documents)))])
        for start in starts
    ]

    def work():
        with torch.no_grad():
            for batch in batches:
                plain(batch)

    return work


def f1(extractor, gold):
    """F1 in percent."""
    return (
        100 * evaluate(gold, (p for found in extractor.extract(gold) for p in found.predictions())).overall.f1
    )


def extractors_of(folder, scratch, compiled):
    """The ways in which facts are found, by name."""
    sides = {
        "default": Extractor.from_pretrained(folder),
        "torch": Extractor.from_pretrained(folder, backend="torch"),
        "torch, any types": Extractor.from_pretrained(folder, backend="torch", any_types=True),
    }
    print(f"default: {sides['default'].backend_digest or 'torch'}")
    for name, int8 in (("onnx", False), ("onnx, 8 bits", True)):
        exported = export_onnx(folder, scratch / name, int8=int8)
        print(f"{name}: states and rows at most {exported.difference:.2g} from torch")
        sides[name] = Extractor.from_pretrained(exported.folder)
    if compiled:
        sides["torch.compile"] = Extractor.from_pretrained(folder, backend="torch")
        inner = sides["torch.compile"].model.encoder.model
        inner.encoder.forward = torch.compile(inner.encoder.forward, dynamic=True)
    return sides


def measure(works, threads, rounds, documents):
    """Let all sides take turns with so many threads, and print a table."""
    torch.set_num_threads(threads)
    clock, unit = (time.process_time, "CPU time") if threads == 1 else (time.perf_counter, "time")
    print(f"{documents} documents, {threads} thread(s), {unit}, best of {rounds}", flush=True)
    times = times_in_turns(*works.values(), rounds=rounds, clock=clock)
    taken = {side: min(each) for side, each in zip(works, times, strict=True)}
    for side, seconds in taken.items():
        rate, ratio = documents / seconds, taken["plain"] / seconds
        print(f"{side:<32} {rate:>8.2f} documents/s  {ratio:>6.2f} x plain", flush=True)


def main():
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--documents", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--score", action="store_true")
    parser.add_argument("--compiled", action="store_true")
    chosen = parser.parse_args()
    data = SHARED / "data/docred"
    train = load_documents(data / "train_annotated.json")
    gold = load_documents(data / "dev_revised.json").documents
    some = [document for document in gold if document.word_count < LONGEST][: chosen.documents]
    with TemporaryDirectory() as name:
        scratch = Path(name)
        extractors = extractors_of(
            typed_model(chosen.model, train, scratch / "model"), scratch, chosen.compiled
        )
        works = {"plain": plain_side(extractors["torch"].model, some)}
        works |= {
            side: lambda extractor=extractor: list(extractor.extract(some))
            for side, extractor in extractors.items()
        }
        for threads in chosen.threads:
            measure(works, threads, chosen.rounds, len(some))
        if chosen.score:
            for side, extractor in extractors.items():
                print(f"{side:<32} F1 {f1(extractor, gold):.2f}", flush=True)


if __name__ == "__main__":
    main()
