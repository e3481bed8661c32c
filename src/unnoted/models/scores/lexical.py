"""A linear model beside the network: what types, places and words say of a pair, as log odds.

A database notes what a paper is about, whether a sentence says it or not. A network with millions of weights
learns the former well, and few labels do not stop it. A linear model of few features cannot: the log odds of
relation i between h and t are

    b[type of h, type of t, i] + p[place, i] + mean over sentences with both of the sum of w[slot, stem, i].

A place is how near to each other two entities are mentioned. A sentence's words are its tokens that name no
entity, tokens of one stem are one, and a slot is where a word stands: anywhere in the sentence, between the
two, or next to one of them. The two models err in different ways: the mean of their log odds is better than
either.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from unnoted.models.batch import Batch
from unnoted.models.scores.type_bias import entity_types

PLACES = ("apart", "in neighbouring sentences", "in one sentence", "in two sentences", "in three or more")
"""Where two entities are mentioned together."""

SLOTS = ("anywhere", "between", "before the head", "after the head", "before the tail", "after the tail")
"""Where a word stands in a sentence that mentions both."""

NEXT = 3
"""So many tokens before a mention, and after it, stand next to it."""

STEMS = 4096
"""How many stems have weights of their own, one of them for all stems that have none."""

CELLS_AT_ONCE = 2**22
"""How many cells of pairs x sentences are held at a time."""


class Meetings(NamedTuple):
    """Where P pairs are mentioned: I times a sentence mentions both.

    Attributes:
        place: int64 [P], number into `PLACES`.
        pair: int64 [I], ascending.
        sentence: int64 [I], within its document.
        share: float [I], 1 over the number of the pair's sentences.
    """

    place: Tensor
    pair: Tensor
    sentence: Tensor
    share: Tensor


class PairWords(NamedTuple):
    """What the linear model sees of P pairs: W words, those of a pair after those of the pair before.

    Attributes:
        place: int64 [P], number into `PLACES`.
        first: int64 [P], where the words of a pair begin.
        word: int64 [W], slot x `STEMS` + stem, each once a sentence.
        share: float [W], 1 over the number of the pair's sentences.
    """

    place: Tensor
    first: Tensor
    word: Tensor
    share: Tensor


def linear_log_odds(types: Tensor, places: Tensor, words: Tensor, seen: PairWords) -> Tensor:
    """What the linear model says of P pairs, [P, K].

    Args:
        types: [P, K], what the types of each pair say.
        places: [places, K].
        words: [slots x stems, K].
        seen: of the pairs.
    """
    share = seen.share.to(words.dtype)
    said = embedding_bag(seen.word, words, seen.first, mode="sum", per_sample_weights=share)  # [P, K]
    return types + places[seen.place] + said


def pair_words(batch: Batch, stem: Tensor) -> PairWords:
    """What the linear model sees of the pairs of a batch.

    Args:
        batch: the documents.
        stem: int64 [V], the number of each token's stem; 0 for tokens that have no weight.
    """
    met = meetings(batch)
    meeting, slot, place = _places_in_text(*_slots(batch, met))  # [N] each, N tokens in slots
    document = batch.pair_document[met.pair[meeting]]
    stems = stem[batch.input_ids].masked_fill(~_is_word(batch), 0)[document, place]  # [N]
    key = (meeting * len(SLOTS) + slot) * STEMS + stems
    once = torch.unique(key[stems > 0])  # [W], ascending as meetings are, and so as pairs are
    meeting = once // (len(SLOTS) * STEMS)
    first = torch.searchsorted(met.pair[meeting], torch.arange(batch.pairs, device=batch.device))
    return PairWords(met.place, first, once % (len(SLOTS) * STEMS), met.share[meeting])


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
    return Meetings(place, row + rows.start, sentence - 1, 1 / count[row])


def _slots(batch: Batch, met: Meetings) -> tuple[Tensor, Tensor]:
    """Where the slots of each meeting begin and end (exclusive) in their document, [I, slots] each."""
    head, tail = _nearest_mentions(batch, met)
    start, end = _sentence_tokens(batch)  # [D, S] each
    row = batch.pair_document[met.pair], met.sentence
    ranges = [(start[row], end[row])]
    (h, h_end), (t, t_end) = (
        (batch.mention_position[each], batch.mention_end[each] + 1) for each in (head, tail)
    )
    ranges.append((torch.where(h < t, h_end, t_end), torch.where(h < t, t, h)))
    for begin, stop in ((h, h_end), (t, t_end)):
        ranges += [(begin - NEXT, begin), (stop, stop + NEXT)]
    begins, ends = (torch.stack(side, 1) for side in zip(*ranges, strict=True))  # [I, slots] each
    return begins.maximum(begins[:, :1]), ends.minimum(ends[:, :1])


def _nearest_mentions(batch: Batch, met: Meetings) -> tuple[Tensor, Tensor]:
    """The mentions of head and tail that stand nearest to each other at each meeting, [I] each."""
    key = batch.mention_entity * batch.sentences + batch.mention_sentence  # [M]
    key, order = key.sort(stable=True)
    wanted = [side[met.pair] * batch.sentences + met.sentence for side in (batch.head, batch.tail)]
    (head, heads), (tail, tails) = (
        (first, torch.searchsorted(key, each, right=True) - first)
        for each in wanted
        for first in [torch.searchsorted(key, each)]
    )  # [I] each: the first of an entity's mentions in the sentence, and how many there are
    meeting, number = _counted(heads * tails)  # [N] each, N pairs of mentions
    one = order[head[meeting] + number // tails[meeting]]
    other = order[tail[meeting] + number % tails[meeting]]
    position, end = batch.mention_position, batch.mention_end
    gap = (position[other] - end[one]).maximum(position[one] - end[other])  # [N]
    longest = batch.input_ids.shape[1]
    rank = (gap + longest) * len(number) + torch.arange(len(number), device=gap.device)
    best = torch.full_like(met.pair, torch.iinfo(torch.int64).max).scatter_reduce(0, meeting, rank, "amin")
    return one[best % max(len(number), 1)], other[best % max(len(number), 1)]


def _sentence_tokens(batch: Batch) -> tuple[Tensor, Tensor]:
    """Where each sentence begins and ends (exclusive), [D, S] each."""
    documents, longest = batch.input_ids.shape
    place = torch.arange(longest, device=batch.device).expand(documents, longest)
    shape = (documents, batch.sentences + 1)  # what stands in no sentence comes last
    start = torch.full(shape, longest, device=batch.device).scatter_reduce(
        1, batch.token_sentence, place, "amin"
    )
    end = torch.zeros(shape, dtype=torch.int64, device=batch.device).scatter_reduce(
        1, batch.token_sentence, place + 1, "amax"
    )
    return start[:, :-1], end[:, :-1]


def _places_in_text(begins: Tensor, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Every token of every slot as (meeting, slot, place in its document), [N] each."""
    number, nth = _counted((ends - begins).clamp(min=0).flatten())
    slots = begins.shape[1]
    return number // slots, number % slots, begins.flatten()[number] + nth


def _counted(counts: Tensor) -> tuple[Tensor, Tensor]:
    """0 to n - 1 for each count n, one after the other: whose it is, and the number, [sum of counts] each.

    Example:
        >>> _counted(torch.tensor([2, 0, 3]))
        (tensor([0, 0, 2, 2, 2]), tensor([0, 1, 0, 1, 2]))
    """
    owner = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
    before = counts.cumsum(0) - counts
    return owner, torch.arange(len(owner), device=counts.device) - before[owner]


def _is_word(batch: Batch) -> Tensor:
    """Which tokens name no entity, bool [D, T]; markers belong to their mention."""
    words = batch.token_sentence < batch.sentences
    words[batch.span_document, batch.span_token] = False
    for edge in (batch.mention_position, batch.mention_end):
        words[batch.mention_document, edge] = False
    return words


class LexicalScores(nn.Module):
    """The linear model, and how much it counts. `training.lexical` fits it before the first step.

    Its weights are buffers: they are saved with the model, and no step changes them.

    Args:
        types: how many types of entities are told apart.
        relations: K.
        vocabulary: how many tokens there are.
        share: of its log odds in the scores; the rest are the network's.

    Example:
        >>> lexical = LexicalScores(types=2, relations=3, vocabulary=50, share=0.5)
        >>> lexical.stem.shape, lexical.is_fitted
        (torch.Size([50]), False)
    """

    stem: Tensor
    types: Tensor
    places: Tensor
    words: Tensor

    def __init__(self, types: int, relations: int, vocabulary: int, share: float) -> None:
        super().__init__()
        self.share = share
        self.register_buffer("stem", torch.zeros(vocabulary, dtype=torch.int64))
        self.register_buffer("types", torch.zeros(types + 1, types + 1, relations))
        self.register_buffer("places", torch.zeros(len(PLACES), relations))
        self.register_buffer("words", torch.zeros(len(SLOTS) * STEMS, relations))

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
        return linear_log_odds(types, self.places, self.words, pair_words(batch, self.stem))
