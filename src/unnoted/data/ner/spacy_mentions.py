"""Mentions by a spaCy pipeline: its entities, its links and the coreference clusters of its extensions."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from unnoted.data.ner.found_mention import FoundMention
from unnoted.utils import one_line, require_extra, shorten

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

SPACY_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "PERSON": "PER",
        "NORP": "LOC",  # DocRED's annotators call "American" and "French" places
        "GPE": "LOC",
        "FAC": "LOC",
        "DATE": "TIME",
        "TIME": "TIME",
        **dict.fromkeys(("CARDINAL", "MONEY", "ORDINAL", "PERCENT", "QUANTITY"), "NUM"),
        **dict.fromkeys(("EVENT", "LANGUAGE", "LAW", "PRODUCT", "WORK_OF_ART"), "MISC"),
    }
)
"""What DocRED calls the entity types of spaCy's trained pipelines; ORG and LOC are the same in both."""

Span = tuple[int, int]


class SpacyMentions:
    """Finds mentions with a spaCy pipeline.

    Args:
        nlp: any pipeline that sets `doc.ents`, such as a trained one or an entity ruler.

    Example:
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada", "id": "Q7259"}])
        >>> list(SpacyMentions(nlp).find(["I met Ada."]))
        [(FoundMention(start=6, end=9, type='PERSON', kb_id='Q7259', cluster=None),)]
    """

    usual_types = SPACY_TYPES

    def __init__(self, nlp: "Language") -> None:
        self.nlp = nlp

    @classmethod
    def load(cls, name: str) -> "SpacyMentions":
        """An installed pipeline by its name, or the folder of one.

        Raises:
            MissingExtra: spaCy is not installed.
            ValueError: there is no such pipeline.
        """
        spacy = require_extra("spacy", "spacy")
        try:
            return cls(spacy.load(name))
        except (OSError, ValueError, ImportError) as error:
            names = ", ".join(installed()) or "those that `python -m spacy download` installs"
            raise ValueError(
                f"{name}: found no spaCy pipeline that can be loaded ({shorten(one_line(error), 120)}), "
                f"expected one of {names}, or a folder"
            ) from error

    def find(self, texts: Iterable[str]) -> Iterator[tuple[FoundMention, ...]]:
        """The mentions of each text."""
        for doc in self.nlp.pipe(texts):
            yield mentions_of(doc)


def installed() -> list[str]:
    """The names of the pipelines that are installed; none without spaCy.

    Example:
        >>> isinstance(installed(), list)
        True
    """
    try:
        return sorted(require_extra("spacy.util", "spacy").get_installed_models())
    except ValueError:
        return []


def mentions_of(doc: "Doc") -> tuple[FoundMention, ...]:
    """The mentions in a document of spaCy.

    A mention is in a coreference cluster if it lies within one of the cluster's places, or one of them within
    it. What a cluster has beyond that, such as pronouns, is left out: models are trained on names.
    """
    clusters = list(_clusters(doc))
    found = []
    for entity in doc.ents:
        span = (entity.start_char, entity.end_char)
        cluster = next((number for number, places in enumerate(clusters) if _meets(span, places)), None)
        found.append(FoundMention(*span, entity.label_, entity.kb_id_ or entity.ent_id_ or None, cluster))
    return tuple(found)


def _meets(span: Span, places: list[Span]) -> bool:
    return any(
        (start <= span[0] and span[1] <= end and end - start <= 2 * (span[1] - span[0]))
        or (span[0] <= start and end <= span[1])
        for start, end in places
    )


def _clusters(doc: "Doc") -> Iterator[list[Span]]:
    """The coreference clusters that components have left, as characters: fastcoref, coreferee, spaCy."""
    if doc.has_extension("coref_clusters"):
        for cluster in doc._.coref_clusters or ():
            yield [(start, end) for start, end in cluster]
    if doc.has_extension("coref_chains"):
        for chain in doc._.coref_chains or ():
            yield [_characters(doc, mention.token_indexes) for mention in chain]
    for name, spans in doc.spans.items():
        if name.startswith("coref_clusters"):
            yield [(span.start_char, span.end_char) for span in spans]


def _characters(doc: "Doc", tokens: Iterable[int]) -> Span:
    """Where some tokens stand; the head of a name stands for all of it."""
    places = list(tokens)
    first, last = doc[min(places)], doc[max(places)]
    return first.idx, last.idx + len(last)
