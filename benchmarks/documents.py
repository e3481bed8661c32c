"""How fast documents are read, checked, generated and written, and what they take in memory."""

import json
import subprocess
import sys
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import seconds
from unnoted.data import stream_documents, write_documents
from unnoted.data.synthetic import generate_documents

GENERATED = 4_000
_LOAD = """
import json, sys, tracemalloc
from unnoted.data import load_documents
tracemalloc.start()
corpus = load_documents(*sys.argv[1:])
print(json.dumps({"documents": len(corpus), "bytes": tracemalloc.get_traced_memory()[0]}))
"""


def run(shared: Path | None) -> dict[str, float]:
    """Rates in documents a second, and kilobytes a document in memory."""
    results = _generated()
    if shared is not None:
        results |= _real(shared)
    return results


def _consume(*paths: Path) -> None:
    deque(stream_documents(*paths), maxlen=0)


def _generated() -> dict[str, float]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        make = seconds(lambda: deque(generate_documents(GENERATED), maxlen=0))
        write = seconds(lambda: write_documents(path, generate_documents(GENERATED)))
        read = seconds(lambda: _consume(path))
        memory = _kilobytes(path)
    return {
        "generate (documents/s)": GENERATED / make,
        "generate and write JSONL (documents/s)": GENERATED / write,
        "read and check JSONL (documents/s)": GENERATED / read,
        "generated document in memory (kB)": memory,
    }


def _real(shared: Path) -> dict[str, float]:
    docred = shared / "data/docred/train_annotated.json"
    abstracts = [
        shared / "data/chemdisgene" / name
        for name in ("train_abstracts.txt.gz", "train_relationships.tsv.gz")
    ]
    return {
        "read and check DocRED (documents/s)": 548 / seconds(lambda: _consume(docred)),
        "read and check PubTator (abstracts/s)": 1521 / seconds(lambda: _consume(*abstracts)),
        "DocRED document in memory (kB)": _kilobytes(docred),
        "PubTator abstract in memory (kB)": _kilobytes(*abstracts),
    }


def _kilobytes(*paths: Path) -> float:
    """Memory that a document takes, from what a process of its own holds after loading."""
    command = [sys.executable, "-c", _LOAD, *map(str, paths)]
    measured = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return measured["bytes"] / 1000 / measured["documents"]
