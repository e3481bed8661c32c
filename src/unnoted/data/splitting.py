"""Cutting a corpus into parts by document, at random but reproducibly."""

from collections.abc import Sequence
from math import isclose
from random import Random

from unnoted.data.document import Document
from unnoted.utils import plural


def split_documents(
    documents: Sequence[Document], shares: Sequence[float], seed: int = 0
) -> list[list[Document]]:
    """Cut documents into parts of the given shares; each document is in one part, in its old order.

    Args:
        documents: the corpus.
        shares: of each part; they add up to 1.
        seed: the same seed makes the same parts of the same documents.

    Example:
        >>> documents = [Document(str(number), (), ()) for number in range(10)]
        >>> [len(part) for part in split_documents(documents, [0.8, 0.2])]
        [8, 2]
    """
    if not shares or min(shares) <= 0 or not isclose(sum(shares), 1.0, abs_tol=1e-6):
        raise ValueError(
            f"shares of the parts: found {list(shares)}, expected positive shares that add up to 1"
        )
    order = list(range(len(documents)))
    Random(seed).shuffle(order)
    ends = [round(sum(shares[: number + 1]) * len(order)) for number in range(len(shares))]
    parts = [sorted(order[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    if not all(parts):
        raise ValueError(
            f"a part would be empty: {plural(len(order), 'document')} in shares of {list(shares)}"
        )
    return [[documents[index] for index in part] for part in parts]
