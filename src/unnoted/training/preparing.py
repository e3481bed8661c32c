"""What has to be right before a training begins: features, and a model that knows its task."""

from collections.abc import Sequence

from unnoted.data.corpus import Corpus
from unnoted.losses import Loss
from unnoted.models.features import FeatureSet, featurise
from unnoted.models.model import RelationModel
from unnoted.models.samplers import (
    BatchLimits,
    PairSampler,
    RatioPairSampler,
    ShuffledBatches,
    UniformPairSampler,
)
from unnoted.models.type_constraints import RelationTypes
from unnoted.training.optimisation import Optimisation

HIGH_HEAD_RATE = 5e-4
"""From here on, new layers take scores far beyond the margin of the squared ranking loss first."""

RANKING_LINK = "ranking-margin"
"""The link of scores that the squared ranking loss has trained."""


def features_of(
    model: RelationModel,
    train: Corpus,
    types: Sequence[str] | None = None,
) -> FeatureSet:
    """The features of documents as a model sees them; `types` are numbered, by default those it knows."""
    if model.tokenizer is None:
        raise ValueError("found a model without a tokenizer, expected one made by RelationModel.from_encoder")
    if not len(train):
        raise ValueError("found no training document, expected at least one")
    return featurise(
        train.documents,
        model.tokenizer,
        train.relations.ids,
        train.candidates,
        model.entity_types if types is None else types,
        model.config.markers,
    )


def tell_task(model: RelationModel, loss: Loss, train: Corpus, typed_relations: bool = False) -> None:
    """Let the model know what its scores will mean, so that every checkpoint can be used as a model.

    Args:
        model: to be trained.
        loss: that it will minimise.
        train: the documents; a run has them as features by now, and none here.
        typed_relations: let it learn which types each relation connects.
    """
    model.check_relations(train.relations.ids)
    if typed_relations and len(train):
        model.relation_types = RelationTypes.from_documents(train)
    model.candidates = train.candidates
    model.decoder = loss.decoder


def check_sample(loss: Loss, optimisation: Optimisation) -> None:
    """Refuse a sample without weights for a loss with priors, and weights that a loss would cancel.

    A loss with priors estimates means over all pairs that lack a relation. In a sample that favours labelled
    pairs, those that have another relation weigh more among them than they do in the documents.

    Raises:
        ValueError: names the setting.
    """
    if optimisation.unlabelled_per_labelled is not None and loss.decoder.priors is not None:
        found = f"found {optimisation.unlabelled_per_labelled:g}, expected none"
        raise ValueError(
            f"unlabelled_per_labelled: {found}: the loss has priors, which are those of all pairs; "
            "unlabelled_share draws a sample with weights"
        )


def batches_of(
    features: FeatureSet, optimisation: Optimisation, pair_sampler: PairSampler | None
) -> ShuffledBatches:
    """Which documents share a batch in training."""
    limits, seed = BatchLimits(optimisation.batch_documents), optimisation.seed
    return ShuffledBatches(
        features, limits, seed, like_length=optimisation.batches == "like-length", pair_sampler=pair_sampler
    )


def rate_note(loss: Loss, optimisation: Optimisation) -> str | None:
    """What to tell the user about the learning rate of the new layers under this loss, if anything."""
    rate = optimisation.head_learning_rate
    if loss.decoder.link.name != RANKING_LINK or rate < HIGH_HEAD_RATE:
        return None
    return (
        f"head_learning_rate {rate:g}: the squared ranking loss asks for differences of "
        f"{loss.decoder.link.margin:g} between scores; measured at 5e-4 and 1e-3, new layers spend the first "
        "epochs bringing scores back to that size; 1e-4 is the published rate"
    )


def sample_of(optimisation: Optimisation) -> PairSampler | None:
    """Which pairs are scored in training; None for all."""
    if optimisation.unlabelled_per_labelled is not None:
        return RatioPairSampler(optimisation.unlabelled_per_labelled, optimisation.seed)
    if optimisation.unlabelled_share == 1:
        return None
    return UniformPairSampler(optimisation.unlabelled_share, optimisation.seed)
