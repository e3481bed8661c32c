"""Out-of-fold scores: decision margins of every candidate pair beside its labels.

No document is scored by a model that saw its labels. A model that has overfitted its documents would say of
every unlabelled pair what it was trained on: that nothing holds.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unnoted.io import atomic_write

ARRAYS = ("document", "head", "tail", "margin", "labelled")


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFoldScores:
    """P candidate pairs of D documents with a margin and a label for each of K relations.

    Attributes:
        relations: the relation ids, K of them.
        documents: the ids of the documents, D of them.
        document: int32 [P], which document a pair is of.
        head: int32 [P], the head's index among the entities of its document.
        tail: int32 [P].
        margin: float32 [P, K], how far a relation lies above what the decision rule asks of it.
        labelled: bool [P, K]; False means unlabelled.

    Example:
        >>> scores = OutOfFoldScores(("spouse",), ("d1",), np.array([0, 0]), np.array([0, 1]),
        ...     np.array([1, 0]), np.array([[0.2], [-0.1]]), np.array([[True], [False]]))
        >>> scores.pairs, scores.labelled_share
        (2, array([0.5]))
    """

    relations: tuple[str, ...]
    documents: tuple[str, ...]
    document: NDArray[np.int32]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    margin: NDArray[np.float32]
    labelled: NDArray[np.bool_]

    def __post_init__(self) -> None:
        pairs = len(self.document)
        for name, shape in (("margin", (pairs, len(self.relations))), ("labelled", self.margin.shape)):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has the shape {list(getattr(self, name).shape)}, not {list(shape)}")
        for name in ("head", "tail"):
            if len(getattr(self, name)) != pairs:
                raise ValueError(f"{name} has {len(getattr(self, name))} entities for {pairs} pairs")

    @property
    def pairs(self) -> int:
        """How many candidate pairs there are (P)."""
        return len(self.document)

    @property
    def labelled_share(self) -> NDArray[np.float64]:
        """The labelled prior of each relation, [K]."""
        share: NDArray[np.float64] = self.labelled.mean(0)
        return share

    @classmethod
    def concatenate(cls, parts: Sequence["OutOfFoldScores"]) -> "OutOfFoldScores":
        """Several parts as one; all have the same relations, and no document is in two of them."""
        before = np.cumsum([0, *(len(part.documents) for part in parts)])
        numbers = [part.document + first for part, first in zip(parts, before[:-1], strict=True)]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS[1:]
        }
        documents = tuple(document for part in parts for document in part.documents)
        return cls(parts[0].relations, documents, np.concatenate(numbers).astype(np.int32), **columns)

    @classmethod
    def mean(cls, parts: Sequence["OutOfFoldScores"]) -> "OutOfFoldScores":
        """The same pairs scored several times, in any order of the documents, with the mean of their margins.

        Example:
            >>> one = np.zeros(1, np.int32)
            >>> def scored(margin):
            ...     return OutOfFoldScores(("r",), ("d",), one, one, one + 1, np.array([[margin]], np.float32),
            ...                            np.array([[False]]))
            >>> OutOfFoldScores.mean([scored(1.0), scored(2.0)]).margin
            array([[1.5]], dtype=float32)
        """

        def order(scores: OutOfFoldScores) -> NDArray[np.int64]:
            names = np.argsort(np.argsort(np.array(scores.documents)))
            return np.lexsort((scores.tail, scores.head, names[scores.document]))

        margin = np.empty_like(parts[0].margin)
        total = np.sum([part.margin[order(part)].astype(np.float64) for part in parts], axis=0)
        margin[order(parts[0])] = total / len(parts)
        return replace(parts[0], margin=margin)

    def relabelled(self, labels: Mapping[str, Collection[tuple[int, int, str]]]) -> "OutOfFoldScores":
        """The same scores beside other labels.

        Args:
            labels: (head, tail, relation) by document; a document that is not named has none.

        Example:
            >>> scores = OutOfFoldScores(("spouse",), ("d1",), np.array([0, 0]), np.array([0, 1]),
            ...     np.array([1, 0]), np.array([[0.2], [-0.1]]), np.array([[True], [False]]))
            >>> scores.relabelled({"d1": {(1, 0, "spouse")}}).labelled.tolist()
            [[False], [True]]
        """
        columns = {relation: column for column, relation in enumerate(self.relations)}
        rows = zip(self.document.tolist(), self.head.tolist(), self.tail.tolist(), strict=True)
        row_of = {(self.documents[number], head, tail): row for row, (number, head, tail) in enumerate(rows)}
        labelled = np.zeros_like(self.labelled)
        for name, triples in labels.items():
            for head, tail, relation in triples:
                if (name, head, tail) in row_of and relation in columns:
                    labelled[row_of[name, head, tail], columns[relation]] = True
        return replace(self, labelled=labelled)

    def save(self, path: Path) -> None:
        """Write everything to one file (numpy's npz, without pickles); it appears when it is complete."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        with atomic_write(path) as stream:
            np.savez(stream, relations=np.array(self.relations), documents=np.array(self.documents), **arrays)

    @classmethod
    def load(cls, path: Path) -> "OutOfFoldScores":
        """What `save` wrote.

        Raises:
            ValueError: names the file, if it is not there or something else.
        """
        if not path.is_file():
            raise ValueError(f"{path}: there is no such file of scores")
        try:
            with np.load(path, allow_pickle=False) as found:
                relations, documents = (tuple(found[name].tolist()) for name in ("relations", "documents"))
                return cls(relations, documents, **{name: found[name] for name in ARRAYS})
        except Exception as error:  # numpy raises any of a dozen errors over a file that is not its own
            raise ValueError(f"{path}: not a file of out-of-fold scores") from error
