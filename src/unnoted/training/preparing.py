"""What has to be right before a training begins: features, precision, and a model that knows its task."""

import torch

from unnoted.documents.corpus import Corpus
from unnoted.features import FeatureCache, FeatureSet, featurise
from unnoted.model import RelationModel
from unnoted.risks import Risk
from unnoted.training.optimisation import Precision


def check_precision(precision: Precision, use_cpu: bool = False) -> None:
    """Half precision only where it is fast and works: some CPUs end the program at a bf16 product."""
    if precision == "float32":
        return
    if use_cpu or not torch.cuda.is_available():
        raise ValueError(f"precision: found {precision!r}, expected 'float32' where there is no GPU")
    if precision == "bf16" and not torch.cuda.is_bf16_supported():
        raise ValueError("precision: found 'bf16', expected 'fp16' or 'float32' on a GPU without bf16")


def features_of(model: RelationModel, train: Corpus, cache: FeatureCache | None = None) -> FeatureSet:
    """The features of documents as a model sees them."""
    if model.tokenizer is None:
        raise ValueError("found a model without a tokenizer, expected one made by RelationModel.from_encoder")
    if not len(train):
        raise ValueError("found no training document, expected at least one")
    return featurise(
        train.documents, model.tokenizer, train.relations.ids, train.candidates, cache, model.entity_types
    )


def tell_task(model: RelationModel, risk: Risk, train: Corpus) -> None:
    """Let the model know what its scores will mean, so that every checkpoint can be used as a model."""
    model.check_relations(train.relations.ids)
    model.config.candidates = train.candidates.to_json()
    model.meaning = risk.meaning
