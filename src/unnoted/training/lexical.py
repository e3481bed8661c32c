"""Fits the lexical (bag-of-words) model to the labels, before the first step.

What is minimised is the loss itself, summed over all candidate pairs, with a penalty on squared weights, by
L-BFGS, which takes seconds. The log odds of types are counted, not fitted, as in the bias initialisation.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import PreTrainedTokenizerBase

from unnoted.losses import Loss
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import FeatureSet
from unnoted.models.lexical import PLACES, STEMS, LexicalModel, PairWords, linear_log_odds, pair_words

WORD_PENALTY, PLACE_PENALTY = 3.0, 0.5
"""Chosen on labels of held-out training abstracts of ChemDisGene (docs/results/ablations.md)."""

STEM_LETTERS = 5
"""Tokens whose first letters are the same have one stem."""

TOKEN_MARKS = ("##", "\u0120", "\u2581")
"""What tokenizers write before a token that continues a word, or that begins one."""

MIN_DOCUMENTS = 10
"""A stem that stands in fewer documents has no weight."""

MAX_PAIRS = 2**18
"""Documents are added until there are so many pairs: a few thousand weights need no more."""

ITERATIONS, BATCH_DOCUMENTS = 40, 16


def fit_lexical(
    lexical: LexicalModel,
    types: Tensor,
    features: FeatureSet,
    loss: Loss,
    tokenizer: PreTrainedTokenizerBase | None,
) -> None:
    """Fit the lexical model to the labels of documents.

    Args:
        lexical: is changed.
        types: [T + 1, T + 1, K], log odds by the types of head and tail (`initial_scores`).
        features: of the training documents.
        loss: of scores whose differences from the threshold class are log odds.
        tokenizer: knows which tokens have the same stem; without one, each is its own.
    """
    batches = sample_batches(features)
    stem = number_frequent_stems(token_stems(tokenizer, len(lexical.stem)), batches)
    rows = _LexicalRows.from_batches(batches, types, stem)
    places = torch.zeros(len(lexical.places), types.shape[2], requires_grad=True)
    words = torch.zeros(len(lexical.words), types.shape[2], requires_grad=True)
    optimizer = torch.optim.LBFGS([places, words], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        log_odds = linear_log_odds(rows.types, places, words, rows.seen)  # [R, K]
        total = loss(pad(log_odds, (1, 0)), rows.labels, rows.weights) * rows.weights.sum()
        penalty = WORD_PENALTY * words.square().sum() + PLACE_PENALTY * places.square().sum()
        objective: Tensor = total + penalty / 2
        objective.backward()  # type: ignore[no-untyped-call]
        return objective

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    lexical.stem.copy_(stem)
    lexical.types.copy_(types)
    lexical.places.copy_(places.detach())
    lexical.words.copy_(words.detach())


class _LexicalRows(NamedTuple):
    """R rows, each of a pair or of many that the model cannot tell apart.

    Attributes:
        types: [R, K], log odds by types.
        seen: places and words.
        labels: bool [R, K].
        weights: float [R], for how many pairs a row stands.
    """

    types: Tensor
    seen: PairWords
    labels: Tensor
    weights: Tensor

    @classmethod
    def from_batches(cls, batches: Sequence[Batch], types: Tensor, stem: Tensor) -> "_LexicalRows":
        kinds: list[Tensor] = []
        seen: list[PairWords] = []
        words = 0
        for batch in batches:
            type_of, here = batch.entity_type, pair_words(batch, stem)
            kinds.append(type_of[batch.head] * types.shape[1] + type_of[batch.tail])  # [p]
            seen.append(PairWords(here.place, here.first + words, here.word, here.share))
            words += len(here.word)
        place, first, word, share = map(torch.cat, zip(*seen, strict=True))
        labels, kind = torch.cat([batch.labels() for batch in batches]), torch.cat(kinds)
        plain = (first.diff(append=torch.tensor([words])) == 0) & ~labels.any(1)  # no word, no label, [P]
        row, weights = merge_rows(kind * len(PLACES) + place, plain)
        # Rows that are left out have no words, so that the words of each other row end where the next begin.
        pairs = PairWords(place[row], first[row], word, share)
        return cls(types.flatten(0, 1)[kind[row]], pairs, labels[row], weights)


def merge_rows(key: Tensor, mergeable: Tensor) -> tuple[Tensor, Tensor]:
    """Of mergeable rows with one key the first, and all others; with how many each stands for.

    Example:
        >>> merge_rows(torch.tensor([7, 7, 8, 7]), torch.tensor([True, False, True, True]))
        (tensor([0, 1, 2]), tensor([2., 1., 1.]))
    """
    number = torch.arange(len(key))
    _, group, counts = torch.unique(key[mergeable], return_inverse=True, return_counts=True)
    first = torch.full_like(counts, len(key)).scatter_reduce(0, group, number[mergeable], "amin")
    row, order = torch.cat([number[~mergeable], first]).sort()
    return row, torch.cat([torch.ones(int((~mergeable).sum())), counts.float()])[order]


def token_stems(tokenizer: PreTrainedTokenizerBase | None, tokens: int) -> Tensor:
    """The number of each token's stem, int64 [V].

    Example:
        >>> token_stems(None, 3)
        tensor([0, 1, 2])
    """
    if tokenizer is None:
        return torch.arange(tokens)
    numbers: dict[str, int] = {}
    known = min(tokens, len(tokenizer))
    texts = map(str, tokenizer.convert_ids_to_tokens(list(range(known))))
    stems = [numbers.setdefault(stem_of(text), len(numbers)) for text in texts]
    return torch.tensor(stems + list(range(len(numbers), len(numbers) + tokens - known)))


def stem_of(token: str) -> str:
    """The first letters of a token, after its mark.

    Example:
        >>> stem_of("inhibitors"), stem_of("inhibits"), stem_of("##inhibit"), stem_of("of")
        ('inhib', 'inhib', '##inhib', 'of')
    """
    mark = next((mark for mark in TOKEN_MARKS if token.startswith(mark)), "")
    return mark + token[len(mark) :].lower()[:STEM_LETTERS]


def number_frequent_stems(stem: Tensor, batches: Sequence[Batch]) -> Tensor:
    """Stems of enough documents numbered from 1, the most frequent first; all others are 0; int64 [V]."""
    counts = torch.zeros(int(stem.max()) + 1, dtype=torch.int64)
    for batch in batches:
        for row, length in zip(batch.input_ids, batch.lengths, strict=True):
            counts[torch.unique(stem[row[:length]])] += 1
    count, order = counts.sort(descending=True, stable=True)
    kept = order[count >= MIN_DOCUMENTS][: STEMS - 1]
    return torch.zeros_like(counts).index_copy(0, kept, torch.arange(1, len(kept) + 1))[stem]


def sample_batches(features: FeatureSet) -> list[Batch]:
    """Batches of random documents, until there are enough pairs."""
    collate, found, pairs = Collator(features), list[Batch](), 0
    order = torch.randperm(len(features), generator=torch.Generator().manual_seed(0)).tolist()
    for first in range(0, len(order), BATCH_DOCUMENTS):
        found.append(collate([features[index] for index in order[first : first + BATCH_DOCUMENTS]]))
        pairs += found[-1].pairs
        if pairs >= MAX_PAIRS:
            break
    return found
