"""Pair representations: from token states and attention rows to an embedding of head and tail per pair.

Adding one takes one file here, one row in `PAIR_ENCODERS`, one test and one row in the docs.
"""

from unnoted.pairs.localized_context import LocalizedContext

PAIR_ENCODERS = {
    "localized-context": LocalizedContext,
}
"""Every pair representation by its name in configurations. Each is made from (width of a token's state, width
of an embedding) and maps (encoded, batch) to the embeddings of head and tail, [P, embedding] each."""

__all__ = ["PAIR_ENCODERS", "LocalizedContext"]
