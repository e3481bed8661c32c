"""DocBins after decisions about their facts: only user data of documents changes that were decided about."""

from collections.abc import Container, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnoted.data.decided import Mending
from unnoted.data.entity_rule import MarkedArc
from unnoted.data.formats import docbin
from unnoted.data.formats.arc_changes import ArcChanges
from unnoted.errors import Kind, fail
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from spacy.tokens import Doc, DocBin


def select(paths: Sequence[Path], ids: Container[str]) -> bytes:
    """The documents of certain ids, as they are packed; one file of which all are wanted stays as it is."""
    parts: list[DocBin] = []
    for path in paths:
        titles = [docbin.title_of(doc, number) for number, doc in enumerate(docbin.docs_of(path))]
        wanted = [number for number, title in enumerate(titles) if title in ids]
        if len(paths) == 1 and len(wanted) == len(titles):
            return path.read_bytes()
        parts.append(_part(path, wanted))
    whole = parts[0]
    for other in parts[1:]:
        if other.attrs != whole.attrs:
            fail(
                Kind.MALFORMED,
                None,
                "attrs",
                short_repr(other.attrs),
                f"{short_repr(whole.attrs)}, as before",
            )
        whole.merge(other)
    return whole.to_bytes()


def _part(path: Path, wanted: list[int]) -> "DocBin":
    """The documents of certain numbers."""
    packed = docbin.load(path)
    for name in ("tokens", "spaces", "cats", "span_groups", "flags", "user_data"):
        listed = getattr(packed, name)
        setattr(packed, name, [listed[number] for number in wanted if number < len(listed)])
    packed.store_user_data = any(data is not None for data in packed.user_data)
    return packed


def mend(mending: Mending) -> list[bytes]:
    """Each DocBin with what was decided in the user data of its documents."""
    return [_mended(path, mending) for path in mending.sources]


def _mended(path: Path, mending: Mending) -> bytes:
    import srsly  # type: ignore[import-untyped]

    packed: DocBin = docbin.load(path)
    touched = False
    for number, doc in enumerate(docbin.docs_of(path)):
        data = _changed(doc, docbin.title_of(doc, number), mending)
        if data is not None:
            touched = True
            packed.user_data[number] = srsly.msgpack_dumps(data)
    if not touched:
        return path.read_bytes()
    packed.store_user_data = True
    packed.user_data = [srsly.msgpack_dumps({}) if each is None else each for each in packed.user_data]
    return packed.to_bytes()


def _changed(doc: "Doc", title: str, mending: Mending) -> dict[Any, Any] | None:
    """The user data of a document after the decisions about it; None if they change nothing."""
    if title not in mending.decisions:
        return None
    marked = docbin.parse(doc, title)
    changes = ArcChanges.of(marked, mending)
    if not changes:
        return None
    data: dict[Any, Any] = deepcopy(dict(doc.user_data))
    starts = {mark.ref: int(mark.ref.split()[0]) for mark in marked.marks}
    for key, gone, new in (
        (docbin.RELATIONS, changes.gone, changes.added),
        (docbin.NEGATIVES, changes.restored, changes.rejected),
    ):
        relations = data.get(key) or {}
        for arc in gone:
            relations[_pair(arc, starts)].pop(arc.relation)
        for pair, labels in docbin.relations_of([arc for arc, _ in new], starts, title).items():
            relations.setdefault(pair, {}).update(labels)
        if relations or key in data:
            data[key] = relations
    said = [
        {"head": starts[arc.head], "tail": starts[arc.tail], "relation": arc.relation, "holds": each.holds}
        | {"provenance": dict(each.provenance)}
        for arc, each in [*changes.added, *changes.rejected]
        if each.provenance
    ]
    if said:
        data[docbin.PROVENANCE] = [*data.get(docbin.PROVENANCE, ()), *said]
    return data


def _pair(arc: MarkedArc, starts: dict[str, int]) -> tuple[int, int]:
    return starts[arc.head], starts[arc.tail]
