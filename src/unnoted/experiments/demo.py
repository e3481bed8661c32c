"""The demonstration: generated documents, most labels hidden, three methods trained on the labels that are left."""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from statistics import median
from typing import Any

import torch

from unnoted.data.document import Document
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import LABELLING_SETTINGS, fit_setting, hide_labels
from unnoted.data.loading import stream_documents
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.evaluation import Evaluation, Score, evaluate_extractor
from unnoted.experiments.grid import run_side_by_side
from unnoted.experiments.tables import Table, render_page
from unnoted.inference import Extraction, Extractor
from unnoted.io import open_output
from unnoted.models.batch import Collator
from unnoted.models.encoders.from_scratch import make_encoder
from unnoted.progress import show_progress
from unnoted.training import RunError, TrainingConfig, load_config
from unnoted.training.builders import build_loss, build_model, load_training_data
from unnoted.training.cross_validation import FOLDS, GRADIENT_COST, SCORES, expected_costs
from unnoted.training.results import Failure, Record
from unnoted.training.run_directory import RunDirectory
from unnoted.training.trainer import compute_features
from unnoted.utils import MissingExtra, count_cores, duration, lookup

PRIOR_MULTIPLIER = 3.0
"""True facts per label as methods are told: the paper's figure for DocRED, not fitted to these documents."""

MEASURED = 4
"""Batches by which the time is estimated before anything is trained."""

EXAMPLES = 8
"""How many facts are listed that were never labelled and were predicted."""

SHARED: Mapping[str, Any] = {
    "batch_size": 8, "embedding": 128,
    "encoder_learning_rate": 2e-3, "head_learning_rate": 2e-3,
}  # fmt: skip
"""What all runs share, besides documents, encoder, epochs and seed. The learning rates are higher than the
published ones, because nothing in the encoder is pretrained."""

BASELINE, BEST, COMPLETE = "ATLOP", "best", "ATLOP, nothing hidden"
"""The baseline, the recommended method, and the baseline where nothing is hidden from it."""


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """How large a demonstration is, and which labels are hidden (one of `LABELLING_SETTINGS`).

    The seed is that of the documents, of what is hidden, and of all runs.
    """

    train_documents: int = 800
    test_documents: int = 200
    level: str = "incomplete"
    epochs: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        lookup("level", self.level, LABELLING_SETTINGS)  # a wrong one leaves no folder behind


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The result of one method.

    Attributes:
        evaluation: on unseen documents, against their complete truth.
        recovered: predictions on the training documents beyond their labels, against what was hidden.
        examples: the first ones of these that are true.
        seconds: that training took.
    """

    evaluation: Evaluation
    recovered: Score
    examples: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The results: of the true facts of the training documents, some were labelled and the others hidden.

    Attributes:
        config: how large it is.
        labelled: facts of the training documents that were labelled.
        hidden: those that were not.
        methods: results by title, the baseline first, the recommended method last.
        complete: the baseline's score where nothing is hidden from it.
    """

    config: DemoConfig
    labelled: int
    hidden: int
    methods: Mapping[str, MethodResult]
    complete: Score

    @property
    def examples(self) -> tuple[str, ...]:
        """Facts that were never labelled and were predicted by the recommended method."""
        return self.methods[BEST].examples


def run_demo(
    folder: Path,
    config: DemoConfig | None = None,
    *,
    overwrite: bool = False,
    log: Callable[[str], None] = lambda line: None,
) -> Demonstration:
    """Generate documents, hide labels, train each method, and compare them.

    Documents, encoder and trained models stay in the folder. After an interruption the same call continues;
    what is finished is not repeated. The runs are side by side, each with its share of the cores.

    Raises:
        RunError: the folder holds another demonstration, which `overwrite` would replace, or other files; or
            a run failed.
    """
    config = DemoConfig() if config is None else config
    runs = demo_runs(folder, config)
    _claim(folder, config, runs, overwrite)
    train, truth, test = _make_documents(folder, config)
    labelled, true = (sum(len(document.facts) for document in documents) for documents in (train, truth))
    log(f"{config.train_documents:,} documents with {true:,} true facts, of which {labelled:,} are labelled")
    jobs = min(len(runs), count_cores())
    finished = {title for title, each in runs.items() if RunDirectory(each.output).read_finished(each)}
    if todo := {title: settings for title, settings in runs.items() if title not in finished}:
        for line in plan_lines(todo, jobs, measure_pace(runs[BASELINE])):
            log(line)
    trainings = sum(sum(expected_costs(settings)) for settings in todo.values())
    scoring = 1 + len(test) / len(train)
    results = {}
    with show_progress(trainings + scoring * len(runs), "demonstration") as progress:
        with progress.part(trainings):
            # The longest first, so that the others fit beside it.
            outcomes = run_side_by_side(dict(reversed(runs.items())), jobs, log)
        for title, settings in runs.items():
            outcome = outcomes[title]
            if isinstance(outcome, Failure):
                raise RunError(f"{title}: {outcome.reason}; more in {settings.output}")
            log(f"{title}: scoring")
            with progress.part(scoring):
                results[title] = _score_method(outcome, settings.output, train, truth, test)
    complete = results.pop(COMPLETE).evaluation.overall
    return Demonstration(config, labelled, true - labelled, results, complete)


def _make_documents(
    folder: Path, config: DemoConfig
) -> tuple[list[Document], list[Document], list[Document]]:
    """The training documents, the same with all their facts, and the test documents; all are written, with an encoder."""
    truth = list(generate_documents(config.train_documents, config.seed))
    train = list(hide_labels(truth, fit_setting(config.level, truth), config.seed))
    test = list(generate_documents(config.test_documents, config.seed, start=config.train_documents))
    for name, documents in (("train", train), ("truth", truth), ("test", test)):
        write_documents(folder / f"{name}.jsonl", documents)
    make_encoder(folder / "encoder", train, seed=config.seed)
    return train, truth, test


def _score_method(
    record: Record,
    model: Path,
    train: Sequence[Document],
    truth: Sequence[Document],
    test: Sequence[Document],
) -> MethodResult:
    extractor = Extractor(model, backend="torch")
    evaluation = evaluate_extractor(extractor, test, train)
    recovered, examples = recovered_facts(train, truth, extractor.extract(train))
    return MethodResult(evaluation, recovered, examples, record.seconds)


def measure_pace(settings: TrainingConfig) -> float:
    """Seconds in which a model of the settings learns from one document on a core or a GPU, by a few batches."""
    data = load_training_data(settings)
    model, loss = build_model(settings, data.corpus), build_loss(settings, data.priors())
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").train()  # type: ignore[arg-type]
    features, seconds = compute_features(model, data.corpus), []
    size = min(settings.optimizer.batch_size, len(features))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as runs side by side have it
    for first in range(0, min(len(features), MEASURED * size), size):
        batch = Collator(features)([features[i] for i in range(first, min(first + size, len(features)))])
        begun = time.monotonic()
        loss(model(batch.to(model.device)).logits, batch.labels(), batch.pair_weight).backward()
        seconds.append(time.monotonic() - begun)
    torch.set_num_threads(threads)
    return median(seconds) / size


def plan_lines(runs: Mapping[str, TrainingConfig], jobs: int, pace: float) -> Iterator[str]:
    """What is trained, and about how long it takes.

    Args:
        runs: by title, with the same documents.
        jobs: trainings at a time.
        pace: seconds for a document.
    """
    each = {}
    for title, settings in runs.items():
        documents = sum(1 for _ in stream_documents(*settings.train))
        each[title] = pace * documents * sum(expected_costs(settings)) / GRADIENT_COST
        folds = settings.calibration.folds
        more = f", trained {folds} times more on parts of the documents to be calibrated" if folds else ""
        yield f"{title}: about {duration(each[title])} for {settings.optimizer.epochs} epochs{more}"
    total = max(sum(each.values()) / jobs, *each.values())
    yield f"about {duration(total)} in all, {jobs} trainings at a time"


def demo_runs(folder: Path, config: DemoConfig) -> dict[str, TrainingConfig]:
    """What is trained, by title."""
    best = load_config("best", {"train": "train.jsonl"})
    taken = ("loss.name", "use_type_bias", "lexical_weight", "markers", "folds")
    methods: dict[str, dict[str, Any]] = {
        BASELINE: {"loss": "atlop"},
        "SSR-PU": {"loss": "ssr-pu", "prior_multiplier": PRIOR_MULTIPLIER},
        COMPLETE: {"loss": "atlop", "train": folder / "truth.jsonl", "output": folder / "atlop-truth"},
        BEST: {"prior_multiplier": PRIOR_MULTIPLIER} | {key: best.get(key) for key in taken},
    }
    return {
        title: TrainingConfig.from_keys(
            {
                "train": folder / "train.jsonl",
                "encoder": str(folder / "encoder"),
                "epochs": config.epochs,
                "seed": config.seed,
                "output": folder / title.lower(),
                **SHARED,
                **settings,
            }
        )
        for title, settings in methods.items()
    }


def _claim(folder: Path, config: DemoConfig, runs: Mapping[str, TrainingConfig], overwrite: bool) -> None:
    """Mark the folder as this demonstration's, before anything in it is touched."""
    mark, wanted = folder / "demo.json", json.dumps(asdict(config))
    if mark.exists():
        if (other := mark.read_text("utf-8")) != wanted and not overwrite:
            raise RunError(f"{folder}: holds another demonstration ({other}); --overwrite removes it")
        if overwrite:
            for settings in runs.values():
                shutil.rmtree(settings.output, ignore_errors=True)
    elif folder.is_dir() and (other_file := next(folder.iterdir(), None)) is not None:
        raise RunError(
            f"{folder}: holds {other_file.name!r} and no demonstration; name an empty folder or a new one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with open_output(mark) as stream:
        stream.write(wanted)


def recovered_facts(
    train: Iterable[Document], truth: Iterable[Document], extractions: Iterable[Extraction]
) -> tuple[Score, tuple[str, ...]]:
    """Of what is predicted on training documents beyond their labels: how much is true, and the first of these."""
    names, predicted, hidden, examples = relation_names(), 0, 0, []
    for labelled, complete, extraction in zip(train, truth, extractions, strict=True):
        unlabelled = complete.labels - labelled.labels
        hidden += len(unlabelled)
        for fact in extraction.predictions():
            triple = fact.head, fact.tail, fact.relation
            predicted += triple not in labelled.labels
            if triple in unlabelled:
                head, tail = (labelled.entities[index].name for index in triple[:2])
                name = names.get(fact.relation, fact.relation)
                examples.append(f"{fact.score or 0:.2f}  {head} | {name} | {tail}")
    return Score(len(examples), predicted, hidden), tuple(examples[:EXAMPLES])


def demo_table(shown: Demonstration) -> Table:
    """The scores of each method."""

    def figures(score: Score) -> tuple[str, ...]:
        return tuple(f"{100 * figure:.1f}" for figure in (score.f1, score.precision, score.recall))

    rows = []
    for title, method in shown.methods.items():
        beyond = method.recovered
        true = f"{beyond.correct:,} = {beyond.recall:.0%} of {beyond.gold:,}"
        row = (*figures(method.evaluation.overall), f"{beyond.predicted:,}", true, f"{method.seconds:.0f}")
        rows.append((title, *row))
    rows.append((COMPLETE, *figures(shown.complete), "", "", ""))
    return Table(
        f"On {shown.config.test_documents:,} unseen documents with complete labels; trained on "
        f"{shown.labelled:,} labels where {shown.labelled + shown.hidden:,} facts are true",
        ("", "F1", "precision", "recall", "predicted beyond the labels", "of them true", "seconds"),
        tuple(rows),
    )


def demo_commands(folder: Path) -> list[str]:
    """What can be done with the model of a demonstration, as one types it."""
    program = sys.argv[0] if Path(sys.argv[0]).name == "unnoted" else "unnoted"
    model, train, test = (quote(str(folder / name)) for name in ("best", "train.jsonl", "test.jsonl"))
    found, page = (quote(str(folder / name)) for name in ("suggestions.jsonl", "facts.html"))
    scores = quote(str(folder / "best" / FOLDS / SCORES))
    return [
        f"{program} predict {model} {test} --to {page}",
        f"{program} suggest {train} --scores {scores} --to {found} && {program} review start {found}",
        f"{program} serve {model}",
    ]


def write_report(shown: Demonstration, path: Path) -> None:
    """Write the page; its plots need `unnoted[plots]`."""
    evaluations = {title: method.evaluation for title, method in shown.methods.items()}
    curves = {title: each.curve.sampled(300) for title, each in evaluations.items() if each.curve}
    decided = {title: (each.overall.recall, each.overall.precision) for title, each in evaluations.items()}
    plots = {}
    try:
        from unnoted.experiments.plots import plot_precision_recall, plot_reliability

        caption = "Precision and recall at every threshold, and where each method decides"
        plots[caption] = plot_precision_recall(curves, decided)
        if reliability := evaluations[BEST].reliability:
            plots[f"Calibration of {BEST}"] = plot_reliability(reliability)
    except MissingExtra:
        pass
    intro = (
        f"{shown.config.train_documents:,} generated documents have {shown.labelled + shown.hidden:,} true facts; "
        f"{shown.labelled:,} of them were labelled, and {shown.hidden:,} were hidden before training. All methods "
        f"train from the same new encoder, on the same labels, for {shown.config.epochs} epochs.",
        "ATLOP takes every unlabelled pair for a negative one. SSR-PU treats it as unlabelled, given how "
        f"many true facts there are for each label (×{PRIOR_MULTIPLIER:g}). “best” is the recommended method.",
    )
    examples = Table(
        f"Never labelled, predicted by {BEST}", ("Fact",), tuple((each,) for each in shown.examples)
    )
    page = render_page("Learning from incomplete labels", [demo_table(shown), examples], plots, intro)
    with open_output(path) as stream:
        stream.write(page)
