"""Predicted facts: the official DocRED file, and what `unnoted predict` writes as JSON and JSONL.

The official file is a list of {title, h_idx, t_idx, r, evidence, score}; `evidence` and `score` may be missing. The
others have an object for each document: {id, facts: [{head, tail, relation, evidence, score, ...}]}. Whether a
title, an entity or a relation exists is not asked here: a prediction of something that does not exist is a wrong
prediction, and the scorer counts it as one.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Annotated, TextIO

from pydantic import AfterValidator, Field, FiniteFloat

from unnoted.data.formats.records import OwnRecord, Record, first_fields, log_unknown_fields, parse_as
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.io import ENCODABLE, TextInput, numbered_lines, parse_json, read_array
from unnoted.utils import short_repr


@dataclass(frozen=True, slots=True)
class Prediction:
    """A fact that a system predicts, with the sentences it gives as evidence and its score."""

    document: str
    head: int
    tail: int
    relation: str
    evidence: tuple[int, ...] = ()
    score: float | None = None

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The predicted fact: (document, head, tail, relation)."""
        return self.document, self.head, self.tail, self.relation


def _encodable(text: str) -> str:
    """Refuse a lone surrogate, which can be read from JSON and never be printed again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(ENCODABLE) from None
    return text


Text = Annotated[str, AfterValidator(_encodable)]


class PredictionRecord(OwnRecord):
    """A prediction in the file."""

    title: Text
    h_idx: int
    t_idx: int
    r: Text
    evidence: list[int] = Field([])
    score: FiniteFloat | None = None


class FactRecord(Record):
    """A predicted fact of a document."""

    head: int
    tail: int
    relation: Text
    evidence: list[int] = Field([])
    score: FiniteFloat | None = None


class FactsRecord(Record):
    """A document with its predicted facts."""

    id: Text
    facts: list[FactRecord]


def sniff(start: str) -> bool:
    r"""Whether a file that starts like this has predictions, which are no documents.

    Example:
        >>> sniff('[{"title": "d1", "h_idx": 0, "t_idx": 2, '), sniff('{"id": "d1", "facts": []}\n')
        (True, True)
        >>> sniff('{"id": "d1", "facts": [], "text": "It rained.", "entities": []}\n')
        False
    """
    fields = first_fields(start)
    if "facts" not in fields:
        return {"h_idx", "t_idx"} <= fields.keys()
    # Of a document whose facts go on beyond the start, the entities may come after them.
    is_whole = start.startswith("[") or "\n" in start or '"score"' in start
    return is_whole and fields.keys().isdisjoint(("entities", "sentences", "text"))


def read_predictions(path: str | Path, log: DefectLog | None = None) -> Iterator[Prediction]:
    """Yield the predictions of a file, plain or gzip, in file order. An empty list is valid.

    Raises:
        DataError: naming the file, the title, the field, what was found and what was expected.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        ...     _ = file.write('[{"title": "d1", "h_idx": 0, "t_idx": 2, "r": "P26", "score": 0.8}]')
        ...     file.flush()
        ...     list(read_predictions(file.name))
        [Prediction(document='d1', head=0, tail=2, relation='P26', evidence=(), score=0.8)]
    """
    log = log if log is not None else DefectLog()
    source = TextInput(path)
    log.file = source.name
    try:
        start = source.first_bytes().removeprefix(codecs.BOM_UTF8).lstrip()
        if start and not start.startswith((b"{", b"[")):
            found = f"{short_repr(start[:20].decode('utf-8', 'replace'))} at the start"
            expected = ".json or .jsonl of `unnoted predict`, or a DocRED prediction file"
            raise DataError(found, expected, kind=DefectKind.UNREADABLE)
        is_lines = start.startswith(b"{")
        with source.open() as stream:
            for place, value in _lines(stream) if is_lines else _elements(stream):
                try:
                    yield from _parse(value, place, log)
                except DataError as error:
                    log.error(error)
    except DataError as error:
        log.error(error)


def _elements(stream: TextIO) -> Iterator[tuple[str, object]]:
    return ((f"[{index}]", value) for index, _, value in read_array(stream))


def _lines(stream: TextIO) -> Iterator[tuple[str, object]]:
    return ((f"line {number}", parse_json(line, f"line {number}")) for number, line in numbered_lines(stream))


def _parse(value: object, place: str, log: DefectLog) -> list[Prediction]:
    """The predictions of an element: an official one, or a document with its facts."""
    key = "id" if (of_document := isinstance(value, dict) and "facts" in value) else "title"
    name = value.get(key) if isinstance(value, dict) else None
    known = name if isinstance(name, str) else None
    if of_document:
        found = parse_as(FactsRecord, value, known, place)
        return [
            Prediction(
                intern(found.id),
                fact.head,
                fact.tail,
                intern(fact.relation),
                tuple(fact.evidence),
                fact.score,
            )
            for fact in found.facts
        ]
    fields = parse_as(PredictionRecord, value, known, place)
    log_unknown_fields(fields, log, fields.title, place)
    return [
        Prediction(
            intern(fields.title),
            fields.h_idx,
            fields.t_idx,
            intern(fields.r),
            tuple(fields.evidence),
            fields.score,
        )
    ]
