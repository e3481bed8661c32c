"""`python -m benchmarks.million [--documents N] [--to FOLDER]`: a corpus through `unnoted predict`, killed and restarted.

Generates short documents (two sentences, two entities) in shards of 10,000, predicts them with a model of one layer
of 16 units, kills the command three times with SIGKILL, and checks that each document has its facts once, in order.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, PreTrainedTokenizerFast

from unnoted.io import write_lines
from unnoted.models.model import RelationConfig, RelationModel

SHARD = 10_000
KILLS = 3
NAMES = [
    f"{first}{last}" for first in ("Al", "Be", "Co", "Da", "El", "Fi") for last in ("da", "ne", "rik", "so")
]
PLACES = [
    f"{first}{last}" for first in ("Ost", "Nor", "Sud", "Wes") for last in ("heim", "ford", "by", "stad")
]
VERBS = ["left", "loved", "ruled", "saw", "sold", "visited"]


def documents(shard: int) -> Iterator[dict[str, Any]]:
    """The documents of a shard."""
    draw = random.Random(shard)
    for number in range(SHARD):
        name, place = draw.choice(NAMES), draw.choice(PLACES)
        yield {
            "id": f"{shard}-{number}",
            "sentences": [
                [name, draw.choice(VERBS), place, "."],
                ["Then", name, draw.choice(VERBS), "it", "."],
            ],
            "entities": [
                {"type": "PER", "mentions": [{"sentence": s, "start": s, "end": s + 1} for s in (0, 1)]},
                {"type": "LOC", "mentions": [{"sentence": 0, "start": 2, "end": 3}]},
            ],
        }


def save_model(folder: Path) -> None:
    """Write a model with random weights that knows all words."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "*", ".", "Then", "it", *NAMES, *PLACES, *VERBS]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    encoder = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    names = {"born": "born in", "rules": "ruler of", "owns": "owner of"}
    config = RelationConfig(
        encoder_config=encoder.to_dict(), relations=list(names), relation_names=names, embedding=16, block=4
    )
    model = RelationModel(config).eval()
    model.tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    model.save_pretrained(folder)


def finished(to: Path) -> int:
    """How many shards have results."""
    return sum(1 for _ in to.glob("*.jsonl"))


def predict(folder: Path, kill_after: int | None) -> dict[str, Any]:
    """Run the command, or kill it within the shard that follows so many finished ones."""
    command = [sys.executable, "-m", "unnoted", "predict", "model", "in", "--to", "out/", "--threads", "1"]
    start, to = time.monotonic(), folder / "out"
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
    peak = 0
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        # Not `ru_maxrss`, in which this process counts that started the command.
        status_file = Path(f"/proc/{process.pid}/status").read_text()
        peak = max(peak, int(re.search(r"VmHWM:\s+(\d+)|$", status_file)[1] or 0))
        if kill_after is not None and finished(to) >= kill_after:
            kill_after = None
            time.sleep(random.random() * 3)
            process.send_signal(signal.SIGKILL)
        time.sleep(0.1)
    _, status, usage = os.wait4(process.pid, 0)
    result = {
        "shards finished": finished(to),
        "seconds": round(time.monotonic() - start),
        "CPU seconds": round(usage.ru_utime + usage.ru_stime),
        "peak memory (MB)": round(peak / 1000),
        "ended by": f"signal {os.WTERMSIG(status)}"
        if os.WIFSIGNALED(status)
        else f"exit code {os.WEXITSTATUS(status)}",
    }
    print(json.dumps(result), flush=True)
    return result


def check(folder: Path, shards: int) -> None:
    """Compare the ids of results with those of documents, and look for what a kill may have left."""
    seen = facts = 0
    for shard in range(shards):
        for number, line in enumerate((folder / f"out/{shard:04}.jsonl").open()):
            record = json.loads(line)
            assert record["id"] == f"{shard}-{number}"
            facts += len(record["facts"])
            seen += 1
    assert seen == shards * SHARD
    assert len(list((folder / "out").iterdir())) == shards + 1, "files are left over"
    print(json.dumps({"documents": seen, "facts": facts, "lost": 0, "twice": 0}), flush=True)


def main() -> None:
    """Generate, predict and check."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--to", type=Path, default=Path("runs/million"))
    given = parser.parse_args()
    shards = -(-given.documents // SHARD)
    (given.to / "in").mkdir(parents=True, exist_ok=True)
    save_model(given.to / "model")
    for shard in range(shards):
        write_lines(given.to / f"in/{shard:04}.jsonl", documents(shard))
    for kill in range(1, KILLS + 1):
        predict(given.to, shards * kill // 8)
    predict(given.to, None)
    check(given.to, shards)


if __name__ == "__main__":
    main()
