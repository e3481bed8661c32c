"""What the demonstration shows: two losses on the same half-labelled documents, and what each finds."""

from collections.abc import Mapping
from dataclasses import dataclass

from unnoted.documents.schema import Document, Fact
from unnoted.evaluation import Evaluation, Score
from unnoted.extraction import Extraction


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A training document with everything known about it.

    Attributes:
        document: with the facts that were labelled.
        hidden: the true facts that were not.
        extractions: what each loss states about it, by the loss's title.
    """

    document: Document
    hidden: tuple[Fact, ...]
    extractions: Mapping[str, Extraction]


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What one loss came to.

    Attributes:
        title: as the paper writes it, e.g. "SSR-PU".
        evaluation: on unseen documents, against their complete truth.
        recovered: in the training documents, of what was stated and not labelled: how much is true, and how
            much of what had been hidden it is.
        risks: (epoch, risk) over the training.
        seconds: that the training took.
    """

    title: str
    evaluation: Evaluation
    recovered: Score
    risks: tuple[tuple[float, float], ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Demonstration:
    """All of it.

    Attributes:
        train_documents: how many were trained on.
        test_documents: how many, unseen, were evaluated on.
        labelled: facts of the training documents that were labelled.
        hidden: true facts of the training documents that were not.
        prior_multiplier: the overall prior as a multiple of the labelled one, as the loss was told.
        epochs: of both trainings.
        seed: of both, and of the corpus.
        encoder: what was trained, in a few words.
        relation_names: readable names of the relations.
        methods: each loss's result; the baseline first.
        complete: what the baseline reaches on the unseen documents if nothing is hidden from it.
        shown: a few training documents.
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
