"""The linear model of types, places and words, from one document's features by plain loops."""

import math


def sentences_of(document):
    """Of each entity, the sentences that mention it."""
    return [
        {
            int(sentence)
            for sentence, owner in zip(document.mention_sentence, document.mention_entity, strict=True)
            if owner == entity
        }
        for entity in range(document.entities)
    ]


def place_of(one, other):
    """0 apart, 1 in neighbouring sentences, 2, 3, 4 for one, two, three or more sentences with both."""
    if one & other:
        return 1 + min(len(one & other), 3)
    return int(any(abs(a - b) == 1 for a in one for b in other))


def sentence_tokens(document):
    """Of each sentence the places of its tokens."""
    places, place = [], 1  # the start token comes first
    for length in document.sentence_tokens:
        places.append(range(place, place + int(length)))
        place += int(length)
    return places


def naming_tokens(document):
    """The places of tokens that stand in a mention; markers belong to their mention."""
    naming = set()
    for first, last in zip(document.mention_position, document.mention_end, strict=True):
        naming |= set(range(int(first), int(last) + 1))
    return naming


def mentions_in(document, entity, sentence):
    """The first and last token of an entity's mentions in a sentence."""
    return [
        (int(document.mention_position[m]), int(document.mention_end[m]))
        for m in range(len(document.mention_entity))
        if document.mention_entity[m] == entity and document.mention_sentence[m] == sentence
    ]


def gap(one, other):
    """How far apart two mentions are."""
    return max(other[0] - one[1], one[0] - other[1])


def slot_tokens(head, tail, within, near):
    """The places that each of the six slots of a sentence covers, for two mentions (first, last)."""
    first, second = (head, tail) if head[0] < tail[0] else (tail, head)
    slots = [within, range(first[1] + 1, second[0])]
    for begin, end in (head, tail):
        slots += [range(begin - near, begin), range(end + 1, end + 1 + near)]
    return [[place for place in slot if place in within] for slot in slots]


def words_of(document, stem, near):
    """Of each pair and each sentence with both, the set of (slot, stem) of words that have one."""
    mentioned, naming, tokens = sentences_of(document), naming_tokens(document), sentence_tokens(document)
    found = []
    for head, tail in zip(document.head.tolist(), document.tail.tolist(), strict=True):
        here = []
        for sentence in sorted(mentioned[head] & mentioned[tail]):
            pairs = [
                (one, other)
                for one in mentions_in(document, head, sentence)
                for other in mentions_in(document, tail, sentence)
            ]
            nearest = min(pairs, key=lambda pair: gap(*pair))  # the first of equals
            slots = slot_tokens(*nearest, tokens[sentence], near)
            here.append(
                {
                    (slot, stem[int(document.tokens[place])])
                    for slot, places in enumerate(slots)
                    for place in places
                    if place not in naming and stem[int(document.tokens[place])]
                }
            )
        found.append(here)
    return found


def types_of(document):
    """Of each entity the type of its first mention."""
    owners = [int(owner) for owner in document.mention_entity]
    return [int(document.mention_type[owners.index(entity)]) for entity in range(document.entities)]


def log_odds(document, types, places, words, stem, near, stems):
    """[P][K]; types [T + 1][T + 1][K], places [5][K], words [slots * stems][K], stem [V]."""
    mentioned, kinds = sentences_of(document), types_of(document)
    rows = []
    pairs = zip(document.head.tolist(), document.tail.tolist(), words_of(document, stem, near), strict=True)
    for head, tail, spoken in pairs:
        place = place_of(mentioned[head], mentioned[tail])
        row = []
        for k in range(len(places[0])):
            said = [sum(words[slot * stems + each][k] for slot, each in sentence) for sentence in spoken]
            mean = sum(said) / len(said) if said else 0.0
            row.append(types[kinds[head]][kinds[tail]][k] + places[place][k] + mean)
        rows.append(row)
    return rows


def label_loss(odds, labelled, noted):
    """What one relation of one pair costs: - log Δ if labelled, else - log(1 - c Δ)."""
    chance = 1 / (1 + math.exp(-odds))
    return -math.log(chance) if labelled else -math.log(1 - noted * chance)
