"""Mentions by spaCy and GLiNER, and the documents made of them."""

import sys
from types import SimpleNamespace

import pytest
import spacy
from spacy.pipeline import EntityLinker
from spacy.tokens import Doc, Span

from unnoted.data.ner import EntitySpan, GlinerRecognizer, SpacyRecognizer, TextReader
from unnoted.data.ner.recognizers import GLINER_CONFIG, chunk_sentences, spans_of_doc
from unnoted.errors import DataError
from unnoted.io import Limits

TEXT = "Ada Lorne lives in Kelm. She was born in May 1990. Lorne likes kelm."
PATTERNS = [
    {"label": "PERSON", "pattern": "Ada Lorne"},
    {"label": "PERSON", "pattern": "Lorne"},
    {"label": "GPE", "pattern": "Kelm"},
    {"label": "LOC", "pattern": "kelm"},
    {"label": "DATE", "pattern": "May 1990"},
]


def ruled(patterns=PATTERNS):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    return nlp


def read(nlp, text=TEXT, **options):
    (document,) = TextReader.load(nlp, **options).read([("a", text)])
    return [(entity.type, [mention.name for mention in entity.mentions]) for entity in document.entities]


def test_types_get_their_usual_names_before_names_are_compared():
    logged = []
    known = ["LOC", "PER", "TIME"]
    assert read(ruled(), known=known, log=logged.append) == [
        ("PER", ["Ada Lorne"]),
        ("LOC", ["Kelm", "kelm"]),
        ("TIME", ["May 1990"]),
        ("PER", ["Lorne"]),
    ]
    assert logged == []


def test_given_names_come_first_and_unknown_types_are_logged_once():
    logged = []
    found = read(ruled(), known=["PER", "Place"], types={"GPE": "Place", "DATE": ""}, log=logged.append)
    assert ("Place", ["Kelm"]) in found and ("LOC", ["kelm"]) in found and len(found) == 4
    assert len(logged) == 1 and "LOC" in logged[0]
    with pytest.raises(ValueError, match=r"'GPE'.*'Plaze'.*nearest: 'Place'"):
        TextReader.load(ruled(), known=["PER", "Place"], types={"GPE": "Plaze"})


def test_ids_of_a_ruler_and_of_a_linker_join():
    nlp = ruled([{"label": "PERSON", "pattern": name, "id": "Q1"} for name in ("Ada Lorne", "Lorne")])
    assert read(nlp) == [("PERSON", ["Ada Lorne", "Lorne"])]
    doc = spacy.blank("en")("Ada met Bo.")
    doc.ents = [Span(doc, 0, 1, "PERSON", kb_id="Q7")]
    assert spans_of_doc(doc) == (EntitySpan(0, 3, "PERSON", "Q7"),)


def test_what_a_linker_does_not_find_is_not_one_entity():
    doc = spacy.blank("en")("Ada met Bo.")
    doc.ents = [Span(doc, place, place + 1, "PERSON", kb_id=EntityLinker.NIL) for place in (0, 2)]
    assert [span.kb_id for span in spans_of_doc(doc)] == [None, None]


@pytest.fixture
def extensions():
    Doc.set_extension("coref_clusters", default=None)
    yield
    Doc.remove_extension("coref_clusters")


def clusters_of(doc):
    return [(doc.text[one.start : one.end], one.cluster) for one in spans_of_doc(doc)]


def test_clusters_of_fastcoref_and_spacy(extensions):
    expected = [("Ada Lorne", 0), ("Kelm", None), ("May 1990", None), ("Lorne", 0), ("kelm", None)]
    doc = ruled()(TEXT)
    doc._.coref_clusters = [[(0, 9), (25, 28), (51, 56)]]
    assert clusters_of(doc) == expected
    doc = ruled()(TEXT)
    doc.spans["coref_clusters_1"] = [doc.char_span(0, 9), doc.char_span(51, 56)]
    assert clusters_of(doc) == expected


def test_what_a_cluster_says_of_something_longer_is_not_said_of_the_name_in_it(extensions):
    doc = ruled()("The mayor of Kelm slept.")
    doc._.coref_clusters = [[(0, 17)]]
    assert clusters_of(doc) == [("Kelm", None)]


def test_a_pipeline_is_loaded_from_a_folder_and_a_missing_one_is_named(tmp_path):
    ruled().to_disk(tmp_path / "nlp")
    assert len(read(tmp_path / "nlp")) == 5
    with pytest.raises(ValueError, match="nowhere"):
        SpacyRecognizer.load("nowhere")


def test_without_a_pipeline_the_extra_or_the_download_is_named(monkeypatch):
    monkeypatch.setattr("unnoted.data.ner.text.installed_pipelines", lambda: [])
    with pytest.raises(ValueError, match="spacy download"):
        TextReader.load(None)
    monkeypatch.setattr("unnoted.data.ner.text.installed_pipelines", lambda: ["a", "b"])
    with pytest.raises(ValueError, match="a, b"):
        TextReader.load(None)
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ValueError, match=r"pip install 'unnoted\[spacy\]'"):
        TextReader.load("some")


class FakeGliner:
    """Finds names in what it is given, as a GLiNER model would."""

    names = ("Ada Lorne", "Kelm")

    def predict_entities(self, text, labels):
        assert labels == ["person", "location"]
        return [
            {"start": text.index(name), "end": text.index(name) + len(name), "label": label}
            for name, label in zip(self.names, labels, strict=True)
            if name in text
        ]


def test_a_gliner_folder_is_detected_and_given_the_types_of_the_model(tmp_path, monkeypatch):
    def load(folder, local_files_only):
        assert folder == str(tmp_path) and local_files_only
        return FakeGliner()

    monkeypatch.setitem(sys.modules, "gliner", SimpleNamespace(GLiNER=SimpleNamespace(from_pretrained=load)))
    (tmp_path / GLINER_CONFIG).write_text("{}")
    found = read(tmp_path, known=["PER", "LOC"], types={"person": "PER", "location": "LOC"})
    assert found == [("PER", ["Ada Lorne"]), ("LOC", ["Kelm"])]
    monkeypatch.setitem(sys.modules, "gliner", None)
    with pytest.raises(ValueError, match=r"pip install 'unnoted\[gliner\]'"):
        TextReader.load(tmp_path, known=["PER"])


def test_gliner_reads_a_long_text_in_chunk_sentences():
    text = "Nothing here. " * 200 + "I met Ada Lorne in Kelm."
    (found,) = GlinerRecognizer(FakeGliner(), ["person", "location"]).recognize([text])
    assert [text[one.start : one.end] for one in found] == ["Ada Lorne", "Kelm"]
    bounds = list(chunk_sentences(text, 50))
    assert len(bounds) > 10 and all(text[a:b].count(" ") < 50 for a, b in bounds)
    assert " ".join(text[a:b] for a, b in bounds) == text


def test_a_text_beyond_a_limit_is_refused_by_name():
    reader = TextReader.load(ruled())
    with pytest.raises(DataError, match="17 words"):
        list(reader.read([("a", TEXT)], limits=Limits(words=5)))
