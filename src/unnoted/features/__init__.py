"""Documents → token ids, mention positions, candidate pairs and labels → batches.

`featurise` makes the features of a corpus (or finds them in a `FeatureCache`), `ShuffledBatches` or
`SortedBatches` say which documents share a batch, and a `Collator` makes each `Batch`:

    features = featurise(documents, tokenizer, relations, AllPairs(), FeatureCache())
    batches = ShuffledBatches(features, BatchLimits(documents=4), seed=62)
    loader = DataLoader(features, batch_sampler=batches, collate_fn=Collator.of(features))
"""

from unnoted.features.batch import Batch
from unnoted.features.batches import BatchLimits, ShuffledBatches, SortedBatches
from unnoted.features.cache import FeatureCache
from unnoted.features.collate import Collator
from unnoted.features.covering import CoveringBatches
from unnoted.features.dataset import DocumentFeatures, FeatureSet, featurise
from unnoted.features.epoch import Epoch
from unnoted.features.report import FeatureReport
from unnoted.features.sampling import PairSample, UnlabelledPerLabelled, UnlabelledSample
from unnoted.features.tokenise import Tokeniser
from unnoted.features.typed_sampling import UnlabelledByTypes, relative_rates

__all__ = [
    "Batch",
    "BatchLimits",
    "Collator",
    "CoveringBatches",
    "DocumentFeatures",
    "Epoch",
    "FeatureCache",
    "FeatureReport",
    "FeatureSet",
    "PairSample",
    "ShuffledBatches",
    "SortedBatches",
    "Tokeniser",
    "UnlabelledByTypes",
    "UnlabelledPerLabelled",
    "UnlabelledSample",
    "featurise",
    "relative_rates",
]
