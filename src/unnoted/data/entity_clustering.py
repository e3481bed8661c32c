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
from typing import Generic, NamedTuple, Protocol, TypeVar

_COREFERENCE = frozenset({"coref", "coreference", "equiv", "same_as"})
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$")


class Clusterable(Protocol):
    """A mention that can be clustered: `ref` names it in links, `id` is its entity's in a knowledge base."""

    @property
    def ref(self) -> str:
        """Its name in links."""
        ...

    @property
    def type(self) -> str | None:
        """None if only a link can tell."""
        ...

    @property
    def name(self) -> str:
        """The marked text."""
        ...

    @property
    def id(self) -> str | None:
        """Of its entity in a knowledge base."""
        ...


AnyMention = TypeVar("AnyMention", bound=Clusterable)


class Clusters(NamedTuple, Generic[AnyMention]):
    """Clustered mentions.

    Attributes:
        groups: the mentions of each entity, in the order of their first mentions.
        refused: pairs of mentions that a link would have joined although their entities have different ids.
    """

    groups: list[list[AnyMention]]
    refused: list[tuple[AnyMention, AnyMention]]


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


def cluster_mentions(
    mentions: Sequence[AnyMention], links: Iterable[Sequence[str]] = ()
) -> Clusters[AnyMention]:
    """Cluster mentions into entities by the three rules above.

    Args:
        mentions: their refs are all different.
        links: refs of mentions that coreference joins; unknown refs are ignored.

    Example:
        >>> from collections import namedtuple
        >>> Marked = namedtuple("Marked", "ref type name id")
        >>> ada, she = Marked("T1", "PER", "Ada Lorne", "Q1"), Marked("T2", None, "She", None)
        >>> other = Marked("T3", "PER", "ada lorne's", None)
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
    roots_of: defaultdict[object, set[int]] = defaultdict(set)
    for index in anchored:
        roots_of[_type_and_name(mentions[index])].add(sets.root(index))
    for index, mention in enumerate(mentions):
        if index not in anchored:
            key = _type_and_name(mention)
            roots = roots_of[key]
            sets.join(next(iter(roots)) if len(roots) == 1 else first_of.setdefault(key, index), index)
    return Clusters([[mentions[index] for index in group] for group in sets.groups()], refused)


def _type_and_name(mention: Clusterable) -> tuple[str | None, str]:
    return mention.type, normalize_name(mention.name)


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

    def groups(self) -> list[list[int]]:
        found: defaultdict[int, list[int]] = defaultdict(list)
        for index in range(len(self.parents)):
            found[self.root(index)].append(index)
        return list(found.values())
