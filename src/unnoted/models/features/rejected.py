"""The known negatives of documents as rows into their candidate pairs."""

from collections.abc import Mapping, Sequence

import numpy as np

from unnoted.data.document import Document
from unnoted.models.features.pair_rows import PairRows, within
from unnoted.models.features.word_table import Ids, Offsets


class Rejected:
    """Known negatives in the order of pairs, then of relations, each once.

    One whose relation is not in the vocabulary, or whose pair is no candidate, tells nothing about what is
    learnt. It is counted and left out. So is one that is labelled, too: documents made by hand may say both.

    Args:
        documents: in order.
        relations: each relation's index.
        rows: where pairs stand.
        pair_offsets: where the pairs of each document begin, and where the last ones end.

    Attributes:
        offsets: where those of each document begin, and where the last ones end.
        pair: row into the pairs of the document.
        relation: index into the vocabulary.
        left_out: how many were left out.

    Raises:
        DataError: if an entity is not one of its document.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        relations: Mapping[str, int],
        rows: PairRows,
        pair_offsets: Offsets,
    ) -> None:
        noted = [
            (index, head, tail, relations.get(relation, -1), (head, tail, relation) in document.labels)
            for index, document in enumerate(documents)
            for head, tail, relation in document.negatives
        ]
        flat = np.array(noted, dtype=np.int64).reshape(-1, 5)
        document, head, tail, relation, labelled = flat.T
        row, candidate = rows.find(document, head, tail)
        kept = candidate & (relation >= 0) & (labelled == 0)
        self.left_out = int((~kept).sum())
        known = np.unique(np.stack([row[kept], relation[kept]], axis=1), axis=0)  # [N, 2], sorted by row
        self.offsets, self.pair = within(known[:, 0], pair_offsets)
        self.relation: Ids = known[:, 1].astype(np.int32)
