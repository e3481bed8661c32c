"""The best threshold of a relation by trying every one, from the definition of F1."""

from fractions import Fraction


def best_kept(scores, labels):
    """The pairs that f > t keeps at the best F1 over all t that keep any; of equals, the fewest.

    None if nothing is labelled.
    """
    positives = {j for j, labelled in enumerate(labels) if labelled}
    if not positives:
        return None
    best, best_f1 = None, Fraction(-1)
    for lowest in sorted(set(scores), reverse=True):  # fewest first
        kept = {j for j, score in enumerate(scores) if score >= lowest}
        correct = len(kept & positives)
        precision, recall = Fraction(correct, len(kept)), Fraction(correct, len(positives))
        f1 = 2 * precision * recall / (precision + recall) if correct else Fraction(0)
        if f1 > best_f1:
            best, best_f1 = kept, f1
    return best
