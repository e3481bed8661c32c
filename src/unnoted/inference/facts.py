"""What comes out: the facts found in a document, each with its confidence and the sentences behind it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document
from unnoted.data.formats.predictions import Prediction
from unnoted.data.tokenization import MentionLocator, Span
from unnoted.utils import plural

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped, import-not-found, unused-ignore]


@dataclass(frozen=True, slots=True)
class FactEntity:
    """What a fact says of its head or tail, for a reader without the document.

    Attributes:
        name: of the entity's first mention.
        type: of its first mention.
        id: in a knowledge base; None if it has none.
        offsets: start and end of each mention in the raw text; empty where the document has none.
    """

    name: str
    type: str
    id: str | None = None
    offsets: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact that the model finds.

    Attributes:
        head: the index of the head entity.
        tail: the index of the tail entity.
        relation: the relation id.
        name: the relation's readable name, or its id.
        confidence: orders facts, also across relations; 0.5 is the model's line. It is no probability.
        margin: how far the score lies above what the model's decision rule asks (below it: negative).
        evidence: the sentences that the pair attends to (`unnoted.inference.support`), ascending.
        decided: whether the model, or the given threshold, states the fact. False only where facts below
            the decision were asked for.
        probability: that the fact holds; None where the model is not calibrated.
        rule: by which it follows from a surer fact, in words; None where the model scored it so by itself.
        head_entity: name, type, id and character offsets of the head; every fact of an `Extraction` has it.
        tail_entity: those of the tail.
    """

    head: int
    tail: int
    relation: str
    name: str
    confidence: float
    margin: float
    evidence: tuple[int, ...] = ()
    decided: bool = True
    probability: float | None = None
    rule: str | None = None
    head_entity: FactEntity | None = field(default=None, compare=False, repr=False)
    tail_entity: FactEntity | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts found in one document, ordered by head, tail and the model's order of relations.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "Bo")))
        >>> document = Document("d1", (("Ada", "met", "Bo"),), (ada, bo))
        >>> extraction = Extraction(document, (ExtractedFact(0, 1, "P1", "met", 0.9, 0.2, (0,)),))
        >>> print(extraction)
        d1
          0.900  Ada | met | Bo  [0] Ada met Bo
        >>> extraction, extraction.facts[0].head_entity
        (<Extraction of 'd1': 1 fact>, FactEntity(name='Ada', type='PER', id=None, offsets=()))
        >>> list(extraction.predictions())
        [Prediction(document='d1', head=0, tail=1, relation='P1', evidence=(0,), score=0.9, probability=None)]
    """

    document: Document
    facts: tuple[ExtractedFact, ...]

    def __post_init__(self) -> None:
        if not any(fact.head_entity is None or fact.tail_entity is None for fact in self.facts):
            return
        places, entities = MentionLocator(self.document), self.document.entities
        numbers = {number for fact in self.facts for number in (fact.head, fact.tail)}
        known = {
            number: FactEntity(entity.name, entity.type, entity.id, places.spans(entity))
            for number, entity in ((number, entities[number]) for number in numbers)
        }
        facts = (
            replace(fact, head_entity=known[fact.head], tail_entity=known[fact.tail]) for fact in self.facts
        )
        object.__setattr__(self, "facts", tuple(facts))

    def __str__(self) -> str:
        return text_of(self.to_json())

    def __repr__(self) -> str:
        return f"<Extraction of {self.document.id!r}: {plural(len(self.facts), 'fact')}>"

    def _repr_html_(self) -> str:
        """The document with these facts, drawn in a notebook."""
        from unnoted.data.visualization import notebook_html  # facts are found without either
        from unnoted.inference.drawn_facts import fact_table

        names = {fact.relation: fact.name for fact in self.facts}
        return notebook_html(self.document, fact_table(self.to_json()), names=names)

    def to_pandas(self) -> "DataFrame":
        """The facts as a frame, one row for each.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from unnoted.inference.fact_frames import facts_frame

        return facts_frame([self])

    def predictions(self) -> Iterator[Prediction]:
        """The facts as the evaluation takes them; the score is the confidence."""
        for fact in self.facts:
            place = (self.document.id, fact.head, fact.tail, fact.relation)
            yield Prediction(*place, fact.evidence, fact.confidence, fact.probability)

    def to_json(self) -> dict[str, Any]:
        """One line of extracted JSONL: everything that a reader without the document needs."""
        return {"id": self.document.id, "facts": [self._fact(fact) for fact in self.facts]}

    def _fact(self, fact: ExtractedFact) -> dict[str, Any]:
        head, tail, sentences = fact.head_entity, fact.tail_entity, self.document.sentences
        assert head is not None and tail is not None  # every fact here has them
        record = {
            "head": fact.head,
            "tail": fact.tail,
            "relation": fact.relation,
            "head_name": head.name,
            "tail_name": tail.name,
            "relation_name": fact.name,
            "confidence": fact.confidence,
            "margin": fact.margin,
            "evidence": list(fact.evidence),
            "sentences": [" ".join(sentences[number]) for number in fact.evidence],
            "head_type": head.type,
            "tail_type": tail.type,
            "head_id": head.id,
            "tail_id": tail.id,
        }
        if not fact.decided:
            record["decided"] = False
        if self.document.text is not None:
            record |= {"head_offsets": list(head.offsets), "tail_offsets": list(tail.offsets)}
        known = {"probability": fact.probability, "rule": fact.rule}
        return record | {name: value for name, value in known.items() if value is not None}


def predictions_of(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The records of the official prediction file that one line of extracted JSONL makes.

    Example:
        >>> fact = {"head": 0, "tail": 1, "relation": "P1", "confidence": 0.9, "evidence": [0]}
        >>> list(predictions_of({"id": "d1", "facts": [fact]}))
        [{'title': 'd1', 'h_idx': 0, 't_idx': 1, 'r': 'P1', 'evidence': [0], 'score': 0.9}]
    """
    for fact in record["facts"]:
        calibrated = {"probability": fact["probability"]} if "probability" in fact else {}
        yield {
            "title": record["id"],
            "h_idx": fact["head"],
            "t_idx": fact["tail"],
            "r": fact["relation"],
            "evidence": fact["evidence"],
            "score": fact["confidence"],
            **calibrated,
        }


def text_of(record: dict[str, Any]) -> str:
    """One line of extracted JSONL as a person reads it: the surest fact first, sentences below.

    The first number is the confidence; that of a calibrated model is followed by the probability. A
    fact that a rule brought says so.
    """
    lines = [record["id"]]
    for fact in sorted(record["facts"], key=lambda fact: -fact["confidence"]):
        names = " | ".join((fact["head_name"], fact["relation_name"], fact["tail_name"]))
        probability = f"  p {fact['probability']:.3f}" if "probability" in fact else ""
        rule = f"  (since {fact['rule']})" if "rule" in fact else ""
        start = f"  {fact['confidence']:.3f}{probability}  {names}{rule}"
        support = [
            f"[{number}] {text}" for number, text in zip(fact["evidence"], fact["sentences"], strict=True)
        ]
        if len(support) == 1:
            lines.append(f"{start}  {support[0]}")
        else:
            lines += [start, *(f"         {sentence}" for sentence in support)]
    if not record["facts"]:
        lines.append("  no fact found")
    return "\n".join(lines)
