"""spaCy's DocBin."""

import pytest
from tests.unit.data.formats.factories import triples

from unnoted.data import DataError, load_documents


def test_a_docbin_as_the_tutorial_of_spacy_makes_it(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc, DocBin, Span

    if not Doc.has_extension("rel"):
        Doc.set_extension("rel", default={})
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Ada met Bo! He left.  Ada stayed.")
    doc.ents = [
        Span(doc, 0, 1, "PER", kb_id="Q7"),
        Span(doc, 2, 3, "PER", kb_id="NIL"),
        Span(doc, 8, 9, "PER"),
    ]
    doc.spans["coref_clusters_1"] = [doc[2:3], doc[4:5]]
    doc._.rel = {(0, 2): {"MET": 1.0, "SPOUSE": 0.0}, (2, 0): {"MET": 0.0}}
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    Doc.remove_extension("rel")
    (document,) = load_documents(tmp_path / "a.spacy")
    assert [(e.id, [m.name for m in e.mentions]) for e in document.entities] == [
        ("Q7", ["Ada", "Ada"]),
        (None, ["Bo", "He"]),
    ]
    assert [len(sentence) for sentence in document.sentences] == [4, 3, 3]
    assert triples(document) == [("Ada", "MET", "Bo")]
    assert document.negatives == ()  # the tutorial writes 0 for whatever nobody labelled


@pytest.mark.parametrize("content", [b"\x78\x9cnothing", b"\x78\x9c"])
def test_a_damaged_binary_file_is_named(tmp_path, content):
    path = tmp_path / "a.spacy"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a.spacy: damaged content"):
        load_documents(path)
