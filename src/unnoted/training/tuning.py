"""Thresholds from development documents, after the last step: the only thing that these may choose."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from unnoted.calibration import NEVER, tune_thresholds
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.losses import DecisionRule, ScoreDecoder
from unnoted.models.features import FeatureReport, FeatureSet
from unnoted.models.model import RelationModel
from unnoted.training.preparing import features_of
from unnoted.training.scored_documents import scored_batches


@dataclass(frozen=True, slots=True)
class Tuned:
    """Thresholds, and what they were tuned on.

    Attributes:
        relations: the relation ids.
        thresholds: of each relation.
        rule: the decision rule that they make.
        report: what became of the documents' facts.
    """

    relations: tuple[str, ...]
    thresholds: tuple[float, ...]
    rule: DecisionRule
    report: FeatureReport

    @property
    def never(self) -> tuple[str, ...]:
        """The relations that are never predicted, because no document is labelled with them."""
        pairs = zip(self.relations, self.thresholds, strict=True)
        return tuple(relation for relation, threshold in pairs if threshold == NEVER)

    def lines(self) -> list[str]:
        """What a user should be told."""
        report = self.report
        told = [f"thresholds tuned on {report.documents:,} development documents ({report.pairs:,} pairs)"]
        if self.never:
            more = ", ..." if len(self.never) > 5 else ""
            told.append(
                f"{len(self.never)} of {len(self.relations)} relations are never predicted, because the "
                f"development documents have no label of them: {', '.join(self.never[:5])}{more}"
            )
        return [*told, *(f"development documents: {line}" for line in report.lines())]

    def to_json(self) -> dict[str, Any]:
        """For the summary of a run; the threshold of a relation that is never predicted is null."""
        pairs = zip(self.relations, self.thresholds, strict=True)
        return {
            "documents": self.report.documents,
            "pairs": self.report.pairs,
            "facts": self.report.facts,
            "never": len(self.never),
            "thresholds": {relation: None if t == NEVER else t for relation, t in pairs},
        }


def tuned_on(model: RelationModel, documents: Sequence[Document]) -> Tuned:
    """The thresholds with the best F1 of each relation over all candidate pairs of labelled documents.

    Args:
        model: a trained one, with its tokenizer.
        documents: labelled as well as the thresholds are to be good.

    Raises:
        ValueError: if the documents have no candidate pair.
    """
    paired = with_pairs(documents, model.candidates)
    corpus = Corpus(tuple(paired), model.relations, model.candidates)
    features = features_of(model, corpus, types=model.numbered_types)
    thresholds = tune_thresholds(*_scored(model, features))
    rule = replace(model.decoder.decision, reference="zero", threshold=thresholds)
    return Tuned(model.relations.ids, thresholds, rule, features.report)


def check_tunable(decoder: ScoreDecoder) -> None:
    """Refuse a decision rule whose place thresholds cannot take.

    Raises:
        ValueError: names the rule.
    """
    if not decoder.decision.is_tunable:
        raise ValueError(
            f"tuned_thresholds: found true, expected false: the loss decides by {decoder.decision.reference!r}, "
            "not by a threshold (losses that do: those without ranking, such as s-pu and cross-entropy)"
        )


def with_pairs(documents: Sequence[Document], candidates: CandidatePairs) -> list[Document]:
    """The documents that have a candidate pair.

    Raises:
        ValueError: if there is none: nothing can be tuned on them.
    """
    paired = [document for document in documents if candidates.count(document)]
    if not paired:
        raise ValueError(
            f"tuned_thresholds: found no candidate pair in {len(documents)} development documents, "
            "expected at least one"
        )
    return paired


def _scored(model: RelationModel, features: FeatureSet) -> tuple[Tensor, Tensor]:
    """Scores [P, K + 1] and labels [P, K] of all pairs, where they are to be sorted: in main memory."""
    pairs, relations = int(features.pair_counts.sum()), len(features.relations)
    scores, labels = torch.empty(pairs, relations + 1), torch.empty(pairs, relations, dtype=torch.bool)
    done = 0
    for _, batch, found in scored_batches(model, features, model.typed_relations):
        rows = slice(done, done + batch.pairs)
        scores[rows], labels[rows] = found, batch.labels()
        done += batch.pairs
    return scores, labels
