"""What is chosen after the last step: calibrated probabilities, or thresholds tuned on development documents."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unnoted.calibration import NEVER, OutOfFoldScores, fit_calibration, tune_thresholds
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.inference import BATCH
from unnoted.losses import ScoreDecoder
from unnoted.models.batch import Collator
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel
from unnoted.models.samplers import sort_batches
from unnoted.models.type_constraints import TypeConstraints
from unnoted.priors import Priors
from unnoted.progress import show_progress
from unnoted.training.trainer import compute_features
from unnoted.utils import plural, shorten

Log = Callable[[str], None]


# Not inference mode: the model may be trained further.
@torch.no_grad()
def score_batches(
    model: RelationModel,
    features: FeatureSet,
    documents: Sequence[Document],
    typed: TypeConstraints | None = None,
) -> Iterator[tuple[OutOfFoldScores, Tensor]]:
    """Margins and labels of the pairs of some documents at a time, with their logits [P, K + 1].

    Args:
        model: a trained one.
        features: of the documents.
        documents: in the order of the features.
        typed: which relations types allow; without it all are scored.
    """
    collate, training, done = Collator(features), model.training, 0
    model.eval()  # type: ignore[no-untyped-call]
    try:
        with show_progress(int(features.token_counts.sum()), "scoring") as progress:
            for indices in sort_batches(features, BATCH):
                batch = collate([features[index] for index in indices])
                logits = model(batch.to(model.device), typed).logits.cpu()
                head, tail = (
                    batch.entity_slot[side].numpy().astype(np.int32) for side in (batch.head, batch.tail)
                )
                margins = model.decoder.decision.margins(logits).float().numpy()
                names = tuple(documents[index].id for index in indices)
                number = batch.pair_document.numpy().astype(np.int32)
                labels = batch.labels().numpy()
                done += sum(batch.lengths)
                progress.report(done)
                yield OutOfFoldScores(model.relations.ids, names, number, head, tail, margins, labels), logits
    finally:
        model.train(training)


def score_documents(model: RelationModel, documents: Sequence[Document]) -> OutOfFoldScores:
    """The margins of all candidate pairs beside their labels, whatever types the model has learnt.

    Args:
        model: a trained one, with its tokenizer.
        documents: others than those that it was trained on.
    """
    features = compute_features(model, Corpus(tuple(documents), model.relations, model.candidates))
    return OutOfFoldScores.concatenate([part for part, _ in score_batches(model, features, documents)])


def calibrate_model(
    model: RelationModel, scores: OutOfFoldScores, train: Sequence[Document], log: Log = lambda line: None
) -> dict[str, Any]:
    """Give a trained model calibrated probabilities and the threshold of the best expected F1.

    Facts between pairs that are no candidates are missed at every threshold, and F1 counts them. They are
    assumed to be labelled as often as those of candidates. Thresholds that were tuned before are dropped: the
    calibration is of margins without them, and decides instead.

    Args:
        model: is changed.
        scores: out-of-fold scores, of models that were trained as this one.
        train: the training documents with the labels that the scores have.
        log: is given lines for the user.

    Returns:
        What a record should hold.
    """
    model.check_relations(scores.relations)
    decoder, labelled = model.decoder, tuple(scores.labelled_share.tolist())
    priors = decoder.priors or Priors(scores.relations, labelled, labelled)
    missed = sum(
        not model.candidates.allows(document.entities[head], document.entities[tail])
        for document in train
        for head, tail, _ in document.labels
    )
    elsewhere = missed * sum(priors.overall) / (sum(priors.labelled) or 1.0)
    calibration = fit_calibration(scores, priors, facts_elsewhere=elsewhere)
    decision = decoder.decision
    if decision.is_tunable:
        decision = replace(decision, threshold=0.0)
    model.decoder = replace(decoder, decision=decision, calibration=calibration)
    if missed:
        log(
            f"note: {plural(missed, 'labelled fact')} of pairs that are no candidates will be missed "
            "(docs/guides/troubleshooting.md#fact-not-candidate)"
        )
    log(f"calibrated on {plural(scores.pairs, 'out-of-fold pair')}; threshold {calibration.threshold:.3f}")
    return {
        "pairs": scores.pairs,
        "threshold": calibration.threshold,
        "expected_f1": calibration.expected.best_f1,
        "propensity_slope": calibration.propensity_slope,
    }


def tune_model(
    model: RelationModel, documents: Sequence[Document], log: Log = lambda line: None
) -> dict[str, Any]:
    """Let a trained model decide each relation by the threshold of the best F1 on labelled documents.

    Args:
        model: is changed.
        documents: labelled as well as the thresholds are to be good.
        log: is given lines for the user.

    Returns:
        What a record should hold; the threshold of a relation that is never predicted is null.

    Raises:
        ValueError: the documents have no candidate pair, or the decision rule has no threshold.
    """
    check_tunable(model.decoder, documents, model.candidates)
    documents = tuple(document for document in documents if model.candidates.count(document))
    features = compute_features(
        model, Corpus(documents, model.relations, model.candidates), types=model.numbered_types
    )
    batches = list(score_batches(model, features, documents, model.type_constraints))
    logits = torch.cat([logits for _, logits in batches])
    labels = torch.from_numpy(np.concatenate([part.labelled for part, _ in batches]))
    thresholds = tune_thresholds(logits, labels)
    model.decoder = replace(model.decoder, decision=replace(model.decoder.decision, threshold=thresholds))
    report = features.report
    log(f"note: thresholds tuned on {report.documents:,} development documents ({report.pairs:,} pairs)")
    by_relation = {
        relation: None if threshold == NEVER else threshold
        for relation, threshold in zip(model.relations.ids, thresholds, strict=True)
    }
    never = [relation for relation, threshold in by_relation.items() if threshold is None]
    if never:
        log(
            f"note: {len(never)} of {len(by_relation)} relations are never predicted, because the development "
            f"documents have no label of them: {shorten(', '.join(never))} "
            "(docs/guides/troubleshooting.md#never-predicted)"
        )
    return {
        "documents": report.documents,
        "pairs": report.pairs,
        "facts": report.facts,
        "never": len(never),
        "thresholds": by_relation,
    }


def check_tunable(decoder: ScoreDecoder, documents: Iterable[Document], candidates: CandidatePairs) -> None:
    """Refuse a decision rule without a threshold, and documents without a candidate pair.

    Raises:
        ValueError: names the rule, or says that there is no pair.
    """
    if not decoder.decision.is_tunable:
        raise ValueError(
            f"tune_thresholds: the loss decides by the rule {decoder.decision.reference!r}, which has no threshold; "
            "losses without ranking, such as s-pu and cross-entropy, have one"
        )
    if not any(map(candidates.count, documents)):
        raise ValueError("tune_thresholds: no development document has a candidate pair")
