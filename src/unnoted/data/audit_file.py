"""An audit as a file that a person fills in: a line for what was drawn from, then one for each question."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unnoted.data.document import Document
from unnoted.errors import DataError, Defect, Kind, fail
from unnoted.io import TextInput, numbered_lines, parse_record, write_lines
from unnoted.priors.audited import Answer, audited_priors
from unnoted.priors.auditing import BANDS, AuditDesign, Question
from unnoted.priors.estimated import EstimatedPriors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.utils import short_repr

ANSWERS: dict[object, bool | None] = {
    "yes": True, "y": True, True: True, "no": False, "n": False, False: False, "skip": None, "s": None,
}  # fmt: skip
"""What may stand in `answer` beside null, and what it says; skipped questions say nothing."""


@dataclass(slots=True)
class AuditFile:
    """Questions with their answers, and what they were drawn from.

    Attributes:
        design: what was drawn from.
        records: the questions as they stand in the file; `answer` is null until somebody answers.
    """

    design: AuditDesign
    records: list[dict[str, Any]]

    @property
    def open(self) -> list[dict[str, Any]]:
        """The questions without an answer."""
        return [record for record in self.records if record["answer"] is None]

    def write(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        write_lines(path, [{"design": self.design.to_json()}, *self.records])

    def priors(self) -> EstimatedPriors:
        """What the answers come to."""
        position = {relation: number for number, relation in enumerate(self.design.relations)}
        answered = ((record, ANSWERS.get(record["answer"])) for record in self.records)
        return audited_priors(
            self.design,
            [
                Answer(position[record["relation"]], record["band"], record["probability"], holds)
                for record, holds in answered
                if holds is not None
            ],
        )

    @classmethod
    def read(cls, path: str | Path) -> "AuditFile":
        """Read what `write` wrote and people filled in.

        Raises:
            DataError: names the file, the line and the field.
        """
        source = TextInput(path)
        try:
            with source.open() as stream:
                lines = [
                    (f"line {number}", parse_record(line, f"line {number}"))
                    for number, line in numbered_lines(stream)
                    if line.strip()
                ]
            return cls._of(lines)
        except DataError as error:
            raise DataError(replace(error.defect, file=source.name)) from None

    @classmethod
    def _of(cls, lines: list[tuple[str, object]]) -> "AuditFile":
        first = lines[0][1] if lines else None
        if type(first) is not dict or "design" not in first:
            fail(Kind.MALFORMED, None, "line 1", short_repr(first), "the design of an audit")
        try:
            design = AuditDesign.from_json(first["design"])
        except ValueError as error:
            raise DataError(Defect(Kind.MALFORMED, "", None, "line 1", str(error), "that design")) from None
        return cls(design, [_checked(record, place, design) for place, record in lines[1:]])


def question_record(
    question: Question, scores: LabelledScores, documents: Mapping[str, Document], names: Mapping[str, str]
) -> dict[str, Any]:
    """A question as people read it: who, which relation, and every sentence that mentions either.

    Args:
        question: what is asked.
        scores: what its positions refer to.
        documents: the documents by id.
        names: readable names of relations.
    """
    pair, relation = question.pair, scores.relations[question.relation]
    document = documents[scores.documents[scores.document[pair]]]
    head, tail = int(scores.head[pair]), int(scores.tail[pair])
    entities = document.entities[head], document.entities[tail]
    mentioning = sorted(entities[0].sentences | entities[1].sentences)
    return {
        "document": document.id,
        "sentences": [" ".join(document.sentences[number]) for number in mentioning],
        "head": head,
        "head_name": entities[0].name,
        "tail": tail,
        "tail_name": entities[1].name,
        "relation": relation,
        "name": names.get(relation, relation),
        "band": question.band,
        "probability": question.probability,
        "answer": None,
    }


def _checked(record: object, place: str, design: AuditDesign) -> dict[str, Any]:
    """A question, if the estimate can use it."""
    if type(record) is not dict:
        fail(Kind.MALFORMED, None, place, short_repr(record), "an object: a question")
    answer = record.get("answer")
    if not isinstance(answer, str | bool | None) or (answer is not None and answer not in ANSWERS):
        fail(Kind.MALFORMED, None, f"{place}: answer", short_repr(answer), "yes, no, skip or null")
    if record.get("relation") not in design.relations:
        fail(
            Kind.MALFORMED,
            None,
            f"{place}: relation",
            short_repr(record.get("relation")),
            "one of the design",
        )
    band, probability = record.get("band"), record.get("probability")
    if type(band) is not int or not 0 <= band < BANDS:
        fail(Kind.MALFORMED, None, f"{place}: band", short_repr(band), f"0 to {BANDS - 1}")
    if type(probability) not in (int, float) or not 0 < float(str(probability)) <= 1:
        fail(
            Kind.MALFORMED,
            None,
            f"{place}: probability",
            short_repr(probability),
            "more than 0 and at most 1",
        )
    return record
