"""The same score over parts of the facts: by relation, by distance, by frequency in train.

Gold facts and predictions are sorted into the parts by the same rule, each prediction by what it claims.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from unnoted.evaluation.gold import Gold, Key
from unnoted.evaluation.score import Score
from unnoted.utils import nearest

Part = TypeVar("Part", bound=Hashable)

FREQUENCY_BOUNDS = (1, 10, 100, 1000)
"""Where a group of relations starts, by facts in train."""


def scores_by(
    part: Callable[[Key], Part], predicted: Collection[Key], gold: Collection[Key]
) -> dict[Part, Score]:
    """The score of each part, in the order in which the gold, then the predictions, come upon it.

    Args:
        part: says which part a fact belongs to.
        predicted: distinct predictions.
        gold: distinct gold facts; asking whether a fact is among them should be quick.

    Example:
        >>> gold = {("d", 0, 1, "spouse"): 0, ("d", 1, 0, "spouse"): 1}
        >>> scores_by(relation_of, [("d", 0, 1, "spouse"), ("d", 0, 1, "child")], gold)["spouse"]
        Score(correct=1, predicted=1, gold=2)
    """
    in_gold = Counter(map(part, gold))
    in_predicted = Counter(map(part, predicted))
    correct = Counter(part(key) for key in predicted if key in gold)
    return {name: Score(correct[name], in_predicted[name], in_gold[name]) for name in in_gold | in_predicted}


def relation_of(key: Key) -> str:
    """The relation of a fact."""
    return key[3]


def total(scores: Iterable[Score]) -> Score:
    """The micro-averaged score of several parts together."""
    parts = list(scores)
    return Score(
        sum(part.correct for part in parts),
        sum(part.predicted for part in parts),
        sum(part.gold for part in parts),
    )


def most_frequent(counts: Mapping[str, int], number: int) -> tuple[str, ...]:
    """The relations with most facts, the most frequent first; of equals the first by name.

    Example:
        >>> most_frequent({"child": 2, "spouse": 5, "aunt": 2}, 2)
        ('spouse', 'aunt')
    """
    return tuple(sorted(counts, key=lambda relation: (-counts[relation], relation))[:number])


def chosen(relations: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """Relations that a user names, each once.

    Raises:
        ValueError: one is not known; the nearest that is known is named.
    """
    for relation in relations:
        if relation not in known:
            raise ValueError(
                f"found relation {relation!r}, expected one of the gold or train{nearest(relation, known)}"
            )
    return tuple(dict.fromkeys(relations))


class Distance(StrEnum):
    """Whether the two entities of a fact are ever named in one sentence."""

    INTRA = "within a sentence"
    INTER = "across sentences"
    NOWHERE = "no such pair"


class Distances:
    """Says of a fact whether its head and its tail share a sentence."""

    def __init__(self, gold: Gold) -> None:
        self.gold = gold
        self.sentences: dict[str, list[frozenset[int]]] = {}

    def __call__(self, key: Key) -> Distance:
        """The distance of a fact's pair; `NOWHERE` if the gold documents do not have the pair."""
        title, head, tail, _ = key
        places = self.sentences.get(title)
        if places is None:
            document = self.gold.documents.get(title)
            entities = document.entities if document else ()
            places = [entity.sentences for entity in entities]
            self.sentences[title] = places
        if not (0 <= head < len(places) and 0 <= tail < len(places)):
            return Distance.NOWHERE
        return Distance.INTER if places[head].isdisjoint(places[tail]) else Distance.INTRA


def scores_by_distance(predicted: Collection[Key], gold: Gold) -> dict[Distance, Score]:
    """Scores within and across sentences; `NOWHERE` only where there are predictions without a pair."""
    scores = scores_by(Distances(gold), predicted, gold.facts)
    nothing = Score(0, 0, 0)
    found = {distance: scores.get(distance, nothing) for distance in Distance}
    if not found[Distance.NOWHERE].predicted:
        del found[Distance.NOWHERE]
    return found


def scores_by_frequency(
    relations: Mapping[str, Score], train: Mapping[str, int], bounds: Sequence[int] = FREQUENCY_BOUNDS
) -> dict[str, Score]:
    """Scores of groups of relations, by how many facts of train each relation has.

    Args:
        relations: the score of each relation.
        train: how many facts each relation has in train.
        bounds: where each group but the first starts, rising.

    Example:
        >>> parts = {"rare": Score(1, 1, 2), "rarer": Score(0, 1, 1), "common": Score(5, 6, 7)}
        >>> scores_by_frequency(parts, {"rare": 9, "rarer": 1, "common": 100})
        {'1 to 9': Score(correct=1, predicted=2, gold=3), '100 to 999': Score(correct=5, predicted=6, gold=7)}
    """
    groups: list[list[Score]] = [[] for _ in range(len(bounds) + 1)]
    for relation, score in relations.items():
        groups[bisect_right(bounds, train.get(relation, 0))].append(score)
    starts = [0, *bounds]
    ends = [*(bound - 1 for bound in bounds), None]
    return {
        _interval(start, end): total(group)
        for start, end, group in zip(starts, ends, groups, strict=True)
        if group
    }


def _interval(start: int, end: int | None) -> str:
    if end is None:
        return f"{start} or more"
    return str(start) if start == end else f"{start} to {end}"
