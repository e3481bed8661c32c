"""Scores of those relations alone that the types of head and tail allow.

Of 96 relations two types have about ten, and a date is the head of none. On a CPU the grouped bilinear, which
is half of the work with a small encoder, is computed for these alone: pairs are sorted by their types, and
those of like types share the columns of their relations.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from unnoted.documents.relation_types import RelationTypes
from unnoted.encoders import Encoded
from unnoted.features.batch import Batch
from unnoted.pairs.pieces import PAIRS_AT_ONCE, PairsInPieces, pair_scores
from unnoted.scores.grouped_bilinear import GroupedBilinear
from unnoted.scores.type_bias import entity_types

NEVER = -1e4
"""The score of a relation that types forbid: a number, so that margins stay numbers, and below every line."""


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

    def scores(
        self, pairs: nn.Module, scorer: nn.Module, encoded: Encoded, batch: Batch, kinds: Tensor
    ) -> Tensor:
        """What `pair_scores` gives, [P, K + 1], in the columns of allowed relations; any number elsewhere.

        Args:
            pairs: what represents pairs.
            scorer: what scores them.
            encoded: the tokens.
            batch: as the model sees it.
            kinds: what `kinds` gave.
        """
        fast = isinstance(scorer, GroupedBilinear) and isinstance(pairs, PairsInPieces)
        if not fast or batch.device.type != "cpu":
            return pair_scores(pairs, scorer, encoded, batch)
        assert isinstance(scorer, GroupedBilinear) and isinstance(pairs, PairsInPieces)
        found = encoded.states.new_zeros(batch.pairs, self.table.shape[2] + 1)
        shared = pairs.shared(encoded, batch)
        by_class = scorer.by_class()
        for rows, runs in self._runs(kinds):
            head, tail = pairs.embed(shared, batch, rows)
            for run, classes in runs:
                scored = scorer.of_classes(head[run], tail[run], by_class[:, :, classes], classes)
                found[rows[run].unsqueeze(1), classes] = scored
        return found

    def _runs(self, kinds: Tensor) -> Iterator[tuple[Tensor, list[tuple[slice, Tensor]]]]:
        """Pairs in pieces, sorted by types: their rows, and in each piece the runs of like types.

        Pairs whose types allow nothing are left out.
        """
        table = self.table.flatten(0, 1)  # [kinds, K]
        wanted = table.any(1)[kinds].nonzero().squeeze(1)
        wanted = wanted[kinds[wanted].argsort(stable=True)]
        for rows in torch.split(wanted, PAIRS_AT_ONCE):
            present, counts = torch.unique_consecutive(kinds[rows], return_counts=True)
            runs, start = [], 0
            for kind, count in zip(present.tolist(), counts.tolist(), strict=True):
                relations = table[kind].nonzero().squeeze(1)
                classes = torch.cat([relations.new_zeros(1), relations + 1])  # the none class is first
                runs.append((slice(start, start + count), classes))
                start += count
            if runs:
                yield rows, runs
