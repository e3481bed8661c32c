"""Extracted facts: what an extractor returns for a document, and how it is written as JSON and as text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from unnoted.data.document import Document
from unnoted.data.formats.predictions import Prediction
from unnoted.data.tokenization import MentionLocator, Span
from unnoted.utils import plural

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from unnoted.inference.scoring import Decision

SCORE = (
    "the probability that the fact holds, if `calibrated`; otherwise it only orders facts, and those above 0.5 are "
    "predicted by default. It does not depend on the threshold in use"
)
"""What a score is."""


class FactRecord(TypedDict):
    """A predicted fact as JSON: in JSONL, in a table (a column for each key), and in answers of the service."""

    head: Annotated[int, Field(description="index of the head entity, from 0")]
    head_name: str
    head_type: str
    head_id: Annotated[str | None, Field(description="id in a knowledge base")]
    relation: str
    relation_name: str
    tail: Annotated[int, Field(description="index of the tail entity, from 0")]
    tail_name: str
    tail_type: str
    tail_id: Annotated[str | None, Field(description="id in a knowledge base")]
    score: Annotated[float, Field(ge=0, le=1, description=SCORE)]
    calibrated: Annotated[bool, Field(description="whether the score is a calibrated probability")]
    evidence: Annotated[list[int], Field(description="indices of the supporting sentences, from 0")]
    sentences: Annotated[list[str], Field(description="the supporting sentences, as they stand in the text")]
    head_offsets: NotRequired[
        Annotated[
            list[tuple[int, int]], Field(description="characters of the head's mentions, if text was given")
        ]
    ]
    tail_offsets: NotRequired[
        Annotated[
            list[tuple[int, int]], Field(description="characters of the tail's mentions, if text was given")
        ]
    ]
    rule: NotRequired[Annotated[str, Field(description="the rule that implies the fact, if one does")]]


class DocumentRecord(TypedDict):
    """The facts of one document as JSON: a line of extracted JSONL."""

    id: str
    facts: list[FactRecord]


@dataclass(frozen=True, slots=True)
class Results:
    """The facts of documents, on their way to a file.

    Attributes:
        records: one for each document, in their order; can be iterated once.
        documents: reads the documents again, in the same order.
        model: the folder or name of the model.
        decision: which facts are predicted; a format that is `filtered` also has others, which its page hides.
    """

    records: Iterable[DocumentRecord]
    documents: Callable[[], Iterator[Document]]
    model: str
    decision: "Decision"


@dataclass(frozen=True, slots=True)
class FactEntity:
    """The head or tail of a fact, for a reader without the document.

    Attributes:
        name: of the entity's first mention.
        type: of its first mention.
        id: in a knowledge base; None if it has none.
        offsets: start and end of each mention in the raw text; empty if the document has no text.
    """

    name: str
    type: str
    id: str | None = None
    offsets: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A predicted fact.

    Attributes:
        head: the index of the head entity.
        tail: the index of the tail entity.
        relation: the relation id.
        relation_name: its readable name, or its id.
        score: from 0 to 1; orders facts, also across relations. The probability that the fact holds, if
            `calibrated`. It does not depend on the threshold in use.
        evidence: the supporting sentences (`unnoted.inference.scoring`), ascending.
        calibrated: whether the score is a calibrated probability.
        rule: the rule that implies it, in words; None where the model scored it by itself.
        head_entity: name, type, id and character offsets of the head; every fact of an `Extraction` has it.
        tail_entity: those of the tail.
    """

    head: int
    tail: int
    relation: str
    relation_name: str
    score: float
    evidence: tuple[int, ...] = ()
    calibrated: bool = False
    rule: str | None = None
    head_entity: FactEntity | None = field(default=None, compare=False, repr=False)
    tail_entity: FactEntity | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts extracted from one document, ordered by head, tail and the model's order of relations.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "Bo")))
        >>> document = Document("d1", (("Ada", "met", "Bo"),), (ada, bo))
        >>> extraction = Extraction(document, (ExtractedFact(0, 1, "P1", "met", 0.9, (0,)),))
        >>> print(extraction)
        d1
          0.900  Ada | met | Bo  [0] Ada met Bo
        >>> extraction, extraction.facts[0].head_entity
        (<Extraction of 'd1': 1 fact>, FactEntity(name='Ada', type='PER', id=None, offsets=()))
        >>> list(extraction.predictions())
        [Prediction(document='d1', head=0, tail=1, relation='P1', evidence=(0,), score=0.9)]
    """

    document: Document
    facts: tuple[ExtractedFact, ...]

    def __post_init__(self) -> None:
        if not any(fact.head_entity is None or fact.tail_entity is None for fact in self.facts):
            return
        places, entities = MentionLocator(self.document), self.document.entities
        named = {
            index: FactEntity(
                entities[index].name, entities[index].type, entities[index].id, places.spans(entities[index])
            )
            for index in {index for fact in self.facts for index in (fact.head, fact.tail)}
        }
        facts = (
            replace(fact, head_entity=named[fact.head], tail_entity=named[fact.tail]) for fact in self.facts
        )
        object.__setattr__(self, "facts", tuple(facts))

    def __str__(self) -> str:
        return format_record(self.to_json())

    def __repr__(self) -> str:
        return f"<Extraction of {self.document.id!r}: {plural(len(self.facts), 'fact')}>"

    def _repr_html_(self) -> str:
        """The document with these facts, drawn in a notebook."""
        from unnoted.data.visualization import notebook_html  # facts are found without either
        from unnoted.inference.writers import fact_table

        names = {fact.relation: fact.relation_name for fact in self.facts}
        return notebook_html(self.document, fact_table(self.to_json()), names=names)

    def to_pandas(self) -> "DataFrame":
        """The facts as a frame, one row for each.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return ExtractionStream([self]).to_pandas()

    def predictions(self) -> Iterator[Prediction]:
        """The facts as the evaluation takes them."""
        for fact in self.facts:
            yield Prediction(self.document.id, fact.head, fact.tail, fact.relation, fact.evidence, fact.score)

    def to_json(self) -> DocumentRecord:
        """One line of extracted JSONL: everything that a reader without the document needs."""
        places = MentionLocator(self.document)
        return {"id": self.document.id, "facts": [self._record(fact, places) for fact in self.facts]}

    def _record(self, fact: ExtractedFact, places: MentionLocator) -> FactRecord:
        head, tail = fact.head_entity, fact.tail_entity
        assert head is not None and tail is not None  # every fact here has them
        record: FactRecord = {
            "head": fact.head,
            "head_name": head.name,
            "head_type": head.type,
            "head_id": head.id,
            "relation": fact.relation,
            "relation_name": fact.relation_name,
            "tail": fact.tail,
            "tail_name": tail.name,
            "tail_type": tail.type,
            "tail_id": tail.id,
            "score": fact.score,
            "calibrated": fact.calibrated,
            "evidence": list(fact.evidence),
            "sentences": [places.sentence(number) for number in fact.evidence],
        }
        if self.document.text is not None:
            record["head_offsets"], record["tail_offsets"] = list(head.offsets), list(tail.offsets)
        if fact.rule is not None:
            record["rule"] = fact.rule
        return record


class ExtractionStream(Iterator[Extraction]):
    """The extractions of documents, made as they are asked for; it can be iterated once.

    Args:
        extractions: in the order of the documents.

    Example:
        >>> stream = ExtractionStream([Extraction(Document("d1", (("It", "rained"),), ()), ())])
        >>> [extraction.document.id for extraction in stream], list(stream)
        (['d1'], [])
    """

    def __init__(self, extractions: Iterable[Extraction]) -> None:
        self._extractions = iter(extractions)

    def __repr__(self) -> str:
        return "<ExtractionStream: iterate over it, or call to_pandas(), once>"

    def __next__(self) -> Extraction:
        return next(self._extractions)

    def to_pandas(self) -> "DataFrame":
        """The facts of all documents that are left as a frame, one row for each.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from unnoted.inference.writers import facts_frame  # needs more than facts do

        return facts_frame(extraction.to_json() for extraction in self)


def join_values(values: Sequence[Any]) -> str:
    r"""A list of a fact as one text: a line for each sentence, otherwise separated by blanks.

    Example:
        >>> join_values([0, 2]), join_values([(0, 3), (5, 8)]), join_values(["Ada slept.", "It\nrained."])
        ('0 2', '0-3 5-8', 'Ada slept.\nIt rained.')
    """
    if values and isinstance(values[0], str):
        return "\n".join(" ".join(text.splitlines()) for text in values)
    return " ".join("{}-{}".format(*each) if isinstance(each, list | tuple) else str(each) for each in values)


def format_record(record: DocumentRecord) -> str:
    """One line of extracted JSONL for a person: facts by falling score, with their sentences below."""
    lines = [record["id"]]
    for fact in sorted(record["facts"], key=lambda fact: -fact["score"]):
        names = " | ".join((fact["head_name"], fact["relation_name"], fact["tail_name"]))
        rule = f"  (since {fact['rule']})" if "rule" in fact else ""
        start = f"  {fact['score']:.3f}  {names}{rule}"
        support = [
            f"[{number}] {' '.join(text.split())}"
            for number, text in zip(fact["evidence"], fact["sentences"], strict=True)
        ]
        if len(support) == 1:
            lines.append(f"{start}  {support[0]}")
        else:
            lines += [start, *(f"         {sentence}" for sentence in support)]
    if not record["facts"]:
        lines.append("  no fact found")
    return "\n".join(lines)
