"""Names the fault in documents that no reader would have let pass.

Readers check what they read. Documents made by hand reach the features unchecked: the array code there
notices cheaply *that* something is wrong, the plain loops here tell *what*.
"""

from collections.abc import Iterable, Iterator

from unnoted.data.document import Document
from unnoted.errors import DataError, Defect, Kind
from unnoted.utils import short_repr


def first_fault(documents: Iterable[Document]) -> DataError:
    """The first fault of the documents, as an error to raise.

    Raises:
        AssertionError: if there is none.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> astray = Entity((Mention(0, 1, 3, "PER", "Ada"),))
        >>> print(first_fault([Document("d1", (("Hello", "Ada"),), (astray,))]))
        features: document 'd1': entities[0].mentions[0]: found words 1 to 3, expected words below 2
    """
    for document in documents:
        for place, found, expected in _faults(document):
            return DataError(Defect(Kind.MALFORMED, "features", document.id, place, found, expected))
    raise AssertionError("a fault was noticed in documents that have none")


def _faults(document: Document) -> Iterator[tuple[str, str, str]]:
    """Each fault as (place, found, expected)."""
    if not _encodable(document.id):
        yield "id", short_repr(document.id), "valid Unicode"
    for number, sentence in enumerate(document.sentences):
        for word in sentence:
            if not _encodable(word):
                yield f"sentences[{number}]", short_repr(word), "words of valid Unicode"
    for number, entity in enumerate(document.entities):
        if not entity.mentions:
            yield f"entities[{number}]", "no mention", "at least one mention"
        for index, mention in enumerate(entity.mentions):
            place = f"entities[{number}].mentions[{index}]"
            if not 0 <= mention.sentence < len(document.sentences):
                yield (
                    place,
                    f"sentence {mention.sentence}",
                    f"a sentence index below {len(document.sentences)}",
                )
                continue
            words = len(document.sentences[mention.sentence])
            if not 0 <= mention.start < mention.end <= words:
                yield place, f"words {mention.start} to {mention.end}", f"words below {words}"
    for number, fact in enumerate(document.facts):
        for end in (fact.head, fact.tail):
            if not 0 <= end < len(document.entities):
                yield f"facts[{number}]", f"entity {end}", f"an entity index below {len(document.entities)}"
        for support in fact.evidence:
            if not 0 <= support < len(document.sentences):
                expected = f"a sentence index below {len(document.sentences)}"
                yield f"facts[{number}].evidence", f"sentence {support}", expected
    for number, (head, tail, _) in enumerate(document.negatives):
        for end in (head, tail):
            if not 0 <= end < len(document.entities):
                expected = f"an entity index below {len(document.entities)}"
                yield f"negatives[{number}]", f"entity {end}", expected


def _encodable(text: str) -> bool:
    """Whether the text is free of lone surrogates, which neither tokenizers nor files take."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
