"""The demonstration: documents of known truth, most labels hidden, three methods that learn from the rest."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unnoted.configs import read_config
from unnoted.data.document import Document, Fact
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import LABELLING_SETTINGS, fit_setting, hide_labels
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.evaluation import Evaluation, Score
from unnoted.evaluation.evaluator import FLOOR, evaluate_extractor
from unnoted.inference import Extraction, Extractor
from unnoted.io import open_output
from unnoted.models.encoders.making import make_encoder
from unnoted.training import Record, RunError, Settings, run
from unnoted.utils import lookup

PRIOR_MULTIPLIER = 3.0
"""True facts per label as methods are told: the paper's figure for DocRED, not fitted to these documents."""

BEST = read_config("best").values

METHODS: Mapping[str, Mapping[str, Any]] = {
    "ATLOP": {"loss": "atlop"},
    "SSR-PU": {"loss": "ssr-pu", "prior_multiplier": PRIOR_MULTIPLIER},
    "best": {"prior_multiplier": PRIOR_MULTIPLIER}
    | {name: BEST[name] for name in ("loss", "start", "lexical_weight", "typed_markers", "calibrated")},
}
"""What is compared: title and settings; the baseline first, the recommended method last."""

FIXED: dict[str, Any] = {
    "batch_documents": 8, "embedding": 128, "block": 16,
    "encoder_learning_rate": 2e-3, "head_learning_rate": 2e-3,
}  # fmt: skip
"""What all trainings share, besides documents, encoder, epochs and seed. The rates are higher than the
published ones, because nothing in the encoder is pretrained."""


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """How large a demonstration is, which labels are hidden (one of `LABELLING_SETTINGS`), and how many are shown.

    The seed is that of the documents, of what is hidden, and of all trainings. The training documents shown
    are the first ones, so that nobody chooses.
    """

    train_documents: int = 800
    test_documents: int = 200
    level: str = "incomplete"
    epochs: int = 12
    seed: int = 0
    shown: int = 4

    def __post_init__(self) -> None:
        lookup("level", self.level, LABELLING_SETTINGS)  # a wrong one leaves no folder behind


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A training document with its labels, the true facts it lacks, and what each method says, by title."""

    document: Document
    hidden: tuple[Fact, ...]
    extractions: Mapping[str, Extraction]


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What one method came to.

    Attributes:
        title: as the paper writes it, e.g. "SSR-PU".
        evaluation: on unseen documents, against their complete truth.
        recovered: predictions on the training documents beyond their labels, against what was hidden.
        losses: (epoch, loss) over the training.
        seconds: that the training took.
    """

    title: str
    evaluation: Evaluation
    recovered: Score
    losses: tuple[tuple[float, float], ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Demonstration:
    """All of it: what `DemoPlan` says, and what it came to.

    Of the true facts of the training documents, some were labelled and the others hidden. The first of the
    methods is the baseline; `complete` is what it reaches if nothing is hidden from it.
    """

    train_documents: int
    test_documents: int
    labelled: int
    hidden: int
    prior_multiplier: float
    epochs: int
    seed: int
    encoder: str
    relation_names: Mapping[str, str]
    methods: tuple[MethodResult, ...]
    complete: Score
    shown: tuple[ShownDocument, ...]


def demonstrate(
    folder: Path,
    plan: DemoPlan | None = None,
    *,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Demonstration:
    """Generate, hide, train by each method, and compare.

    Documents, encoder and trained models stay in the folder. After an interruption the same call continues
    where it was; what is finished is not repeated.

    Raises:
        RunError: if the folder holds the trainings of another plan, which `overwrite` would replace, or files
            that are no demonstration.
    """
    plan = DemoPlan() if plan is None else plan
    _claim(folder, plan, overwrite)
    train, truth, test = _make_documents(folder, plan)
    labelled, true = (sum(len(document.facts) for document in documents) for documents in (train, truth))
    tell(f"{plan.train_documents:,} documents with {true:,} true facts, of which {labelled:,} are labelled")

    def trained(title: str, settings: Settings) -> tuple[Extractor, Record]:
        tell(f"{title}: {plan.epochs} epochs")
        record = run(settings, resume=not overwrite, overwrite=overwrite)
        return Extractor.from_pretrained(settings.output, backend="torch"), record

    results, found = [], {}
    for title in METHODS:
        extractor, record = trained(title, demo_settings(folder, title, plan))
        found[title] = list(extractor.extract(train[: plan.shown], floor=FLOOR))
        recovered = recovered_facts(train, truth, extractor.extract(train))
        losses = tuple((entry["epoch"], entry["loss"]) for entry in record.training["history"])
        evaluation = evaluate_extractor(extractor, test, train)
        results.append(MethodResult(title, evaluation, recovered, losses, record.seconds))
    baseline = results[0].title
    on_all = demo_settings(folder, baseline, plan, "truth")
    complete, _ = trained(f"{baseline} on all labels, for comparison", on_all)
    shown = [
        ShownDocument(
            document, hidden_facts(document, whole), {title: found[title][index] for title in found}
        )
        for index, (document, whole) in enumerate(zip(train[: plan.shown], truth, strict=False))
    ]
    return Demonstration(
        train_documents=plan.train_documents,
        test_documents=plan.test_documents,
        labelled=labelled,
        hidden=true - labelled,
        prior_multiplier=PRIOR_MULTIPLIER,
        epochs=plan.epochs,
        seed=plan.seed,
        encoder="a two-way LSTM of two layers, 128 wide, made on the spot",
        relation_names=relation_names(),
        methods=tuple(results),
        complete=evaluate_extractor(complete, test).overall,
        shown=tuple(shown),
    )


def _make_documents(folder: Path, plan: DemoPlan) -> tuple[list[Document], list[Document], list[Document]]:
    """Write documents with the labels that are left, with all of them, and unseen ones; and an encoder."""
    truth = list(generate_documents(plan.train_documents, plan.seed))
    train = list(hide_labels(truth, fit_setting(plan.level, truth), plan.seed))
    test = list(generate_documents(plan.test_documents, plan.seed, start=plan.train_documents))
    for name, documents in (("train", train), ("truth", truth), ("test", test)):
        write_documents(folder / f"{name}.jsonl", documents)
    make_encoder(folder / "encoder", train, seed=plan.seed)
    return train, truth, test


def _claim(folder: Path, plan: DemoPlan, overwrite: bool) -> None:
    """Mark the folder as this plan's, before anything in it is touched."""
    mark, wanted = folder / "plan.json", json.dumps(asdict(plan))
    if mark.exists() and (found := mark.read_text("utf-8")) != wanted and not overwrite:
        raise RunError(
            f"{folder}: found another demonstration ({found}), expected {wanted}; --overwrite removes it"
        )
    if not mark.exists() and folder.is_dir() and (other := next(folder.iterdir(), None)) is not None:
        raise RunError(
            f"{folder}: found {other.name!r} but no demonstration, expected an empty folder or a new one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with open_output(mark) as stream:
        stream.write(wanted)


def demo_settings(folder: Path, title: str, plan: DemoPlan, labels: str = "train") -> Settings:
    """The settings of one training, which differ in what `METHODS` says only.

    It learns from the labels of `train`, or of `truth`, in which nothing is hidden.
    """
    return Settings(
        train=(folder / f"{labels}.jsonl",),
        encoder=str(folder / "encoder"),
        epochs=plan.epochs,
        seed=plan.seed,
        output=folder / (title.lower() if labels == "train" else f"{title.lower()}-{labels}"),
        **FIXED,
        **METHODS[title],
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
    return Score.of(predicted, hidden)
