"""Extract facts from documents with a trained model.

for extraction in Extractor.from_pretrained("model").extract(documents):
    print(extraction)
"""

from unnoted.inference.extractor import BATCH, Extractor
from unnoted.inference.facts import (
    DocumentRecord,
    ExtractedFact,
    Extraction,
    ExtractionStream,
    FactEntity,
    FactRecord,
)
from unnoted.inference.graph import Graph, GraphEdge, GraphNode, to_graph, to_networkx
from unnoted.inference.scoring import DecisionOptions

__all__ = [
    "BATCH",
    "DecisionOptions",
    "DocumentRecord",
    "ExtractedFact",
    "Extraction",
    "ExtractionStream",
    "Extractor",
    "FactEntity",
    "FactRecord",
    "Graph",
    "GraphEdge",
    "GraphNode",
    "to_graph",
    "to_networkx",
]
