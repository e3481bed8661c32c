"""Where ordered pairs of entities stand among the candidate pairs of several documents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document
from unnoted.models.features.faults import first_fault
from unnoted.models.features.word_table import Ids, Offsets


class PairRows:
    """Finds the rows of pairs among the candidate pairs of documents that stand one after the other.

    Args:
        documents: in order.
        head: of each candidate pair of all of them, ascending within a document.
        tail: of each candidate pair, ascending within a head.
        pair_offsets: where the pairs of each document begin, and where the last ones end.
    """

    def __init__(self, documents: Sequence[Document], head: Ids, tail: Ids, pair_offsets: Offsets) -> None:
        self._documents = documents
        self._entities: Offsets = np.array([len(d.entities) for d in documents], dtype=np.int64)
        self._first = np.cumsum(self._entities**2) - self._entities**2
        owner = np.repeat(np.arange(len(documents)), np.diff(pair_offsets))
        self._codes = self._coded(owner, head, tail)

    def find(self, document: Offsets, head: Offsets, tail: Offsets) -> tuple[Offsets, NDArray[np.bool_]]:
        """The row of each pair among all candidate pairs, and whether it is a candidate at all.

        Raises:
            DataError: if an entity is not one of its document.
        """
        ends = np.stack([head, tail])
        if ((ends < 0) | (ends >= self._entities[document])).any():
            raise first_fault(self._documents)
        codes = self._coded(document, head, tail)
        rows: Offsets = np.searchsorted(self._codes, codes)
        return rows, np.append(self._codes, -1)[rows] == codes

    def _coded(self, document: Offsets, head: Offsets | Ids, tail: Offsets | Ids) -> Offsets:
        """One number for each ordered pair of entities of all documents, rising with the candidate pairs."""
        heads, tails = head.astype(np.int64), tail.astype(np.int64)
        return self._first[document] + heads * self._entities[document] + tails


def within(row: Offsets, pair_offsets: Offsets) -> tuple[Offsets, Ids]:
    """Where each document's rows begin, and ascending rows into all pairs as rows into their document's.

    Example:
        >>> within(np.array([1, 2, 6]), np.array([0, 4, 8]))  # two documents of four pairs
        (array([0, 2, 3]), array([1, 2, 2], dtype=int32))
    """
    offsets: Offsets = np.searchsorted(row, pair_offsets)
    before = np.repeat(pair_offsets[:-1], np.diff(offsets))
    return offsets, (row - before).astype(np.int32)
