"""What documents have in them: what an encoder that is made for them has to know."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from unnoted.data.document import Document
from unnoted.models.encoders.glove import WordVectors
from unnoted.models.tokenization import MARKER


@dataclass(frozen=True, slots=True)
class Survey:
    """What documents have in them.

    Attributes:
        counts: for each word, in lower case, how many documents it is in.
        occurrences: for each word, in lower case, how often it occurs.
        types: how many types of entities there are.
        entities: the largest number of entities in one document.
    """

    counts: Counter[str]
    occurrences: Counter[str]
    types: int
    entities: int

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "Survey":
        """Look through documents, once."""
        counts: Counter[str] = Counter()
        occurrences: Counter[str] = Counter()
        types: set[str] = set()
        entities = 0
        for document in documents:
            own = Counter(word.lower() for sentence in document.sentences for word in sentence)
            counts.update(own.keys())
            occurrences.update(own)
            types.update(mention.type for entity in document.entities for mention in entity.mentions)
            entities = max(entities, len(document.entities))
        return cls(counts, occurrences, len(types), entities)

    def known_words(self, rarest: int, given: WordVectors | None = None) -> list[str]:
        """The words, sorted, that are in at least `rarest` documents or have a given vector; not the marker.

        Given words need not be in the documents: new documents will have others.

        Example:
            >>> survey = Survey.of([Document("1", (("A", "b"),), ()), Document("2", (("a", "*", "a"),), ())])
            >>> survey.known_words(rarest=2), survey.known_words(rarest=1)
            (['a'], ['a', 'b'])
        """
        frequent = {word for word, count in self.counts.items() if count >= rarest}
        lower = set() if given is None else {word for word in given.rows if word == word.lower()}
        return sorted((frequent | lower) - {MARKER})
