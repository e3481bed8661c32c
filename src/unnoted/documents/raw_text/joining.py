"""Which mentions are one entity: a rule that anybody can apply by hand.

1. Mentions that a knowledge base knows by one id are one entity.
2. Mentions in one coreference cluster are one entity.
3. Mentions of one type with the same normalised name are one entity.

Two different ids in the knowledge base are never one entity, whatever the other rules say.
"""

import re
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import replace

from unnoted.documents.raw_text.found_mention import FoundMention

_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$")


def normalised(name: str) -> str:
    """A name as it is compared: case, width, blanks, a leading article and a closing 's do not count.

    Example:
        >>> normalised("The  World Bank’s"), normalised("ＮＡＳＡ"), normalised("The")
        ('world bank', 'nasa', 'the')
    """
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return _ARTICLE.sub("", _POSSESSIVE.sub("", plain))


def join_mentions(text: str, mentions: Sequence[FoundMention]) -> list[list[FoundMention]]:
    """Put mentions together that are one entity, in the order of the text.

    Args:
        text: what they were found in.
        mentions: in any order. Blanks around a mention are cut off; a place that is found twice with one
            type counts once, and one without any letter, digit or sign does not count.

    Returns:
        The mentions of each entity; entities come in the order of their first mentions.

    Example:
        >>> text = "Ada met Bo. ADA’s boat sank."
        >>> found = [FoundMention(*span, "PER") for span in ((0, 3), (8, 10), (12, 17))]
        >>> [[text[one.start : one.end] for one in entity] for entity in join_mentions(text, found)]
        [['Ada', 'ADA’s'], ['Bo']]
    """
    ordered = _cleaned(text, mentions)
    groups = _Groups(ordered)
    for key in (_by_id, _by_cluster, lambda one: (one.type, normalised(text[one.start : one.end]))):
        last: dict[Hashable, int] = {}
        for number, mention in enumerate(ordered):
            if (value := key(mention)) is not None:
                groups.join(last.get(value, number), number)
                last[value] = number
    return groups.listed()


def _by_id(mention: FoundMention) -> Hashable:
    return mention.kb_id


def _by_cluster(mention: FoundMention) -> Hashable:
    return mention.cluster


def _cleaned(text: str, mentions: Sequence[FoundMention]) -> list[FoundMention]:
    kept: dict[tuple[int, int, str], FoundMention] = {}
    for mention in mentions:
        covered = text[mention.start : mention.end]
        if not covered.strip():
            continue
        start = mention.start + len(covered) - len(covered.lstrip())
        end = mention.end - len(covered) + len(covered.rstrip())
        kept.setdefault((start, end, mention.type), replace(mention, start=start, end=end))
    return [kept[place] for place in sorted(kept)]


class _Groups:
    """Mentions on their way into entities: sets that are joined, each with at most one id."""

    def __init__(self, mentions: list[FoundMention]) -> None:
        self.mentions = mentions
        self.first = list(range(len(mentions)))
        self.ids = [mention.kb_id for mention in mentions]

    def of(self, number: int) -> int:
        """The first mention of a mention's set."""
        while self.first[number] != number:
            number = self.first[number] = self.first[self.first[number]]
        return number

    def join(self, one: int, other: int) -> None:
        """Join two sets, unless they have different ids."""
        kept, gone = sorted((self.of(one), self.of(other)))
        if None in (self.ids[kept], self.ids[gone]) or self.ids[kept] == self.ids[gone]:
            self.first[gone] = kept
            self.ids[kept] = self.ids[kept] or self.ids[gone]

    def listed(self) -> list[list[FoundMention]]:
        """The sets, in the order of their first mentions."""
        found: dict[int, list[FoundMention]] = {}
        for number, mention in enumerate(self.mentions):
            found.setdefault(self.of(number), []).append(mention)
        return list(found.values())
