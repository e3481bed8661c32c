"""A threshold for every relation, chosen on scored pairs with labels, as the baselines of ChemDisGene do."""

import torch
from torch import Tensor

NEVER = torch.finfo(torch.float32).max
"""A threshold that no finite score of a model is above; finite itself, so that JSON can hold it."""


def tune_thresholds(scores: Tensor, labels: Tensor) -> tuple[float, ...]:
    """For each relation the threshold t at which f_i > t has the best F1; `Fixed` makes a rule of them.

    It lies midway between the lowest score above it and the next one; where all are above, just below the
    lowest. Of thresholds with the same F1 it is the highest. A relation without a labelled pair gets
    `NEVER`: nothing is known of where it holds, so it is never predicted.

    Sorting makes it O(P log P) for each relation.

    Args:
        scores: [P, K + 1], the threshold class first, which is not used.
        labels: bool [P, K]. As good as they are: on noisy labels, thresholds fit the noise.

    Example:
        >>> scores = torch.tensor([[0.0, 3.0, 5.0], [0.0, 1.0, 5.0], [0.0, -1.0, 5.0]])
        >>> labels = torch.tensor([[True, False], [True, False], [False, False]])
        >>> first, second = tune_thresholds(scores, labels)
        >>> first, second == NEVER
        (0.0, True)
    """
    relations = scores.detach()[:, 1:].cpu()  # [P, K]
    relations = relations.float() if relations.element_size() < 4 else relations
    # One relation after the other: sorting all at once would need K times the memory for no gain.
    columns = zip(relations.unbind(1), labels.cpu().bool().unbind(1), strict=True)
    return tuple(_best_threshold(*column) for column in columns)


def _best_threshold(scores: Tensor, labels: Tensor) -> float:
    """The threshold of one relation, from scores [P] and labels [P]."""
    if not labels.any():
        return NEVER
    ranked, order = scores.sort(descending=True)
    correct = labels[order].cumsum(0)  # [P], of the first 1, 2, ..., P
    kept = torch.arange(1, len(ranked) + 1)
    f1 = 2 * correct.double() / (kept + correct[-1])
    lowest = ranked[-1:].nextafter(torch.full_like(ranked[-1:], -torch.inf))
    following = torch.cat([ranked[1:], lowest])  # [P]
    # Equal scores are kept together or not at all.
    best = f1.masked_fill(ranked == following, -1).argmax()  # the first of equal ones, that keeps fewest
    upper, lower = ranked[best], following[best]
    middle = upper / 2 + lower / 2
    # Between two neighbouring numbers there is none: the middle is rounded to one of them.
    return float(middle if lower <= middle < upper else lower)
