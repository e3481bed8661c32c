"""spaCy's DocBin (https://spacy.io/api/docbin), the `.spacy` files of `spacy train`; needs the extra `spacy`.

Mentions are `doc.ents`, and the spans of the group `sc` where they overlap. Facts are in `doc._.rel`, as in
spaCy's own tutorial on relation extraction: `{(first token of head, first token of tail): {label: 1.0}}`; a
value below 0.5 is no fact, and no known negative either, because that tutorial writes 0 for every pair that
nobody labelled.

`kb_id` is an entity's id, and the span groups `coref_clusters_1` and so on are coreference
(`unnoted.data.entity_clustering`). A document is called by `doc.user_data["id"]`, or by its number. Words are
spaCy's tokens, and sentences its own where it has set them.
"""

import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document
from unnoted.data.entity_clustering import AnnotatedSpan
from unnoted.data.formats.annotated_text import (
    AnnotatedText,
    SpanRelation,
    edit_relations,
    from_document,
    to_document,
)
from unnoted.data.formats.records import DocumentFormat, Edits, ReadContext, wrap_reader_errors
from unnoted.data.tokenization import word_spans
from unnoted.errors import DataError, DefectKind
from unnoted.io import Limits, read_bytes, write_binary
from unnoted.utils import require_extra, short_repr

if TYPE_CHECKING:
    from spacy.tokens import Doc, DocBin, Span
    from spacy.vocab import Vocab

WHOLE = "a whole .spacy file, as DocBin writes it"
MAGIC = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""How data that zlib has packed may begin."""
RELATIONS = ("._.", "rel", None, None)
"""Where a document keeps the extension `rel`."""
NEGATIVES, PROVENANCE = "unnoted_negatives", "unnoted_provenance"
"""Where a document keeps known negatives, in the same form, and who decided."""
OVERLAPPING = "sc"
"""The group of spans that may overlap, as spaCy's span categoriser calls it."""
CLUSTERS = "coref_clusters"
HOLDS = 0.5
UNLINKED = "NIL"
"""What spaCy's entity linker gives all entities that it does not find in its knowledge base."""


def sniff(path: Path, start: bytes) -> bool:
    """Whether a file is packed as a DocBin is."""
    if not start.startswith(MAGIC):
        return False
    try:
        return path.suffix == ".spacy" or b"attrs" in zlib.decompressobj().decompress(start, 4096)
    except zlib.error:
        return False


def read(path: Path, context: ReadContext) -> Iterator[Document]:
    """Yield the documents of a DocBin, one at a time."""
    return context.read_each(enumerate(_docs(path)), _document)


def _docs(path: Path) -> "Iterator[Doc]":
    """The documents of a file as spaCy has them, without syntax, which could not be trusted in a damaged file."""
    require_extra("spacy", "spacy")
    from spacy.attrs import (  # type: ignore[import-not-found]  # compiled, without stubs
        ENT_ID,
        ENT_IOB,
        ENT_KB_ID,
        ENT_TYPE,
        ORTH,
        SENT_START,
    )
    from spacy.vocab import Vocab

    packed = _load(path)
    with wrap_reader_errors(WHOLE):
        wanted = (ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, SENT_START)
        kept = [number for number, attribute in enumerate(packed.attrs) if attribute in wanted]
        packed.tokens = [tokens[:, kept].copy() for tokens in packed.tokens]
        packed.attrs = [packed.attrs[number] for number in kept]
    docs = packed.get_docs(Vocab())
    while True:
        with wrap_reader_errors(WHOLE):
            doc = next(docs, None)
        if doc is None:
            return
        yield doc


def _load(path: Path) -> "DocBin":
    """A DocBin, once it is known not to unpack beyond a limit."""
    from spacy.tokens import DocBin

    content = read_bytes(path)
    limits = Limits.current()
    allowed = max(8 << 20, limits.ratio * len(content))
    with wrap_reader_errors(WHOLE):
        unpacked = zlib.decompressobj().decompress(content, allowed + 1)
    if len(unpacked) > allowed:
        raise DataError(
            "more than that many times its size", limits.allowance("ratio"), kind=DefectKind.TOO_LARGE
        )
    with wrap_reader_errors(WHOLE):
        return DocBin().from_bytes(content)


def _document(numbered: "tuple[int, Doc]", context: ReadContext) -> Document:
    number, doc = numbered
    identifier = context.register_id(document_id(doc, number), f"document {number}")
    context.limits.check("document", len(doc.text), "characters", identifier)
    return to_document(_parse(doc, identifier)[0], context)


def document_id(doc: "Doc", number: int) -> str:
    """The id of a document."""
    given = doc.user_data.get("id")
    return str(given) if isinstance(given, int | str) and given != "" else f"document {number + 1}"


def _parse(doc: "Doc", document: str) -> tuple[AnnotatedText, dict[str, int]]:
    """The text of a document with its spans, and the first token of each span."""
    with wrap_reader_errors(WHOLE):
        groups = {name: list(group) for name, group in doc.spans.items()}
        found: dict[tuple[int, int, str], Span] = {}
        for span in chain(doc.ents, groups.get(OVERLAPPING, [])):
            found.setdefault((span.start, span.end, span.label_), span)
        spans = [_span(span) for span in found.values()]
        starts = {each.ref: span.start for each, span in zip(spans, found.values(), strict=True)}
        clusters = [group for name, group in groups.items() if name.startswith(CLUSTERS)]
        links = [list(_cluster_refs(cluster, spans)) for cluster in clusters]
        words = [
            (token.idx, token.idx + len(token)) for token in doc if not token.text.isspace() and len(token)
        ]
        sentences = None
        if doc.has_annotation("SENT_START"):
            sentences = tuple(token.idx for token in doc if token.is_sent_start)
    firsts = {start: ref for ref, start in reversed(starts.items())}  # the first span that starts there
    data: dict[Any, Any] = doc.user_data
    relations = list(_relations(data.get(RELATIONS), firsts, document, "doc._.rel"))
    negatives = list(_relations(data.get(NEGATIVES), firsts, document, f"doc.user_data[{NEGATIVES!r}]"))
    annotated = AnnotatedText(document, doc.text, spans, relations, links, negatives, words, sentences)
    return annotated, starts


def _span(span: "Span") -> AnnotatedSpan:
    place = f"tokens {span.start} to {span.end}"
    ref = f"{span.start} {span.end} {span.label_}"
    kind, identifier = span.label_ or None, linked_id(span)
    return AnnotatedSpan(ref, span.start_char, span.end_char, kind, span.text, identifier, place)


def linked_id(span: "Span") -> str | None:
    """The id that a linker gave a span; None where it found none."""
    return span.kb_id_ if span.kb_id_ not in ("", UNLINKED) else None


def _cluster_refs(cluster: "list[Span]", spans: list[AnnotatedSpan]) -> Iterator[str]:
    """The refs of the spans of a cluster; one that is no mention is added, without a type."""
    at: dict[tuple[int, int], list[str]] = {}
    for each in spans:
        at.setdefault((each.start, each.end), []).append(each.ref)
    for span in cluster:
        place = span.start_char, span.end_char
        if place not in at:
            added = replace(_span(span), type=None)
            at[place] = [added.ref]
            spans.append(added)
        yield from at[place]


def _relations(
    relations: object, firsts: Mapping[int, str], document: str, name: str
) -> Iterator[SpanRelation]:
    if relations is None:
        return
    if not isinstance(relations, dict):
        expected = "{(head, tail): {label: value}}"
        raise DataError(short_repr(relations), expected, document, name)
    for pair, labels in relations.items():
        place = f"{name}[{short_repr(pair)}]"
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(labels, dict)):
            raise DataError(short_repr(labels), "(head, tail): {label: value}", document, place)
        head, tail = (firsts.get(token, f"token {token}") if isinstance(token, int) else "" for token in pair)
        for label, value in labels.items():
            if not (isinstance(label, str) and isinstance(value, int | float)):
                raise DataError(short_repr(labels), "{label: value}", document, place)
            if value >= HOLDS:
                yield SpanRelation(head, tail, label, place)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write a DocBin with the words, sentences and entities of each document; returns how many."""
    require_extra("spacy", "spacy")
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    vocab = Vocab()
    packed = DocBin(store_user_data=True)
    for document in documents:
        packed.add(_doc(document, vocab))
    write_binary(path, packed.to_bytes())
    return len(packed)


def _doc(document: Document, vocab: "Vocab") -> "Doc":
    """One document as spaCy has it."""
    from spacy.tokens import Doc, Span
    from spacy.util import filter_spans, get_words_and_spaces

    annotated = from_document(document)
    text = annotated.text
    places = [[place for place in each if place[0] < place[1]] for each in word_spans(document, text)]
    pieces = [text[start:end] for sentence in places for start, end in sentence]
    words, spaces = get_words_and_spaces(pieces, text)
    doc = Doc(vocab, words=words, spaces=spaces)
    begins = {sentence[0][0] for sentence in places if sentence}
    for token in doc:
        token.is_sent_start = token.idx in begins or token.i == 0
    starts, ends = [token.idx for token in doc], [token.idx + len(token) for token in doc]
    spans = {}
    for each in annotated.spans:
        first_letter = each.start + len(text[each.start :]) - len(text[each.start :].lstrip())
        first, last = bisect_left(starts, first_letter), bisect_right(ends, each.end)
        spans[each.ref] = Span(doc, first, last, label=each.type or "", kb_id=each.id or "")
    apart = filter_spans(spans.values())
    doc.set_ents(apart)
    if len(apart) < len(spans):
        doc.spans[OVERLAPPING] = list(spans.values())
    for number, refs in enumerate(annotated.links, start=1):
        doc.spans[f"{CLUSTERS}_{number}"] = [spans[ref] for ref in refs]
    data: dict[Any, Any] = doc.user_data
    data["id"] = document.id
    first_tokens = {ref: span.start for ref, span in spans.items()}
    data[RELATIONS] = _by_tokens(annotated.relations, first_tokens, document.id)
    if annotated.negatives:
        data[NEGATIVES] = _by_tokens(annotated.negatives, first_tokens, document.id)
    return doc


def _by_tokens(
    relations: Iterable[SpanRelation], starts: Mapping[str, int], document: str
) -> dict[tuple[int, int], dict[str, float]]:
    """Relations in the form of spaCy's tutorial, which identifies mentions by their first tokens alone."""
    found: dict[tuple[int, int], dict[str, float]] = {}
    owners = Counter(starts.values())
    for each in relations:
        ends = starts[each.head], starts[each.tail]
        if max(owners[end] for end in ends) > 1:
            what = f"{short_repr(each.relation)} with a mention that starts where another one does"
            raise DataError(what, "mentions that start at different words", document, "doc._.rel")
        found.setdefault(ends, {})[each.relation] = 1.0
    return found


def update(path: Path, edits: Mapping[str, Edits], to: Path) -> None:
    """Write the DocBin with decisions in the user data of some documents; nothing else changes."""
    import srsly  # type: ignore[import-untyped]

    packed = _load(path)
    stored = list(packed.user_data) + [None] * (len(packed.tokens) - len(packed.user_data))
    packed.user_data = [srsly.msgpack_dumps({}) if each is None else each for each in stored]
    packed.store_user_data = True
    for number, doc in enumerate(_docs(path)):
        edit = edits.get(document_id(doc, number))
        if edit is not None:
            packed.user_data[number] = srsly.msgpack_dumps(_updated_data(doc, edit))
    write_binary(to, packed.to_bytes())


def _updated_data(doc: "Doc", edit: Edits) -> dict[Any, Any]:
    annotated, starts = _parse(doc, edit.document.id)
    changes = edit_relations(annotated, edit)
    data: dict[Any, Any] = deepcopy(dict(doc.user_data))
    for key, gone, new in (
        (RELATIONS, changes.removed, changes.added),
        (NEGATIVES, changes.restored, changes.rejected),
    ):
        relations = data.get(key) or {}
        for each in gone:
            relations[starts[each.head], starts[each.tail]].pop(each.relation)
        for pair, labels in _by_tokens([each for each, _ in new], starts, edit.document.id).items():
            relations.setdefault(pair, {}).update(labels)
        if relations or key in data:
            data[key] = relations
    if changes.provenance:
        provenance = [
            note | {"head": starts[note["head"]], "tail": starts[note["tail"]]} for note in changes.provenance
        ]
        data[PROVENANCE] = [*data.get(PROVENANCE, ()), *provenance]
    return data


FORMAT = DocumentFormat(
    "spacy",
    "spaCy DocBin",
    write=write,
    suffix=".spacy",
    sniff_path=sniff,
    read_path=read,
    update=update,
    lossy=("evidence",),
)
