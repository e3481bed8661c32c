"""A trained model's scores of every candidate pair of labelled documents."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.inference import BATCH
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel
from unnoted.models.samplers import SortedBatches
from unnoted.models.scores.typed_relations import TypedRelations
from unnoted.training.preparing import features_of

T = TypeVar("T")


# Not inference mode: the model may be trained further.
@torch.no_grad()
def evaluated_batches(
    model: RelationModel, features: FeatureSet, evaluate: Callable[[Batch], T]
) -> Iterator[tuple[list[int], Batch, T]]:
    """The documents of each batch by their index, the batch, and what `evaluate` says of it.

    It is given the batch on the device of the model, which is in evaluation mode meanwhile.
    """
    collate, training = Collator(features), model.training
    model.eval()  # type: ignore[no-untyped-call]
    try:
        for indices in SortedBatches(features, BATCH):
            batch = collate([features[index] for index in indices])
            yield indices, batch, evaluate(batch.to(model.device))
    finally:
        model.train(training)


def scored_batches(
    model: RelationModel, features: FeatureSet, typed: TypedRelations | None = None
) -> Iterator[tuple[list[int], Batch, Tensor]]:
    """The documents of each batch by their index, the batch, and the scores [P, K + 1] of its pairs.

    Where they are to be kept, in main memory. `typed` says which relations types allow; without it all are
    scored.
    """
    return evaluated_batches(model, features, lambda batch: model.score_pairs(batch, typed).scores.cpu())


def labelled_scores(model: RelationModel, documents: Sequence[Document]) -> OutOfFoldScores:
    """The margins of all candidate pairs beside their labels.

    Whatever types allow: how many facts nobody noted is not to be estimated from types that somebody noted.

    Args:
        model: a trained one, with its tokenizer.
        documents: should be others than those that it was trained on.
    """
    corpus = Corpus(tuple(documents), model.relations, model.candidates)
    features = features_of(model, corpus)
    parts: list[OutOfFoldScores] = []
    for indices, batch, scores in scored_batches(model, features):
        head, tail = (batch.entity_slot[side].numpy().astype(np.int32) for side in (batch.head, batch.tail))
        parts.append(
            OutOfFoldScores(
                relations=model.relations.ids,
                documents=tuple(documents[index].id for index in indices),
                document=batch.pair_document.numpy().astype(np.int32),
                head=head,
                tail=tail,
                margin=model.decoder.margins(scores).float().numpy(),
                labelled=batch.labels().numpy(),
            )
        )
    return OutOfFoldScores.joined(parts)
