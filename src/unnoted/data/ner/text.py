"""From texts to documents: entities are recognized, their types mapped to the model's, and clustered."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import tee
from os import PathLike, fspath
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, TypeAlias
from warnings import warn

from unnoted.data.document import Document, Mention
from unnoted.data.entity_clustering import AnnotatedSpan
from unnoted.data.formats.annotated_text import AnnotatedText, build_document
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
"""A recognizer, a spaCy pipeline, the name of an installed one, or a folder with a pipeline or a GLiNER model; None
for the one spaCy pipeline that is installed."""

LEFT_OUT = ""
"""The name of types whose mentions are left out."""


class TextReader:
    """Turns texts into documents with entities.

    Words and sentences are those of `split_text`, as in documents that are given as text. Types of the recognizer
    become types of the model: a name in `types` comes first; a type that the model knows keeps its name, another
    one gets its usual name if the model knows that. Any other type keeps its name and is logged once: the model
    has never seen it.

    Args:
        recognizer: finds the mentions.
        known: the types that the model knows; if there are none, every type keeps its name.
        types: the model's names of the recognizer's types; an empty name leaves mentions out.
        log: is given a line for each type that the model does not know; by default a warning.

    Raises:
        ValueError: a name in `types` is not known to the model.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada"}])
        >>> reader = TextReader.load(nlp, known=["PER"])
        >>> (document,) = reader.read([("1", "Ada slept. I saw Ada.")])
        >>> [(entity.name, entity.type, len(entity.mentions)) for entity in document.entities]
        [('Ada', 'PER', 2)]
    """

    def __init__(
        self,
        recognizer: EntityRecognizer,
        known: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        log: Callable[[str], None] = warn,
    ) -> None:
        self.recognizer = recognizer
        self.known = frozenset(known)
        self.types = dict(types or {})
        self.log = log
        for type, name in self.types.items():
            if self.known and name != LEFT_OUT and name not in self.known:
                valid = ", ".join(sorted(self.known)) + nearest(name, self.known)
                raise ValueError(
                    f"type {short_repr(type)}: the model has no type {short_repr(name)}, only {valid}"
                )

    @classmethod
    def load(
        cls,
        entities: RecognizerSource,
        known: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        log: Callable[[str], None] = warn,
    ) -> "TextReader":
        """A reader with a recognizer, or what gives one: see `RecognizerSource`.

        Raises:
            MissingExtra: what is needed is not installed.
            ValueError: there is no such pipeline, or a type is not one of the model's.
        """
        if entities is None or isinstance(entities, str | PathLike):
            name = _find_only_pipeline() if entities is None else fspath(entities)
            if Path(name, GLINER_CONFIG).is_file():
                labels = choose_gliner_labels(known, types)
                return cls(GlinerRecognizer.load(Path(name), labels), known, labels, log)
            entities = SpacyRecognizer.load(name)
        if not isinstance(entities, EntityRecognizer):
            entities = SpacyRecognizer(entities)
        return cls(entities, known, types, log)

    def read(
        self, texts: Iterable[tuple[str, str]], log: DefectLog | None = None, limits: Limits | None = None
    ) -> Iterator[Document]:
        """The documents of texts, in their order.

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
        self, name: str, text: str, spans: Iterable[EntitySpan], log: DefectLog, limits: Limits | None = None
    ) -> Document:
        """The document of one text with its recognized mentions, clustered in the order of the text.

        White space around a mention is cut off; what is recognized twice with one type counts once, and what has
        no letter does not count.
        """
        recognized: dict[tuple[int, int, str], EntitySpan] = {}
        for span in spans:
            covered, type = text[span.start : span.end], self._rename(span.type)
            if covered.strip() and type != LEFT_OUT:
                start = span.start + len(covered) - len(covered.lstrip())
                end = span.end - len(covered) + len(covered.rstrip())
                recognized.setdefault((start, end, type), span)
        mentions: list[AnnotatedSpan] = []
        links: defaultdict[int, list[str]] = defaultdict(list)
        for start, end, type in sorted(recognized):
            span, ref = recognized[start, end, type], str(len(mentions))
            mentions.append(AnnotatedSpan(ref, start, end, type, text[start:end], span.kb_id or None))
            if span.cluster is not None:
                links[span.cluster].append(ref)
        split = split_text(text, [(mention.start, mention.end) for mention in mentions])

        def locate(mention: AnnotatedSpan, type: str) -> Mention:
            place = split.locate(mention.start, mention.end)
            assert place is not None  # a mention has a letter, and so a word
            return Mention(*place, intern(type), mention.name)

        annotated = AnnotatedText(name, text, mentions, (), list(links.values()))
        document = build_document(annotated, split.sentences, locate, log, text)
        return validate(document, log, FieldNames(), None, limits or Limits.current())

    def _rename(self, type: str) -> str:
        """The model's name of a type."""
        usual = self.recognizer.usual_types.get(type, type)
        name = usual if type not in self.known and usual in self.known else type
        if type not in self.types and self.known and name not in self.known:
            self.log(
                f"the model does not know entities of type {type} (it knows {', '.join(sorted(self.known))}): "
                "docs/guides/troubleshooting.md#unknown-type"
            )
            self.types[type] = type
        return self.types.get(type, name)


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
