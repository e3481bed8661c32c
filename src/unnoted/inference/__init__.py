"""Extract facts from documents with a trained model.

for extraction in Extractor("runs/own")(documents):
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
from unnoted.inference.scoring import Decision, DecisionOptions

__all__ = [
    "BATCH",
    "Decision",
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
