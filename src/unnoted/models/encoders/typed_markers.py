"""Markers that tell a mention's type: the opening one is the word for it, so the encoder reads it in context.

A type has a pretrained word, so nothing has to be learned anew: "* Kelm *" becomes "place Kelm *".
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from transformers import PreTrainedTokenizerBase

from unnoted.models.features.batch import Batch
from unnoted.models.features.tokenise import MARKER

WORDS = {
    "per": "person",
    "org": "organization",
    "loc": "place",
    "gpe": "place",
    "misc": "thing",
    "num": "number",
}
"""What common abbreviations of types stand for; any other type is its own word."""


def type_tokens(tokenizer: PreTrainedTokenizerBase, types: Sequence[str]) -> list[int]:
    """The token that opens a mention of each type, the marker first, for types that are not known.

    It is the first piece of the type's word. A type whose word the tokenizer does not know keeps the marker.

    Example:
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> from transformers import PreTrainedTokenizerFast
        >>> backend = Tokenizer(models.WordLevel({"[UNK]": 0, "*": 1, "person": 2}, unk_token="[UNK]"))
        >>> backend.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]")
        >>> type_tokens(tokenizer, ("PER", "LOC"))
        [1, 2, 1]
    """
    # With a space before it, as words stand in a text: byte-level tokenizers tell the two apart.
    words = [MARKER, *(WORDS.get(name.lower(), name.lower()) for name in types)]
    pieces = [tokenizer(f" {word}", add_special_tokens=False)["input_ids"][:1] for word in words]
    marker = pieces[0][0]
    return [piece[0] if piece and piece[0] != tokenizer.unk_token_id else marker for piece in pieces]


def with_typed_markers(batch: Batch, tokens: Sequence[int]) -> Batch:
    """The batch with the opening marker of each mention replaced by the token of its type."""
    by_type = torch.tensor(tokens, device=batch.device)
    input_ids = batch.input_ids.clone()
    input_ids[batch.mention_document, batch.mention_position] = by_type[batch.mention_type]
    return replace(batch, input_ids=input_ids)
