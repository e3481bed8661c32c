"""The demonstration: generated documents, most labels hidden, three methods trained on the labels that are left."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unnoted.data.document import Document, Fact
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import LABELLING_SETTINGS, fit_setting, hide_labels
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.evaluation import Evaluation, Score, evaluate_extractor
from unnoted.experiments.grid import run_side_by_side
from unnoted.experiments.tables import Table, render_page
from unnoted.inference import Extraction, Extractor
from unnoted.io import open_output
from unnoted.models.encoders.from_scratch import make_encoder
from unnoted.training import RunError, TrainingConfig, load_config
from unnoted.training.results import Failure
from unnoted.utils import MissingExtra, lookup

PRIOR_MULTIPLIER = 3.0
"""True facts per label as methods are told: the paper's figure for DocRED, not fitted to these documents."""

EXAMPLES = 8
"""How many facts are listed that were never labelled and were predicted."""

FROM_BEST = ("loss.name", "use_type_bias", "lexical_weight", "markers", "folds")

SHARED: Mapping[str, Any] = {
    "batch_size": 8, "embedding": 128,
    "encoder_learning_rate": 2e-3, "head_learning_rate": 2e-3,
}  # fmt: skip
"""What all runs share, besides documents, encoder, epochs and seed. The learning rates are higher than the
published ones, because nothing in the encoder is pretrained."""


def methods() -> dict[str, dict[str, Any]]:
    """What is compared: title and settings; the baseline first, the recommended method last."""
    best = load_config("best", {"train": "train.jsonl"})
    return {
        "ATLOP": {"loss": "atlop"},
        "SSR-PU": {"loss": "ssr-pu", "prior_multiplier": PRIOR_MULTIPLIER},
        "best": {"prior_multiplier": PRIOR_MULTIPLIER} | {key: best.get(key) for key in FROM_BEST},
    }


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
        title: as the paper writes it, e.g. "SSR-PU".
        evaluation: on unseen documents, against their complete truth.
        recovered: predictions on the training documents beyond their labels, against what was hidden.
        seconds: that training took.
    """

    title: str
    evaluation: Evaluation
    recovered: Score
    seconds: float


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The results: of the true facts of the training documents, some were labelled and the others hidden.

    Attributes:
        config: how large it is.
        labelled: facts of the training documents that were labelled.
        hidden: those that were not.
        methods: the first is the baseline.
        complete: the baseline's score where nothing is hidden from it.
        examples: facts that were never labelled and were predicted by the last method, the first ones.
    """

    config: DemoConfig
    labelled: int
    hidden: int
    methods: tuple[MethodResult, ...]
    complete: Score
    examples: tuple[str, ...]


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
    _claim(folder, config, overwrite)
    train, truth, test = _make_documents(folder, config)
    labelled, true = (sum(len(document.facts) for document in documents) for documents in (train, truth))
    log(f"{config.train_documents:,} documents with {true:,} true facts, of which {labelled:,} are labelled")
    baseline, *_ = methods()
    runs = {title: demo_settings(folder, title, config) for title in methods()}
    # The longest first, so that the others fit beside it.
    runs = dict(reversed(runs.items())) | {
        f"{baseline}, nothing hidden": demo_settings(folder, baseline, config, "truth")
    }
    outcomes = run_side_by_side(runs, min(len(runs), os.cpu_count() or 1), log)
    seconds = {}
    for title, outcome in outcomes.items():
        if isinstance(outcome, Failure):
            raise RunError(f"{title}: {outcome.reason}; more in {runs[title].output}")
        seconds[title] = outcome.seconds

    def extractor(title: str) -> Extractor:
        return Extractor.from_pretrained(runs[title].output, backend="torch")

    results: list[MethodResult] = []
    examples: tuple[str, ...] = ()
    for title in methods():
        log(f"{title}: scoring")
        model = extractor(title)
        extractions = list(model.extract(train))
        recovered = recovered_facts(train, truth, extractions)
        evaluation = evaluate_extractor(model, test, train)
        results.append(MethodResult(title, evaluation, recovered, seconds[title]))
        examples = tuple(_examples(train, truth, extractions))  # of the last one
    complete = evaluate_extractor(extractor(f"{baseline}, nothing hidden"), test).overall
    return Demonstration(config, labelled, true - labelled, tuple(results), complete, examples)


def _make_documents(folder: Path, config: DemoConfig) -> tuple[list[Document], ...]:
    """Write documents with the labels that are left, with all of them, and unseen ones; and an encoder."""
    truth = list(generate_documents(config.train_documents, config.seed))
    train = list(hide_labels(truth, fit_setting(config.level, truth), config.seed))
    test = list(generate_documents(config.test_documents, config.seed, start=config.train_documents))
    for name, documents in (("train", train), ("truth", truth), ("test", test)):
        write_documents(folder / f"{name}.jsonl", documents)
    make_encoder(folder / "encoder", train, seed=config.seed)
    return train, truth, test


def _claim(folder: Path, config: DemoConfig, overwrite: bool) -> None:
    """Mark the folder as this demonstration's, before anything in it is touched."""
    mark, wanted = folder / "demo.json", json.dumps(asdict(config))
    if mark.exists():
        if (other := mark.read_text("utf-8")) != wanted and not overwrite:
            raise RunError(f"{folder}: holds another demonstration ({other}); --overwrite removes it")
        if overwrite:
            for title in methods():
                for labels in ("train", "truth"):
                    shutil.rmtree(demo_settings(folder, title, config, labels).output, ignore_errors=True)
    elif folder.is_dir() and (other_file := next(folder.iterdir(), None)) is not None:
        raise RunError(
            f"{folder}: holds {other_file.name!r} and no demonstration; name an empty folder or a new one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with open_output(mark) as stream:
        stream.write(wanted)


def demo_settings(folder: Path, title: str, config: DemoConfig, labels: str = "train") -> TrainingConfig:
    """The settings of one run, from the labels of `train`, or of `truth`, in which nothing is hidden."""
    return TrainingConfig.from_keys(
        {
            "train": folder / f"{labels}.jsonl",
            "encoder": str(folder / "encoder"),
            "epochs": config.epochs,
            "seed": config.seed,
            "output": folder / (title.lower() if labels == "train" else f"{title.lower()}-{labels}"),
            **SHARED,
            **methods()[title],
        }
    )


def hidden_facts(labelled: Document, truth: Document) -> tuple[Fact, ...]:
    """The true facts of a document that its labels lack."""
    known = labelled.labels
    return tuple(fact for fact in truth.facts if fact.triple not in known)


def recovered_facts(
    train: Iterable[Document], truth: Iterable[Document], extractions: Iterable[Extraction]
) -> Score:
    """Of what is predicted on training documents beyond their labels: how much is true, and was hidden."""
    predicted, hidden = set(), set()
    for labelled, complete, extraction in zip(train, truth, extractions, strict=True):
        known = {(labelled.id, *fact.triple) for fact in labelled.facts}
        predicted |= {claim.key for claim in extraction.predictions()} - known
        hidden |= {(labelled.id, *fact.triple) for fact in hidden_facts(labelled, complete)}
    return Score.count(predicted, hidden)


def _examples(
    train: Iterable[Document], truth: Iterable[Document], extractions: Iterable[Extraction]
) -> Iterable[str]:
    """True facts of training documents that were never labelled and are predicted."""
    names, found = relation_names(), 0
    for labelled, complete, extraction in zip(train, truth, extractions, strict=True):
        hidden = {fact.triple for fact in hidden_facts(labelled, complete)}
        for claim in extraction.predictions():
            if (claim.head, claim.tail, claim.relation) in hidden and found < EXAMPLES:
                found += 1
                head, tail = (labelled.entities[index].name for index in (claim.head, claim.tail))
                yield f"{claim.score:.2f}  {head} | {names[claim.relation]} | {tail}"


def demo_table(shown: Demonstration) -> Table:
    """The scores of each method."""

    def figures(score: Score) -> tuple[str, ...]:
        return tuple(f"{100 * figure:.1f}" for figure in (score.f1, score.precision, score.recall))

    rows = []
    for method in shown.methods:
        beyond = method.recovered
        true = f"{beyond.correct:,} = {beyond.recall:.0%} of {beyond.gold:,}"
        row = (*figures(method.evaluation.overall), f"{beyond.predicted:,}", true, f"{method.seconds:.0f}")
        rows.append((method.title, *row))
    rows.append((f"{shown.methods[0].title}, nothing hidden", *figures(shown.complete), "", "", ""))
    return Table(
        f"On {shown.config.test_documents:,} unseen documents with complete labels; trained on "
        f"{shown.labelled:,} labels where {shown.labelled + shown.hidden:,} facts are true",
        ("", "F1", "precision", "recall", "predicted beyond the labels", "of them true", "seconds"),
        tuple(rows),
    )


def write_report(shown: Demonstration, path: Path) -> None:
    """Write the page; its plots need `unnoted[plots]`."""
    plots = {}
    try:
        from unnoted.experiments.plots import plot_precision_recall, plot_reliability

        evaluations = {method.title: method.evaluation for method in shown.methods}
        curves = {title: each.curve.sampled(300) for title, each in evaluations.items() if each.curve}
        decided = {
            title: (each.overall.recall, each.overall.precision) for title, each in evaluations.items()
        }
        plots["Precision and recall at every threshold, and where each method decides"] = (
            plot_precision_recall(curves, decided)
        )
        if reliability := evaluations[shown.methods[-1].title].reliability:
            plots[f"Calibration of {shown.methods[-1].title}"] = plot_reliability(reliability)
    except MissingExtra:
        pass
    intro = (
        f"{shown.config.train_documents:,} generated documents have {shown.labelled + shown.hidden:,} true facts; "
        f"{shown.labelled:,} of them were labelled, and {shown.hidden:,} were hidden before training. All methods "
        f"train from the same new encoder, on the same labels, for {shown.config.epochs} epochs.",
        "ATLOP takes every unlabelled pair for a negative one. SSR-PU treats it as unlabelled, given how "
        f"many true facts there are for each label (×{PRIOR_MULTIPLIER:g}). `best` is the recommended method.",
    )
    examples = Table(
        f"Never labelled, predicted by {shown.methods[-1].title}",
        ("Fact",),
        tuple((each,) for each in shown.examples),
    )
    with open_output(path) as stream:
        stream.write(
            render_page("Learning from incomplete labels", [demo_table(shown), examples], plots, intro)
        )
