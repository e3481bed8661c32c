"""From partly labelled documents to suggestions: probable facts that are not labelled.

Every document is scored by models that never saw its labels: they are trained on the other folds. A model
that was trained on a document has learnt that what was not labelled there does not hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.calibration import OutOfFoldScores, fit_calibration, posterior_given_unlabelled
from unnoted.calibration.propensity import PROPENSITY_SLOPE
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.formats import detect_format, write_documents
from unnoted.data.loading import load_documents, require_facts
from unnoted.errors import DataError
from unnoted.inference.scoring import supporting_sentences
from unnoted.io import content_digest
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.rules import RuleSet, deductive_closure, load_rules
from unnoted.suggestions.completeness import BelowCutoff
from unnoted.suggestions.store import MissingLabels, Suggestion, SuggestionSet
from unnoted.training.builders import TrainingData, close_labels
from unnoted.training.calibrate import score_batches
from unnoted.training.config import load_config
from unnoted.training.cross_validation import count_folds, run_cross_validation
from unnoted.training.seen_documents import check_unseen
from unnoted.training.trainer import compute_features
from unnoted.utils import plural, short_repr

ROWS = 1 << 16
"""Pairs whose probabilities are computed at a time."""

HIGHEST_PRIOR = 0.99

PSEUDO_LABELS = 10
"""Labels with which a relation's own expected count weighs as much as the multiplier of all relations."""

LOG_RATIO_SPREAD = 0.4
"""Standard deviation of log (true / allocated facts) beyond chance, measured on Re-DocRED."""

ONE_SIDED = 1.645
"""Standard deviations below which a normal variable lies with 95 %."""


def suggest(
    documents: str | Path | Corpus,
    *,
    config: str | Path = "best",
    encoder: str | None = None,
    folds: int | None = None,
    jobs: int | None = None,
    repeats: int = 1,
    output: str | Path | None = None,
    overwrite: bool = False,
    model: str | Path | None = None,
    scores: str | Path | None = None,
    prior_multiplier: float | None = None,
    vocabulary: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    min_score: float = 0.01,
    max_suggestions: int = 200_000,
    max_label_errors: int = 200,
    log: Callable[[str], None] = lambda line: None,
) -> SuggestionSet:
    """Suggest facts that are probably missing from the labels, and estimate how many are.

    Args:
        documents: a file of documents with some of their facts labelled, or such documents.
        config: of the models that are trained for the scores.
        encoder: their encoder.
        folds: parts; each is scored by a model of the others.
        jobs: folds that are trained at a time; by default as many as there are cores for.
        repeats: how many times all folds are trained, with other seeds; the scores are averaged.
        output: where the folds are kept, to be continued.
        overwrite: remove another run that is there.
        model: a trained model that never saw the documents, instead of folds.
        scores: a file of out-of-fold scores of these documents, instead of folds.
        prior_multiplier: true facts for each labelled one, for training and for the probabilities; by default
            that of the config. A review estimates it.
        vocabulary: a file of the relations with their names and descriptions.
        changes: other settings of the config by key.
        min_score: the lowest score that is listed.
        max_suggestions: how many at most; those of the highest scores are kept.
        max_label_errors: labelled facts that look wrong, at most: those of the lowest scores.
        log: is given lines for the user.

    Raises:
        DataError: the documents cannot be read, or no fact is labelled.
        ValueError: the model was trained on some of the documents, or settings contradict each other.
    """
    if not (0 <= min_score <= 1 and max_suggestions >= 1 and max_label_errors >= 0):
        raise ValueError(
            "min_score must be from 0 to 1, max_suggestions 1 or more and max_label_errors 0 or more, "
            f"not {min_score}, {max_suggestions} and {max_label_errors}"
        )
    with TemporaryDirectory() as scratch:
        if isinstance(documents, Corpus):
            source = Path(scratch, "documents.jsonl")
            write_documents(source, documents.documents)
        else:
            source = Path(documents)
        names = None if vocabulary is None else RelationVocabulary.from_file(vocabulary)
        corpus, rules = load_documents(source, vocabulary=names), None
        if model is not None:
            trained = RelationModel.from_pretrained(model)
            check_unseen(Path(model), corpus.documents, log)
            scored, scored_by, relations = score_corpus(trained, corpus), str(model), trained.relations
        else:
            require_facts(len(corpus), sum(len(document.facts) for document in corpus), [source])
            folder = Path(scratch, "folds") if output is None else Path(output)
            options = {
                "encoder": encoder, "folds": folds, "vocabulary": vocabulary, "prior_multiplier": prior_multiplier,
            }  # fmt: skip
            given = {key: value for key, value in options.items() if value is not None}
            settings = load_config(
                config, {"train": source, "output": folder, **(changes or {}), **given}, log=log
            )
            if scores is not None:
                pairs, scored_by = OutOfFoldScores.load(Path(scores)), f"out of fold, {scores}"
            else:
                pairs = run_cross_validation(settings, log, jobs=jobs, repeats=repeats, overwrite=overwrite)
                times = f"{repeats} times " if repeats > 1 else ""
                scored_by = f"out of fold, {times}{count_folds(settings)} folds of {config}"
            labels = close_labels(settings, corpus, log)
            _check_same_documents(pairs, labels.corpus, source)
            scored = calibrate_scores(pairs, _overall_priors(pairs, labels, log))
            relations = replace(corpus.relations, ids=pairs.relations)
            if settings.data.rules is not None:
                rules = load_rules(settings.data.rules, relations)
                # Labels were closed for the models; what follows from labelled facts is missing all the same.
                scored = replace(scored, pairs=pairs.relabelled({d.id: d.labels for d in corpus}))
        named = {**relations.names, **corpus.relations.names}
        described = {**relations.descriptions, **corpus.relations.descriptions}
        every = dict.fromkeys((*relations, *corpus.relations))
        by_id = {document.id: document for document in corpus}
        suggestions, below_cutoff = list_suggestions(
            scored, by_id, min_score, max_suggestions, max_label_errors, rules=rules, names=named
        )
        return SuggestionSet(
            source=str(source),
            source_format=detect_format(source).key,
            source_checksum=content_digest(source),
            model=scored_by,
            relations={each: (named.get(each, each), described.get(each, "")) for each in every},
            documents=by_id,
            suggestions=suggestions,
            missing=estimate_missing(scored),
            below_cutoff=below_cutoff,
            calibrated=scored.is_calibrated,
        )


def _check_same_documents(scores: OutOfFoldScores, corpus: Corpus, source: Path) -> None:
    """Refuse scores of other documents or relations, or beside other labels, than those that are here."""
    labels = {document.id: document.labels for document in corpus}
    others = [name for name in scores.documents if name not in labels]
    if others:
        found = f"scores of {plural(len(others), 'other document')}, such as {short_repr(others[0])}"
    elif set(scores.relations).isdisjoint(corpus.relations):
        found = f"scores of other relations, such as {short_repr(scores.relations[0])}"
    elif not np.array_equal(scores.relabelled(labels).labelled, scores.labelled):
        found = "scores of these documents with other labels"
    else:
        return
    raise DataError(found, "scores of this file", place="scores", file=str(source))


@dataclass(frozen=True, slots=True, eq=False)
class CorpusScores:
    """All candidate pairs with scores for every relation.

    Attributes:
        pairs: the pairs and their labels, P x K.
        score: float32 [P, K], that the relation holds, labelled or not.
        threshold: above which the model predicts a fact.
        propensity_slope: of the labels (`calibration.propensity`); None where the scores are not calibrated.
    """

    pairs: OutOfFoldScores
    score: NDArray[np.float32]
    threshold: float = 0.5
    propensity_slope: float | None = PROPENSITY_SLOPE

    @property
    def is_calibrated(self) -> bool:
        """Whether scores are probabilities."""
        return self.propensity_slope is not None

    def given_unlabelled(self) -> NDArray[np.float32]:
        """The score if the fact is not labelled, [P, K]; without a calibration the same as `score`."""
        if self.propensity_slope is None:
            return self.score
        return posterior_given_unlabelled(self.score, float(self.pairs.labelled.sum()), self.propensity_slope)


def _overall_priors(pairs: OutOfFoldScores, labels: TrainingData, log: Callable[[str], None]) -> Priors:
    """The priors of the scored pairs, by the multiplier or the file of the configuration."""
    share = tuple(pairs.labelled_share.tolist())
    own, file = Priors(pairs.relations, share, share), labels.config.loss.prior_file
    if file is not None:
        return Priors.from_file(file, own)
    if labels.multiplier is None:
        log(
            "note: this loss has no priors: scores are those of complete labels "
            "(docs/guides/troubleshooting.md#no-priors)"
        )
    overall = tuple(max(each, min(HIGHEST_PRIOR, (labels.multiplier or 1.0) * each)) for each in share)
    return replace(own, overall=overall)


def calibrate_scores(pairs: OutOfFoldScores, priors: Priors) -> CorpusScores:
    """Out-of-fold scores with calibrated probabilities.

    Args:
        pairs: of the documents.
        priors: the labelled and overall priors among these pairs.
    """
    calibration = fit_calibration(pairs, priors)
    score = np.empty_like(pairs.margin)
    for first in range(0, pairs.pairs, ROWS):
        part = slice(first, first + ROWS)
        score[part] = calibration.probabilities(torch.from_numpy(pairs.margin[part])).numpy()
    return CorpusScores(pairs, score, calibration.threshold, calibration.propensity_slope)


def score_corpus(model: RelationModel, corpus: Corpus) -> CorpusScores:
    """Documents as a trained model scores them; it should not have been trained on them."""
    features = compute_features(model, Corpus(corpus.documents, model.relations, model.candidates))
    parts, scores = [], []
    for part, logits in score_batches(model, features, corpus.documents):
        parts.append(part)
        scores.append(model.decoder.scores(logits).float().numpy())
    calibration = model.decoder.calibration
    slope = None if calibration is None else calibration.propensity_slope
    pairs = OutOfFoldScores.concatenate(parts)
    return CorpusScores(pairs, np.concatenate(scores), model.decoder.threshold, slope)


def list_suggestions(
    scored: CorpusScores,
    documents: Mapping[str, Document],
    min_score: float,
    max_suggestions: int,
    max_label_errors: int,
    *,
    rules: RuleSet | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[tuple[Suggestion, ...], BelowCutoff]:
    """The suggestions, the highest score first, with suspected label errors after them; and the rest.

    Args:
        scored: all pairs.
        documents: by id. Known negatives are not suggested again.
        min_score: see `suggest`, as the next two.
        max_suggestions: how many.
        max_label_errors: how many.
        rules: to be named where they imply a suggestion.
        names: readable names of relations, for the rules.
    """
    pairs, posterior = scored.pairs, scored.given_unlabelled()
    unlabelled = _find_unlabelled(pairs, documents)
    candidates = np.flatnonzero(unlabelled.ravel() & (posterior.ravel() >= min_score))
    # The margin decides between equals, such as scores that are all 0.
    keys = -pairs.margin.ravel()[candidates], -posterior.ravel()[candidates]
    chosen = candidates[np.lexsort(keys)][:max_suggestions]
    labelled = np.flatnonzero(pairs.labelled.ravel() & (scored.score.ravel() <= scored.threshold))
    errors = labelled[np.argsort(scored.score.ravel()[labelled], kind="stable")][:max_label_errors]
    # What follows from labelled facts: the rule, and the sentences of its premises.
    implied = {
        (closed.document.id, derived.fact.triple): (derived.rule, derived.fact.evidence)
        for closed in (deductive_closure(documents.values(), rules) if rules else ())
        for derived in closed.derived
    }

    def suggestion(index: int, score: NDArray[np.float32], is_label: bool) -> Suggestion:
        row, column = divmod(index, len(pairs.relations))
        name = pairs.documents[pairs.document[row]]
        triple = int(pairs.head[row]), int(pairs.tail[row]), pairs.relations[column]
        rule, evidence = (None, ()) if is_label else implied.get((name, triple), (None, ()))
        text = rule.to_text(lambda relation: (names or {}).get(relation, relation)) if rule else None
        evidence = evidence or _mentioning_sentences(documents[name], *triple[:2])
        return Suggestion(name, *triple, round(float(score[row, column]), 6), evidence, text, is_label)

    listed = [suggestion(index, posterior, False) for index in chosen.tolist()]
    listed += [suggestion(index, scored.score, True) for index in errors.tolist()]
    expected = None
    if scored.is_calibrated:
        total = posterior[unlabelled].sum(dtype=np.float64)
        expected = max(float(total - posterior.ravel()[chosen].sum(dtype=np.float64)), 0.0)
    return tuple(listed), BelowCutoff(int(unlabelled.sum()) - len(chosen), expected)


def _find_unlabelled(pairs: OutOfFoldScores, documents: Mapping[str, Document]) -> NDArray[np.bool_]:
    """The facts that are neither labelled nor known not to hold, [P, K]."""
    unlabelled = ~pairs.labelled
    columns = {relation: column for column, relation in enumerate(pairs.relations)}
    for number, name in enumerate(pairs.documents):
        if negatives := documents[name].negatives:
            rows = np.flatnonzero(pairs.document == number)
            for head, tail, relation in negatives:
                if relation in columns:
                    row = rows[(pairs.head[rows] == head) & (pairs.tail[rows] == tail)]
                    unlabelled[row, columns[relation]] = False
    return unlabelled


def _mentioning_sentences(document: Document, head: int, tail: int) -> tuple[int, ...]:
    """The sentences to look at: those that mention both, else those that mention them most.

    The models of the folds are gone when the list is made, so that their attention is not used.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> ada, bo = (Entity((Mention(sentence, 0, 1, "PER", "x"),)) for sentence in (0, 1))
        >>> _mentioning_sentences(Document("d", (("x",), ("x",)), (ada, bo)), 0, 1)
        (0, 1)
    """
    entities = document.entities[head], document.entities[tail]
    shares = np.zeros(len(document.sentences))
    for entity in entities:
        for mention in entity.mentions:
            shares[mention.sentence] += 1 / len(entity.mentions)
    return supporting_sentences(*entities, shares)


def estimate_missing(scored: CorpusScores) -> tuple[MissingLabels, ...]:
    """How many labels of each relation are missing, the most first; nothing without a calibration.

    The total is that of the multiplier; the probabilities say how relations differ (`allocate_total`). The
    interval says how far single relations were from the truth where that is known and the multiplier right.
    """
    if not scored.is_calibrated:
        return ()
    pairs = scored.pairs
    labelled = pairs.labelled.sum(0)
    expected = labelled + np.where(pairs.labelled, 0, scored.given_unlabelled()).sum(0, dtype=np.float64)
    total = allocate_total(expected, labelled, max(1.0, expected.sum() / max(labelled.sum(), 1)))
    factor = np.exp(ONE_SIDED * np.sqrt(LOG_RATIO_SPREAD**2 + 1 / (labelled + PSEUDO_LABELS)))
    low, high = np.maximum(total / factor - labelled, 0), total * factor - labelled
    columns = (each.round(1).tolist() for each in (total - labelled, low, high))
    found = (MissingLabels(*row) for row in zip(pairs.relations, labelled.tolist(), *columns, strict=True))
    return tuple(
        sorted((e for e in found if e.labelled or e.missing), key=lambda e: (-e.missing, e.relation))
    )


def allocate_total(
    expected: NDArray[np.float64], labelled: NDArray[np.int64], multiplier: float
) -> NDArray[np.float64]:
    """Allocate a known total of true facts to relations: how many each has, [K].

    The expected counts say how relations differ, the multiplier how many facts there are. A relation with few
    labels says little of itself, so the log of its ratio, true facts per label, is shrunk to that of all:

        log r = w log(expected / labelled) + (1 - w) log multiplier,   w = labelled / (labelled + 10)

    What this leaves of the total, or takes too much, is shared out in proportion to the missing facts.

    Args:
        expected: the sum of each relation's probabilities over all pairs.
        labelled: the number of its labels.
        multiplier: true facts for each labelled one, over all relations.

    Example:
        >>> allocate_total(np.array([600.0, 60.0]), np.array([300, 10]), 2.2).round()
        array([642.,  40.])
    """
    count = np.maximum(labelled, 1)
    weight = labelled / (labelled + PSEUDO_LABELS)
    ratio = np.exp(weight * np.log(np.maximum(expected, 1e-12) / count) + (1 - weight) * np.log(multiplier))
    missing = np.where(labelled > 0, np.maximum(ratio - 1, 0) * labelled, expected)
    wanted = max(multiplier * float(labelled.sum()) - float(labelled.sum()), 0.0)
    total: NDArray[np.float64] = labelled + missing * (wanted / missing.sum() if missing.sum() else 0.0)
    return total
