"""The relation vocabulary: which relations there are, in which order, what they are called and mean."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, overload

from unnoted.data.schema import Document
from unnoted.errors import DataError, Kind, fail
from unnoted.io import TextInput, parse_json, read_whole
from unnoted.utils import nearest, short_repr

NONE_CLASS = "Na"
"""DocRED's id files list the none class among the relations; it is a score here, not a relation."""


@dataclass(frozen=True, slots=True)
class RelationVocabulary(Sequence[str]):
    """Relation ids in a fixed order, with readable names and descriptions where known.

    Example:
        >>> relations = RelationVocabulary(("P17", "P26"), {"P26": "spouse"})
        >>> relations.position("P26"), relations.name("P26"), relations.name("P17"), len(relations)
        (1, 'spouse', 'P17', 2)
        >>> relations.position("P27")
        Traceback (most recent call last):
        KeyError: "unknown relation 'P27' (nearest: 'P26')"
    """

    ids: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        positions = {relation: index for index, relation in enumerate(self.ids)}
        if len(positions) < len(self.ids):
            raise ValueError(f"a relation is listed twice among {short_repr(self.ids)}")
        object.__setattr__(self, "_positions", positions)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self.ids[index]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, relation: object) -> bool:
        return relation in self._positions

    def position(self, relation: str) -> int:
        """Where a relation stands; a `KeyError` names the nearest one that exists."""
        try:
            return self._positions[relation]
        except KeyError:
            raise KeyError(f"unknown relation {relation!r}{nearest(relation, self.ids)}") from None

    def name(self, relation: str) -> str:
        """The readable name of a relation, or its id."""
        return self.names.get(relation, relation)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "RelationVocabulary":
        """The relations that occur in documents, sorted, so that no file order gets into a model."""
        return cls(tuple(sorted({fact.relation for document in documents for fact in document.facts})))

    @classmethod
    def from_file(cls, path: str | Path) -> "RelationVocabulary":
        """Read a JSON file of relations.

        DocRED's `rel_info.json` (id to name), `rel2id.json` (id to number), a list of ids, or an object of id
        to `{"name": ..., "description": ...}`, of which either may be missing.
        """
        try:
            return cls._from_json(parse_json(read_whole(path)))
        except DataError as error:
            raise DataError(replace(error.defect, file=TextInput(path).name)) from None

    @classmethod
    def _from_json(cls, content: object) -> "RelationVocabulary":
        if isinstance(content, list | dict) and any(
            type(each) is str and not each.strip() for each in content
        ):
            _refuse("a relation without a name")
        if isinstance(content, list) and len(set(map(repr, content))) < len(content):
            _refuse("a relation that is listed twice")
        match content:
            case list() if all(isinstance(item, str) for item in content):
                return cls(tuple(content))
            case dict() if all(isinstance(item, str) for item in content.values()):
                return cls(tuple(content), content)
            case dict() if any(isinstance(item, dict) for item in content.values()):
                return cls._described(content)
            case dict() if all(type(item) is int for item in content.values()):
                ordered = sorted(content, key=content.__getitem__)
                return cls(tuple(relation for relation in ordered if relation != NONE_CLASS))
        _refuse(short_repr(content))

    @classmethod
    def _described(cls, content: Mapping[str, object]) -> "RelationVocabulary":
        """Of an object of relation to name, or to name and description."""
        texts: dict[str, dict[str, str]] = {"name": {}, "description": {}}
        for relation, given in content.items():
            for key, text in (given if isinstance(given, dict) else {"name": given}).items():
                if key not in texts or not isinstance(text, str):
                    found, expected = (
                        f"{short_repr(key)}: {short_repr(text)}",
                        "a name and a description, both text",
                    )
                    fail(Kind.MALFORMED, None, f"relation {short_repr(relation)}", found, expected)
                if text.strip():
                    texts[key][relation] = text
        return cls(tuple(content), texts["name"], texts["description"])


def _refuse(found: str) -> NoReturn:
    expected = "an object of relation to name, to name and description or to number, or a list of relations"
    fail(Kind.MALFORMED, None, None, found, expected)
