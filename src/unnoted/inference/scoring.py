"""From a batch to facts: which the model predicts, their scores, and their evidence.

**Evidence.** The model has no part trained to point at evidence, but localized context has a weight q: how much
of a pair's representation comes from each token. Summed over a sentence and divided by the sum over the
document, it is the sentence's attention share. The evidence of a fact are

* the sentences that mention both entities, if there are any;
* else those whose share is at least half of the largest;

and of more than three, the three with the largest shares. They say where the model looked; they prove nothing.
Models whose attention was trained on evidence take every sentence above a threshold instead. For a model
without attention, a sentence's share is its share of the mentions of both entities.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.calibration import ExpectedFacts
from unnoted.data.document import Document, Entity
from unnoted.losses import ScoreDecoder
from unnoted.models.batch import Batch

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only with a model
    from unnoted.models.encoders import EncoderOutput
    from unnoted.models.model import RelationModel
    from unnoted.models.type_constraints import TypeConstraints

MAX_EVIDENCE = 3
"""Evidence sentences of a fact at most."""

MIN_RELATIVE_SHARE = 0.5
"""The least share of evidence, relative to the largest, where no sentence mentions both entities."""

MAX_PRODUCTS = 2**22
"""Attention products (pairs x heads x tokens) held at a time."""

MAX_SHARES = 2**24
"""Attention shares (pairs with facts x sentences) held at a time."""


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """Which facts are predicted, where that is not left to the model; at most one is given.

    Args:
        threshold: predict facts with a score above this.
        target_precision: use the threshold that is expected to have this precision; of a calibrated model.
        target_recall: the same with a recall.

    Raises:
        ValueError: one is not between 0 and 1, or more than one is given.

    Example:
        >>> DecisionOptions(threshold=1.5)
        Traceback (most recent call last):
        ValueError: threshold must be between 0 and 1, not 1.5
    """

    threshold: float | None = None
    target_precision: float | None = None
    target_recall: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        for name, value in given.items():
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, not {value}")
        if len(given) > 1:
            raise ValueError(f"give only one of {' and '.join(given)}")

    def resolve(self, decoder: ScoreDecoder) -> "Decision":
        """The threshold that they stand for with a model's score decoder.

        Raises:
            ValueError: a target of a model that is not calibrated, or one that no threshold reaches.
        """
        expected = None if decoder.calibration is None else decoder.calibration.expected
        if self.threshold is not None:
            return Decision(self.threshold, expected)
        if self.target_precision is None and self.target_recall is None:
            return Decision(decoder.threshold, expected, is_default=True)
        if expected is None:
            wanted = "target recall" if self.target_precision is None else "target precision"
            raise ValueError(
                f"{wanted}: the model is not calibrated (docs/concepts/probabilities.md says how)"
            )
        if self.target_precision is not None:
            return Decision(expected.threshold_at_precision(self.target_precision), expected)
        assert self.target_recall is not None
        return Decision(expected.threshold_at_recall(self.target_recall), expected)


@dataclass(frozen=True, slots=True)
class Decision:
    """Which facts are predicted: those with a score above a threshold; and what is expected of them.

    Attributes:
        threshold: of the score.
        expected: what thresholds are expected to give in documents like those of the training; None if the
            model is not calibrated.
        is_default: whether the threshold is the one that the model stores.

    Example:
        >>> print(Decision(0.5, None, is_default=True))
        score above 0.500, the model's threshold; the model is not calibrated: scores only order facts
    """

    threshold: float
    expected: ExpectedFacts | None
    is_default: bool = False

    def __str__(self) -> str:
        stored = ", the model's threshold" if self.is_default else ""
        if self.expected is None:
            outcome = "the model is not calibrated: scores only order facts"
        else:
            expected = self.expected.metrics_at(self.threshold)
            outcome = f"expected precision {expected['precision']:.2f}, recall {expected['recall']:.2f}"
        return f"score above {self.threshold:.3f}{stored}; {outcome}"

    @property
    def precision(self) -> float | None:
        """The expected precision; None without a calibration."""
        return None if self.expected is None else self.expected.metrics_at(self.threshold)["precision"]

    @property
    def lowest_shown(self) -> float:
        """Pages hold facts down to this score; those that are not predicted are hidden until they are asked for.

        Without a calibration most pairs may have scores that are not much lower.
        """
        return self.threshold * (0.8 if self.expected is None else 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class BatchScores:
    """What the model says of a batch of P pairs and K relations, on its device.

    Attributes:
        encoded: the tokens.
        logits: [P, K + 1].
        decoder: turns logits into scores.
        decided: [P, K], the predicted facts.
        rule: [P, K], the number of the rule that raised a score, or -1; None for a model without rules.
    """

    encoded: "EncoderOutput"
    logits: Tensor
    decoder: ScoreDecoder
    decided: Tensor
    rule: Tensor | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BatchFacts:
    """F facts of a batch, ordered by pair, then by relation.

    Attributes:
        pair: [F], row into the batch's pairs.
        relation: [F], index into the relations.
        score: [F].
        rule: [F], the number of the rule that implies the fact, or -1; None for a model without rules.
        shares: each sentence's attention share, [S], for each pair with facts, in their order.
    """

    pair: list[int]
    relation: list[int]
    score: list[float]
    rule: list[int] | None
    shares: Iterator[NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentScores:
    """Every candidate pair of a document with every relation, in numpy: for rankings, where facts are many.

    Attributes:
        document: the document.
        head: [P], the index of the head entity.
        tail: [P].
        score: [P, K], as facts have it.
        probability: [P, K]; without a calibration what the loss's link gives, which may have ties.
        decided: [P, K], which facts are predicted.
        calibrated: whether scores are calibrated probabilities.
    """

    document: Document
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    score: NDArray[np.float64]
    probability: NDArray[np.floating[Any]]
    decided: NDArray[np.bool_]
    calibrated: bool


# Not inference mode: a model may be asked during its training, and must not keep tensors made here.
@torch.no_grad()
def score_batch(
    model: "RelationModel",
    batch: Batch,
    threshold: float | None = None,
    typed: "TypeConstraints | None" = None,
) -> BatchScores:
    """Score the pairs of a batch, which is on the device of the model; the model is in evaluation mode.

    Args:
        model: scores.
        batch: the documents.
        threshold: predict facts with a score above this; by default that of the model.
        typed: which relations the types of a pair allow, whatever the threshold.
    """
    output = model(batch, typed)
    decoder, logits = model.decoder, output.logits  # [P, K + 1]
    decided = decoder.decide(logits, threshold)
    if output.allowed is not None:
        decided = decided & output.allowed
    return BatchScores(output.encoded, logits, decoder, decided, output.rule)


@torch.no_grad()
def find_facts(batch: Batch, scored: BatchScores) -> BatchFacts:
    """The facts of a batch, which is on the model's device."""
    # The one place where the CPU waits for the device: the number of facts is known only now.
    pair, relation = scored.decided.nonzero(as_tuple=True)  # [F]
    pairs, fact_pair = torch.unique_consecutive(pair, return_inverse=True)  # [Q], [F] into it
    score = scored.decoder.scores(scored.logits[pairs])[fact_pair, relation]  # [Q, K] to [F]
    rule = None if scored.rule is None else scored.rule[pair, relation].tolist()
    shares = sentence_shares(batch, scored.encoded, pairs)
    return BatchFacts(pair.tolist(), relation.tolist(), score.tolist(), rule, shares)


@torch.no_grad()
def sentence_shares(batch: Batch, encoded: "EncoderOutput", pairs: Tensor) -> Iterator[NDArray[np.float64]]:
    """Each sentence's share of what a pair attends to, [S] for each of some pairs [Q]; few are held at a time."""
    if not len(pairs):
        return
    attention = None if encoded.attention is None else encoded.entity_attention
    for some in torch.split(pairs, max(1, MAX_SHARES // max(1, batch.sentences))):
        shares = (
            mention_shares(batch, some) if attention is None else attention_shares(attention, batch, some)
        )
        yield from shares.double().cpu().numpy()


def attention_shares(attention: Tensor, batch: Batch, pair: Tensor) -> Tensor:
    """Each sentence's share of what both entities of a pair attend to.

    Args:
        attention: [N, H, T], what each entity attends to (`EncoderOutput.attention`).
        batch: the batch.
        pair: int64 [Q], rows into the batch's pairs.

    Returns:
        [Q, S], S the largest number of sentences of a document; 0 where the two attentions do not overlap.
    """
    sentences = batch.sentences
    _, heads, tokens = attention.shape
    pieces = [attention.new_zeros(0, sentences)]
    for piece in torch.split(pair, max(1, MAX_PRODUCTS // (heads * tokens))):
        products = (attention[batch.head[piece]] * attention[batch.tail[piece]]).mean(1)  # [q, T]
        mass = products.new_zeros(len(piece), sentences + 1)  # the last column takes tokens of no sentence
        mass.scatter_add_(1, batch.token_sentence[batch.pair_document[piece], :tokens], products)
        mass = mass[:, :sentences]
        pieces.append(mass / mass.sum(1, keepdim=True).clamp(min=torch.finfo(mass.dtype).tiny))
    return torch.cat(pieces)


def mention_shares(batch: Batch, pair: Tensor) -> Tensor:
    """Each sentence's share of the mentions of both entities of a pair, for models without attention.

    Args:
        batch: the batch.
        pair: int64 [Q], rows into the batch's pairs.

    Returns:
        [Q, S], S the largest number of sentences of a document.
    """
    sentences, entities = batch.sentences, batch.entity_document.shape[0]
    counts = batch.pair_weight.new_zeros(entities * sentences)
    place = batch.mention_entity * sentences + batch.mention_sentence
    counts.index_add_(0, place, counts.new_ones(len(place)))
    counts = counts.view(entities, sentences)
    both = counts[batch.head[pair]] + counts[batch.tail[pair]]  # [Q, S]
    return both / both.sum(1, keepdim=True)


def supporting_sentences(head: Entity, tail: Entity, shares: NDArray[np.floating]) -> tuple[int, ...]:
    """The evidence of a pair, ascending, by the rule at the head of this file.

    Args:
        head: the head entity.
        tail: the tail entity.
        shares: the attention share of each sentence of the document.

    Example:
        >>> from unnoted.data.document import Mention
        >>> ada, bo = (Entity((Mention(sentence, 0, 1, "PER", "x"),)) for sentence in (0, 2))
        >>> supporting_sentences(ada, bo, np.array([0.5, 0.1, 0.4]))
        (0, 2)
        >>> supporting_sentences(ada, ada, np.array([0.2, 0.7, 0.1]))
        (0,)
    """
    both = head.sentences & tail.sentences
    least = MIN_RELATIVE_SHARE * shares.max(initial=0.0)
    candidates = np.array(sorted(both)) if both else np.flatnonzero((shares >= least) & (shares > 0))
    ranked = candidates[np.argsort(-shares[candidates], kind="stable")]  # of equals the first
    return tuple(sorted(ranked[:MAX_EVIDENCE].tolist()))


def guided_sentences(shares: NDArray[np.floating], threshold: float) -> tuple[int, ...]:
    """The evidence of a pair, ascending, where attention was trained on evidence.

    These are the sentences whose share is at least the threshold; the one with the largest share if none is.

    Args:
        shares: the attention share of each sentence of the document.
        threshold: from 0 to 1.

    Example:
        >>> guided_sentences(np.array([0.5, 0.1, 0.4]), 0.2), guided_sentences(np.array([0.3, 0.4, 0.3]), 0.5)
        ((0, 2), (1,))
    """
    above = np.flatnonzero((shares >= threshold) & (shares > 0))
    if not len(above) and shares.max(initial=0.0) > 0:
        above = shares.argmax(axis=0, keepdims=True)
    return tuple(above.tolist())
