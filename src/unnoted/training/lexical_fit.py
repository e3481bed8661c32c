"""Fits the linear model of types, places and words to the labels, before the first step.

What is minimised is the risk itself, summed over all candidate pairs, with a penalty on squared weights, by
L-BFGS, which takes seconds. What types say is counted, not fitted, as where learning starts is.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from unnoted.features import Batch, Collator, FeatureSet
from unnoted.risks import Risk
from unnoted.scores.lexical import (
    LexicalScores,
    Meetings,
    Words,
    linear_log_odds,
    meetings,
    sentence_words,
)
from unnoted.scores.type_bias import entity_types

WORD_PENALTY = 3.0
PLACE_PENALTY = 0.5
"""Chosen on labels of held-out training abstracts of ChemDisGene (docs/results.md)."""

FEWEST = 10
"""A word that stands in fewer sentences has no weight."""

ITERATIONS = 40

DOCUMENTS_AT_ONCE = 16

MOST_SCORES = 2**25
"""Documents are added until there are so many pairs times relations: a few thousand weights need no more."""


class Design(NamedTuple):
    """What the linear model sees of all P pairs.

    Attributes:
        types: [P, K], what types say.
        met: where the pairs are mentioned.
        spoken: the words of all sentences.
        labels: bool [P, K].
    """

    types: Tensor
    met: Meetings
    spoken: Words
    labels: Tensor

    @classmethod
    def of(cls, batches: Iterable[Batch], types: Tensor) -> "Design":
        """Of some batches, `types` [T + 1, T + 1, K] being what types say."""
        said: list[Tensor] = []
        met: list[Meetings] = []
        spoken: list[Words] = []
        labels: list[Tensor] = []
        pairs = sentences = 0
        for batch in batches:
            kinds, here, words = entity_types(batch), meetings(batch), sentence_words(batch)
            said.append(types[kinds[batch.head], kinds[batch.tail]])  # [p, K]
            met.append(Meetings(here.place, here.pair + pairs, here.sentence + sentences, here.share))
            spoken.append(Words(words.token, words.sentence + sentences, words.sentences))
            labels.append(batch.labels())
            pairs, sentences = pairs + batch.pairs, sentences + words.sentences
        token = torch.cat([words.token for words in spoken])
        sentence = torch.cat([words.sentence for words in spoken])
        joined = Meetings(*map(torch.cat, zip(*met, strict=True)))
        return cls(torch.cat(said), joined, Words(token, sentence, sentences), torch.cat(labels))


def fit_lexical(lexical: LexicalScores, types: Tensor, features: FeatureSet, risk: Risk) -> None:
    """Fit the linear model to the labels of documents.

    Args:
        lexical: is changed.
        types: [T + 1, T + 1, K], the log odds that types show (`start.start_scores`).
        features: of the training documents.
        risk: of scores whose differences from the none class are log odds.
    """
    design = Design.of(_batches(features), types)
    token, sentence, sentences = design.spoken
    counts = torch.bincount(token, minlength=len(lexical.words))
    known = (counts >= FEWEST).nonzero().squeeze(1)  # [V]
    number = torch.full_like(counts, -1).index_copy(0, known, torch.arange(len(known)))
    has_weight = number[token] >= 0
    spoken = Words(number[token[has_weight]], sentence[has_weight], sentences)
    relations = types.shape[2]
    places = torch.zeros(len(lexical.places), relations, requires_grad=True)
    words = torch.zeros(len(known), relations, requires_grad=True)
    optimiser = torch.optim.LBFGS([places, words], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        log_odds = linear_log_odds(design.types, places, words, design.met, spoken)  # [P, K]
        total = risk(pad(log_odds, (1, 0)), design.labels) * len(log_odds)
        penalty = WORD_PENALTY * words.square().sum() + PLACE_PENALTY * places.square().sum()
        objective: Tensor = total + penalty / 2
        objective.backward()  # type: ignore[no-untyped-call]
        return objective

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    lexical.types.copy_(types)
    lexical.places.copy_(places.detach())
    lexical.words[known] = words.detach()


def _batches(features: FeatureSet) -> Iterable[Batch]:
    """Batches in an order that says nothing, until there is enough."""
    collate, scores = Collator.of(features), 0
    order = torch.randperm(len(features), generator=torch.Generator().manual_seed(0)).tolist()
    for first in range(0, len(order), DOCUMENTS_AT_ONCE):
        batch = collate([features[index] for index in order[first : first + DOCUMENTS_AT_ONCE]])
        yield batch
        scores += batch.pairs * batch.relations
        if scores >= MOST_SCORES:
            return
