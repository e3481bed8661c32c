"""The learning core against the plain implementation in `tests/reference`, and against the encoder alone.

Times are taken in turns within one process, so that noise meets all sides alike, and the shortest round
counts. Peak memory is that of a process of its own for each side.
"""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from tests.reference.atlop import PlainATLOP
from tests.reference.features import plain_features
from tests.reference.loss_by_class import ssr_pu_by_class
from torch import nn
from torch.nn.utils import clip_grad_norm_
from transformers import AutoModel, AutoTokenizer

from benchmarks.measure import seconds_in_turns
from unnoted.data import Corpus, load_documents
from unnoted.losses import SSRPU
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import FeatureSet, featurise
from unnoted.models.model import RelationModel
from unnoted.models.samplers import BatchLimits, ShuffledBatches, UniformPairSampler

SAMPLED = 48
ROUNDS = 3
BATCH = 4
UNLABELLED_RATE = 0.25
LIMIT = 512


class Setting:
    """A sample of documents, features, batches and both models."""

    def __init__(self, shared: Path) -> None:
        """Load the encoder and the documents."""
        torch.manual_seed(0)
        encoder = self.encoder = shared / "encoders/minilm"
        self.corpus = load_documents(shared / "data/docred/train_annotated.json")
        self.priors = self.corpus.labelled_priors * 3
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.model = self.make_model()
        self.loss = SSRPU(priors=self.priors)
        self.features = self.featurise(self.corpus)
        # A fair sample: whole batches of ours, and the same documents in random order for the plain side.
        chosen = random.Random(0).sample(self.epoch_grouped(), SAMPLED // BATCH)
        collate = Collator(self.features)
        self.grouped = self._batches(chosen, collate)
        self.sampled = self._batches(chosen, Collator(self.features, UniformPairSampler(UNLABELLED_RATE)))
        order = random.Random(1).sample([index for batch in chosen for index in batch], SAMPLED)
        self.mixed = self._batches([order[at : at + BATCH] for at in range(0, SAMPLED, BATCH)], collate)

    def make_model(self, **options: bool) -> RelationModel:
        """ATLOP's architecture on the encoder."""
        return RelationModel.from_encoder(self.encoder, relations=self.corpus.relations, **options)

    def featurise(self, corpus: Corpus) -> FeatureSet:
        """All features of a corpus, without a cache."""
        return featurise(corpus.documents, self.tokenizer, corpus.relations.ids, corpus.candidates)

    def epoch_grouped(self) -> list[list[int]]:
        """The documents of all batches of an epoch, as ours are made."""
        return list(ShuffledBatches(self.features, BatchLimits(documents=BATCH), seed=0))

    def epoch_mixed(self) -> list[list[int]]:
        """The same in random order, as a research program makes them."""
        order = random.Random(1).sample(range(len(self.features)), len(self.features))
        return [order[at : at + BATCH] for at in range(0, len(order), BATCH)]

    def heaviest(self, epoch: list[list[int]]) -> list[Batch]:
        """The batches that decide an epoch's peak memory: with the most pairs, and with the most tokens."""
        pairs, tokens = self.features.pair_counts, self.features.token_counts
        chosen = [
            max(epoch, key=lambda batch: sum(pairs[index] for index in batch)),
            max(epoch, key=lambda batch: max(tokens[index] for index in batch)),
        ]
        return self._batches(chosen, Collator(self.features))

    def _batches(self, indices: Sequence[Sequence[int]], collate: Collator) -> list[Batch]:
        return [collate([self.features[index] for index in batch]) for batch in indices]


def optimised(
    model: nn.Module, loss: Callable[[Batch], torch.Tensor], fused: bool
) -> Callable[[Batch], None]:
    """A whole training step of a model."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.0, fused=fused)

    def step(batch: Batch) -> None:
        loss(batch).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()

    model.train()
    return step


def our_step(setting: Setting, **options: bool) -> Callable[[Batch], None]:
    """Our training step; of a model of its own where that has other options."""
    model, loss = setting.make_model(**options) if options else setting.model, setting.loss
    return optimised(model, lambda batch: loss(model(batch), batch.labels(), batch.pair_weight), fused=True)


def plain_step(setting: Setting) -> Callable[[Batch], None]:
    """The plain training step."""
    plain, priors = PlainATLOP.of(setting.model), setting.priors

    def loss(batch: Batch) -> torch.Tensor:
        return ssr_pu_by_class(plain(batch), batch.labels(), priors.labelled, priors.overall)

    return optimised(plain, loss, fused=False)


def encoder_step(setting: Setting) -> Callable[[Batch], None]:
    """The encoder alone as transformers gives it, forward and backward."""
    encoder = AutoModel.from_pretrained(setting.encoder, add_pooling_layer=False).train()

    def step(batch: Batch) -> None:
        ids, mask = batch.input_ids[:, :LIMIT], batch.attention_mask[:, :LIMIT]
        states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        states.mean().backward()
        encoder.zero_grad()

    return step


def over(batches: Sequence[Batch], step: Callable[[Batch], object]) -> Callable[[], None]:
    """All batches once."""

    def work() -> None:
        for batch in batches:
            step(batch)

    return work


def run(shared: Path | None) -> dict[str, float]:
    """Every phase: seconds a document, and the ratios."""
    if shared is None:
        return {}
    setting = Setting(shared)
    results = _featurising(setting) | _training(setting) | _inference(setting)
    memory = {side: _memory(shared, side) for side in SIDES}
    results |= {f"training, {side}: peak memory (MB)": peak for side, peak in memory.items()}
    results["training, peak memory: ours ÷ plain (goal ≤ 0.4)"] = memory["ours"] / memory["plain"]
    return results


def _featurising(setting: Setting) -> dict[str, float]:
    part = setting.corpus[:200]
    relations, tokenizer = list(part.relations), setting.tokenizer
    plain, ours = seconds_in_turns(
        lambda: [plain_features(document, tokenizer, relations, "*") for document in part],
        lambda: setting.featurise(part),
        rounds=ROUNDS,
    )
    return {
        "featurise, plain (ms a document)": 1000 * plain / len(part),
        "featurise, ours (ms a document)": 1000 * ours / len(part),
        "featurise: plain ÷ ours (goal ≥ 10)": plain / ours,
    }


def _training(setting: Setting) -> dict[str, float]:
    step = our_step(setting)
    ours, mixed, exact, rows, sampled, plain, encoder = seconds_in_turns(
        over(setting.grouped, step),
        over(setting.mixed, step),
        over(setting.grouped, our_step(setting, fast_dropout=False)),
        over(setting.grouped, our_step(setting, row_dropout=True)),
        over(setting.sampled, step),
        over(setting.mixed, plain_step(setting)),
        over(setting.grouped, encoder_step(setting)),
        rounds=ROUNDS,
    )
    return {
        "training, ours (s a document)": ours / SAMPLED,
        f"training, ours, {UNLABELLED_RATE:.0%} of unlabelled pairs (s a document)": sampled / SAMPLED,
        "training, plain (s a document)": plain / SAMPLED,
        "training, encoder alone (s a document)": encoder / SAMPLED,
        "training: plain ÷ ours (goal ≥ 3.5)": plain / ours,
        f"training: plain ÷ ours with {UNLABELLED_RATE:.0%} of unlabelled pairs": plain / sampled,
        "training: ours ÷ encoder alone (goal ≤ 1.5)": ours / encoder,
        "training: batches: random ÷ ours": mixed / ours,
        "training: fast_dropout: false ÷ ours": exact / ours,
        "training: row_dropout: true ÷ ours": rows / ours,
    }


def _inference(setting: Setting) -> dict[str, float]:
    model, plain = setting.model.eval(), PlainATLOP.of(setting.model.eval())
    with torch.inference_mode():
        ours, other = seconds_in_turns(
            over(setting.grouped, model), over(setting.mixed, plain), rounds=ROUNDS
        )
    return {
        "inference, ours (s a document)": ours / SAMPLED,
        "inference, plain (s a document)": other / SAMPLED,
        "inference: plain ÷ ours (goal ≥ 2.5)": other / ours,
    }


def peak_megabytes() -> float:
    """The peak of this process. Not from `getrusage`, whose peak a child inherits from its parent."""
    status = Path("/proc/self/status").read_text()
    return float(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


SIDES = {"ours": our_step, "plain": plain_step, "encoder": encoder_step}


def _memory(shared: Path, side: str) -> float:
    """The peak of a process that trains on the heaviest batches of an epoch, in megabytes."""
    command = [sys.executable, "-m", "benchmarks.learning", str(shared), side]
    return float(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


if __name__ == "__main__":
    setting = Setting(Path(sys.argv[1]))
    epoch = setting.epoch_mixed() if sys.argv[2] == "plain" else setting.epoch_grouped()
    over(setting.heaviest(epoch), SIDES[sys.argv[2]](setting))()
    print(json.dumps(peak_megabytes()))
