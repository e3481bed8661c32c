"""What a document is, and how documents are read, written, labelled and made."""

from unnoted.common.errors import DataError, DefectLog
from unnoted.documents.candidates import AllPairs, Candidates, InOneSentence, TypePairs
from unnoted.documents.corpus import Corpus
from unnoted.documents.formats import DocumentFormat, register_format
from unnoted.documents.loading import load_documents, stream_documents
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.schema import Document, Entity, Fact, LabelSet, Mention
from unnoted.documents.writing import write_documents

__all__ = [
    "AllPairs",
    "Candidates",
    "Corpus",
    "DataError",
    "DefectLog",
    "Document",
    "DocumentFormat",
    "Entity",
    "Fact",
    "InOneSentence",
    "LabelSet",
    "Mention",
    "RelationVocabulary",
    "TypePairs",
    "load_documents",
    "register_format",
    "stream_documents",
    "write_documents",
]
