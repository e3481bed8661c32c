"""Facts out of documents, with a trained model.

for extraction in Extractor.from_pretrained("model").extract(documents):
    print(extraction)
"""

from unnoted.extraction.extraction_stream import ExtractionStream
from unnoted.extraction.extractor import BATCH, Extractor
from unnoted.extraction.facts import ExtractedFact, Extraction, FactEntity
from unnoted.extraction.inspection import inspect_model

__all__ = [
    "BATCH",
    "ExtractedFact",
    "Extraction",
    "ExtractionStream",
    "Extractor",
    "FactEntity",
    "inspect_model",
]
