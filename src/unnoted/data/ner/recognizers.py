"""Recognizers of entities in text: spaCy pipelines and GLiNER models behind one protocol."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from unnoted.data.formats.docbin import linked_id
from unnoted.data.tokenization import Span, split_text
from unnoted.utils import one_line, require_extra, shorten, wrap_errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

SPACY_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "PERSON": "PER",
        "NORP": "LOC",  # DocRED's annotators label "American" and "French" as places
        "GPE": "LOC",
        "FAC": "LOC",
        "DATE": "TIME",
        "TIME": "TIME",
        **dict.fromkeys(("CARDINAL", "MONEY", "ORDINAL", "PERCENT", "QUANTITY"), "NUM"),
        **dict.fromkeys(("EVENT", "LANGUAGE", "LAW", "PRODUCT", "WORK_OF_ART"), "MISC"),
    }
)
"""DocRED's names of the entity types of spaCy's trained pipelines; ORG and LOC are the same in both."""

GLINER_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "person": "PER",
        "organization": "ORG",
        "location": "LOC",
        "nationality": "LOC",
        "date": "TIME",
        "number": "NUM",
        "event": "MISC",
        "work of art": "MISC",
    }
)
"""The labels that a GLiNER model is given for DocRED's types."""

GLINER_CONFIG = "gliner_config.json"
"""The file that tells that a folder is a GLiNER model."""

GLINER_WORDS = 250
"""Words of one prediction: GLiNER drops what comes after some 380 words."""


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A mention of an entity: characters `start` to `end` (exclusive) of a text.

    Args:
        start: the first character.
        end: the first character after it.
        type: as the recognizer calls it, such as `PERSON`.
        kb_id: the entity's id in a knowledge base, if it was linked.
        cluster: the number of its coreference cluster, if it is in one.
    """

    start: int
    end: int
    type: str
    kb_id: str | None = None
    cluster: int | None = None


@runtime_checkable
class EntityRecognizer(Protocol):
    """Finds the mentions in texts; a class of your own will do.

    Attributes:
        usual_types: the usual names of its types in relation models, such as `PERSON` → `PER`.
    """

    @property
    def usual_types(self) -> Mapping[str, str]:
        """The usual names of its types."""
        ...

    def recognize(self, texts: Iterable[str]) -> Iterator[Sequence[EntitySpan]]:
        """The mentions of each text, in the order of the texts, which may be a stream."""
        ...


class SpacyRecognizer:
    """Recognizes entities with a spaCy pipeline, with its entity links and coreference clusters.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada", "id": "Q7259"}])
        >>> list(SpacyRecognizer(nlp).recognize(["I met Ada."]))
        [(EntitySpan(start=6, end=9, type='PERSON', kb_id='Q7259', cluster=None),)]
    """

    usual_types = SPACY_TYPES

    def __init__(self, nlp: "Language") -> None:
        self.nlp = nlp

    @classmethod
    def load(cls, name: str) -> "SpacyRecognizer":
        """An installed pipeline by its name, or the folder of one.

        Raises:
            MissingExtra: spaCy is not installed.
            ValueError: there is no such pipeline.
        """
        spacy = require_extra("spacy", "spacy")
        try:
            return cls(spacy.load(name))
        except (OSError, ValueError, ImportError) as error:
            names = ", ".join(installed_pipelines()) or "none (`python -m spacy download` installs one)"
            reason = shorten(one_line(error), 120)
            raise ValueError(
                f"{name}: cannot load this spaCy pipeline ({reason}); installed: {names}"
            ) from error

    def recognize(self, texts: Iterable[str]) -> Iterator[tuple[EntitySpan, ...]]:
        """The mentions of each text."""
        for doc in self.nlp.pipe(texts):
            yield spans_of_doc(doc)


def installed_pipelines() -> list[str]:
    """The names of the installed spaCy pipelines; none without spaCy."""
    try:
        return sorted(require_extra("spacy.util", "spacy").get_installed_models())
    except ValueError:
        return []


def spans_of_doc(doc: "Doc") -> tuple[EntitySpan, ...]:
    """The entities of a spaCy document.

    An entity is in a coreference cluster if it lies within one of the cluster's spans, or one of them within
    it. Other spans of clusters, such as pronouns, are left out: models are trained on names.
    """
    clusters = list(_find_clusters(doc))
    found = []
    for entity in doc.ents:
        span = (entity.start_char, entity.end_char)
        cluster = next((number for number, spans in enumerate(clusters) if _overlaps(span, spans)), None)
        found.append(EntitySpan(*span, entity.label_, linked_id(entity) or entity.ent_id_ or None, cluster))
    return tuple(found)


def _overlaps(span: Span, cluster: list[Span]) -> bool:
    # A much longer span, such as "the mayor of Kelm", is not about the name within it.
    return any(
        (start <= span[0] and span[1] <= end and end - start <= 2 * (span[1] - span[0]))
        or (span[0] <= start and end <= span[1])
        for start, end in cluster
    )


def _find_clusters(doc: "Doc") -> Iterator[list[Span]]:
    """The characters of coreference clusters as components store them: fastcoref, spaCy."""
    if doc.has_extension("coref_clusters"):
        for cluster in doc._.coref_clusters or ():
            yield [(start, end) for start, end in cluster]
    for name, spans in doc.spans.items():
        if name.startswith("coref_clusters"):
            yield [(span.start_char, span.end_char) for span in spans]


class GlinerRecognizer:
    """Recognizes entities with a GLiNER model, some sentences at a time.

    Example:
        >>> class Model:
        ...     def predict_entities(self, text, labels):
        ...         place = text.find("Ada")
        ...         return [{"start": place, "end": place + 3, "label": labels[0]}] if place >= 0 else []
        >>> list(GlinerRecognizer(Model(), ["person"]).recognize(["I met Ada."]))
        [(EntitySpan(start=6, end=9, type='person', kb_id=None, cluster=None),)]
    """

    usual_types = GLINER_TYPES

    def __init__(self, model: Any, labels: Iterable[str]) -> None:  # noqa: ANN401 - of the extra
        self.model = model
        self.labels = list(labels)

    @classmethod
    def load(cls, folder: Path, labels: Iterable[str]) -> "GlinerRecognizer":
        """The model in a folder; nothing is downloaded.

        Raises:
            MissingExtra: GLiNER is not installed.
            ValueError: the folder holds no such model.
        """
        gliner = require_extra("gliner", "gliner")
        with wrap_errors(folder, "no GLiNER model that can be loaded", "a whole one", ValueError):
            return cls(gliner.GLiNER.from_pretrained(str(folder), local_files_only=True), labels)

    def recognize(self, texts: Iterable[str]) -> Iterator[tuple[EntitySpan, ...]]:
        """The mentions of each text."""
        for text in texts:
            yield tuple(
                EntitySpan(start + entity["start"], start + entity["end"], entity["label"])
                for start, end in chunk_sentences(text)
                for entity in self.model.predict_entities(text[start:end], self.labels)
            )


def choose_gliner_labels(known: Collection[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The labels to give to a GLiNER model, with the relation model's names of them.

    Example:
        >>> choose_gliner_labels(["PER", "Chemical"])
        {'person': 'PER', 'chemical': 'Chemical'}
    """
    labels = dict(given or {})
    if not labels:
        labels = {label: name for label, name in GLINER_TYPES.items() if name in known}
        labels |= {name.lower(): name for name in known if name not in GLINER_TYPES.values()}
    if not labels:
        raise ValueError("the model has no entity types; give the types that GLiNER shall find")
    return labels


def chunk_sentences(text: str, words: int = GLINER_WORDS) -> Iterator[Span]:
    """The characters of chunks of whole sentences; a sentence of more words is a chunk of its own.

    Example:
        >>> text = "One two. Three four. Five."
        >>> [text[start:end] for start, end in chunk_sentences(text, 6)]
        ['One two. Three four.', 'Five.']
    """
    split = split_text(text)
    ends = [*split.sentence_starts[1:], len(split.word_starts)]
    first = 0
    for end, following in zip(ends, [*ends[1:], None], strict=True):
        if end > first and (following is None or following - first > words):
            yield split.word_starts[first], split.word_ends[end - 1]
            first = end
