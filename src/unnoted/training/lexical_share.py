"""How much the linear model of words counts beside the network, as labels of held-out documents say.

Where facts are stated in one sentence the linear model is the better one, where they reach over sentences it
is the network. Documents that neither has seen tell: the share is taken under which their labelled facts come
first. For that labels are enough, however many are missing.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.evaluation.curve import precision_recall_curve
from unnoted.losses.decisions import above_none
from unnoted.models.features import Batch
from unnoted.models.model import RelationModel
from unnoted.training.preparing import features_of
from unnoted.training.scored_documents import evaluated_batches

SHARES = (0.0, 0.3, 0.5, 0.7, 1.0)
"""What is chosen from; between neighbours on a finer grid labels decide by chance."""

HALF = 0.5
"""What counts until it is chosen, and where labels do not speak for another share."""

ALIKE = 0.99
"""Shares with so much of the highest average precision are taken to be as good."""

MOST_DOCUMENTS = 1000
"""More are not needed to tell the shares apart."""


def fit_share(model: RelationModel, documents: Sequence[Document]) -> float:
    """The share of `SHARES` with the highest average precision, over the labels of all relations together.

    Of shares that are as good, it is the nearest to a half. Rules come after it: what follows from a fact is
    no other fact to choose by.

    Args:
        model: a trained one with a linear model; it is let be.
        documents: others than those it was trained on.
    """
    lexical = model.lexical
    if lexical is None:
        raise ValueError("found a model without a linear model, expected one")

    def parts(batch: Batch) -> tuple[Tensor, Tensor]:
        network = above_none(model.network_scores(batch).scores)
        return network.float().cpu(), lexical.log_odds(batch).float().cpu()

    some = tuple(documents[:: -(-len(documents) // MOST_DOCUMENTS)])
    features = features_of(model, Corpus(some, model.relations, model.candidates))
    said = [(*both, batch.labels()) for _, batch, both in evaluated_batches(model, features, parts)]
    network, linear, labelled = (np.concatenate(part) for part in zip(*said, strict=True))  # [P, K] each
    facts = int(labelled.sum())

    def average_precision(share: float) -> float:
        margin = (1 - share) * network + share * linear
        return precision_recall_curve(margin.ravel(), labelled.ravel(), facts).average_precision

    found = {share: average_precision(share) for share in SHARES}
    good = [share for share in SHARES if found[share] >= ALIKE * max(found.values())]
    return min(good, key=lambda share: abs(share - HALF))
