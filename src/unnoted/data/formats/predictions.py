"""The official DocRED prediction file: a list of {title, h_idx, t_idx, r, evidence, score}.

`evidence` and `score` may be missing. Whether a title, an entity
or a relation exists is not asked here: a prediction of something that does not exist is a wrong prediction,
and its scorer counts it as one.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

from unnoted.data.document import Document
from unnoted.data.formats.fields import expect, note_unknown_keys, take, take_list
from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import ENCODABLE, ArrayReader, TextInput, open_text, write_list
from unnoted.utils import short_repr

KEYS = frozenset({"title", "h_idx", "t_idx", "r", "evidence", "score"})


@dataclass(frozen=True, slots=True)
class Prediction:
    """A fact that a system claims, with the sentences it gives as evidence and how sure it is.

    Args:
        document: the id (title) of the document.
        head: the index of the head entity.
        tail: the index of the tail entity.
        relation: the relation id.
        evidence: the sentences that are said to support the fact.
        score: the higher, the surer; any finite number. None where the system gives none.
    """

    document: str
    head: int
    tail: int
    relation: str
    evidence: tuple[int, ...] = ()
    score: float | None = None

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The fact that is claimed: (document, head, tail, relation)."""
        return self.document, self.head, self.tail, self.relation


def read_predictions(path: str | Path, log: DefectLog | None = None) -> Iterator[Prediction]:
    """Yield the predictions of a file, plain or gzip, one at a time, in file order. An empty list is valid.

    Args:
        path: the file.
        log: where to count what is found; by default errors are raised and the rest is not kept.

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
    log.file = TextInput(path).name
    try:
        with open_text(path) as stream:
            yield from _records(ArrayReader(stream), log)
    except DataError as error:
        log.error(error)


def _records(records: ArrayReader, log: DefectLog) -> Iterator[Prediction]:
    for index, record in enumerate(records):
        try:
            prediction = _prediction(record, f"[{index}]", log)
        except DataError as error:
            log.error(error)
        else:
            yield prediction


def _prediction(record: object, place: str, log: DefectLog) -> Prediction:
    fields: dict[str, Any] = expect(record, dict, None, place)
    title = _encodable(take(fields, "title", str, None, place), None, f"{place}.title")
    note_unknown_keys(fields, KEYS, log, title, place)
    evidence = take_list(fields, "evidence", int, title, place) if "evidence" in fields else ()
    return Prediction(
        intern(title),
        take(fields, "h_idx", int, title, place),
        take(fields, "t_idx", int, title, place),
        intern(_encodable(take(fields, "r", str, title, place), title, f"{place}.r")),
        tuple(evidence),
        _number(fields, "score", title, place),
    )


def _encodable(text: str, title: str | None, place: str) -> str:
    """A lone surrogate can be read from JSON and never be printed again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        fail(Kind.MALFORMED, title, place, short_repr(text), ENCODABLE)
    return text


def _number(fields: dict[str, Any], name: str, title: str, place: str) -> float | None:
    if name not in fields:
        return None
    value = fields[name]
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:  # a whole number beyond every float
        number = math.inf
    if not math.isfinite(number):
        fail(Kind.MALFORMED, title, f"{place}.{name}", short_repr(value), "a finite number")
    return number


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write the facts of documents as predictions; returns how many facts."""
    return write_list(path, records(documents))


def records(documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """The facts of documents, one record each."""
    for document in documents:
        for fact in document.facts:
            yield {
                "title": document.id,
                "h_idx": fact.head,
                "t_idx": fact.tail,
                "r": fact.relation,
                "evidence": fact.evidence,
            }
