"""Scores of those relations alone that the types of head and tail allow.

Of 96 relations two types have about ten, and a date is the head of none. On a CPU the grouped bilinear, which
is half of the work with a small encoder, is computed for these alone: pairs are sorted by their types, and
those of like types share the columns of their relations.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from unnoted.data.relation_types import RelationTypes
from unnoted.models.architectures import GroupedBilinear, PairEncoder, pair_logits
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded
from unnoted.models.scores.type_bias import entity_types
from unnoted.models.scores.typed_weights import TypedWeights

NEVER = -1e4
"""The score of a relation that types forbid: a number, so that margins stay numbers, and below every line."""

TYPED_AT_ONCE = 2**10
"""How many pairs are represented and scored at a time: few enough to stay in cache."""


class TypedRelations:
    """Which relations are scored for a pair, by the types of its head and tail.

    Args:
        learnt: the types of each relation.
        types: that are told apart, in the order of their numbers, which begin at 1; 0 is any other type.
        relations: in the order of the scores.

    Example:
        >>> learnt = RelationTypes(("LOC", "PER"), {"born in": (("PER", "LOC"),)})
        >>> TypedRelations(learnt, ("LOC", "PER"), ("born in", "capital")).table[2, 1].tolist()
        [True, False]
    """

    def __init__(self, learnt: RelationTypes, types: Sequence[str], relations: Sequence[str]) -> None:
        kinds, number = len(types) + 1, {name: place for place, name in enumerate(types, start=1)}
        self.table = torch.zeros(kinds, kinds, len(relations), dtype=torch.bool)
        """bool [types + 1, types + 1, K]."""
        self._weights: TypedWeights | None = None
        unknown = [0, *(place for name, place in number.items() if name not in learnt.types)]
        self.table[unknown] = self.table[:, unknown] = True
        for place, relation in enumerate(relations):
            for head, tail in learnt.pairs.get(relation, ()):
                if head in number and tail in number:
                    self.table[number[head], number[tail], place] = True

    def kinds(self, batch: Batch) -> Tensor:
        """For each pair, int64 [P], the row of its types in the table, heads and tails taken as one axis."""
        types = entity_types(batch)  # [E]
        return types[batch.head] * len(self.table) + types[batch.tail]

    def allowed(self, kinds: Tensor) -> Tensor:
        """Which relations each pair may have, bool [P, K], from what `kinds` gave."""
        return self.table.to(kinds.device).flatten(0, 1)[kinds]

    def prepared(self, scorer: nn.Module) -> "TypedRelations":
        """The same for as long as a scorer does not change: its weights are laid out once.

        What was laid out before is used on, if the scorer still has these weights.
        """
        if not isinstance(scorer, GroupedBilinear) or scorer.weight.device.type != "cpu":
            return self
        if self._weights is not None and self._weights.fits(scorer):
            return self
        found = copy(self)
        found._weights = TypedWeights(scorer, self.table.flatten(0, 1))
        return found

    def scores(
        self, pairs: nn.Module, scorer: nn.Module, encoded: Encoded, batch: Batch, kinds: Tensor
    ) -> Tensor:
        """What `pair_logits` gives, [P, K + 1], in the columns of allowed relations; any number elsewhere.

        Args:
            pairs: what represents pairs.
            scorer: what scores them.
            encoded: the tokens.
            batch: as the model sees it.
            kinds: what `kinds` gave.
        """
        fast = isinstance(scorer, GroupedBilinear) and isinstance(pairs, PairEncoder)
        if not fast or batch.device.type != "cpu":
            return pair_logits(pairs, scorer, encoded, batch)
        assert isinstance(scorer, GroupedBilinear) and isinstance(pairs, PairEncoder)
        weights = TypedWeights(scorer, self.table.flatten(0, 1)) if self._weights is None else self._weights
        wanted = self._wanted(kinds)  # rows into the pairs
        if pairs.pairs_are_independent:
            batch, places = _of_pairs(batch, wanted), torch.arange(len(wanted))
        else:
            places = wanted
        shared = pairs.encode_entities(encoded, batch)
        found = encoded.states.new_zeros(len(kinds), self.table.shape[2] + 1)
        for start in range(0, len(wanted), TYPED_AT_ONCE):
            rows = wanted[start : start + TYPED_AT_ONCE]
            head, tail = pairs.encode_pairs(shared, batch, places[start : start + TYPED_AT_ONCE])
            for kind, run in _runs(kinds[rows]):
                classes, weight = weights.of(kind)
                scored = scorer.logits_of_classes(head[run], tail[run], weight, classes)
                found[rows[run].unsqueeze(1), classes] = scored
        return found

    def _wanted(self, kinds: Tensor) -> Tensor:
        """The pairs that may have a relation, int64, sorted by kind."""
        wanted = self.table.flatten(0, 1).any(1)[kinds].nonzero().squeeze(1)
        return wanted[kinds[wanted].argsort(stable=True)]


def _of_pairs(batch: Batch, rows: Tensor) -> Batch:
    """The same documents with some of their pairs alone, to represent these."""
    names = "head", "tail", "pair_document", "pair_weight"
    chosen: dict[str, Any] = {name: getattr(batch, name)[rows] for name in names}
    return replace(batch, **chosen)


def _runs(kinds: Tensor) -> Iterator[tuple[int, slice]]:
    """Each kind of some pairs that are sorted by kind, and where its pairs are."""
    present, counts = torch.unique_consecutive(kinds, return_counts=True)
    start = 0
    for kind, count in zip(present.tolist(), counts.tolist(), strict=True):
        yield kind, slice(start, start + count)
        start += count
