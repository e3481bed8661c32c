"""What reading tells of labels that types do not, in plain loops over pairs and relations.

A pair is (document, fold, meets, types, margins, labels), margins and labels with one entry a relation.
"""

from math import exp, log, log2, sqrt

from sklearn.linear_model import LogisticRegression


def told(pairs):
    """(bits a label apart, together, standard error of the former beside nine tenths of the latter)."""
    apart, together = (by_document(pairs, meets) for meets in (False, True))
    means = [sum(bits for bits, _ in each.values()) / noted(each) for each in (apart, together)]
    variance = 0.0
    for document in {pair[0] for pair in pairs}:
        far, near = (
            (each.get(document, (0, 0))[0] - mean * each.get(document, (0, 0))[1]) / noted(each)
            for each, mean in zip((apart, together), means, strict=True)
        )
        variance += (far - 0.9 * near) ** 2
    return *means, sqrt(variance)


def noted(each):
    """How many labels there are."""
    return sum(labels for _, labels in each.values())


def by_document(pairs, meets):
    """{document: (bits, labels)} over pairs of one kind."""
    cells = []
    for document, fold, kind, types, margins, labels in pairs:
        if kind != meets:
            continue
        learnt_from = [other for other in pairs if other[1] != fold]
        for relation, (margin, label) in enumerate(zip(margins, labels, strict=True)):
            share = type_share(learnt_from, types, relation)
            cells.append((document, margin, log(share / (1 - share)), label))
    labels = [label for *_, label in cells]
    by_model = probabilities([margin for _, margin, _, _ in cells], labels)
    by_types = probabilities([log_odds for _, _, log_odds, _ in cells], labels)
    found = {}
    for (document, _, _, label), model, types in zip(cells, by_model, by_types, strict=True):
        bits, count = found.get(document, (0.0, 0))
        bits += log2(model / types) if label else log2((1 - model) / (1 - types))
        found[document] = bits, count + label
    return found


def probabilities(values, labels):
    """Of labels, by the logistic regression on one value."""
    fitted = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit([[value] for value in values], labels)
    slope, offset = fitted.coef_[0, 0], fitted.intercept_[0]
    return [1 / (1 + exp(-(slope * value + offset))) for value in values]


def type_share(pairs, types, relation):
    """How many of the pairs of some types have the label; 20 pairs of the relation's own share are added."""
    whole = (sum(labels[relation] for *_, labels in pairs) + 0.5) / (len(pairs) + 1)
    same = [labels[relation] for *_, of, _, labels in pairs if of == types]
    return (sum(same) + 20 * whole) / (len(same) + 20)
