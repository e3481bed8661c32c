"""What an encoder gives of a batch: token states, and where its mentions attend to."""

from typing import NamedTuple

from torch import Tensor

from unnoted.models.batch import Batch
from unnoted.models.encoders.pretrained import EncoderError
from unnoted.models.pooling import segment_mean


class Encoded(NamedTuple):
    """What an encoder gives of a batch.

    Attributes:
        states: [D, T, d], the token states; what stands at padding is not defined.
        attention: what `rows` gives; None of an encoder that was not asked for it.
    """

    states: Tensor
    attention: Tensor | None = None

    @property
    def rows(self) -> Tensor:
        """[M, heads, T], the last layer's attention from each mention's opening marker; 0 at padding.

        Raises:
            EncoderError: if the encoder was not asked for attention.
        """
        if self.attention is None:
            raise EncoderError(
                "found token states without attention rows, expected both: "
                "DocumentEncoder gives them with attention=True"
            )
        return self.attention

    def entity_rows(self, batch: Batch) -> Tensor:
        """[N, heads, T], for each of the batch's N entities the mean of its mentions' rows.

        Raises:
            EncoderError: if the encoder was not asked for attention.
        """
        return segment_mean(self.rows, batch.mention_entity, batch.entity_document.shape[0])


class EncodedEntities(Encoded):
    """The same of documents with so many mentions that only what their entities attend to is kept.

    Attributes:
        states: [D, T, d].
        attention: [N, heads, T], what `entity_rows` gives.
    """

    __slots__ = ()

    @property
    def rows(self) -> Tensor:
        """There are none."""
        raise EncoderError(
            "found the attention of entities alone, expected that of mentions: these documents have too many"
        )

    def entity_rows(self, batch: Batch) -> Tensor:
        """[N, heads, T], for each of the batch's N entities the mean of its mentions' rows."""
        assert self.attention is not None
        return self.attention
