"""A training step of every model against the forward and backward pass of its encoder alone.

One thread, and processor time: what other programs do at the time counts for little. The models and the
encoder take turns, a round is all batches once, and the median over the rounds of the ratio counts.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from transformers import AutoConfig, AutoTokenizer, set_seed

from benchmarks.learning import optimised, over
from benchmarks.measure import times_in_turns
from unnoted.data import Corpus, load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.losses import SSRPU
from unnoted.models.architectures.registry import ARCHITECTURES
from unnoted.models.batch import Batch, Collator
from unnoted.models.encoders import ENCODER_KINDS, DocumentEncoder, load_encoder, make_encoder
from unnoted.models.features import featurise
from unnoted.models.model import RelationModel
from unnoted.models.samplers import BatchLimits, ShuffledBatches

BATCHES = 3
BATCH = 4
ROUNDS = 3
LIMIT = 3.0
"""How many times the encoder alone a training step may take."""

OWN_ENCODER = "bilstm"
"""The model whose encoder is so small that there is no limit."""

EMBEDDINGS: dict[str, Callable[[int], int]] = {
    "kd-docre": lambda width: width,
    "gain": lambda width: 6 * (width + 40),
    "bilstm": lambda width: 128,
    "max-pool": lambda width: 128,
    "bran": lambda width: 128,
}
"""The size `embedding` as published, by the width of a token's state, where it is not 768."""

OPTIONS: dict[str, dict[str, object]] = {
    "gain": {"path_edges": "last-layer", "path_attention": False, "path_layer": True},
}
"""Settings of architectures as in the programs behind the published figures, where they are no defaults."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Documents and an encoder, and what of them is measured.

    Attributes:
        corpus: the documents.
        encoder: the encoder's folder.
        batches: whole batches of an epoch, drawn at random.
    """

    corpus: Corpus
    encoder: Path
    batches: Sequence[Batch]

    @classmethod
    def of(cls, corpus: Corpus, encoder: Path) -> "Bench":
        """Draw the batches; the same documents for any encoder that splits words alike."""
        tokenizer = AutoTokenizer.from_pretrained(encoder)
        features = featurise(
            corpus.documents, tokenizer, corpus.relations.ids, corpus.candidates, None, corpus.entity_types
        )
        epoch = list(ShuffledBatches(features, BatchLimits(documents=BATCH), seed=0))
        chosen, collate = random.Random(0).sample(epoch, BATCHES), Collator(features)
        return cls(corpus, encoder, [collate([features[index] for index in batch]) for batch in chosen])

    def ratios(self, names: Sequence[str]) -> dict[str, float]:
        """For each model, how many times the encoder alone a training step takes."""
        steps = [self.alone(), *map(self.step, names)]
        for step in steps:
            step(self.batches[0])  # memory is fetched and averages of the optimiser are made the first time
        works = [over(self.batches, step) for step in steps]
        alone, *models = times_in_turns(*works, rounds=ROUNDS, clock=time.process_time)
        return {
            name: median(taken / base for taken, base in zip(times, alone, strict=True))
            for name, times in zip(names, models, strict=True)
        }

    def step(self, name: str) -> Callable[[Batch], None]:
        """A whole training step of a model with SSR-PU."""
        set_seed(0)
        width = AutoConfig.from_pretrained(self.encoder).hidden_size
        model = RelationModel.from_encoder(
            self.encoder,
            self.corpus.relations,
            architecture=name,
            architecture_options=OPTIONS.get(name),
            entity_types=self.corpus.entity_types,
            embedding=EMBEDDINGS[name](width) if name in EMBEDDINGS else 768,
        )
        loss = SSRPU(priors=self.corpus.labelled_priors * 3)
        return optimised(
            model, lambda batch: loss(model(batch), batch.labels(), batch.pair_weight), fused=True
        )

    def alone(self) -> Callable[[Batch], None]:
        """The encoder as transformers gives it, forward and backward."""
        encoder = DocumentEncoder(load_encoder(self.encoder), fast_dropout=False, attention=False).train()

        def step(batch: Batch) -> None:
            encoder(batch).states.mean().backward()
            encoder.zero_grad()

        return step


def run(shared: Path | None) -> dict[str, float]:
    """One row for each model."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with TemporaryDirectory() as folder:
            return _measure(shared, Path(folder))
    finally:
        torch.set_num_threads(threads)


def _measure(shared: Path | None, folder: Path) -> dict[str, float]:
    corpus = _generated() if shared is None else load_documents(shared / "data/docred/train_annotated.json")
    encoder, what = folder / "encoder", "made encoder alone"
    if shared is None:
        make_encoder(encoder, corpus.documents, config=ENCODER_KINDS["convolutional-attention"]())
    else:
        encoder, what = shared / "encoders/minilm", f"MiniLM alone (goal ≤ {LIMIT:g})"
    vectors = None if shared is None else shared / "encoders/glove.6B.100d.docred.txt"
    make_encoder(folder / "own", corpus.documents, config=ENCODER_KINDS[OWN_ENCODER](), vectors=vectors)
    others = [name for name in ARCHITECTURES if name != OWN_ENCODER]
    results = {f"{name} ÷ {what}": ratio for name, ratio in Bench.of(corpus, encoder).ratios(others).items()}
    (own,) = Bench.of(corpus, folder / "own").ratios([OWN_ENCODER]).values()
    return results | {f"{OWN_ENCODER} ÷ its own encoder alone": own}


def _generated() -> Corpus:
    documents = tuple(generate_documents(BATCHES * BATCH))
    return Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs())
