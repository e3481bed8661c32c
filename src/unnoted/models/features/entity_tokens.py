"""Which tokens name which entity: all tokens of all mentions, for models that see more than their start."""

import numpy as np

from unnoted.models.features.dataset import DocumentFeatures
from unnoted.models.features.word_table import Offsets


def tokens_of_entities(document: DocumentFeatures, markers: bool) -> tuple[Offsets, Offsets]:
    """The tokens of an entity's mentions, and which entity: sorted by entity, then by place, each once.

    Markers, those of mentions within others too, are no tokens of a mention. A mention whose words have no
    token has one all the same: its opening marker, or where there are no markers the token that follows.

    Args:
        document: as the model sees it.
        markers: whether markers stand around mentions.

    Returns:
        Token indices and entities, int64 [S] each.

    Example:
        >>> from types import SimpleNamespace
        >>> def places(*values): return np.array(values, dtype=np.int32)
        >>> document = SimpleNamespace(  # of the tokens: start, *, a, b, *, c, end
        ...     tokens=np.zeros(7), mention_entity=places(0),
        ...     mention_position=places(1), mention_end=places(4))
        >>> tokens_of_entities(document, markers=True)[0]
        array([2, 3])
    """
    position, end = document.mention_position.astype(np.int64), document.mention_end.astype(np.int64)  # [M]
    first, last = position + markers, end - markers
    counts = np.maximum(last - first + 1, 0)
    mention = np.repeat(np.arange(len(counts)), counts)
    token = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[mention]
    if markers:
        within = ~np.isin(token, np.concatenate([position, end]))
        mention, token = mention[within], token[within]
    bare = np.bincount(mention, minlength=len(counts)) == 0
    token = np.concatenate([token, position[bare]])
    entity = document.mention_entity[np.concatenate([mention, np.flatnonzero(bare)])].astype(np.int64)
    length = len(document.tokens)
    once = np.unique(entity * length + token)
    return once % length, once // length
