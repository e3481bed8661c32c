"""Further views of labelled pairs, for losses that learn from them: which are wanted, and their scores."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class WantedViews:
    """Which views of labelled pairs a loss wants besides their scores.

    Attributes:
        second: their scores once more, under another dropout.
        mixup: scores of mixtures with the none class.
        mixup_alpha: a mixture has a share of the pair that is drawn from Beta(α, α).
    """

    second: bool = True
    mixup: bool = True
    mixup_alpha: float = 1.0


@dataclass(frozen=True)
class Views:
    """Views of F labelled facts; a pair that is labelled with several relations is there with each.

    Attributes:
        pair: int64 [F], the row of the pair among the scores.
        relation: int64 [F], from 0.
        second: [F, K + 1], scores under another dropout.
        mixed: [F, K + 1], scores of mixtures with the none class.
        share: [F], of the pair in its mixture.
    """

    pair: Tensor
    relation: Tensor
    second: Tensor | None = None
    mixed: Tensor | None = None
    share: Tensor | None = None
