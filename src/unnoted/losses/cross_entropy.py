"""Sigmoid cross-entropy, the loss of BiLSTM, GAIN, BRAN and PubMedBERT: each relation decided by itself."""

from typing import ClassVar

from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.losses.decisions import Decision, Fixed
from unnoted.losses.links import Link
from unnoted.losses.pairwise import PairwiseLoss


class CrossEntropy(PairwiseLoss):
    """−log σ(f_i) for each labelled relation, −log σ(−f_i) for each other; the mean over relations and pairs.

    The none class is not used, and a relation holds where σ(f_i) > 0.5, that is f_i > 0 (Yao et al., 2019;
    Zeng et al., 2020). It is the PN loss with the log-sigmoid loss, labelled priors, expected normalisation
    and no class weight, divided by the number of relations.

    Example:
        >>> import torch
        >>> CrossEntropy()(torch.tensor([[9.0, 0.0, 0.0]]), torch.tensor([[True, False]]))  # log 2
        tensor(0.6931)
    """

    decision: ClassVar[Decision] = Fixed(0.0)
    link: ClassVar[Link] = Link("sigmoid")

    def of_pairs(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The mean over the relations of every pair."""
        relations = scores[:, 1:]  # [P, K]
        return -logsigmoid(relations.where(labels, -relations)).mean(1)
