"""What the model sees of a few documents: flat index tensors, and the sizes as Python integers.

Everything that a shape depends on is a Python integer that was known when the batch was made. So nothing in
the hot path has to ask the device for a value, which would make the CPU wait for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """D documents with M mentions, E entities, P candidate pairs and F facts between them; K relations.

    Mentions, entities and pairs of all documents stand one after the other. Every entity has a mention and
    no pair relates an entity to itself. A document with no pair or no entity is in the batch like any other.

    Attributes:
        input_ids: int64 [D, T], whole documents of any length with the encoder's start and end token,
            padded on the right.
        attention_mask: int64 [D, T], 1 at the tokens of a document and 0 at its padding.
        token_sentence: int64 [D, T], the sentence, within its document, that a token stands in; `sentences`
            for the start and end token and for padding, which stand in none.
        mention_position: int64 [M], the token index, within its document, of a mention's opening marker; of
            its first token, if there are no markers.
        mention_end: int64 [M], the token index, within its document, of a mention's closing marker; of its
            last token, if there are no markers.
        mention_sentence: int64 [M], the sentence, within its document, that a mention stands in.
        mention_type: int64 [M], the number of a mention's type, from 1; 0 for one that is not known.
        mention_slot: int64 [M], the mention's index among the mentions of its document.
        mention_entity: int64 [M], row into the batch's entities.
        span_token: int64 [S], the token index, within its document, of every token of every mention of an
            entity, each once an entity; see `tokens_of_entities`.
        span_entity: int64 [S], row into the batch's entities.
        span_slot: int64 [S], the index of such a token among those of its document.
        entity_document: int64 [E], row into the batch's documents.
        entity_slot: int64 [E], the entity's index within its document.
        head: int64 [P], row into the batch's entities.
        tail: int64 [P], row into the batch's entities.
        pair_document: int64 [P], row into the batch's documents.
        pair_weight: float32 [P], for how many pairs each one stands: 1, unless pairs were sampled
            (`PairSample`).
        fact_pair: int64 [F], row into the batch's pairs.
        fact_relation: int64 [F], index into the relations, from 0.
        evidence_pair: int64 [V], row into the batch's pairs, ascending, once for each sentence that
            supports a fact of the pair.
        evidence_sentence: int64 [V], that sentence, within its document.
        negative_pair: int64 [N], row into the batch's pairs of each known negative.
        negative_relation: int64 [N], index into the relations, from 0.
        lengths: how many tokens each document has, start and end token included.
        mentions: the largest number of mentions in one document.
        spans: the largest number of `span_token` in one document.
        entities: the largest number of entities in one document.
        sentences: the largest number of sentences in one document.
        relations: K.
        documents: the documents' ids.

    Example:
        >>> import torch
        >>> batch = Batch(
        ...     input_ids=torch.tensor([[101, 7, 8, 102]]), attention_mask=torch.tensor([[1, 1, 1, 1]]),
        ...     token_sentence=torch.tensor([[1, 0, 0, 1]]),
        ...     mention_position=torch.tensor([1, 2]), mention_end=torch.tensor([1, 2]),
        ...     mention_sentence=torch.tensor([0, 0]), mention_type=torch.tensor([1, 1]),
        ...     mention_slot=torch.tensor([0, 1]), mention_entity=torch.tensor([0, 1]),
        ...     span_token=torch.tensor([1, 2]), span_entity=torch.tensor([0, 1]),
        ...     span_slot=torch.tensor([0, 1]), entity_document=torch.tensor([0, 0]),
        ...     entity_slot=torch.tensor([0, 1]), head=torch.tensor([0, 1]), tail=torch.tensor([1, 0]),
        ...     pair_document=torch.tensor([0, 0]), pair_weight=torch.ones(2), fact_pair=torch.tensor([1]),
        ...     fact_relation=torch.tensor([2]), evidence_pair=torch.tensor([1]),
        ...     evidence_sentence=torch.tensor([0]), lengths=(4,), mentions=2, spans=2, entities=2,
        ...     sentences=1, relations=3, documents=("d1",))
        >>> batch.negatives() is None  # nobody said what does not hold
        True
        >>> batch.labels()
        tensor([[False, False, False],
                [False, False,  True]])
    """

    input_ids: Tensor
    attention_mask: Tensor
    token_sentence: Tensor
    mention_position: Tensor
    mention_end: Tensor
    mention_sentence: Tensor
    mention_type: Tensor
    mention_slot: Tensor
    mention_entity: Tensor
    span_token: Tensor
    span_entity: Tensor
    span_slot: Tensor
    entity_document: Tensor
    entity_slot: Tensor
    head: Tensor
    tail: Tensor
    pair_document: Tensor
    pair_weight: Tensor
    fact_pair: Tensor
    fact_relation: Tensor
    evidence_pair: Tensor
    evidence_sentence: Tensor
    lengths: tuple[int, ...]
    mentions: int
    spans: int
    entities: int
    sentences: int
    relations: int
    documents: tuple[str, ...]
    negative_pair: Tensor = field(default_factory=partial(torch.zeros, 0, dtype=torch.int64))
    negative_relation: Tensor = field(default_factory=partial(torch.zeros, 0, dtype=torch.int64))

    @property
    def pairs(self) -> int:
        """How many candidate pairs the batch has (P)."""
        return self.head.shape[0]

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.input_ids.device

    @property
    def mention_document(self) -> Tensor:
        """int64 [M], row into the batch's documents."""
        return self.entity_document[self.mention_entity]

    @property
    def span_document(self) -> Tensor:
        """int64 [S], row into the batch's documents."""
        return self.entity_document[self.span_entity]

    def labels(self) -> Tensor:
        """The noted facts as bool [P, K]; False means unlabelled. Made without synchronising."""
        labels = torch.zeros(self.pairs, self.relations, dtype=torch.bool, device=self.device)
        labels[self.fact_pair, self.fact_relation] = True
        return labels

    def negatives(self) -> Tensor | None:
        """The known negatives as bool [P, K], or None if there are none; made without synchronising."""
        if not self.negative_pair.shape[0]:
            return None
        negatives = torch.zeros(self.pairs, self.relations, dtype=torch.bool, device=self.device)
        negatives[self.negative_pair, self.negative_relation] = True
        return negatives

    def without_types(self) -> "Batch":
        """The same batch with all types unknown."""
        return replace(self, mention_type=torch.zeros_like(self.mention_type))

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        """The same batch on another device."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> "Batch":
        """The same batch in page-locked memory, from which it goes to a GPU in the background."""
        return self._map(Tensor.pin_memory)

    def _map(self, move: Callable[[Tensor], Tensor]) -> "Batch":
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        moved: dict[str, Any] = {
            name: move(value) for name, value in values.items() if isinstance(value, Tensor)
        }
        return replace(self, **moved)
