"""What a model says of pairs beside what was noted of them: the ground for priors, calibration and lines.

The scores should be out of fold: no document is judged by a model that saw its labels. A model that has
learnt its documents by heart says of every unlabelled pair what it was told, that nothing was noted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unnoted.io import atomic_write


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFoldScores:
    """P candidate pairs of D documents with a margin and a label for each of K relations.

    Attributes:
        relations: the relation ids, K of them.
        documents: the documents' ids, D of them.
        document: int32 [P], which document a pair is of.
        head: int32 [P], the head's index among the entities of its document.
        tail: int32 [P].
        margin: float32 [P, K], how far a score lies above what its decision rule asks of it.
        labelled: bool [P, K], what was noted; False means unlabelled.

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
        pairs, wanted = len(self.document), (len(self.document), len(self.relations))
        for name in ("margin", "labelled"):
            found = getattr(self, name).shape
            if found != wanted:
                raise ValueError(f"{name}: found {list(found)}, expected [pairs, relations], {list(wanted)}")
        for name in ("head", "tail"):
            if len(getattr(self, name)) != pairs:
                raise ValueError(f"{name}: found {len(getattr(self, name))} entities, expected {pairs}")

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
    def joined(cls, parts: Sequence["OutOfFoldScores"]) -> "OutOfFoldScores":
        """Several folds as one; all have the same relations, and no document is in two of them."""
        before = np.cumsum([0, *(len(part.documents) for part in parts)])
        numbers = [part.document + first for part, first in zip(parts, before[:-1], strict=True)]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("head", "tail", "margin", "labelled")
        }
        documents = tuple(document for part in parts for document in part.documents)
        return cls(parts[0].relations, documents, np.concatenate(numbers).astype(np.int32), **columns)

    def of_pairs(self, rows: NDArray[np.bool_]) -> "OutOfFoldScores":
        """Those of some pairs.

        Args:
            rows: bool [P].
        """
        columns = ("document", "head", "tail", "margin", "labelled")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

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
        known = {(name, *triple) for name, triples in labels.items() for triple in triples}
        labelled = np.zeros_like(self.labelled)
        rows = zip(self.document.tolist(), self.head.tolist(), self.tail.tolist(), strict=True)
        row_of = {(self.documents[number], head, tail): row for row, (number, head, tail) in enumerate(rows)}
        for name, head, tail, relation in known:
            if (name, head, tail) in row_of and relation in columns:
                labelled[row_of[name, head, tail], columns[relation]] = True
        return replace(self, labelled=labelled)

    def save(self, path: Path) -> None:
        """Write everything to one file (numpy's npz, without pickles); it appears when it is whole."""
        with atomic_write(path) as stream:
            np.savez(
                stream,
                relations=np.array(self.relations),
                documents=np.array(self.documents),
                **{name: getattr(self, name) for name in ("document", "head", "tail", "margin", "labelled")},
            )

    @classmethod
    def load(cls, path: Path) -> "OutOfFoldScores":
        """What `save` wrote.

        Raises:
            ValueError: names the file, if it is not there or something else.
        """
        if not path.is_file():
            raise ValueError(f"{path}: found no such file, expected scores that were saved")
        try:
            with np.load(path, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            relations, documents = (tuple(arrays.pop(name).tolist()) for name in ("relations", "documents"))
            return cls(relations, documents, **arrays)
        except Exception as error:  # numpy raises what comes to hand over a file that is not its own
            raise ValueError(f"{path}: found something else, expected scores that were saved") from error
