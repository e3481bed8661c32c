"""What has to be right before a training begins: features, and a model that knows its task."""

from unnoted.documents.corpus import Corpus
from unnoted.features import FeatureCache, FeatureSet, featurise
from unnoted.model import RelationModel
from unnoted.risks import Risk


def features_of(model: RelationModel, train: Corpus, cache: FeatureCache | None = None) -> FeatureSet:
    """The features of documents as a model sees them."""
    if model.tokenizer is None:
        raise ValueError("found a model without a tokenizer, expected one made by RelationModel.from_encoder")
    if not len(train):
        raise ValueError("found no training document, expected at least one")
    return featurise(
        train.documents,
        model.tokenizer,
        train.relations.ids,
        train.candidates,
        cache,
        model.entity_types,
        model.config.markers,
    )


def tell_task(model: RelationModel, risk: Risk, train: Corpus) -> None:
    """Let the model know what its scores will mean, so that every checkpoint can be used as a model."""
    model.check_relations(train.relations.ids)
    model.config.candidates = train.candidates.to_json()
    model.meaning = risk.meaning
