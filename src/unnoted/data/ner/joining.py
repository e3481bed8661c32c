"""Mentions that were found in a text, as the entities that the one rule of `entity_rule` makes of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from unnoted.data.entity_clustering import cluster_mentions
from unnoted.data.entity_rule import Mark
from unnoted.data.ner.found_mention import FoundMention


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
    marks, clusters = [], defaultdict(list)
    for number, one in enumerate(ordered):
        marks.append(Mark(str(number), one.start, one.end, one.type, text[one.start : one.end], one.kb_id))
        if one.cluster is not None:
            clusters[one.cluster].append(str(number))
    groups = cluster_mentions(marks, clusters.values()).groups
    return [[ordered[int(mark.ref)] for mark in group] for group in groups]


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
