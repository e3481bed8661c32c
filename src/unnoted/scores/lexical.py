"""A linear model beside the network: what types, places and words say of a pair, as log odds.

A database notes what a paper is about, whether a sentence says it or not. A network with millions of weights
learns the former well, and few labels do not stop it. A linear model of few features cannot: the log odds of
relation i between h and t are

    b[type of h, type of t, i] + p[place, i] + mean over sentences with both of the sum of w[word, i].

A place is how near to each other two entities are mentioned; the words of a sentence are its tokens that name
no entity, each once. The two models err in different ways: the mean of their log odds is better than either.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from unnoted.features.batch import Batch
from unnoted.scores.type_bias import entity_types

PLACES = ("apart", "in neighbouring sentences", "in one sentence", "in two sentences", "in three or more")
"""Where two entities are mentioned together."""

TOKENS = 2**32
"""More than any vocabulary has."""

CELLS_AT_ONCE = 2**22
"""How many cells of pairs x sentences are held at a time."""


class Meetings(NamedTuple):
    """Where P pairs are mentioned: I times a sentence mentions both. Sentences are numbered over documents.

    Attributes:
        place: int64 [P], number into `PLACES`.
        pair: int64 [I].
        sentence: int64 [I].
        share: float [I], 1 over the number of the pair's sentences.
    """

    place: Tensor
    pair: Tensor
    sentence: Tensor
    share: Tensor


class Words(NamedTuple):
    """W words of S sentences: the tokens that name no entity, each once a sentence.

    Attributes:
        token: int64 [W].
        sentence: int64 [W].
        sentences: S.
    """

    token: Tensor
    sentence: Tensor
    sentences: int


def linear_log_odds(types: Tensor, places: Tensor, words: Tensor, met: Meetings, spoken: Words) -> Tensor:
    """What the linear model says of P pairs, [P, K].

    Args:
        types: [P, K], what the types of each pair say.
        places: [places, K].
        words: [V, K].
        met: where the pairs are mentioned.
        spoken: the words of the sentences.
    """
    said = words.new_zeros(spoken.sentences, words.shape[1])  # [S, K]
    said = said.index_add(0, spoken.sentence, words[spoken.token])
    mean = said[met.sentence] * met.share.unsqueeze(1).to(said.dtype)  # [I, K], summed to means below
    return (types + places[met.place]).index_add(0, met.pair, mean)


def meetings(batch: Batch) -> Meetings:
    """Where the pairs of a batch are mentioned."""
    # An empty sentence before the first and one after the last: each has two neighbours.
    entities, slots = len(batch.entity_document), batch.sentences + 2
    mentioned = torch.zeros(entities, slots, device=batch.device)  # [E, S + 2]
    mentioned[batch.mention_entity, batch.mention_sentence + 1] = 1
    step = max(1, CELLS_AT_ONCE // slots)
    starts = range(0, max(batch.pairs, 1), step)
    parts = [_meetings(mentioned, batch, slice(start, start + step)) for start in starts]
    return Meetings(*map(torch.cat, zip(*parts, strict=True)))


def _meetings(mentioned: Tensor, batch: Batch, rows: slice) -> Meetings:
    """Of some pairs; `mentioned` [E, S + 2] says which sentences mention which entities."""
    head, tail = mentioned[batch.head[rows]], mentioned[batch.tail[rows]]  # [p, S + 2] each
    both = head * tail
    count = both.sum(1)  # [p]
    near = ((head[:, 1:] * tail[:, :-1]).sum(1) + (head[:, :-1] * tail[:, 1:]).sum(1)) > 0
    place = torch.where(count > 0, 1 + count.clamp(max=len(PLACES) - 2), near.float()).long()
    row, sentence = both.nonzero(as_tuple=True)
    pair = row + rows.start
    return Meetings(place, pair, batch.pair_document[pair] * batch.sentences + sentence - 1, 1 / count[row])


def sentence_words(batch: Batch) -> Words:
    """The words of the sentences of a batch."""
    words = batch.token_sentence < batch.sentences  # [D, T]
    words[batch.span_document, batch.span_token] = False
    for edge in (batch.mention_position, batch.mention_end):
        words[batch.mention_document, edge] = False
    document, place = words.nonzero(as_tuple=True)
    sentence = document * batch.sentences + batch.token_sentence[document, place]
    once = torch.unique(sentence * TOKENS + batch.input_ids[document, place])
    return Words(once % TOKENS, once // TOKENS, len(batch.lengths) * batch.sentences)


class LexicalScores(nn.Module):
    """The linear model, and how much it counts. `training.lexical_fit` fits it before the first step.

    Its weights are buffers: they are saved with the model, and no step changes them.

    Args:
        types: how many types of entities are told apart.
        relations: K.
        vocabulary: how many tokens there are.
        share: of its log odds in the scores; the rest are the network's.

    Example:
        >>> lexical = LexicalScores(types=2, relations=3, vocabulary=50, share=0.5)
        >>> lexical.words.shape, lexical.is_fitted
        (torch.Size([50, 3]), False)
    """

    types: Tensor
    places: Tensor
    words: Tensor

    def __init__(self, types: int, relations: int, vocabulary: int, share: float) -> None:
        super().__init__()
        self.share = share
        self.register_buffer("types", torch.zeros(types + 1, types + 1, relations))
        self.register_buffer("places", torch.zeros(len(PLACES), relations))
        self.register_buffer("words", torch.zeros(vocabulary, relations))

    @property
    def is_fitted(self) -> bool:
        """Whether it holds anything."""
        return bool(self.types.any())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """Scores [P, K + 1] whose log odds are the mean of the network's and these, by `share`."""
        none = scores[:, :1]
        mixed = (1 - self.share) * (scores[:, 1:] - none) + self.share * self.log_odds(batch).to(scores.dtype)
        return torch.cat([none, none + mixed], 1)

    def log_odds(self, batch: Batch) -> Tensor:
        """What the linear model says of the pairs of a batch, [P, K]."""
        kinds = entity_types(batch)
        types = self.types[kinds[batch.head], kinds[batch.tail]]  # [P, K]
        return linear_log_odds(types, self.places, self.words, meetings(batch), sentence_words(batch))
