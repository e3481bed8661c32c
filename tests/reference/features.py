"""Features one word, one mention and one pair at a time: the oracle of `unnoted.models.features` and its benchmark.

Written from the description of the pair encoder (`*` before and after each mention, a mention is at its
opening `*`, each word is tokenised by itself), with no thought for speed.
"""

from dataclasses import dataclass

from unnoted.data.document import Document


@dataclass
class PlainFeatures:
    tokens: list[int]
    positions: list[list[int]]  # of each entity's mentions: where they begin
    ends: list[list[int]]  # and where they end
    pairs: list[tuple[int, int]]
    labels: list[list[bool]]  # [pairs][relations]
    evidence: list[tuple[int, int]]  # (pair, sentence)


def plain_features(document: Document, tokenizer, relations: list[str], marker: str | None) -> PlainFeatures:
    """All features of one document; `marker` is the marker's token as the tokenizer spells it, or None."""
    tokens, positions, ends = plain_tokens(document, tokenizer, marker)
    pairs = [
        (head, tail)
        for head in range(len(document.entities))
        for tail in range(len(document.entities))
        if head != tail
    ]
    noted = {fact.triple for fact in document.facts}
    labels = [[(head, tail, relation) in noted for relation in relations] for head, tail in pairs]
    evidence = {
        (pairs.index((fact.head, fact.tail)), sentence)
        for fact in document.facts
        if fact.relation in relations and fact.head != fact.tail
        for sentence in fact.evidence
    }
    return PlainFeatures(tokens, positions, ends, pairs, labels, sorted(evidence))


def plain_tokens(
    document: Document, tokenizer, marker: str | None
) -> tuple[list[int], list[list[int]], list[list[int]]]:
    """Token ids, and the positions of the opening and closing markers of every entity's mentions.

    Without a marker, those of the first and the last token; where there is none, of the next token.
    """
    mentions = [mention for entity in document.entities for mention in entity.mentions]
    opening = [(mention.sentence, mention.start) for mention in mentions]
    closing = [(mention.sentence, mention.end - 1) for mention in mentions]
    first = [tokenizer.cls_token, tokenizer.bos_token][tokenizer.cls_token is None]
    final = [tokenizer.sep_token, tokenizer.eos_token][tokenizer.sep_token is None]
    tokens = [first]
    begins, ends = {}, {}
    for i, sentence in enumerate(document.sentences):
        for j, word in enumerate(sentence):
            begins[i, j] = len(tokens)
            if marker and (i, j) in opening:
                tokens.append(marker)
            tokens.extend(tokenizer.tokenize(" " + word))
            ends[i, j] = len(tokens)
            if marker and (i, j) in closing:
                tokens.append(marker)
    tokens.append(final)
    positions = [
        [begins[mention.sentence, mention.start] for mention in entity.mentions]
        for entity in document.entities
    ]
    closings = [
        [ends[mention.sentence, mention.end - 1] for mention in entity.mentions]
        for entity in document.entities
    ]
    if marker is None:
        closings = [
            [max(begin, after - 1) for begin, after in zip(begun, ended, strict=True)]
            for begun, ended in zip(positions, closings, strict=True)
        ]
    return tokenizer.convert_tokens_to_ids(tokens), positions, closings
