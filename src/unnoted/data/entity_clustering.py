"""Entity clustering: which mentions are one entity, where a source marks mentions but no entities.

1. Mentions with the same id are one entity; mentions with different ids never are.
2. Mentions that a coreference link joins are one entity.
3. A mention without id and link joins the one such entity that has a mention of its type and normalized name;
   if there is none, or more than one, it is clustered with the other mentions like itself.

Users find these rules in docs/reference/formats.md.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unnoted.data.document import Entity

SHORTEST_NAME = 3
"""Letters of the shortest name that is looked for in longer ones."""

_COREFERENCE = frozenset({"coref", "coreference", "equiv", "same_as"})
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$")


@dataclass(frozen=True, slots=True)
class AnnotatedSpan:
    """A mention as a tool marks it or a recognizer finds it: characters `start` to `end` (exclusive) of a text.

    Attributes:
        ref: the tool's name of the span, such as `T1`; relations and links refer to it.
        start: the first character.
        end: the first character after it.
        type: None for a span that only coreference gives an entity, such as a pronoun. No relation is attached
            to it when a fact is written, because tools have no such span in their lists of entities.
        name: the marked text, as the tool has it.
        id: its entity's id in a knowledge base, if it has one.
        place: where it stands in the source, for messages.
    """

    ref: str
    start: int
    end: int
    type: str | None
    name: str
    id: str | None = None
    place: str = ""


class Clusters(NamedTuple):
    """Clustered mentions.

    Attributes:
        groups: the mentions of each entity, in the order of their first mentions.
        refused: pairs of mentions that a link would have joined although their entities have different ids.
    """

    groups: list[list[AnnotatedSpan]]
    refused: list[tuple[AnnotatedSpan, AnnotatedSpan]]


def is_coreference(relation: str) -> bool:
    """Whether a relation of an annotation tool joins two mentions to one entity.

    Example:
        >>> is_coreference("COREF"), is_coreference("same as"), is_coreference("spouse")
        (True, True, False)
    """
    return relation.casefold().replace(" ", "_").replace("-", "_") in _COREFERENCE


def normalize_name(name: str) -> str:
    """A name for comparison, without case, width, repeated blanks, a leading article and a closing 's.

    Example:
        >>> normalize_name("The  World Bank’s"), normalize_name("ＮＡＳＡ"), normalize_name("The")
        ('world bank', 'nasa', 'the')
    """
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return _ARTICLE.sub("", _POSSESSIVE.sub("", plain))


def cluster_mentions(mentions: Sequence[AnnotatedSpan], links: Iterable[Sequence[str]] = ()) -> Clusters:
    """Cluster mentions into entities by the three rules above.

    Args:
        mentions: their refs are all different.
        links: refs of mentions that coreference joins; unknown refs are ignored.

    Example:
        >>> ada, she = AnnotatedSpan("T1", 0, 9, "PER", "Ada Lorne", "Q1"), AnnotatedSpan("T2", 11, 14, None, "She")
        >>> other = AnnotatedSpan("T3", 20, 31, "PER", "ada lorne's")
        >>> [[mention.name for mention in group] for group in cluster_mentions([ada, she, other], [("T1", "T2")]).groups]
        [['Ada Lorne', 'She', "ada lorne's"]]
    """
    sets = _DisjointSets([mention.id for mention in mentions])
    first_of: dict[object, int] = {}
    for index, mention in enumerate(mentions):
        if mention.id is not None:
            sets.join(first_of.setdefault(mention.id, index), index)
    index_of = {mention.ref: index for index, mention in enumerate(mentions)}
    anchored = {index for index, mention in enumerate(mentions) if mention.id is not None}
    refused = []
    for refs in links:
        linked = [index_of[ref] for ref in refs if ref in index_of]
        anchored.update(linked)
        for index in linked[1:]:
            if not sets.join(linked[0], index):
                refused.append((mentions[linked[0]], mentions[index]))
    keys = [(mention.type, normalize_name(mention.name)) for mention in mentions]
    roots_of: defaultdict[object, set[int]] = defaultdict(set)
    for index in anchored:
        roots_of[keys[index]].add(sets.root(index))
    for index, key in enumerate(keys):
        if index not in anchored:
            roots = roots_of[key]
            sets.join(next(iter(roots)) if len(roots) == 1 else first_of.setdefault(key, index), index)
    groups: defaultdict[int, list[AnnotatedSpan]] = defaultdict(list)
    for index, mention in enumerate(mentions):
        groups[sets.root(index)].append(mention)
    return Clusters(list(groups.values()), refused)


def likely_duplicates(entities: Sequence[Entity]) -> list[tuple[int, int]]:
    """Pairs of entities of one document that may be one.

    They have the same type, and a name of one is a name of the other, or begins or ends it. Pairs in which both
    have an id are not among them.

    Example:
        >>> from unnoted.data.document import Mention
        >>> names = ["Ada Lorne", "Lorne", "Kelm", "1998", "May 1998"]
        >>> likely_duplicates([Entity((Mention(0, n, n + 1, "X", name),)) for n, name in enumerate(names)])
        [(0, 1)]
    """
    names = [{tuple(normalize_name(name).split()) for name in entity.names} for entity in entities]
    holders: defaultdict[tuple[str, tuple[str, ...]], set[int]] = defaultdict(set)
    for index, entity in enumerate(entities):
        for name in names[index]:
            ends = {name[:size] for size in range(1, len(name))} | {
                name[size:] for size in range(1, len(name))
            }
            for part in {end for end in ends if len("".join(end)) >= SHORTEST_NAME} | {name}:
                holders[entity.type, part].add(index)
    pairs: set[tuple[int, int]] = set()
    for index, entity in enumerate(entities):
        for name in names[index]:
            if any(letter.isalpha() for word in name for letter in word):
                pairs.update((min(index, other), max(index, other)) for other in holders[entity.type, name])
    return sorted(
        (one, other)
        for one, other in pairs
        if one != other and (entities[one].id is None or entities[other].id is None)
    )


class _DisjointSets:
    """Disjoint sets of indices, each with at most one id; the root of a set is its smallest index."""

    def __init__(self, ids: list[str | None]) -> None:
        self.parents = list(range(len(ids)))
        self.ids = ids

    def root(self, index: int) -> int:
        while self.parents[index] != index:
            self.parents[index] = self.parents[self.parents[index]]
            index = self.parents[index]
        return index

    def join(self, first: int, second: int) -> bool:
        """Join two sets unless they have different ids; returns whether they are one now."""
        low, high = sorted((self.root(first), self.root(second)))
        ids = {self.ids[low], self.ids[high]} - {None}
        if len(ids) > 1:
            return False
        self.parents[high] = low
        self.ids[low] = next(iter(ids), None)
        return True
