"""One suggestion to and from its line, checked against the documents that it belongs to."""

import math
from collections.abc import Mapping
from typing import Any

from unnoted.data.document import Document
from unnoted.data.formats.fields import take, take_list
from unnoted.errors import Kind, fail
from unnoted.io import ENCODABLE
from unnoted.suggestions.suggestion import Suggestion
from unnoted.utils import short_repr


def suggestion_record(suggestion: Suggestion) -> dict[str, Any]:
    """A suggestion without what it does not have."""
    record: dict[str, Any] = {
        "document": suggestion.document, "head": suggestion.head, "tail": suggestion.tail,
        "relation": suggestion.relation, "probability": suggestion.probability,
        "confidence": suggestion.confidence,
    }  # fmt: skip
    if suggestion.evidence:
        record["evidence"] = suggestion.evidence
    if suggestion.rule is not None:
        record["rule"] = suggestion.rule
    if suggestion.labelled:
        record["labelled"] = True
    return record


def number(record: Mapping[str, Any], key: str, document: str | None, place: str) -> float:
    """A field that must be a finite number."""
    value: Any = record.get(key)
    if type(value) not in (int, float) or not math.isfinite(value):
        found = "nothing" if value is None else short_repr(value)
        fail(Kind.MALFORMED, document, f"{place}.{key}", found, "a number")
    return float(value)


def check_encodable(texts: list[str], place: str = "line 1") -> None:
    """Half a surrogate pair can be read from JSON and never be written again."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        fail(Kind.MALFORMED, None, place, short_repr(error.object[error.start]), ENCODABLE)


class SuggestionReader:
    """Builds suggestions that belong to the documents of their file; none may stand there twice."""

    def __init__(self, documents: Mapping[str, Document], relations: Mapping[str, object]) -> None:
        self.documents, self.relations = documents, relations
        self.labels = {name: document.labels for name, document in documents.items()}
        self.seen: set[tuple[str, int, int, str]] = set()

    def read(self, place: str, record: dict[str, Any]) -> Suggestion:
        """One suggestion."""
        name = take(record, "document", str, None, place)
        document = self.documents.get(name)
        if document is None:
            fail(Kind.MALFORMED, name, f"{place}.document", short_repr(name), "a document of this file")
        head, tail = (self._entity(record, key, document, place) for key in ("head", "tail"))
        relation = take(record, "relation", str, name, place)
        if head == tail:
            fail(Kind.MALFORMED, name, f"{place}.tail", f"the head, {head}", "another entity")
        if relation not in self.relations:
            fail(
                Kind.MALFORMED,
                name,
                f"{place}.relation",
                short_repr(relation),
                "a relation of the first line",
            )
        key = (name, head, tail, relation)
        if key in self.seen:
            fail(Kind.MALFORMED, name, place, f"{short_repr(key[1:])} again", "each suggestion once")
        self.seen.add(key)
        return Suggestion(
            *key,
            self._probability(record, name, place),
            number(record, "confidence", name, place),
            self._evidence(record, document, place),
            self._rule(record, name, place),
            self._labelled(record, key, place),
        )

    def _entity(self, record: Mapping[str, Any], key: str, document: Document, place: str) -> int:
        value = take(record, key, int, document.id, place)
        if not 0 <= value < len(document.entities):
            expected = f"an entity index below {len(document.entities)}"
            fail(Kind.MALFORMED, document.id, f"{place}.{key}", short_repr(value), expected)
        return value

    def _probability(self, record: Mapping[str, Any], name: str, place: str) -> float | None:
        if record.get("probability") is None:
            return None
        value = number(record, "probability", name, place)
        if not 0 <= value <= 1:
            fail(Kind.MALFORMED, name, f"{place}.probability", short_repr(value), "0 to 1, or null")
        return value

    def _evidence(self, record: Mapping[str, Any], document: Document, place: str) -> tuple[int, ...]:
        if "evidence" not in record:
            return ()
        sentences = tuple(take_list(record, "evidence", int, document.id, place))
        for sentence in sentences:
            if not 0 <= sentence < len(document.sentences):
                expected = f"sentences below {len(document.sentences)}"
                fail(Kind.MALFORMED, document.id, f"{place}.evidence", short_repr(sentence), expected)
        return sentences

    def _rule(self, record: Mapping[str, Any], name: str, place: str) -> str | None:
        if record.get("rule") is None:
            return None
        rule = take(record, "rule", str, name, place)
        check_encodable([rule], place)
        return rule

    def _labelled(self, record: Mapping[str, Any], key: tuple[str, int, int, str], place: str) -> bool:
        labelled = record.get("labelled", False)
        is_noted = key[1:] in self.labels[key[0]]
        if type(labelled) is not bool or labelled != is_noted:
            expected = f"{str(is_noted).lower()}: the document has {'that' if is_noted else 'no such'} fact"
            fail(Kind.MALFORMED, key[0], f"{place}.labelled", short_repr(labelled), expected)
        return labelled
