"""From plain text to documents: what finds mentions, what their types are called, and which are one entity.

Needs an extra: `pip install 'unnoted[spacy]'` or `'unnoted[gliner]'`; neither is imported before it is used.
"""

from unnoted.documents.raw_text.found_mention import FoundMention, MentionFinder
from unnoted.documents.raw_text.gliner_mentions import GLINER_TYPES, GlinerMentions
from unnoted.documents.raw_text.joining import join_mentions
from unnoted.documents.raw_text.spacy_mentions import SPACY_TYPES, SpacyMentions
from unnoted.documents.raw_text.text_reader import EntitySource, TextReader
from unnoted.documents.raw_text.type_names import TypeNames

__all__ = [
    "GLINER_TYPES",
    "SPACY_TYPES",
    "EntitySource",
    "FoundMention",
    "GlinerMentions",
    "MentionFinder",
    "SpacyMentions",
    "TextReader",
    "TypeNames",
    "join_mentions",
]
