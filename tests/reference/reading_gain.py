"""What reading tells of labels that types do not, in plain loops over pairs and relations.

A pair is (document, fold, meets, types, margins, labels), margins and labels with one entry a relation.
"""

from math import exp, log, log2, sqrt

from sklearn.linear_model import LogisticRegression


def told(pairs):
    """(bits a label apart, together, standard error of their difference)."""
    apart, together = (by_document([pair for pair in pairs if pair[2] == meets]) for meets in (False, True))
    means = [sum(bits for bits, _ in each.values()) / noted(each) for each in (apart, together)]
    variance = 0.0
    for document in {pair[0] for pair in pairs}:
        far, near = (
            (each.get(document, (0, 0))[0] - mean * each.get(document, (0, 0))[1]) / noted(each)
            for each, mean in zip((apart, together), means, strict=True)
        )
        variance += (far - near) ** 2
    return *means, sqrt(variance)


def noted(each):
    """How many labels there are."""
    return sum(labels for _, labels in each.values())


def by_document(pairs):
    """{document: (bits, labels)} over pairs of one kind."""
    cells = [(m, y) for *_, margins, labels in pairs for m, y in zip(margins, labels, strict=True)]
    fitted = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(
        [[margin] for margin, _ in cells], [label for _, label in cells]
    )
    slope, offset = fitted.coef_[0, 0], fitted.intercept_[0]
    found = {}
    for document, fold, _, types, margins, labels in pairs:
        learnt_from = [other for other in pairs if other[1] != fold]
        bits, count = found.get(document, (0.0, 0))
        for relation, (margin, label) in enumerate(zip(margins, labels, strict=True)):
            model = 1 / (1 + exp(-(slope * margin + offset)))
            share = type_share(learnt_from, types, relation)
            bits += log2(model / share) if label else log2((1 - model) / (1 - share))
            count += label
        found[document] = bits, count
    return found


def type_share(pairs, types, relation):
    """How many of the pairs of some types have the label; 20 pairs of the relation's own share are added."""
    whole = (sum(labels[relation] for *_, labels in pairs) + 0.5) / (len(pairs) + 1)
    same = [labels[relation] for *_, of, _, labels in pairs if of == types]
    share = (sum(same) + 20 * whole) / (len(same) + 20)
    assert log(share) < 0
    return share
