"""Facts out of documents, with a trained model.

for extraction in Extractor.from_pretrained("model").extract(documents):
    print(extraction)
"""

from unnoted.extraction.extractor import BATCH, Extractor
from unnoted.extraction.facts import ExtractedFact, Extraction
from unnoted.extraction.inspection import inspect_model

__all__ = ["BATCH", "ExtractedFact", "Extraction", "Extractor", "inspect_model"]
