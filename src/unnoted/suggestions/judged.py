"""What a model says of every candidate pair: how probable each relation is, noted or not.

Of pairs that are *not* labelled, less: what is plainly said is true and also noted, and so not missing. If a
share c of the true facts as plain as this one was noted (`priors.propensity`), a pair that holds with
probability p and is not labelled holds with probability

    p (1 − c) / (1 − c p).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.calibration import fit_calibration, posterior_given_unlabelled
from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.losses import confidence_of
from unnoted.models.model import RelationModel
from unnoted.priors.priors import Priors
from unnoted.priors.propensity import PROPENSITY_SLOPE
from unnoted.training.preparing import features_of
from unnoted.training.scored_documents import scored_batches

ROWS = 1 << 16
"""Pairs whose curves are read at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Scored pairs of P × K with what the scores say.

    Attributes:
        scores: the pairs, their margins and labels.
        probability: float32 [P, K], that the relation holds; None where what judged is not calibrated.
        confidence: float32 [P, K], 0.5 at the line.
        selection: how much labels favour what is plain (`priors.propensity`).
    """

    scores: OutOfFoldScores
    probability: NDArray[np.float32] | None
    confidence: NDArray[np.float32]
    selection: float = PROPENSITY_SLOPE

    @property
    def noted(self) -> float:
        """The share of true facts that is labelled, as far as the probabilities know."""
        if self.probability is None:
            return 0.0
        expected = float(self.probability.sum(dtype=np.float64))
        return min(1.0, float(self.scores.labelled.sum()) / max(expected, 1e-9))

    def if_unlabelled(self) -> NDArray[np.float32] | None:
        """How probable each relation is if it is not labelled, [P, K].

        Example:
            >>> one = np.zeros(2, np.int32)
            >>> scores = OutOfFoldScores(("r",), ("d",), one, one, one + 1, np.zeros((2, 1), np.float32),
            ...                         np.array([[True], [False]]))
            >>> sure = np.full((2, 1), 0.8, np.float32)
            >>> judged = JudgedPairs(scores, sure, sure)
            >>> round(judged.noted, 3), judged.if_unlabelled()[1].round(2)  # 0.8 · 0.375 / (1 - 0.625 · 0.8)
            (0.625, array([0.6], dtype=float32))
        """
        if self.probability is None:
            return None
        return posterior_given_unlabelled(self.probability, float(self.scores.labelled.sum()), self.selection)


def judged_out_of_fold(scores: OutOfFoldScores, multiplier: float) -> JudgedPairs:
    """Out-of-fold scores, calibrated by one curve for all relations.

    Args:
        scores: of the documents.
        multiplier: true facts for each labelled one.
    """
    labelled = tuple(scores.labelled_share.tolist())
    overall = tuple(min(0.99, multiplier * share) for share in labelled)
    fitted = fit_calibration(scores, Priors(scores.relations, labelled, overall))
    line = np.log(fitted.threshold / (1 - fitted.threshold))
    probability, confidence = np.empty_like(scores.margin), np.empty_like(scores.margin)
    for first in range(0, scores.pairs, ROWS):
        part = slice(first, first + ROWS)
        odds = fitted.curve(torch.from_numpy(scores.margin[part]))
        probability[part] = odds.sigmoid().numpy()
        confidence[part] = confidence_of(odds.numpy() - line)
    return JudgedPairs(scores, probability, confidence, fitted.propensity_slope)


def judged_by(model: RelationModel, corpus: Corpus) -> JudgedPairs:
    """Documents as a trained model judges them; it should not have been trained on them."""
    documents = corpus.documents
    features = features_of(model, Corpus(documents, model.relations, model.candidates))
    parts, probabilities, confidences = [], [], []
    for indices, batch, raw in scored_batches(model, features):
        distance = model.decoder.distances(raw).float().numpy()
        head, tail = (batch.entity_slot[side].numpy().astype(np.int32) for side in (batch.head, batch.tail))
        names = tuple(documents[index].id for index in indices)
        pairs = batch.pair_document.numpy().astype(np.int32), head, tail
        parts.append(OutOfFoldScores(model.relations.ids, names, *pairs, distance, batch.labels().numpy()))
        probabilities.append(model.decoder.probabilities(raw).float().numpy())
        confidences.append(confidence_of(distance).astype(np.float32))
    calibration = model.decoder.calibration
    return JudgedPairs(
        OutOfFoldScores.joined(parts),
        None if calibration is None else np.concatenate(probabilities),
        np.concatenate(confidences),
        PROPENSITY_SLOPE if calibration is None else calibration.propensity_slope,
    )
