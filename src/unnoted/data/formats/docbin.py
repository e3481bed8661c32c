"""spaCy's DocBin (https://spacy.io/api/docbin), the `.spacy` files of `spacy train`; needs the extra `spacy`.

Mentions are `doc.ents`, and the spans of the group `sc` where they overlap. Facts stand in `doc._.rel`, as
spaCy's own tutorial on relation extraction has them: `{(first token of head, first token of tail): {label:
1.0}}`; a value below 0.5 is no fact, and no known negative either, because that tutorial writes 0 for every
pair that nobody labelled.

Entities (`unnoted.data.entity_clustering`): `kb_id`, the span groups `coref_clusters_1` and so on. A document
is called by `doc.user_data["id"]`, or by its number. Words are spaCy's tokens, and sentences its own where it
has set them.
"""

import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document
from unnoted.data.entity_rule import Mark, MarkedArc, MarkedText
from unnoted.data.formats.binary_content import readable
from unnoted.data.formats.marked_text import document_of, marked_of, word_spans
from unnoted.data.formats.reading import Reading
from unnoted.data.validation import FieldNames
from unnoted.errors import Kind, fail
from unnoted.io import Limits, read_bytes, write_binary
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from spacy.tokens import Doc, DocBin, Span
    from spacy.vocab import Vocab

FIELDS = FieldNames(fact="relation {}", entity="entity {}", mention="entity {}, mention {}")
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


def recognises(path: Path, start: bytes) -> bool:
    """Whether a file is packed as a DocBin is."""
    return start.startswith(MAGIC) and (path.suffix == ".spacy" or b"attrs" in _unpacked_start(start))


def _unpacked_start(start: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(start, 4096)
    except zlib.error:
        return b""


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the documents of a DocBin, one at a time."""
    return reading.each(enumerate(docs_of(path)), _document)


def docs_of(path: Path) -> "Iterator[Doc]":
    """The documents of a file, as spaCy has them, without what is not used here."""
    import_spacy()
    from spacy.vocab import Vocab

    packed = load(path)
    _keep_columns(packed)
    docs = packed.get_docs(Vocab())
    while True:
        with readable(WHOLE):
            doc = next(docs, None)
        if doc is None:
            return
        yield doc


def load(path: Path) -> "DocBin":
    """A DocBin, once it is known not to unpack beyond a limit."""
    from spacy.tokens import DocBin

    content = read_bytes(path)
    limits = Limits.current()
    allowed = max(8 << 20, limits.ratio * len(content))
    with readable(WHOLE):
        unpacked = zlib.decompressobj().decompress(content, allowed + 1)
    if len(unpacked) > allowed:
        fail(Kind.TOO_LARGE, None, None, "more than that many times its size", limits.allowance("ratio"))
    with readable(WHOLE):
        return DocBin().from_bytes(content)


def _keep_columns(packed: "DocBin") -> None:
    """Leave out syntax, which is not used here and could not be trusted in a damaged file."""
    from spacy.attrs import (  # type: ignore[import-not-found]  # compiled, without stubs
        ENT_ID,
        ENT_IOB,
        ENT_KB_ID,
        ENT_TYPE,
        ORTH,
        SENT_START,
    )

    with readable(WHOLE):
        wanted = (ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, SENT_START)
        kept = [number for number, attribute in enumerate(packed.attrs) if attribute in wanted]
        packed.tokens = [tokens[:, kept].copy() for tokens in packed.tokens]
        packed.attrs = [packed.attrs[number] for number in kept]


def _document(numbered: "tuple[int, Doc]", reading: Reading) -> Document:
    number, doc = numbered
    title = reading.new_id(title_of(doc, number), f"document {number}")
    reading.limits.check("document", len(doc.text), "characters", title)
    return document_of(parse(doc, title), reading, FIELDS)


def title_of(doc: "Doc", number: int) -> str:
    """The id of a document."""
    given = doc.user_data.get("id")
    return str(given) if isinstance(given, int | str) and given != "" else f"document {number + 1}"


def parse(doc: "Doc", title: str) -> MarkedText:
    """The text of a document with its spans; what they are called is where they are."""
    with readable(WHOLE):
        groups = {name: list(group) for name, group in doc.spans.items()}
        spans: dict[tuple[int, int, str], Span] = {}
        for span in chain(doc.ents, groups.get(OVERLAPPING, [])):
            spans.setdefault((span.start, span.end, span.label_), span)
        marks = [_mark(span) for span in spans.values()]
        clusters = [group for name, group in groups.items() if name.startswith(CLUSTERS)]
        links = [list(_refs(cluster, marks)) for cluster in clusters]
        words = [
            (token.idx, token.idx + len(token)) for token in doc if not token.text.isspace() and len(token)
        ]
        sentences = _sentence_starts(doc)
    firsts: dict[int, str] = {}
    for span, mark in zip(spans.values(), marks, strict=False):  # those of clusters alone follow
        firsts.setdefault(span.start, mark.ref)
    data: dict[Any, Any] = doc.user_data
    arcs = list(_arcs(data.get(RELATIONS), firsts, title, "doc._.rel"))
    negatives = list(_arcs(data.get(NEGATIVES), firsts, title, f"doc.user_data[{NEGATIVES!r}]"))
    return MarkedText(title, doc.text, marks, arcs, links, negatives, words, sentences)


def _sentence_starts(doc: "Doc") -> tuple[int, ...] | None:
    if not doc.has_annotation("SENT_START"):
        return None
    return tuple(token.idx for token in doc if token.is_sent_start)


def _mark(span: "Span") -> Mark:
    place = f"tokens {span.start} to {span.end}"
    ref = f"{span.start} {span.end} {span.label_}"
    return Mark(
        ref, span.start_char, span.end_char, span.label_ or None, span.text, span.kb_id_ or None, place
    )


def _refs(cluster: "list[Span]", marks: list[Mark]) -> Iterator[str]:
    """The refs of the marks where the spans of a cluster are; a span that is no mention becomes one."""
    at: dict[tuple[int, int], list[str]] = {}
    for mark in marks:
        at.setdefault((mark.start, mark.end), []).append(mark.ref)
    for span in cluster:
        place = span.start_char, span.end_char
        if place not in at:
            mark = replace(_mark(span), type=None)
            at[place] = [mark.ref]
            marks.append(mark)
        yield from at[place]


def _arcs(relations: object, firsts: Mapping[int, str], title: str, name: str) -> Iterator[MarkedArc]:
    if relations is None:
        return
    if not isinstance(relations, dict):
        fail(Kind.MALFORMED, title, name, short_repr(relations), "{(head, tail): {label: value}}")
    for pair, labels in relations.items():
        place = f"{name}[{short_repr(pair)}]"
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(labels, dict)):
            fail(Kind.MALFORMED, title, place, short_repr(labels), "(head, tail): {label: value}")
        head, tail = (firsts.get(token, f"token {token}") if isinstance(token, int) else "" for token in pair)
        for label, value in labels.items():
            if not (isinstance(label, str) and isinstance(value, int | float)):
                fail(Kind.MALFORMED, title, place, short_repr(labels), "{label: value}")
            if value >= HOLDS:
                yield MarkedArc(head, tail, label, place)


def write(path: str | Path, documents: Iterable[Document]) -> int:
    """Write a DocBin with the words, sentences and entities of each document; returns how many."""
    import_spacy()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    vocab = Vocab()
    packed = DocBin(store_user_data=True)
    for document in documents:
        packed.add(doc_of(document, vocab))
    write_binary(path, packed.to_bytes())
    return len(packed)


def doc_of(document: Document, vocab: "Vocab") -> "Doc":
    """One document as spaCy has it."""
    from spacy.tokens import Doc, Span
    from spacy.util import filter_spans, get_words_and_spaces

    marked = marked_of(document)
    places = [
        [place for place in sentence if place[0] < place[1]] for sentence in word_spans(document, marked.text)
    ]
    pieces = [marked.text[start:end] for sentence in places for start, end in sentence]
    words, spaces = get_words_and_spaces(pieces, marked.text)
    doc = Doc(vocab, words=words, spaces=spaces)
    begins = {sentence[0][0] for sentence in places if sentence}
    for token in doc:
        token.is_sent_start = token.idx in begins or token.i == 0
    starts, ends = [token.idx for token in doc], [token.idx + len(token) for token in doc]
    spans = {
        mark.ref: Span(
            doc,
            bisect_left(starts, _first_letter(marked.text, mark.start)),
            bisect_right(ends, mark.end),
            label=mark.type or "",
            kb_id=mark.id or "",
        )
        for mark in marked.marks
    }
    apart = filter_spans(spans.values())
    doc.set_ents(apart)
    if len(apart) < len(spans):
        doc.spans[OVERLAPPING] = list(spans.values())
    for number, refs in enumerate(marked.links, start=1):
        doc.spans[f"{CLUSTERS}_{number}"] = [spans[ref] for ref in refs]
    data: dict[Any, Any] = doc.user_data
    data["id"] = document.id
    starts_of = {ref: span.start for ref, span in spans.items()}
    data[RELATIONS] = relations_of(marked.arcs, starts_of, document.id)
    if marked.negatives:
        data[NEGATIVES] = relations_of(marked.negatives, starts_of, document.id)
    return doc


def relations_of(
    arcs: Iterable[MarkedArc], starts: Mapping[str, int], title: str
) -> dict[tuple[int, int], dict[str, float]]:
    """Arcs in the form of spaCy's tutorial, which tells mentions by their first tokens alone."""
    relations: dict[tuple[int, int], dict[str, float]] = {}
    owners = Counter(starts.values())
    for arc in arcs:
        ends = starts[arc.head], starts[arc.tail]
        if max(owners[end] for end in ends) > 1:
            found = f"{short_repr(arc.relation)} with a mention that starts where another one does"
            fail(Kind.MALFORMED, title, "doc._.rel", found, "mentions that start at different words")
        relations.setdefault(ends, {})[arc.relation] = 1.0
    return relations


def _first_letter(text: str, start: int) -> int:
    return start + len(text[start:]) - len(text[start:].lstrip())


def import_spacy() -> Any:  # noqa: ANN401 - a module
    """spaCy, or an error that says how to install it."""
    try:
        import spacy
    except ModuleNotFoundError:
        fail(Kind.UNREADABLE, None, None, "a .spacy file and no spaCy", "it: pip install 'unnoted[spacy]'")
    return spacy
