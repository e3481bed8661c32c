"""Entity recognition beside relation extraction (BRAN): a tagger over the encoder's states, in training only.

Every token is tagged as the beginning of a mention of some type, as the inside of one, or as outside of all,
by one linear layer over its state; the mean cross-entropy over the tokens, times a weight, is added to what
is minimised. The encoder learns from it what names entities. The tagger is part of the model in training only,
and in a file of its own in checkpoints.

Markers around mentions, and an encoder that is told what is mentioned where, would give the tags away.

Reference:
    Verga, Strubell, McCallum (2018): Simultaneously self-attending to all mentions for full-abstract
    biological relation extraction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from unnoted.losses.base import weighted_mean
from unnoted.models.batch import Batch
from unnoted.models.model import RelationModel, RelationOutput
from unnoted.models.pooling import mentions_at_tokens

TAGGER = "entity_tagger"
"""What the tagger is called within the model while a training runs."""

TAGGER_FILE = f"{TAGGER}.safetensors"
"""The tagger's weights, in a checkpoint."""

NO_TAG = -100
"""The tag of tokens that do not count: padding, start and end, and mentions of a type that is not known."""


def entity_tags(batch: Batch) -> Tensor:
    """The tag of each token, int64 [D, T], in texts without markers.

    0 is outside of all mentions; for type k, numbered from 1, 2k - 1 is the beginning of a mention and 2k its
    inside. Where mentions overlap, the one that comes last among the mentions of its document counts.

    Args:
        batch: the documents.
    """
    width = batch.input_ids.shape[1]
    mention = mentions_at_tokens(batch, width)  # [D, T]
    inside = mention >= 0
    types = pad(batch.mention_type, (0, 1))[mention]  # the row -1 is the last: the 0 that is appended
    begins = pad(batch.mention_position, (0, 1))[mention] == torch.arange(width, device=batch.device)
    tags = (2 * types - begins.long()).masked_fill(~inside, 0)
    unknown = inside & (types == 0)
    outside = (batch.attention_mask == 0) | (batch.token_sentence == batch.sentences)
    return tags.masked_fill(unknown | outside, NO_TAG)


class EntityTagger(nn.Module):
    """The mean cross-entropy of the tags of a batch, by a linear layer over the states.

    Args:
        width: the size of a token's state (d).
        types: how many types of entities there are.
        seed: decides the first weights, whatever else draws random numbers.

    Example:
        >>> EntityTagger(width=8, types=3, seed=0).layer
        Linear(in_features=8, out_features=7, bias=True)
    """

    def __init__(self, width: int, types: int, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.layer = nn.Linear(width, 2 * types + 1)

    def forward(self, states: Tensor, batch: Batch) -> Tensor:
        """The cross-entropy, a scalar, of token states [D, T, d]; 0 for a batch that has no tag at all."""
        tags = entity_tags(batch)[:, : states.shape[1]]
        counted = tags != NO_TAG
        # What stands at padding may be anything, even no number at all.
        states = states.masked_fill(~counted.unsqueeze(2), 0)
        # Encoders in half precision give such states, and the tagger stays outside of mixed precision.
        scores = self.layer(states.to(self.layer.weight.dtype)).float().flatten(0, 1)  # [D * T, tags]
        total = cross_entropy(scores, tags.flatten(), ignore_index=NO_TAG, reduction="sum")
        return weighted_mean(total, counted.sum().to(total.dtype))


class EntityRecognition:
    """The weighted loss of a tagger over the encoder's states.

    Args:
        model: whose encoder's states are tagged; in training it has the tagger as a module of its own.
        weight: of entity recognition.
        seed: of the tagger's first weights.
    """

    def __init__(self, model: RelationModel, weight: float, seed: int) -> None:
        self.tagger = EntityTagger(model.encoder.width, len(model.entity_types), seed)
        self._model = model
        self._weight = weight

    def __call__(self, output: RelationOutput, batch: Batch) -> Tensor:
        """The weighted loss of the tags of a batch, a scalar."""
        tagged: Tensor = self.tagger(output.encoded.states, batch)
        return self._weight * tagged

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Within this context the tagger is a module of the model: it is moved, clipped and learnt with it."""
        self._model.add_module(TAGGER, self.tagger.to(self._model.device))
        ignored = self._model._keys_to_ignore_on_save  # so that a checkpoint is a model without a tagger
        self._model._keys_to_ignore_on_save = {f"{TAGGER}.{name}" for name in self.tagger.state_dict()}
        try:
            yield
        finally:
            self._model._keys_to_ignore_on_save = ignored
            delattr(self._model, TAGGER)

    def save(self, checkpoint: Path) -> None:
        """Write the tagger's weights beside those of the model."""
        save_file(self.tagger.state_dict(), checkpoint / TAGGER_FILE)

    def load(self, checkpoint: Path) -> None:
        """Read the tagger's weights from a checkpoint."""
        self.tagger.load_state_dict(load_file(checkpoint / TAGGER_FILE))


def check_recognition(model: RelationModel) -> None:
    """Refuse to recognise entities that something gives away, or that have no types to tell apart."""
    reason = None
    if model.config.markers:
        reason = "markers around mentions would give them away (model.markers: none leaves them out)"
    elif getattr(model.encoder.model, "takes_mentions", False):
        reason = "the encoder is told where mentions are"
    elif not model.entity_types:
        reason = "the model knows no entity types"
    if reason is not None:
        raise ValueError(f"loss.entity_recognition_weight: {reason}")
