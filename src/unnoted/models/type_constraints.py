"""What entity types say of relations: which pairs of types they connect, and a bias for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor, nn

from unnoted.data.candidates import TypePair
from unnoted.data.document import Document
from unnoted.models.architectures import GroupedBilinear, PairEncoder, pair_logits
from unnoted.models.architectures.heads import select_class_weights
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.encoders.packed_bert import weights_fingerprint
from unnoted.utils import short_repr

FORBIDDEN = -1e4
"""The logit of a relation that types forbid: finite, so that margins are, and below every threshold."""

PAIRS_AT_ONCE = 2**10
"""Pairs that are represented and scored at a time: few enough to stay in cache."""


@dataclass(frozen=True, slots=True)
class RelationTypes:
    """The types of head and tail that each relation is labelled with.

    Labels are incomplete, but of a relation with many labels hardly any type pair is missing. Of types that no
    training document has, nothing is known.

    Attributes:
        types: every type of the documents, sorted.
        pairs: by relation, the types of head and tail, sorted; a relation without a label is missing.

    Example:
        >>> from unnoted.data import Entity, Fact, Mention
        >>> ada, york = (Entity((Mention(0, i, i + 1, t, t),)) for i, t in enumerate(("PER", "LOC")))
        >>> document = Document("d1", (("Ada", "York"),), (ada, york), (Fact(0, 1, "born in"),))
        >>> RelationTypes.from_documents([document])
        RelationTypes(types=('LOC', 'PER'), pairs={'born in': (('PER', 'LOC'),)})
    """

    types: tuple[str, ...]
    pairs: Mapping[str, tuple[TypePair, ...]]

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> "RelationTypes":
        """The type pairs of the facts of documents."""
        types: set[str] = set()
        pairs: dict[str, set[TypePair]] = {}
        for document in documents:
            type_of = [entity.type for entity in document.entities]
            types.update(mention.type for entity in document.entities for mention in entity.mentions)
            for fact in document.facts:
                pairs.setdefault(fact.relation, set()).add((type_of[fact.head], type_of[fact.tail]))
        return cls(tuple(sorted(types)), {name: tuple(sorted(pairs[name])) for name in sorted(pairs)})

    def to_json(self) -> dict[str, Any]:
        """A JSON value for `from_json`."""
        value: dict[str, Any] = TypeAdapter(RelationTypes).dump_python(self, mode="json")
        return value

    @classmethod
    def from_json(cls, value: object) -> "RelationTypes":
        """What `to_json` wrote."""
        try:
            return TypeAdapter(cls).validate_python(value)
        except ValidationError:
            raise ValueError(f"relation_types: {short_repr(value)} is no table of type pairs") from None


class TypeBias(nn.Module):
    """A bias for every relation between every two types, added to the logits.

    A table of 0 adds nothing; bias initialisation fills it before the first step, and it is trained. An entity
    has the type of its first mention; number 0 is an unknown type.
    """

    def __init__(self, types: int, relations: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(types + 1, types + 1, relations))

    @property
    def is_initialised(self) -> bool:
        """Whether the table holds anything."""
        return bool(self.weight.detach().any())

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        """Logits [P, K + 1] with the bias of each pair added to those of relations."""
        types = batch.entity_type  # [E]
        bias = self.weight[types[batch.head], types[batch.tail]]  # [P, K]
        return torch.cat([logits[:, :1], logits[:, 1:] + bias.to(logits.dtype)], 1)


class TypeConstraints:
    """The relations that are scored for a pair, by the types of its head and tail.

    Of 96 relations two types have about ten, and a date is the head of none. On a CPU the grouped bilinear,
    which is half of the work with a small encoder, is computed for these alone: pairs are sorted by type pair,
    and those of one type pair share the weights of its relations.

    Args:
        relation_types: the type pairs of each relation.
        types: that are told apart, in the order of their numbers, which begin at 1; 0 is any other type.
        relations: in the order of the logits.

    Example:
        >>> learnt = RelationTypes(("LOC", "PER"), {"born in": (("PER", "LOC"),)})
        >>> TypeConstraints(learnt, ("LOC", "PER"), ("born in", "capital")).table[2, 1].tolist()
        [True, False]
    """

    def __init__(self, relation_types: RelationTypes, types: Sequence[str], relations: Sequence[str]) -> None:
        numbers = {name: number for number, name in enumerate(types, start=1)}
        self.table = torch.zeros(len(types) + 1, len(types) + 1, len(relations), dtype=torch.bool)
        """bool [types + 1, types + 1, K]."""
        unknown = [0, *(number for name, number in numbers.items() if name not in relation_types.types)]
        self.table[unknown] = self.table[:, unknown] = True
        for index, relation in enumerate(relations):
            for head, tail in relation_types.pairs.get(relation, ()):
                if head in numbers and tail in numbers:
                    self.table[numbers[head], numbers[tail], index] = True
        # The weights of each type pair's relations, and a fingerprint of the head that they are from.
        self._cached: tuple[object, dict[int, tuple[Tensor, Tensor]]] = (None, {})

    def type_pairs(self, batch: Batch) -> Tensor:
        """The type-pair id of each pair, int64 [P]: the row of the table with heads and tails as one axis."""
        types = batch.entity_type  # [E]
        return types[batch.head] * len(self.table) + types[batch.tail]

    def allowed(self, type_pairs: Tensor) -> Tensor:
        """The relations that each pair may have, bool [P, K], from what `type_pairs` gave."""
        return self.table.to(type_pairs.device).flatten(0, 1)[type_pairs]

    def logits(
        self,
        pair_encoder: nn.Module,
        head: nn.Module,
        encoded: EncoderOutput,
        batch: Batch,
        type_pairs: Tensor,
    ) -> Tensor:
        """What `pair_logits` gives, [P, K + 1], in the columns of allowed relations; any number elsewhere."""
        if (
            not isinstance(head, GroupedBilinear)
            or not isinstance(pair_encoder, PairEncoder)
            or batch.device.type != "cpu"
            or torch.is_grad_enabled()
        ):
            return pair_logits(pair_encoder, head, encoded, batch)[0]
        weights = self._weights_of(head)
        # The pairs that may have a relation, sorted by type pair, [p].
        wanted = self.table.flatten(0, 1).any(1)[type_pairs].nonzero().squeeze(1)
        wanted = wanted[type_pairs[wanted].argsort(stable=True)]
        rows = wanted
        if pair_encoder.pairs_are_independent:  # only these are represented
            names = "head", "tail", "pair_document", "pair_weight"
            chosen: dict[str, Any] = {name: getattr(batch, name)[wanted] for name in names}
            batch, rows = replace(batch, **chosen), torch.arange(len(wanted))
        shared = pair_encoder.encode_entities(encoded, batch)
        logits = encoded.states.new_zeros(len(type_pairs), self.table.shape[2] + 1)
        for start in range(0, len(wanted), PAIRS_AT_ONCE):
            some = wanted[start : start + PAIRS_AT_ONCE]
            heads, tails = pair_encoder.encode_pairs(shared, batch, rows[start : start + PAIRS_AT_ONCE])
            for type_pair, run in _runs(type_pairs[some]):
                if type_pair not in weights:  # threads that ask for the same at once get the same
                    relations = self.table.flatten(0, 1)[type_pair].nonzero().squeeze(1)
                    classes = torch.cat([relations.new_zeros(1), relations + 1])
                    weights[type_pair] = classes, select_class_weights(head.weight.detach(), classes)
                classes, weight = weights[type_pair]
                logits[some[run].unsqueeze(1), classes] = head.logits_of_classes(
                    heads[run], tails[run], weight, classes
                )
        return logits

    def _weights_of(self, head: GroupedBilinear) -> dict[int, tuple[Tensor, Tensor]]:
        """The cached weights by type pair; empty for a head that was not seen before, or has changed."""
        fingerprint = weights_fingerprint(iter([head.weight]))
        if self._cached[0] != fingerprint:
            self._cached = fingerprint, {}
        return self._cached[1]


def _runs(type_pairs: Tensor) -> Iterator[tuple[int, slice]]:
    """Each id of sorted ids, and where it is."""
    present, counts = torch.unique_consecutive(type_pairs, return_counts=True)
    start = 0
    for type_pair, count in zip(present.tolist(), counts.tolist(), strict=True):
        yield type_pair, slice(start, start + count)
        start += count
