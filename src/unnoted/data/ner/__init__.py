"""Named entity recognition: from plain text to documents, by spaCy, GLiNER or a recognizer of your own.

Needs an extra: `pip install 'unnoted[spacy]'` or `'unnoted[gliner]'`; neither is imported before it is used.
"""

from unnoted.data.ner.recognizers import EntityRecognizer, EntitySpan, GlinerRecognizer, SpacyRecognizer
from unnoted.data.ner.text import RecognizerSource, TextReader, parse_types

__all__ = [
    "EntityRecognizer",
    "EntitySpan",
    "GlinerRecognizer",
    "RecognizerSource",
    "SpacyRecognizer",
    "TextReader",
    "parse_types",
]
