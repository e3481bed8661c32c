"""Facts out of documents, with a trained model.

for extraction in Extractor.from_pretrained("model").extract(documents):
    print(extraction)
"""

from typing import TYPE_CHECKING, Any

from unnoted.inference.extraction_stream import ExtractionStream
from unnoted.inference.extractor import BATCH, Extractor
from unnoted.inference.facts import ExtractedFact, Extraction, FactEntity

if TYPE_CHECKING:
    from unnoted.inference.inspection import inspect_model

__all__ = [
    "BATCH",
    "ExtractedFact",
    "Extraction",
    "ExtractionStream",
    "Extractor",
    "FactEntity",
    "inspect_model",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    # What loads transformers is imported when it is used: `Extractor` alone is there at once.
    if name == "inspect_model":
        from unnoted.inference.inspection import inspect_model

        return inspect_model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
