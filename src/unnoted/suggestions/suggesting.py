"""From a file of half-labelled documents to suggestions.

Every document is judged by models that never saw its labels: they are trained on the other folds. A model
that was trained on a document says of what was not noted there that it was not noted.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.formats import detect_format, write_documents
from unnoted.data.loading import load_documents, require_facts
from unnoted.io import content_digest
from unnoted.models.model import RelationModel
from unnoted.rules import load_rules
from unnoted.suggestions.fold_processes import out_of_fold
from unnoted.suggestions.judged import judged_by, judged_out_of_fold
from unnoted.suggestions.listing import ListLimits, list_suggestions
from unnoted.suggestions.missing import missing_labels
from unnoted.suggestions.same_documents import require_same_documents
from unnoted.suggestions.suggestion_file import SuggestionSet
from unnoted.training.run_folder import RUN
from unnoted.training.settings import Settings, load_settings
from unnoted.training.training_labels import training_labels

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Judge:
    """What judges the documents: models of folds, a model that never saw them, or scores that are there.

    Attributes:
        config: settings of the models of folds.
        changes: what is different in them, by key, such as `encoder` and `folds`.
        jobs: folds that are trained at a time.
        repeats: how many times all folds are made, with other seeds.
        output: where the folds are kept, to be continued; without it they are forgotten.
        overwrite: remove another run that is there.
        model: a trained model's folder, instead of folds.
        scores: a file of out-of-fold scores of these documents, instead of training for them.
        prior_multiplier: true facts for each labelled one; without it that is estimated.
    """

    config: str | Path = "best"
    changes: Mapping[str, Any] = field(default_factory=dict)
    jobs: int = 1
    repeats: int = 1
    output: Path | None = None
    overwrite: bool = False
    model: Path | None = None
    scores: Path | None = None
    prior_multiplier: float | None = None


def suggest(
    documents: str | Path | Corpus,
    *,
    config: str | Path = "best",
    encoder: str | None = None,
    folds: int | None = None,
    jobs: int = 1,
    repeats: int = 1,
    output: str | Path | None = None,
    overwrite: bool = False,
    model: str | Path | None = None,
    scores: str | Path | None = None,
    prior_multiplier: float | None = None,
    vocabulary: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    limits: ListLimits | None = None,
    tell: Tell = lambda line: None,
) -> SuggestionSet:
    """Probable facts that are not labelled, ranked; and how many are missing.

    Args:
        documents: a file of documents with some of their facts labelled, or such documents.
        config: settings of the models that are trained for the scores.
        encoder: their encoder.
        folds: parts; each is judged by a model of the others.
        jobs: folds that are trained at a time.
        repeats: how many times all folds are made, with other seeds; their mean is more precise.
        output: where the folds are kept, to be continued.
        overwrite: remove another run that is there.
        model: a trained model that never saw the documents, instead of folds.
        scores: out-of-fold scores in a file, instead of folds.
        prior_multiplier: true facts for each labelled one, for the probabilities; estimated if it is not
            told. Among `changes` it holds for the training of folds as well.
        vocabulary: a file of the relations with their names, and maybe descriptions.
        changes: other settings by key.
        limits: what comes onto the list.
        tell: is given lines for the user.

    Raises:
        DataError: the documents cannot be read, or no fact is labelled.
        ValueError: the model was trained on this file, or settings contradict each other.
    """
    given = {"encoder": encoder, "folds": folds, "vocabulary": vocabulary}
    settings = {key: value for key, value in given.items() if value is not None} | dict(changes or {})
    # Models of folds are not trained again because another number is told: it only calibrates.
    told = settings.get("prior_multiplier") if prior_multiplier is None else prior_multiplier
    judge = Judge(
        config, settings, jobs, repeats, None if output is None else Path(output), overwrite,
        None if model is None else Path(model), None if scores is None else Path(scores),
        told,
    )  # fmt: skip
    names = None if vocabulary is None else RelationVocabulary.from_file(vocabulary)
    with TemporaryDirectory() as scratch:
        source = _as_file(documents, Path(scratch))
        corpus = load_documents(source, vocabulary=names)
        found = _suggested(corpus, source, judge, limits or ListLimits(), Path(scratch), tell)
    return found


def _as_file(documents: str | Path | Corpus, scratch: Path) -> Path:
    """The file of the documents; those of a corpus are written to one."""
    if not isinstance(documents, Corpus):
        return Path(documents)
    written = scratch / "documents.jsonl"
    write_documents(written, documents.documents)
    return written


def _suggested(
    corpus: Corpus, source: Path, judge: Judge, limits: ListLimits, scratch: Path, tell: Tell
) -> SuggestionSet:
    rules = None
    if judge.model is not None:
        model = _unseeing(judge.model, source, tell)
        judged, by = judged_by(model, corpus), str(judge.model)
        relations = model.relations
    else:
        require_facts(len(corpus), sum(len(document.facts) for document in corpus), [source])
        scores, settings, by = _scores(source, judge, scratch, tell)
        labels = training_labels(settings, corpus, tell)
        require_same_documents(scores, labels.corpus, source)
        multiplier = labels.multiplier or judge.prior_multiplier or 1.0
        judged = judged_out_of_fold(scores, max(1.0, multiplier))
        relations = replace(corpus.relations, ids=scores.relations)
        if settings.rules is not None:
            rules = load_rules(settings.rules, relations)
            # Labels were closed for the models; what follows from labelled facts is missing all the same.
            labels_of = {document.id: document.labels for document in corpus}
            judged = replace(judged, scores=scores.relabelled(labels_of))
    documents = {document.id: document for document in corpus}
    names = {**relations.names, **corpus.relations.names}
    descriptions = {**relations.descriptions, **corpus.relations.descriptions}
    suggestions, unlisted = list_suggestions(judged, documents, limits, rules, names)
    every = (*relations, *(relation for relation in corpus.relations if relation not in relations))
    return SuggestionSet(
        str(source),
        detect_format(source).key,
        content_digest(source),
        by,
        {relation: (names.get(relation, relation), descriptions.get(relation, "")) for relation in every},
        documents,
        suggestions,
        missing_labels(judged),
        unlisted,
    )


def _scores(source: Path, judge: Judge, scratch: Path, tell: Tell) -> tuple[OutOfFoldScores, Settings, str]:
    """Out-of-fold scores, the settings of the models, and what they are from."""
    changes = {"train": source, "output": judge.output or scratch / "folds", **judge.changes}
    if judge.prior_multiplier is not None:
        changes["prior_multiplier"] = judge.prior_multiplier
    settings = load_settings(judge.config, changes, tell=tell)
    if judge.scores is not None:
        return OutOfFoldScores.load(judge.scores), settings, f"out of fold, {judge.scores}"
    scores = out_of_fold(settings, tell, jobs=judge.jobs, repeats=judge.repeats, overwrite=judge.overwrite)
    times = f"{judge.repeats} times " if judge.repeats > 1 else ""
    return scores, settings, f"out of fold, {times}{settings.folds} folds of {judge.config}"


def _unseeing(folder: Path, source: Path, tell: Tell) -> RelationModel:
    """A trained model, unless it learnt from this very file."""
    try:
        trained_on = json.loads((folder / RUN).read_text("utf-8"))["values"]["train"]
    except (OSError, ValueError, KeyError, TypeError):
        tell(f"warning: {folder} does not say what it was trained on; what it saw it repeats")
        trained_on = []
    if content_digest(source) in trained_on:
        raise ValueError(
            f"{source}: found the file that {folder} was trained on, expected documents it never saw; "
            "without --model every document is judged by models that did not see it"
        )
    return RelationModel.from_pretrained(folder)
