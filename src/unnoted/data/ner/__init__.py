"""Named entity recognition: from plain text to documents, by spaCy, GLiNER or a recognizer of your own.

Needs an extra: `pip install 'unnoted[spacy]'` or `'unnoted[gliner]'`; neither is imported before it is used.
"""

from unnoted.data.ner.recognizers import (
    GLINER_TYPES,
    SPACY_TYPES,
    EntityRecognizer,
    EntitySpan,
    GlinerRecognizer,
    SpacyRecognizer,
)
from unnoted.data.ner.text import EntityTypeMapping, RecognizerSource, TextReader, cluster_spans, parse_types

__all__ = [
    "GLINER_TYPES",
    "SPACY_TYPES",
    "EntityRecognizer",
    "EntitySpan",
    "EntityTypeMapping",
    "GlinerRecognizer",
    "RecognizerSource",
    "SpacyRecognizer",
    "TextReader",
    "cluster_spans",
    "parse_types",
]
