"""From texts to documents: entities are recognized, their types mapped to the model's, and clustered."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from os import PathLike, fspath
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, TypeAlias
from warnings import warn

from unnoted.data.document import Document, Entity, Mention
from unnoted.data.entity_clustering import cluster_mentions
from unnoted.data.ner.recognizers import (
    GLINER_CONFIG,
    EntityRecognizer,
    EntitySpan,
    GlinerRecognizer,
    SpacyRecognizer,
    choose_gliner_labels,
    installed_pipelines,
)
from unnoted.data.tokenization import split_text
from unnoted.data.validation import FieldNames, validate
from unnoted.errors import DefectLog
from unnoted.io import Limits
from unnoted.utils import nearest, short_repr

if TYPE_CHECKING:
    from spacy.language import Language

RecognizerSource: TypeAlias = "EntityRecognizer | Language | str | PathLike[str] | None"
"""A recognizer, a spaCy pipeline, the name of one, a folder; None for the one pipeline that is installed."""

LEFT_OUT = ""
"""The name of types whose mentions are left out."""


class EntityTypeMapping:
    """Maps the types of a recognizer to those of a model.

    A given name comes first. A type that the model knows keeps its name, another one gets its usual name if
    the model knows that. Any other type keeps its name and is logged once: the model has never seen it.

    Args:
        known: the types that the model knows; if there are none, every type keeps its name.
        given: names that come first; an empty name leaves the mentions of a type out.
        usual: the usual names of the recognizer's types.
        log: is given a line for each type that the model does not know; by default a warning.

    Raises:
        ValueError: a given name is not known to the model.

    Example:
        >>> mapping = EntityTypeMapping(["LOC", "PER"], {"DATE": ""}, {"GPE": "LOC", "PERSON": "PER"}, print)
        >>> [mapping[type] for type in ("PERSON", "LOC", "DATE")]
        ['PER', 'LOC', '']
        >>> mapping["LAW"]
        the model does not know entities of type LAW (it knows LOC, PER)
        'LAW'
    """

    def __init__(
        self,
        known: Collection[str] = (),
        given: Mapping[str, str] | None = None,
        usual: Mapping[str, str] | None = None,
        log: Callable[[str], None] = warn,
    ) -> None:
        self.known = frozenset(known)
        self.given = dict(given or {})
        self.usual = dict(usual or {})
        self.log = log
        self._logged: set[str] = set()
        for type, name in self.given.items():
            if self.known and name != LEFT_OUT and name not in self.known:
                valid = ", ".join(sorted(self.known)) + nearest(name, self.known)
                raise ValueError(
                    f"type {short_repr(type)}: the model has no type {short_repr(name)}, only {valid}"
                )

    def __getitem__(self, type: str) -> str:
        """The model's name of a type; empty if its mentions are left out."""
        if type in self.given:
            return self.given[type]
        if not self.known or type in self.known:
            return type
        usual = self.usual.get(type)
        if usual is not None and usual in self.known:
            return usual
        if type not in self._logged:
            self._logged.add(type)
            known = ", ".join(sorted(self.known))
            self.log(f"the model does not know entities of type {type} (it knows {known})")
        return type


class TextReader:
    """Turns texts into documents with entities.

    Words and sentences are those of `split_text`, as in documents that are given as text.

    Args:
        recognizer: finds the mentions.
        types: maps their types.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada"}])
        >>> reader = TextReader.load(nlp, known=["PER"])
        >>> (document,) = reader.read([("1", "Ada slept. I saw Ada.")])
        >>> [(entity.name, entity.type, len(entity.mentions)) for entity in document.entities]
        [('Ada', 'PER', 2)]
    """

    def __init__(self, recognizer: EntityRecognizer, types: EntityTypeMapping) -> None:
        self.recognizer = recognizer
        self.types = types

    @classmethod
    def load(
        cls,
        entities: RecognizerSource,
        known: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        log: Callable[[str], None] = warn,
    ) -> "TextReader":
        """A reader with a recognizer.

        Args:
            entities: a recognizer, a spaCy pipeline, the name of an installed one, or a folder with a spaCy
                pipeline or a GLiNER model; None takes the spaCy pipeline that is installed, if it is one.
            known: the types that the model knows.
            types: the model's names of the recognizer's types; an empty name leaves mentions out.
            log: is given a line for each type that the model does not know.

        Raises:
            MissingExtra: what is needed is not installed.
            ValueError: there is no such pipeline, or a type is not one of the model's.
        """
        if entities is None or isinstance(entities, str | PathLike):
            name = _find_only_pipeline() if entities is None else fspath(entities)
            if Path(name, GLINER_CONFIG).is_file():
                labels = choose_gliner_labels(known, types)
                recognizer = GlinerRecognizer.load(Path(name), labels)
                return cls(recognizer, EntityTypeMapping(known, labels, log=log))
            entities = SpacyRecognizer.load(name)
        chosen: EntityRecognizer = (
            entities if isinstance(entities, EntityRecognizer) else SpacyRecognizer(entities)
        )
        return cls(chosen, EntityTypeMapping(known, types, chosen.usual_types, log))

    def read(
        self, texts: Iterable[tuple[str, str]], log: DefectLog | None = None, limits: Limits | None = None
    ) -> Iterator[Document]:
        """The documents of texts, in their order.

        Args:
            texts: the id and the text of each; may be a stream.
            log: takes defects.
            limits: how large a document may be.

        Raises:
            DataError: a text is beyond a limit, or has characters that UTF-8 cannot hold.
        """
        log = DefectLog() if log is None else log
        named, again = tee(texts)
        recognized = self.recognizer.recognize(text for _, text in again)
        for (name, text), spans in zip(named, recognized, strict=True):
            log.file = name
            with log.locating():
                document = self.build_document(name, text, spans, log, limits)
            yield document

    def build_document(
        self,
        name: str,
        text: str,
        spans: Sequence[EntitySpan],
        log: DefectLog,
        limits: Limits | None = None,
    ) -> Document:
        """The document of one text with its recognized mentions."""
        clusters = self.cluster(text, spans)
        mentions = [(span.start, span.end) for cluster in clusters for span in cluster]
        split = split_text(text, mentions)
        entities = []
        for cluster in clusters:
            located = ((span, split.locate(span.start, span.end)) for span in cluster)
            entity = Entity(
                tuple(
                    Mention(*place, intern(span.type), text[span.start : span.end])
                    for span, place in located
                    if place is not None
                ),
                next((span.kb_id for span in cluster if span.kb_id), None),
            )
            entities.append(entity)
        document = Document(name, split.sentences, tuple(entities), text=text)
        return validate(document, log, FieldNames(), None, limits or Limits.current())

    def cluster(self, text: str, spans: Sequence[EntitySpan]) -> list[list[EntitySpan]]:
        """The mentions of each entity with the model's types, in the order of the document's entities."""
        types = [self.types[span.type] for span in spans]
        named = zip(spans, types, strict=True)
        return cluster_spans(text, [replace(span, type=type) for span, type in named if type != LEFT_OUT])


@dataclass(frozen=True, slots=True)
class _NamedSpan:
    """A recognized span as `cluster_mentions` needs it."""

    ref: str
    type: str
    name: str
    id: str | None
    span: EntitySpan


def cluster_spans(text: str, spans: Sequence[EntitySpan]) -> list[list[EntitySpan]]:
    """Cluster recognized mentions into entities, in the order of the text.

    Args:
        text: that the spans are of.
        spans: in any order. White space around a mention is cut off; a place that is found twice with one type
            counts once, and a place without any letter does not count.

    Returns:
        The mentions of each entity; entities come in the order of their first mentions.

    Example:
        >>> text = "Ada met Bo. ADA’s boat sank."
        >>> spans = [EntitySpan(*span, "PER") for span in ((0, 3), (8, 10), (12, 17))]
        >>> [[text[one.start : one.end] for one in cluster] for cluster in cluster_spans(text, spans)]
        [['Ada', 'ADA’s'], ['Bo']]
    """
    stripped: dict[tuple[int, int, str], EntitySpan] = {}
    for span in spans:
        covered = text[span.start : span.end]
        if covered.strip():
            start = span.start + len(covered) - len(covered.lstrip())
            end = span.end - len(covered) + len(covered.rstrip())
            stripped.setdefault((start, end, span.type), replace(span, start=start, end=end))
    named = []
    links: defaultdict[int, list[str]] = defaultdict(list)
    for number, place in enumerate(sorted(stripped)):
        span = stripped[place]
        name = text[span.start : span.end]
        named.append(_NamedSpan(str(number), span.type, name, span.kb_id, span))
        if span.cluster is not None:
            links[span.cluster].append(str(number))
    return [[one.span for one in group] for group in cluster_mentions(named, links.values()).groups]


def _find_only_pipeline() -> str:
    names = installed_pipelines()
    if len(names) != 1:
        installed = f"{', '.join(names)} are" if names else "none is"
        hint = "" if names else " (python -m spacy download en_core_web_sm)"
        raise ValueError(
            f"entities: give the name of a spaCy pipeline, or the folder of one or of a GLiNER model; "
            f"{installed} installed{hint}"
        )
    return names[0]


def parse_types(pairs: Iterable[str]) -> dict[str, str]:
    """Types from a command line: `PERSON=PER`, and `CARDINAL=` to leave those out.

    Raises:
        ValueError: names what is no such pair.

    Example:
        >>> parse_types(["PERSON=PER", "CARDINAL="])
        {'PERSON': 'PER', 'CARDINAL': ''}
    """
    types = {}
    for pair in pairs:
        found, equals, name = pair.partition("=")
        if not (found.strip() and equals):
            raise ValueError(f"type: {short_repr(pair)} is not FOUND=OURS, such as PERSON=PER")
        types[found.strip()] = name.strip()
    return types
