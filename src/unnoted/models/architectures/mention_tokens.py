"""The tokens that stand for entities: all tokens of their mentions, or the first of each mention."""

from typing import Literal, NamedTuple, TypeAlias

from torch import Tensor

from unnoted.models.batch import Batch

MentionTokens: TypeAlias = Literal["all", "first"]
"""Which tokens of a mention count: all of them, or the first, which is the opening marker if there is one."""


class EntityTokens(NamedTuple):
    """Tokens that stand for entities; L the largest number of them in one document.

    Attributes:
        document: int64 [S], row into the batch's documents.
        token: int64 [S], the index within its document.
        entity: int64 [S], row into the batch's entities.
        slot: int64 [S], the index among those of its document.
        most: L.
    """

    document: Tensor
    token: Tensor
    entity: Tensor
    slot: Tensor
    most: int

    @classmethod
    def of(cls, batch: Batch, tokens: MentionTokens) -> "EntityTokens":
        """Every token of every mention, each once an entity; or the first token of each mention."""
        if tokens == "all":
            return cls(batch.span_document, batch.span_token, batch.span_entity, batch.span_slot, batch.spans)
        mention = batch.mention_document, batch.mention_position, batch.mention_entity, batch.mention_slot
        return cls(*mention, batch.mentions)

    def states(self, states: Tensor) -> Tensor:
        """Their states [S, d] of token states [D, T, d]."""
        return states[self.document, self.token]

    @property
    def rows(self) -> Tensor:
        """The row of each when every document has room for as many as the largest, int64 [S]."""
        return self.document * self.most + self.slot

    def in_slots(self, values: Tensor, documents: int) -> Tensor:
        """Values [S, ...] by document and slot, [D, L, ...]; 0 where there is none."""
        empty = values.new_zeros(documents * self.most, *values.shape[1:])
        return empty.index_copy(0, self.rows, values).view(documents, self.most, *values.shape[1:])
