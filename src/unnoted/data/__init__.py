"""What a document is, and how documents are read, written, labelled and made."""

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats import register_format, write_documents
from unnoted.data.formats.records import DocumentFormat
from unnoted.data.loading import load_documents, stream_documents
from unnoted.errors import DataError, DefectLog

__all__ = [
    "CandidatePairs",
    "Corpus",
    "DataError",
    "DefectLog",
    "Document",
    "DocumentFormat",
    "Entity",
    "Fact",
    "Mention",
    "RelationVocabulary",
    "load_documents",
    "register_format",
    "stream_documents",
    "write_documents",
]
