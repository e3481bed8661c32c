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


def words_of(document):
    """Of each sentence the set of its tokens that stand in no mention; markers belong to their mention."""
    naming = set()
    for first, last in zip(document.mention_position, document.mention_end, strict=True):
        naming |= set(range(int(first), int(last) + 1))
    words, place = [], 1  # the start token comes first
    for length in document.sentence_tokens:
        within = range(place, place + int(length))
        words.append({int(document.tokens[token]) for token in within if token not in naming})
        place += int(length)
    return words


def types_of(document):
    """Of each entity the type of its first mention."""
    owners = [int(owner) for owner in document.mention_entity]
    return [int(document.mention_type[owners.index(entity)]) for entity in range(document.entities)]


def log_odds(document, types, places, words):
    """[P][K]; types [T + 1][T + 1][K], places [5][K], words [V][K]."""
    mentioned, spoken, kinds = sentences_of(document), words_of(document), types_of(document)
    rows = []
    for head, tail in zip(document.head.tolist(), document.tail.tolist(), strict=True):
        both = mentioned[head] & mentioned[tail]
        place = place_of(mentioned[head], mentioned[tail])
        row = []
        for k in range(len(places[0])):
            said = [sum(words[token][k] for token in spoken[sentence]) for sentence in both]
            mean = sum(said) / len(said) if said else 0.0
            row.append(types[kinds[head]][kinds[tail]][k] + places[place][k] + mean)
        rows.append(row)
    return rows


def label_loss(odds, labelled, noted):
    """What one relation of one pair costs: - log Δ if labelled, else - log(1 - c Δ)."""
    chance = 1 / (1 + math.exp(-odds))
    return -math.log(chance) if labelled else -math.log(1 - noted * chance)
