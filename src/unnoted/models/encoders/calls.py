"""A batch through an encoder in several calls, each of documents of like length: hardly anything is padded.

What comes after the encoder wants many documents at once. The encoder does not: on a CPU its matrix products
are as fast for one document as for sixteen, and what is padded costs as much as what is not.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from torch import Tensor

EncoderRunner: TypeAlias = Callable[[dict[str, Tensor], Tensor | None, Tensor], tuple[Tensor, Tensor | None]]
"""Runs an encoder: from what `DocumentEncoder.encode` takes to what it gives."""

A_CALL = 32
"""What a call costs beside its tokens, in tokens: documents share one if they are padded by no more."""


def calls_of(lengths: Sequence[int], a_call: int = A_CALL) -> Iterator[slice]:
    """Cut a batch into calls of neighbours.

    A document joins those before it if that pads fewer tokens than a call of its own would cost.

    Args:
        lengths: how many tokens each document has.
        a_call: what a call costs, in tokens.

    Example:
        >>> [(call.start, call.stop) for call in calls_of([300, 295, 250, 250])]
        [(0, 2), (2, 4)]
    """
    start = 0
    for place in range(1, len(lengths)):
        call = lengths[start : place + 1]
        before, after = max(call[:-1]), max(call)
        if (after - before) * (len(call) - 1) + after - call[-1] > a_call:
            yield slice(start, place)
            start = place
    yield slice(start, len(lengths))


def encode_in_calls(
    run: EncoderRunner, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
) -> tuple[Tensor, Tensor | None]:
    """What `run` gives of the whole batch, without a gradient.

    Args:
        run: the encoder.
        tokens: what it is told of each token, [B, T] each, padded on the right.
        attention_mask: [B, T], 0 at padding; None where there is none, and one call is enough.
        positions: [B, M].

    Returns:
        States [B, T, d] and, if the encoder gives them, rows [B, H, M, T]; 0 where they were not computed.
    """
    if attention_mask is None:
        return run(tokens, None, positions)
    batch, width = attention_mask.shape
    lengths = attention_mask.sum(1).tolist()
    states: Tensor | None = None
    rows: Tensor | None = None
    for call in calls_of(lengths):
        longest = max(lengths[call])
        padded = min(lengths[call]) < longest
        found, at_positions = run(
            {name: values[call, :longest] for name, values in tokens.items()},
            attention_mask[call, :longest] if padded else None,
            positions[call].clamp(max=longest - 1),  # places of other documents' mentions: nobody reads them
        )
        if states is None:
            states = found.new_zeros(batch, width, found.shape[2])
        states[call, :longest] = found
        if at_positions is not None:
            if rows is None:
                rows = at_positions.new_zeros(batch, *at_positions.shape[1:3], width)
            rows[call, :, :, :longest] = at_positions
    assert states is not None, "a batch has a document"
    return states, rows
