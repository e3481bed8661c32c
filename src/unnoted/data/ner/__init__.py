"""From plain text to documents: what finds mentions, what their types are called, and which are one entity.

Needs an extra: `pip install 'unnoted[spacy]'` or `'unnoted[gliner]'`; neither is imported before it is used.
"""

from unnoted.data.ner.found_mention import FoundMention, MentionFinder
from unnoted.data.ner.gliner_mentions import GLINER_TYPES, GlinerMentions
from unnoted.data.ner.joining import join_mentions
from unnoted.data.ner.spacy_mentions import SPACY_TYPES, SpacyMentions
from unnoted.data.ner.text_reader import EntitySource, TextReader
from unnoted.data.ner.type_names import TypeNames

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
