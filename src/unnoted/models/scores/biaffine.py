"""Bi-affine scores of pairs of mentions (BRAN), joined by log-sum-exp to scores of pairs of entities.

    a_ijk = head_i^T W_k tail_j,      s_htk = log sum over mentions i of h, j of t of exp a_ijk.

A log-sum-exp over both is one over the mentions of the tail, then one over those of the head. Both run over
the mentions that there are, with the largest value of each group subtracted: no score is too large, and
padding belongs to no group.
"""

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from unnoted.models.kernels.segments import segment_logsumexp

SCORES_AT_ONCE = 2**24
"""How many scores of mentions (documents x mentions x mentions x classes) are held at a time. Beyond it,
classes are taken in pieces, and each piece is recomputed in the backward pass. Where one class is too many,
the mentions of heads are taken in pieces, too."""


class BiAffine(nn.Module):
    """Scores of K + 1 classes for each pair of entities, from the vectors of their mentions.

    All classes start from the same orthogonal matrix, as published.

    Args:
        embedding: the size of a mention's vector.
        classes: how many scores a pair gets (K + 1, the none class first).

    Example:
        >>> BiAffine(embedding=8, classes=3).weight.shape
        torch.Size([8, 3, 8])
    """

    def __init__(self, embedding: int, classes: int) -> None:
        super().__init__()
        start = torch.empty(embedding, embedding)
        nn.init.orthogonal_(start)
        self.weight = nn.Parameter(start.unsqueeze(1).repeat(1, classes, 1))

    def forward(
        self,
        head: Tensor,
        tail: Tensor,
        mention_row: Tensor,
        mention_entity: Tensor,
        neighbour: Tensor,
        pair_cell: Tensor,
    ) -> Tensor:
        """Scores [P, K + 1], in float32 at least, of what `MentionPairs` gives."""
        documents, mentions, _ = head.shape
        at_once = max(1, SCORES_AT_ONCE // max(1, documents * mentions * mentions))
        places = mention_row, mention_entity, neighbour, pair_cell
        recompute = at_once < self.weight.shape[1] and torch.is_grad_enabled()
        scores = []
        for weight in torch.split(self.weight, at_once, 1):
            if recompute:
                scores.append(checkpoint(_scores, head, tail, weight, *places, use_reentrant=False))
            else:
                scores.append(_scores(head, tail, weight, *places))
        return torch.cat(scores, 1)

    def extra_repr(self) -> str:
        """The sizes, as they are shown in the model's printout."""
        embedding, classes, _ = self.weight.shape
        return f"embedding={embedding}, classes={classes}"


def _scores(
    head: Tensor,
    tail: Tensor,
    weight: Tensor,
    mention_row: Tensor,
    mention_entity: Tensor,
    neighbour: Tensor,
    pair_cell: Tensor,
) -> Tensor:
    """The scores of c classes, [P, c]; head and tail [D, L, embedding], weight [embedding, c, embedding]."""
    documents, mentions, _ = head.shape
    embedding, classes, _ = weight.shape
    entities, slots = neighbour.shape
    weight = weight.reshape(embedding, -1)
    at_once = max(1, SCORES_AT_ONCE // max(1, documents * mentions * classes))
    pieces = []
    for some in torch.split(head, at_once, 1):  # all at once, unless a document has thousands of mentions
        projected = (some @ weight).view(documents, some.shape[1] * classes, embedding)
        joint = tail @ projected.transpose(1, 2)  # [D, L of the tail, l of the head * c]
        joint = joint.flatten(0, 1).index_select(0, mention_row)  # [M, l * c]
        pieces.append(segment_logsumexp(joint, mention_entity, entities))  # [N of the tail, l * c]
    scores = torch.cat(pieces, 1)  # [N of the tail, L * c]
    # For each mention of a head, and each slot of its document, the row of that entity and this mention.
    row = neighbour.index_select(0, mention_entity) * mentions + (mention_row % max(1, mentions)).unsqueeze(1)
    scores = scores.view(entities * mentions, classes).index_select(0, row.flatten())
    scores = scores.view(len(mention_row), slots, classes)
    scores = segment_logsumexp(scores, mention_entity, entities)  # [N of the head, E, c]
    return scores.view(entities * slots, classes).index_select(0, pair_cell)
