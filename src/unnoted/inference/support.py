"""The sentences behind a fact: where the attention of its two entities meets.

The model has no part that was trained to point at evidence. What it does have is the weight q of localized
context: how much of the pair's representation comes from each token. Summed over a sentence, and divided by
the sum over all sentences, that is the sentence's share. A fact's supporting sentences are

* those in which head and tail are both mentioned, if there are any;
* else those whose share is at least half of the largest share;

of more than three, the three with the largest shares. They say where the model looked. They are no proof of
the fact, and were not learnt from evidence. A model without attention looks at mentions: there, a sentence's
share is that of the mentions of the two entities which stand in it.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.data.document import Entity
from unnoted.models.features import Batch

MOST_SENTENCES = 3
"""How many sentences a fact is given at most."""

LEAST_OF_LARGEST = 0.5
"""What part of the largest share a sentence needs where no sentence mentions both entities."""

PRODUCTS_AT_ONCE = 2**22
"""How many products of attentions (pairs x heads x tokens) are held at a time."""


def attention_shares(attention: Tensor, batch: Batch, pair: Tensor) -> Tensor:
    """Each sentence's share of what both entities of a pair attend to.

    Args:
        attention: [N, H, T], what each entity attends to (`Encoded.entity_rows`).
        batch: what they belong to.
        pair: int64 [F], rows into the batch's pairs.

    Returns:
        [F, S], S the largest number of sentences in one document; 0 throughout where the two
        attentions meet nowhere.
    """
    sentences = batch.sentences
    _, heads, tokens = attention.shape
    step = max(1, PRODUCTS_AT_ONCE // (heads * tokens))
    pieces = [attention.new_zeros(0, sentences)]
    for piece in torch.split(pair, step):
        products = (attention[batch.head[piece]] * attention[batch.tail[piece]]).mean(1)  # [f, T]
        mass = products.new_zeros(len(piece), sentences + 1)
        mass.scatter_add_(1, batch.token_sentence[batch.pair_document[piece], :tokens], products)
        mass = mass[:, :sentences]
        pieces.append(mass / mass.sum(1, keepdim=True).clamp(min=torch.finfo(mass.dtype).tiny))
    return torch.cat(pieces)


def mention_shares(batch: Batch, pair: Tensor) -> Tensor:
    """Each sentence's share of the mentions of both entities of a pair, for models without attention.

    Args:
        batch: what the pairs belong to.
        pair: int64 [F], rows into the batch's pairs.

    Returns:
        [F, S], S the largest number of sentences in one document.
    """
    sentences = batch.sentences
    entities = batch.entity_document.shape[0]
    counts = batch.pair_weight.new_zeros(entities * sentences)
    counts.index_add_(
        0,
        batch.mention_entity * sentences + batch.mention_sentence,
        counts.new_ones(len(batch.mention_entity)),
    )
    counts = counts.view(entities, sentences)
    both = counts[batch.head[pair]] + counts[batch.tail[pair]]
    return both / both.sum(1, keepdim=True)


def guided_sentences(shares: NDArray[np.floating], threshold: float) -> tuple[int, ...]:
    """The supporting sentences of a pair, ascending, where attention was guided by evidence.

    These are the sentences whose share is at least the threshold; the one with the largest share if none is.

    Args:
        shares: the share of each of the document's sentences.
        threshold: from 0 to 1.

    Example:
        >>> guided_sentences(np.array([0.5, 0.1, 0.4]), 0.2), guided_sentences(np.array([0.3, 0.4, 0.3]), 0.5)
        ((0, 2), (1,))
    """
    found = np.flatnonzero((shares >= threshold) & (shares > 0))
    if not len(found) and shares.max(initial=0.0) > 0:
        found = shares.argmax(axis=0, keepdims=True)
    return tuple(found.tolist())


def supporting_sentences(head: Entity, tail: Entity, shares: NDArray[np.floating]) -> tuple[int, ...]:
    """The supporting sentences of a pair, ascending, by the rule at the head of this file.

    Args:
        head: the head entity.
        tail: the tail entity.
        shares: the share of each of the document's sentences.

    Example:
        >>> from unnoted.data.document import Mention
        >>> ada, bo = (Entity((Mention(sentence, 0, 1, "PER", "x"),)) for sentence in (0, 2))
        >>> supporting_sentences(ada, bo, np.array([0.5, 0.1, 0.4]))
        (0, 2)
        >>> supporting_sentences(ada, ada, np.array([0.2, 0.7, 0.1]))
        (0,)
    """
    both = head.sentences & tail.sentences
    least = LEAST_OF_LARGEST * shares.max(initial=0.0)
    found = np.array(sorted(both)) if both else np.flatnonzero((shares >= least) & (shares > 0))
    ranked = found[np.argsort(-shares[found], kind="stable")]  # of equals the first
    return tuple(sorted(ranked[:MOST_SENTENCES].tolist()))
