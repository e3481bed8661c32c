"""Texts in, documents out: mentions are found, named as the model names them, and joined to entities."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from warnings import warn

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.reading import Reading
from unnoted.data.ner.found_mention import FoundMention, MentionFinder
from unnoted.data.ner.gliner_mentions import CONFIG, GlinerMentions, asked_types
from unnoted.data.ner.joining import join_mentions
from unnoted.data.ner.spacy_mentions import SpacyMentions, installed
from unnoted.data.ner.type_names import LEFT_OUT, TypeNames
from unnoted.errors import DataError, DefectLog
from unnoted.io import Limits
from unnoted.utils import short_repr

if TYPE_CHECKING:
    from spacy.language import Language

EntitySource: TypeAlias = "MentionFinder | Language | str | PathLike[str] | None"
"""What finds mentions: a finder, a spaCy pipeline, the name of one, a folder; None: the one installed."""


class TextReader:
    """Turns texts into documents with entities.

    Words and sentences are split as those of any document that is given as text (`split_text`).

    Args:
        finder: finds the mentions.
        types: what the model calls their types.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada"}])
        >>> reader = TextReader.of(nlp, known=["PER"])
        >>> (document,) = reader.documents([("1", "Ada slept. I saw Ada.")])
        >>> [(entity.name, entity.type, len(entity.mentions)) for entity in document.entities]
        [('Ada', 'PER', 2)]
    """

    def __init__(self, finder: MentionFinder, types: TypeNames) -> None:
        self.finder = finder
        self.types = types

    @classmethod
    def of(
        cls,
        entities: EntitySource,
        known: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        told: Callable[[str], None] = warn,
    ) -> "TextReader":
        """A reader by what finds the mentions.

        Args:
            entities: a finder, a spaCy pipeline, the name of an installed one, or a folder with a spaCy
                pipeline or a GLiNER model; None takes the spaCy pipeline that is installed, if it is one.
            known: the types that the model knows.
            types: the finder's types and what the model calls them; an empty name leaves mentions out.
            told: is given a line for each type that the model does not know.

        Raises:
            MissingExtra: what is needed is not installed.
            ValueError: there is no such pipeline, or a type is not one of the model's.
        """
        if entities is None or isinstance(entities, str | PathLike):
            name = _only_one() if entities is None else fspath(entities)
            if Path(name, CONFIG).is_file():
                asked = asked_types(known, types)
                return cls(GlinerMentions.load(Path(name), asked), TypeNames(known, asked, told=told))
            entities = SpacyMentions.load(name)
        finder: MentionFinder = entities if isinstance(entities, MentionFinder) else SpacyMentions(entities)
        return cls(finder, TypeNames(known, types, finder.usual_types, told))

    def documents(
        self, texts: Iterable[tuple[str, str]], log: DefectLog | None = None, limits: Limits | None = None
    ) -> Iterator[Document]:
        """The documents of texts, in their order.

        Args:
            texts: the id of each, and the text.
            log: where defects are counted.
            limits: how large a document may be.

        Raises:
            DataError: a text is beyond a limit, or has characters that UTF-8 cannot hold.
        """
        log = DefectLog() if log is None else log
        named, again = tee(texts)
        for (name, text), found in zip(named, self.finder.find(text for _, text in again), strict=True):
            log.file = name
            try:
                yield self.document(name, text, found, Reading(log, limits=limits or Limits.current()))
            except DataError as error:
                raise log.located(error) from None

    def document(self, name: str, text: str, found: Sequence[FoundMention], reading: Reading) -> Document:
        """The document of one text and its mentions."""
        entities = [
            {
                "id": next((one.kb_id for one in entity if one.kb_id), None),
                "mentions": [{"start": one.start, "end": one.end, "type": one.type} for one in entity],
            }
            for entity in self.entities(text, found)
        ]
        return document_from_record({"id": name, "text": text, "entities": entities}, reading)

    def entities(self, text: str, found: Sequence[FoundMention]) -> list[list[FoundMention]]:
        """The mentions of each entity, under the model's types, in the order of the document's entities."""
        types = [self.types.of(mention.type) for mention in found]
        named = zip(found, types, strict=True)
        return join_mentions(text, [replace(one, type=type) for one, type in named if type != LEFT_OUT])


def _only_one() -> str:
    """The one pipeline that is installed."""
    names = installed()
    if len(names) != 1:
        found = "none is installed" if not names else f"found {', '.join(names)}"
        raise ValueError(
            f"entities: {found}, expected one spaCy pipeline, or the name of one, or a folder with a spaCy "
            f"pipeline or a GLiNER model{'' if names else ' (python -m spacy download en_core_web_sm)'}"
        )
    return names[0]


def parse_types(pairs: Iterable[str]) -> dict[str, str]:
    """Types as a command line has them: `PERSON=PER`, and `CARDINAL=` to leave those out.

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
            raise ValueError(f"type: found {short_repr(pair)}, expected FOUND=OURS, such as PERSON=PER")
        types[found.strip()] = name.strip()
    return types
