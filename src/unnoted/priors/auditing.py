"""Which pairs a person is asked about, so that few answers say how often each relation holds.

A question is a pair and a relation: does it hold? Only pairs that are not labelled with the relation are
asked about. They are drawn at random from bands of the ranking, each with a known probability, more of them
where more true facts are to be expected. How labels were picked does not matter.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.labelled_scores import LabelledScores

BANDS = 5
"""Bands of the ranking, for each relation."""

REACH = 0.95
"""The share of a relation's labels that the bands hold. What ranks below is too much to ask about; there, as
many facts are taken to be missing for each labelled one as within."""


@dataclass(frozen=True, slots=True)
class Question:
    """A pair and a relation, both by their position in the scores, with how likely it was to be drawn."""

    pair: int
    relation: int
    band: int
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class AuditDesign:
    """What questions are drawn from.

    Attributes:
        relations: the relation ids, K of them.
        pairs: the number of candidate pairs.
        labelled: int [K], the labels of each relation.
        within: int [K, bands], the labels in each band.
        unlabelled: int [K, bands], the pairs in each band that are not labelled with the relation.
    """

    relations: tuple[str, ...]
    pairs: int
    labelled: NDArray[np.int64]
    within: NDArray[np.int64]
    unlabelled: NDArray[np.int64]

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        counts = {name: getattr(self, name).tolist() for name in ("labelled", "within", "unlabelled")}
        return {"relations": list(self.relations), "pairs": self.pairs, **counts}

    @classmethod
    def from_json(cls, value: object) -> "AuditDesign":
        """What `to_json` wrote.

        Raises:
            ValueError: it is no such design.
        """
        try:
            found = cast("dict[str, Any]", value)
            relations = tuple(map(str, found["relations"]))
            labelled, within, unlabelled = (
                np.array(found[name], dtype=np.int64) for name in ("labelled", "within", "unlabelled")
            )
            pairs = int(found["pairs"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ValueError(
                "design: found no counts by relation, expected the first line of an audit"
            ) from None
        cells = (len(relations), BANDS)
        shapes = labelled.shape == cells[:1] and within.shape == unlabelled.shape == cells
        if (
            not shapes
            or not relations
            or pairs < 1
            or min(labelled.min(), within.min(), unlabelled.min()) < 0
        ):
            raise ValueError(
                "design: found counts that do not fit together, expected the first line of an audit"
            )
        return cls(relations, pairs, labelled, within, unlabelled)


def draw_audit(scores: LabelledScores, questions: int, seed: int = 0) -> tuple[AuditDesign, list[Question]]:
    """Draw questions for a person.

    Args:
        scores: margins beside labels, or what stands for them (see `scores_by_types`). Pairs with the same
            margin are ordered at random.
        questions: how many at most; there are fewer where there are fewer pairs.
        seed: of the draw.

    Returns:
        What was drawn from, and the questions, in random order.

    Example:
        >>> margin = np.arange(200.0)[:, None]
        >>> zeros = np.zeros(200, int)
        >>> labelled = (margin >= 150) & (margin % 5 == 0)
        >>> scores = LabelledScores(("spouse",), ("d",), zeros, zeros, zeros, margin, labelled)
        >>> design, asked = draw_audit(scores, 4)
        >>> int(design.within.sum()), len(asked), any(labelled[question.pair, 0] for question in asked)
        (10, 4, False)
    """
    if questions < 1:
        raise ValueError(f"questions: found {questions}, expected 1 or more")
    random = np.random.default_rng(seed)
    band = np.stack([_bands(scores, column, random) for column in range(len(scores.relations))], 1)  # [P, K]
    within, unlabelled = (_counts(band, chosen) for chosen in (scores.labelled, ~scores.labelled))
    labelled = scores.labelled.sum(0)
    design = AuditDesign(scores.relations, scores.pairs, labelled, within, unlabelled)
    expected = _allocated(design, questions)  # [K, bands]
    asked: list[Question] = []
    for (relation, number), count in np.ndenumerate(_rounded(expected, random)):
        if count:
            members = np.nonzero((band[:, relation] == number) & ~scores.labelled[:, relation])[0]
            probability = float(expected[relation, number] / len(members))
            drawn = random.choice(members, count, replace=False)
            asked += [Question(int(pair), relation, number, probability) for pair in drawn]
    return design, [asked[index] for index in random.permutation(len(asked))]


def _bands(scores: LabelledScores, column: int, random: np.random.Generator) -> NDArray[np.int8]:
    """The band of each pair for a relation, [P]; −1 for those beyond."""
    labelled = scores.labelled[:, column]
    order = np.lexsort((random.permutation(scores.pairs), -scores.margin[:, column]))
    band = np.full(scores.pairs, -1, np.int8)
    if labelled.any():
        ranks = np.nonzero(labelled[order])[0] + 1
        reach = int(np.quantile(ranks, REACH, method="higher"))
        edges = np.geomspace(min(len(ranks), reach), reach, BANDS)  # the ends of the bands
        band[order[:reach]] = np.minimum(np.searchsorted(edges, np.arange(reach) + 0.5), BANDS - 1)
    return band


def _counts(band: NDArray[np.int8], chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of the chosen are in each band, [K, bands]."""
    return np.stack([((band == number) & chosen).sum(0) for number in range(BANDS)], 1)


def _allocated(design: AuditDesign, questions: int) -> NDArray[np.float64]:
    """How many questions each band of each relation is expected to get, [K, bands].

    Within a relation by size times deviation, which is best for its total; between relations by the root of
    that, so that the rare ones get their part too.
    """
    size = design.unlabelled.astype(float)
    share = np.clip(2 * (design.within + 0.5) / (size + 1), 0.01, 0.5)  # a guess: two missing for each label
    weight = size * np.sqrt(share * (1 - share))
    weight /= np.sqrt(np.maximum(weight.sum(1, keepdims=True), 1))
    expected = np.zeros_like(size)
    for _ in range(questions):  # what is full passes the rest on to the others
        room = expected < size
        rest = min(questions, size.sum()) - expected.sum()
        if rest < 1e-6 or not room.any():
            break
        expected = np.minimum(size, expected + rest * np.where(room, weight, 0) / weight[room].sum())
    return expected


def _rounded(expected: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.int64]:
    """Whole numbers next to the expected ones, with the same mean and sum."""
    reached = np.floor(np.cumsum(expected.ravel()) + random.random() + 1e-9)
    return np.diff(reached, prepend=0).astype(np.int64).reshape(expected.shape)
