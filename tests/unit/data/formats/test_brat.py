"""brat standoff."""

import pytest
from tests.unit.data.formats.factories import kinds, put, triples

from unnoted.data import DataError, Document, Entity, Mention, load_documents, write_documents
from unnoted.errors import DefectKind

TEXT = "Sony formed a joint venture with Ericsson, based in North and South America.\nSony (IBM) said so.\n"
ANN = """T1\tORG 0 4\tSony
T2\tMERGE 14 27\tjoint venture
T3\tORG 33 41\tEricsson
T4\tLOC 52 57;68 75\tNorth America
T5\tORG 77 81\tSony
T6\tORG 83 86\tIBM
E1\tMERGE:T2 Org1:T1 Org2:T3
R1\tLocated Arg1:T3 Arg2:T4
R2\tPart Arg1:T1 Arg2:E1
R3\tPart Arg1:T5 Arg2:E1
*\tEquiv T3 T6
A1\tNegation E1
N1\tReference T1 Wikipedia:534366\tSony Group
#1\tAnnotatorNotes T1\tsuspect
"""


@pytest.fixture
def brat(tmp_path):
    put(tmp_path / "doc.txt", TEXT)
    return put(tmp_path / "doc.ann", ANN)


def test_a_brat_document(brat, tmp_path):
    (document,) = load_documents(brat)
    assert [(e.id, e.type, [m.name for m in e.mentions]) for e in document.entities] == [
        ("Wikipedia:534366", "ORG", ["Sony", "Sony"]),
        (None, "MERGE", ["joint venture"]),
        (None, "ORG", ["Ericsson", "IBM"]),
        (None, "LOC", ["North America"]),
    ]
    assert triples(document) == [("Ericsson", "Located", "North America"), ("Sony", "Part", "joint venture")]
    assert document.words_of(document.entities[3].mentions[0]) == ("North", "and", "South", "America")
    assert kinds(brat) == {"unused-annotation": 3, "split-mention": 1}
    assert list(load_documents(tmp_path)) == [document] == list(load_documents(brat, tmp_path / "doc.txt"))


def test_files_shaped_like_the_examples_of_brat(tmp_path):
    """Its tutorials end relations with a tab, call coreference `Alias`, and link before they mark."""
    put(tmp_path / "a.txt", "Ada Lorne (Lorne, A. L.) was born in Kelm. In Kelm, Lorne\nand Bo met.\n")
    lines = [
        "*\tAlias T2 T4 T3",
        "T9\tBorn 29 33\tborn",
        "E1\tBorn:T9 Person-Arg:T2 Place-Arg2:T1",
        "E2\tBorn:T9 ",
        "T2\tPerson 0 9\tAda Lorne",
        "R1\tLocated Arg1:T2 Arg2:T1\t",
        "#1\tAnnotatorNotes R1\tIs that sure?  ",
        "A1\tConfidence E1 Low",
        "A2\tIndividual T2",
        "T1\tGPE 37 41\tKelm",
        "T3\tPerson 18 23\tA. L.",
        "T4\tPerson 11 16\tLorne",
        "T5\tGroup 52 57;58 64\tLorne and Bo",
        "M1\tNegation E2",
        "N1\tReference T1 Wikipedia:12\tKelm (town)",
        "R2\tPart-of Arg1:E2 Arg2:T1\t",
        "T6\tPerson 52 57\tLorne",
        "R3\tCoref Anaphora:T6 Antecedent:T2\t[T1]",
    ]
    (document,) = load_documents(put(tmp_path / "a.ann", "\n".join(lines) + "\n"))
    assert [(e.id, e.type, [m.name for m in e.mentions]) for e in document.entities] == [
        (None, "Born", ["born"]),
        (None, "Person", ["Ada Lorne", "A. L.", "Lorne", "Lorne"]),
        ("Wikipedia:12", "GPE", ["Kelm"]),
        (None, "Group", ["Lorne\nand Bo"]),
    ]
    assert triples(document) == [("Ada Lorne", "Located", "Kelm"), ("born", "Part-of", "Kelm")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("T7\tORG 1 5\tSony", "line 15: 'Sony' at 1 5, expected 'ony ', the text there"),
        ("T7\tORG 0 4", "line 15: 'T7.*, expected T1<tab>Type start end<tab>text"),
        ("T7\tORG 88 400\tsaid so.", "line 15, start/end: 88 to 400, expected 0 <= start < end <= 97"),
        ("T1\tORG 83 86\tIBM", "line 15: 'T1' a second time, expected a new name"),
        ("R9 Part T1 T2", "line 15: 'R9 Part T1 T2', expected R1<tab>Relation Arg1:T1 Arg2:T2"),
        ("?", "line 15: '\\?', expected a line of brat's standoff format"),
    ],
)
def test_a_bad_line_of_brat_is_named(brat, line, problem):
    put(brat, ANN + line)
    with pytest.raises(DataError, match=f"doc.ann: document 'doc': {problem}") as caught:
        load_documents(brat)
    assert caught.value.defect.kind in (DefectKind.MALFORMED, DefectKind.OFFSET_MISMATCH)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("R9\tPart Arg1:T1 Arg2:T99", "unlinked-entity"),
        ("R9\tPart Arg1:T1 Arg2:T5", "self-relation"),
        ("*\tEquiv T1 T99", "unlinked-entity"),
        ("N2\tReference T1 GO:1\tx", "conflicting-id"),
    ],
)
def test_a_line_of_brat_that_cannot_be_used_is_counted(brat, line, kind):
    put(brat, ANN + line)
    assert kinds(brat)[kind] == 1


@pytest.mark.parametrize("identifier", ["Q1", ":0", "GO:1", "unnoted:x"])
def test_an_id_survives_brat_whatever_it_looks_like(tmp_path, identifier):
    entity = Entity((Mention(0, 0, 1, "PER", "Ada"),), identifier)
    write_documents(tmp_path / "out", [Document("1", (("Ada",),), (entity,), (), "Ada")], "brat")
    assert load_documents(tmp_path / "out")[0].entities == (entity,)
