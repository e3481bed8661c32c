"""Services with small random models."""

import json
from contextlib import contextmanager

import spacy
from fastapi.testclient import TestClient
from tests.unit.inference.making import corpus, reading_model

from unnoted.data.formats.jsonl import record
from unnoted.data.ner import TextReader
from unnoted.inference import Extractor
from unnoted.serve import ExtractionService, ServiceLimits, create_app

DOCUMENTS = corpus(6)
RECORDS = [json.loads(json.dumps(record(document.with_facts(())))) for document in DOCUMENTS]
PATTERNS = [
    {"label": "PERSON", "pattern": "Ada"},
    {"label": "PERSON", "pattern": "Bo"},
    {"label": "GPE", "pattern": "Kelm"},
]
TEXT = "Ada met Bo in Kelm. <b> Ada slept </b>."


def extractor():
    return Extractor(reading_model(entity_types=["LOC", "PER"]), device="cpu")


def reader():
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    return TextReader.load(nlp, ["LOC", "PER"])


@contextmanager
def client(token=None, hosts=None, text=True, extractor=extractor, **limits):
    """A client of a service, and the service."""
    service = ExtractionService(extractor(), "small", reader() if text else None, ServiceLimits(**limits))
    with TestClient(create_app(service, token, hosts)) as made:
        yield made, service


def lines(records):
    return "".join(json.dumps(each) + "\n" for each in records)
