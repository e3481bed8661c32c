"""The lexical model: log odds of relations from entity types, co-mentions and words, ensembled with the network.

A network with millions of weights learns what labels follow beside the text, and few labels do not stop it. A
linear model of few features cannot. The two err in different ways: the mean of their log odds is better than
either. The log odds of relation i between h and t are

    b[type of h, type of t, i] + p[place, i] + mean over sentences with both of the sum of w[slot, stem, i].

A place is how near to each other two entities are mentioned. A sentence's words are its tokens that name no
entity, tokens of one stem are one, and a slot is where a word stands: anywhere in the sentence, between the two,
or next to one of them.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from unnoted.models.batch import Batch
from unnoted.models.pooling import enumerate_counts

PLACES = ("apart", "in neighbouring sentences", "in one sentence", "in two sentences", "in three or more")
"""Where two entities are mentioned together."""

SLOTS = ("anywhere", "between", "before the head", "after the head", "before the tail", "after the tail")
"""Where a word stands in a sentence that mentions both."""

CONTEXT_TOKENS = 3
"""The number of tokens before a mention, and after it, that stand next to it."""

STEMS = 4096
"""The number of stems with weights, one of them for all stems that have none of their own."""

CELLS_AT_ONCE = 2**22
"""Cells of pairs x sentences that are held at a time."""


class CoMentions(NamedTuple):
    """The sentences that mention both entities of a pair: I for P pairs.

    Attributes:
        place: int64 [P], index into `PLACES`.
        pair: int64 [I], ascending.
        sentence: int64 [I], within its document.
        share: float [I], 1 over the number of the pair's sentences.
    """

    place: Tensor
    pair: Tensor
    sentence: Tensor
    share: Tensor


class PairWords(NamedTuple):
    """The features of P pairs: W words, those of a pair after those of the pair before.

    Attributes:
        place: int64 [P], index into `PLACES`.
        first: int64 [P], where the words of a pair begin.
        word: int64 [W], slot x `STEMS` + stem, each once a sentence.
        share: float [W], 1 over the number of the pair's sentences.
    """

    place: Tensor
    first: Tensor
    word: Tensor
    share: Tensor


class LexicalModel(nn.Module):
    """The linear model and its weight in the ensemble. Training fits it before the first step.

    Its parameters are buffers: they are saved with the model, and no step changes them.
    """

    stem: Tensor
    types: Tensor
    places: Tensor
    words: Tensor

    def __init__(self, types: int, relations: int, vocabulary: int, weight: float = 0.5) -> None:
        super().__init__()
        self.weight = weight
        self.register_buffer("stem", torch.zeros(vocabulary, dtype=torch.int64))
        self.register_buffer("types", torch.zeros(types + 1, types + 1, relations))
        self.register_buffer("places", torch.zeros(len(PLACES), relations))
        self.register_buffer("words", torch.zeros(len(SLOTS) * STEMS, relations))

    def check_stems(self) -> None:
        """Refuse stems that have no weights, as a damaged or crafted file may have."""
        lowest, highest = int(self.stem.min()), int(self.stem.max())
        if lowest < 0 or highest >= STEMS:
            raise ValueError(
                f"lexical.stem: values from {lowest:,} to {highest:,} are not within 0 to {STEMS - 1:,}"
            )

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        """Logits [P, K + 1] whose log odds are the weighted mean of the network's and these."""
        threshold = logits[:, :1]
        own = self.log_odds(batch).to(logits.dtype)
        mixed = (1 - self.weight) * (logits[:, 1:] - threshold) + self.weight * own
        return torch.cat([threshold, threshold + mixed], 1)

    def log_odds(self, batch: Batch) -> Tensor:
        """The log odds of the pairs of a batch, [P, K]."""
        type_of = batch.entity_type
        types = self.types[type_of[batch.head], type_of[batch.tail]]  # [P, K]
        return linear_log_odds(types, self.places, self.words, pair_words(batch, self.stem))


def linear_log_odds(types: Tensor, places: Tensor, words: Tensor, features: PairWords) -> Tensor:
    """The log odds of P pairs, [P, K].

    Args:
        types: [P, K], the term of the types of each pair.
        places: [places, K].
        words: [slots x stems, K].
        features: of the pairs.
    """
    share = features.share.to(words.dtype)
    summed = embedding_bag(
        features.word, words, features.first, mode="sum", per_sample_weights=share
    )  # [P, K]
    return types + places[features.place] + summed


def pair_words(batch: Batch, stem: Tensor) -> PairWords:
    """The features of the pairs of a batch."""
    found = find_co_mentions(batch)
    index, slot, position = _tokens_in_slots(*_slots(batch, found))  # [N] each, N tokens in slots
    document = batch.pair_document[found.pair[index]]
    stems = stem[batch.input_ids].masked_fill(~_is_word(batch), 0)[document, position]  # [N]
    key = (index * len(SLOTS) + slot) * STEMS + stems
    once = torch.unique(key[stems > 0])  # [W], ascending as co-mentions are, and so as pairs are
    index = once // (len(SLOTS) * STEMS)
    first = torch.searchsorted(found.pair[index], torch.arange(batch.pairs, device=batch.device))
    return PairWords(found.place, first, once % (len(SLOTS) * STEMS), found.share[index])


def find_co_mentions(batch: Batch) -> CoMentions:
    """The sentences that mention both entities of the pairs of a batch."""
    # An empty sentence before the first and one after the last: each has two neighbours.
    entities, sentences = len(batch.entity_document), batch.sentences + 2
    mentioned = torch.zeros(entities, sentences, device=batch.device)  # [E, S + 2]
    mentioned[batch.mention_entity, batch.mention_sentence + 1] = 1
    step = max(1, CELLS_AT_ONCE // sentences)
    parts = []
    for start in range(0, max(batch.pairs, 1), step):
        head, tail = (
            mentioned[side[start : start + step]] for side in (batch.head, batch.tail)
        )  # [p, S + 2]
        both = head * tail
        count = both.sum(1)  # [p]
        near = ((head[:, 1:] * tail[:, :-1]).sum(1) + (head[:, :-1] * tail[:, 1:]).sum(1)) > 0
        place = torch.where(count > 0, 1 + count.clamp(max=len(PLACES) - 2), near.float()).long()
        row, sentence = both.nonzero(as_tuple=True)
        parts.append(CoMentions(place, row + start, sentence - 1, 1 / count[row]))
    return CoMentions(*map(torch.cat, zip(*parts, strict=True)))


def _slots(batch: Batch, found: CoMentions) -> tuple[Tensor, Tensor]:
    """Where the slots of each co-mention begin and end (exclusive) in their document, [I, slots] each."""
    head, tail = _nearest_mentions(batch, found)
    start, end = _sentence_tokens(batch)  # [D, S] each
    row = batch.pair_document[found.pair], found.sentence
    h, h_end = batch.mention_position[head], batch.mention_end[head] + 1
    t, t_end = batch.mention_position[tail], batch.mention_end[tail] + 1
    ranges = [(start[row], end[row]), (torch.where(h < t, h_end, t_end), torch.where(h < t, t, h))]
    for begin, stop in ((h, h_end), (t, t_end)):
        ranges += [(begin - CONTEXT_TOKENS, begin), (stop, stop + CONTEXT_TOKENS)]
    begins, ends = (torch.stack(side, 1) for side in zip(*ranges, strict=True))  # [I, slots] each
    return begins.maximum(begins[:, :1]), ends.minimum(ends[:, :1])


def _nearest_mentions(batch: Batch, found: CoMentions) -> tuple[Tensor, Tensor]:
    """The mentions of head and tail that are nearest to each other in each co-mention, [I] each."""
    key = batch.mention_entity * batch.sentences + batch.mention_sentence  # [M]
    key, order = key.sort(stable=True)

    def mentions_of(side: Tensor) -> tuple[Tensor, Tensor]:
        """The first of an entity's mentions in the sentence, and how many there are, [I] each."""
        wanted = side[found.pair] * batch.sentences + found.sentence
        first = torch.searchsorted(key, wanted)
        return first, torch.searchsorted(key, wanted, right=True) - first

    (head, heads), (tail, tails) = mentions_of(batch.head), mentions_of(batch.tail)
    index, number = enumerate_counts(heads * tails)  # [N] each, N pairs of mentions
    one = order[head[index] + number // tails[index]]
    other = order[tail[index] + number % tails[index]]
    position, end = batch.mention_position, batch.mention_end
    gap = (position[other] - end[one]).maximum(position[one] - end[other])  # [N]
    longest = batch.input_ids.shape[1]
    rank = (gap + longest) * len(number) + torch.arange(len(number), device=gap.device)
    best = torch.full_like(found.pair, torch.iinfo(torch.int64).max).scatter_reduce(0, index, rank, "amin")
    return one[best % max(len(number), 1)], other[best % max(len(number), 1)]


def _sentence_tokens(batch: Batch) -> tuple[Tensor, Tensor]:
    """Where each sentence begins and ends (exclusive), [D, S] each."""
    documents, longest = batch.input_ids.shape
    position = torch.arange(longest, device=batch.device).expand(documents, longest)
    shape = (documents, batch.sentences + 1)  # what stands in no sentence comes last
    start = torch.full(shape, longest, device=batch.device)
    start = start.scatter_reduce(1, batch.token_sentence, position, "amin")
    end = torch.zeros(shape, dtype=torch.int64, device=batch.device)
    end = end.scatter_reduce(1, batch.token_sentence, position + 1, "amax")
    return start[:, :-1], end[:, :-1]


def _tokens_in_slots(begins: Tensor, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Every token of every slot as (co-mention, slot, position in its document), [N] each."""
    number, nth = enumerate_counts((ends - begins).clamp(min=0).flatten())
    slots = begins.shape[1]
    return number // slots, number % slots, begins.flatten()[number] + nth


def _is_word(batch: Batch) -> Tensor:
    """The tokens that name no entity, bool [D, T]; markers belong to their mention."""
    words = batch.token_sentence < batch.sentences
    words[batch.span_document, batch.span_token] = False
    for edge in (batch.mention_position, batch.mention_end):
        words[batch.mention_document, edge] = False
    return words
