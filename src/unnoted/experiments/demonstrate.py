"""The demonstration: documents of known truth, most labels hidden, two losses that learn from the rest."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unnoted.common.files import write_text
from unnoted.documents.generator import generate_documents, relation_names
from unnoted.documents.levels import level
from unnoted.documents.schema import Document, Fact
from unnoted.documents.thinning import thin
from unnoted.documents.writing import write_documents
from unnoted.encoders.making import make_encoder
from unnoted.evaluation import Score
from unnoted.evaluation.extraction_scores import FLOOR, evaluate_extractor
from unnoted.experiments.demonstration import Demonstration, MethodResult, ShownDocument
from unnoted.extraction import Extraction, Extractor
from unnoted.training import Record, RunError, Settings, run

LOSSES = {"ATLOP": "atlop", "SSR-PU": "ssr-pu"}
"""What is compared: title and name in settings; the baseline first."""

PRIOR_MULTIPLIER = 3.0
"""How many true facts SSR-PU is told there are for each labelled one: the paper's figure for DocRED, not
fitted to the generated documents."""

FIXED: dict[str, Any] = {
    "batch_documents": 8,
    "embedding": 128,
    "block": 16,
    "encoder_learning_rate": 2e-3,
    "head_learning_rate": 2e-3,
}
"""What both trainings share, besides documents, encoder, epochs and seed. The rates are higher than the
published ones, because nothing in the encoder is pretrained."""


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """How large a demonstration is.

    Attributes:
        train_documents: documents to learn from.
        test_documents: unseen documents to evaluate on.
        level: which labels are hidden, one of `LEVELS`.
        epochs: of both trainings.
        seed: of the documents, of what is hidden, and of both trainings.
        shown: how many training documents are shown: the first ones, so that nobody chooses.
    """

    train_documents: int = 800
    test_documents: int = 200
    level: str = "incomplete"
    epochs: int = 12
    seed: int = 0
    shown: int = 4


def demonstrate(
    folder: Path,
    plan: DemoPlan | None = None,
    *,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Demonstration:
    """Generate, hide, train each loss, and compare.

    Documents, encoder and trained models stay in the folder. After an interruption the same call goes on
    where it was; what is finished is not repeated.

    Args:
        folder: where everything goes.
        plan: how large it is.
        overwrite: remove the trainings of another plan that the folder holds.
        tell: is given a line at each stage.

    Raises:
        RunError: if the folder holds the trainings of another plan.
    """
    plan = DemoPlan() if plan is None else plan
    _claim(folder, plan, overwrite)
    truth = list(generate_documents(plan.train_documents, plan.seed))
    train = list(thin(truth, level(plan.level, lambda: truth), plan.seed))
    test = list(generate_documents(plan.test_documents, plan.seed, start=plan.train_documents))
    for name, documents in (("train", train), ("truth", truth), ("test", test)):
        write_documents(folder / f"{name}.jsonl", documents)
    make_encoder(folder / "encoder", train, seed=plan.seed)
    labelled = sum(len(document.facts) for document in train)
    true = sum(len(document.facts) for document in truth)
    tell(f"{plan.train_documents:,} documents with {true:,} true facts, of which {labelled:,} are labelled")

    def trained(title: str, settings: Settings) -> tuple[Extractor, Record]:
        tell(f"{title}: {plan.epochs} epochs")
        record = run(settings, resume=not overwrite, overwrite=overwrite)
        return Extractor.from_pretrained(settings.output), record

    results, found = [], {}
    for title, loss in LOSSES.items():
        extractor, record = trained(title, demo_settings(folder, loss, plan))
        found[title] = list(extractor.extract(train[: plan.shown], floor=FLOOR))
        results.append(
            MethodResult(
                title=title,
                recovered=recovered_facts(train, truth, extractor.extract(train)),
                evaluation=evaluate_extractor(extractor, test, train),
                risks=tuple((entry["epoch"], entry["loss"]) for entry in record.training["history"]),
                seconds=record.seconds,
            )
        )
    title, loss = next(iter(LOSSES.items()))
    complete, _ = trained(
        f"{title} on all labels, for comparison", demo_settings(folder, loss, plan, "truth")
    )
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
        shown=tuple(
            ShownDocument(
                train[index],
                hidden_facts(train[index], truth[index]),
                {title: extractions[index] for title, extractions in found.items()},
            )
            for index in range(min(plan.shown, plan.train_documents))
        ),
    )


def _claim(folder: Path, plan: DemoPlan, overwrite: bool) -> None:
    """Mark the folder as this plan's, before anything in it is touched."""
    mark, wanted = folder / "plan.json", json.dumps(asdict(plan))
    if mark.exists() and mark.read_text("utf-8") != wanted and not overwrite:
        raise RunError(
            f"{folder}: found another demonstration ({mark.read_text('utf-8')}), expected {wanted}; "
            "--overwrite removes it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with write_text(mark) as stream:
        stream.write(wanted)


def demo_settings(folder: Path, loss: str, plan: DemoPlan, labels: str = "train") -> Settings:
    """The settings of one training: the same for every loss but for the loss and its priors.

    Args:
        folder: of the demonstration.
        loss: one of `unnoted.risks.LOSSES`.
        plan: how large it is.
        labels: which file to learn from: `train`, or `truth`, in which nothing is hidden.
    """
    return Settings(
        train=(folder / f"{labels}.jsonl",),
        encoder=str(folder / "encoder"),
        loss=loss,
        epochs=plan.epochs,
        seed=plan.seed,
        output=folder / (loss if labels == "train" else f"{loss}-{labels}"),
        prior_multiplier=None if loss == "atlop" else PRIOR_MULTIPLIER,
        **FIXED,
    )


def hidden_facts(labelled: Document, truth: Document) -> tuple[Fact, ...]:
    """The true facts of a document that its labels lack.

    Example:
        >>> truth = Document("d", (), (), (Fact(0, 1, "a"), Fact(1, 0, "b")))
        >>> hidden_facts(truth.with_facts(truth.facts[:1]), truth)
        (Fact(head=1, tail=0, relation='b', evidence=()),)
    """
    known = {fact.triple for fact in labelled.facts}
    return tuple(fact for fact in truth.facts if fact.triple not in known)


def recovered_facts(
    train: Iterable[Document], truth: Iterable[Document], extractions: Iterable[Extraction]
) -> Score:
    """Of what is stated about training documents beyond their labels: how much is true, and was hidden."""
    stated, hidden = set(), set()
    for labelled, complete, extraction in zip(train, truth, extractions, strict=True):
        known = {(labelled.id, *fact.triple) for fact in labelled.facts}
        stated |= {claim.key for claim in extraction.predictions()} - known
        hidden |= {(labelled.id, *fact.triple) for fact in hidden_facts(labelled, complete)}
    return Score.of(stated, hidden)
