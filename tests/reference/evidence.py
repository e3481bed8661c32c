"""Attention against evidence, one pair and one token at a time, from the definition of the divergence."""

import math


def plain_shares(attention, batch, pair):
    """Each sentence's share of the products of head's and tail's attention, averaged over heads."""
    head, tail = int(batch.head[pair]), int(batch.tail[pair])
    document = int(batch.pair_document[pair])
    heads, tokens = attention.shape[1:]
    mass = [0.0] * batch.sentences
    for token in range(tokens):
        sentence = int(batch.token_sentence[document, token])
        product = (
            sum(float(attention[head, h, token] * attention[tail, h, token]) for h in range(heads)) / heads
        )
        if sentence < batch.sentences:
            mass[sentence] += product
    return [each / sum(mass) for each in mass]


def plain_divergence(attention, batch):
    """The mean over pairs with evidence of KL(uniform over their evidence || shares)."""
    evidence = {}
    for pair, sentence in zip(batch.evidence_pair.tolist(), batch.evidence_sentence.tolist(), strict=True):
        evidence.setdefault(pair, []).append(sentence)
    total = 0.0
    for pair, sentences in evidence.items():
        shares = plain_shares(attention, batch, pair)
        wanted = 1 / len(sentences)
        total += sum(wanted * math.log(wanted / shares[sentence]) for sentence in sentences)
    return total / len(evidence) if evidence else 0.0
