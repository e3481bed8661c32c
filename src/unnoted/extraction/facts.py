"""What comes out: the facts found in a document, each with its confidence and the sentences behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unnoted.documents.formats.predictions import Prediction
from unnoted.documents.schema import Document


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
        evidence: the sentences that the pair attends to (`unnoted.extraction.support`), ascending.
        decided: whether the model, or the given threshold, states the fact. False only where facts below
            the decision were asked for.
        probability: that the fact holds; None where the model is not calibrated.
        rule: by which it follows from a surer fact, in words; None where the model scored it so by itself.
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


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts found in one document, ordered by head, tail and the model's order of relations.

    Example:
        >>> from unnoted.documents.schema import Entity, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "Bo")))
        >>> document = Document("d1", (("Ada", "met", "Bo"),), (ada, bo))
        >>> extraction = Extraction(document, (ExtractedFact(0, 1, "P1", "met", 0.9, 0.2, (0,)),))
        >>> print(extraction)
        d1
          0.900  Ada | met | Bo  [0] Ada met Bo
        >>> list(extraction.predictions())
        [Prediction(document='d1', head=0, tail=1, relation='P1', evidence=(0,), score=0.9, probability=None)]
    """

    document: Document
    facts: tuple[ExtractedFact, ...]

    def __str__(self) -> str:
        return text_of(self.to_json())

    def predictions(self) -> Iterator[Prediction]:
        """The facts as the evaluation takes them; the score is the confidence."""
        for fact in self.facts:
            place = (self.document.id, fact.head, fact.tail, fact.relation)
            yield Prediction(*place, fact.evidence, fact.confidence, fact.probability)

    def to_json(self) -> dict[str, Any]:
        """One line of extracted JSONL: everything that a reader without the document needs."""
        return {"id": self.document.id, "facts": [self._fact(fact) for fact in self.facts]}

    def _fact(self, fact: ExtractedFact) -> dict[str, Any]:
        entities, sentences = self.document.entities, self.document.sentences
        record = {
            "head": fact.head,
            "tail": fact.tail,
            "relation": fact.relation,
            "head_name": entities[fact.head].name,
            "tail_name": entities[fact.tail].name,
            "relation_name": fact.name,
            "confidence": fact.confidence,
            "margin": fact.margin,
            "evidence": list(fact.evidence),
            "sentences": [" ".join(sentences[number]) for number in fact.evidence],
        }
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

    The first number is the confidence; that of a calibrated model is followed by the probability.
    """
    lines = [record["id"]]
    for fact in sorted(record["facts"], key=lambda fact: -fact["confidence"]):
        names = " | ".join((fact["head_name"], fact["relation_name"], fact["tail_name"]))
        probability = f"  p {fact['probability']:.3f}" if "probability" in fact else ""
        start = f"  {fact['confidence']:.3f}{probability}  {names}"
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
