"""Bias initialisation: relations start at their labelled frequencies between the types of head and tail.

New layers begin with random scores, and the first epochs go into learning that most relations never hold
between most types: a date has no spouse. That can be counted. For each pair of types, Δ is the labelled share
of a relation among such pairs, times what its prior says of missing labels. The type bias begins at the score
that shows Δ, and the weights of the pair's own scores begin small beside it.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.losses import Loss, ScoreDecoder
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel
from unnoted.training.lexical import fit_lexical

LOG_ODDS_LINK = "sigmoid-ranking"
"""The link of scores whose differences from the threshold class are log odds."""

PSEUDO_PAIRS = 50
"""So many pairs with the relation's own prior are added to those of two types, whose share says little where
there are few."""

LOWEST, HIGHEST = 1e-5, 0.95
"""No relation starts as certain."""

INIT_SCALE = {"squared": 0.1, "ranking-margin": 0.1}
DEFAULT_INIT_SCALE = 0.3
"""Factors of the first weights of the scores, by link. The squared losses ask for differences of a few tenths,
the others for log odds."""


@dataclass(frozen=True, slots=True, eq=False)
class TypeCounts:
    """How many pairs there are of each two types, and how many of them are labelled with each relation.

    Attributes:
        pairs: [T + 1, T + 1], by the types of head and tail.
        labelled: [T + 1, T + 1, K].
    """

    pairs: NDArray[np.float64]
    labelled: NDArray[np.float64]

    @classmethod
    def from_features(cls, features: FeatureSet, types: int) -> "TypeCounts":
        """Count the pairs of documents."""
        pairs = np.zeros((types + 1, types + 1))
        labelled = np.zeros((types + 1, types + 1, len(features.relations)))
        for document in features:
            # The first mention of each entity, in the order in which they are listed.
            _, first = np.unique(document.mention_entity, return_index=True)
            type_of = np.zeros(document.entities, dtype=np.int64)
            type_of[document.mention_entity[first]] = document.mention_type[first]
            head, tail = type_of[document.head], type_of[document.tail]  # [P] each
            np.add.at(pairs, (head, tail), 1)
            fact = document.fact_pair
            np.add.at(labelled, (head[fact], tail[fact], document.fact_relation), 1)
        return cls(pairs, labelled)

    def shares(self) -> NDArray[np.float64]:
        """The labelled share of each relation among the pairs of two types, shrunk to its prior."""
        prior = self.labelled.sum((0, 1)) / max(self.pairs.sum(), 1)  # [K]
        result: NDArray[np.float64] = (self.labelled + PSEUDO_PAIRS * prior) / (
            self.pairs[..., None] + PSEUDO_PAIRS
        )
        return result


def initial_scores(counts: TypeCounts, decoder: ScoreDecoder) -> NDArray[np.float64]:
    """The score above the threshold class, or above 0, that shows how often a relation holds between two types.

    Args:
        counts: of the training documents.
        decoder: of the scores; its priors say how many facts there are for each labelled one (one, without
            priors), its link which score shows a probability.

    Returns:
        [T + 1, T + 1, K].

    Example:
        >>> from unnoted.losses import DecisionRule
        >>> from unnoted.losses.decoding import Link
        >>> counts = TypeCounts(np.array([[50.0]]), np.array([[[10.0]]]))
        >>> initial_scores(counts, ScoreDecoder(DecisionRule(), Link("sigmoid-ranking"))).round(3).item()
        -1.386
    """
    chance, weight = counts.shares(), np.ones(counts.labelled.shape[-1])
    if decoder.priors is not None:
        labelled, overall = np.array(decoder.priors.labelled), np.array(decoder.priors.overall)
        chance = chance * np.divide(overall, labelled, out=np.ones_like(overall), where=labelled > 0)
        if decoder.class_weighted:
            gamma = np.array(decoder.priors.class_weight)
            weight = np.where(np.isfinite(gamma), gamma, 1.0)
    chance = chance.clip(LOWEST, HIGHEST)
    shown = weight * chance / (weight * chance + 1 - chance)
    return decoder.link.inverse(torch.from_numpy(shown.reshape(-1, 1))).reshape(shown.shape).numpy()


def initialize(model: RelationModel, loss: Loss, features: FeatureSet) -> None:
    """Initialise the type bias, unless it is, and fit the lexical model to the training documents.

    Args:
        model: before its first step.
        loss: that it will minimise.
        features: of the training documents.
    """
    bias = None if model.type_bias is None or model.type_bias.is_initialised else model.type_bias
    lexical = model.lexical
    if bias is None and lexical is None:
        return
    link = loss.decoder.link.name
    if lexical is not None and link != LOG_ODDS_LINK:
        raise ValueError(
            f"lexical_weight: log odds cannot be added to scores of the link {link!r}; set it to 0, or choose "
            "the loss label-likelihood"
        )
    counts = TypeCounts.from_features(features, len(model.entity_types))
    scores = torch.from_numpy(initial_scores(counts, loss.decoder)).float()
    if lexical is not None:
        fit_lexical(lexical, scores, features, loss, model.tokenizer)
    if bias is not None:
        scale = INIT_SCALE.get(link, DEFAULT_INIT_SCALE)
        with torch.no_grad():
            bias.weight.copy_(scores)
            for name, weight in model.head.named_parameters():
                weight.mul_(0.0 if name.endswith("bias") else scale)
