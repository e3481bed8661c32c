"""A synthetic corpus whose complete truth is known, for demonstrations, tests and load tests."""

from unnoted.data.synthetic.generator import generate_document, generate_documents
from unnoted.data.synthetic.grammar import relation_names

__all__ = ["generate_document", "generate_documents", "relation_names"]
