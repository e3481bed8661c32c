"""Documents → token ids, mention positions, candidate pairs and labels → batches.

`featurise` makes the features of a corpus (or finds them in a `FeatureCache`), `ShuffledBatches` or
`SortedBatches` say which documents share a batch, and a `Collator` makes each `Batch`:

    features = featurise(documents, tokenizer, relations, CandidatePairs(), FeatureCache())
    batches = ShuffledBatches(features, BatchLimits(documents=4), seed=62)
    loader = DataLoader(features, batch_sampler=batches, collate_fn=Collator.of(features))
"""

from unnoted.models.features.batch import Batch
from unnoted.models.features.batches import BatchLimits, ShuffledBatches, SortedBatches
from unnoted.models.features.cache import FeatureCache
from unnoted.models.features.collate import Collator
from unnoted.models.features.dataset import DocumentFeatures, FeatureSet, featurise
from unnoted.models.features.epoch import Epoch
from unnoted.models.features.report import FeatureReport
from unnoted.models.features.sampling import PairSample, UnlabelledPerLabelled, UnlabelledSample
from unnoted.models.features.tokenise import Tokeniser

__all__ = [
    "Batch",
    "BatchLimits",
    "Collator",
    "DocumentFeatures",
    "Epoch",
    "FeatureCache",
    "FeatureReport",
    "FeatureSet",
    "PairSample",
    "ShuffledBatches",
    "SortedBatches",
    "Tokeniser",
    "UnlabelledPerLabelled",
    "UnlabelledSample",
    "featurise",
]
