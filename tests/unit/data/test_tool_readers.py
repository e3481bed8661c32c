"""Readers of annotation tools: what each file says, and what is wrong with it, by place."""

import json

import pytest

from unnoted.data import DataError, Document, Entity, Mention, load_documents, write_documents
from unnoted.data.check import check_files
from unnoted.data.entity_clustering import cluster_mentions
from unnoted.data.formats import format_name
from unnoted.data.formats.annotated_text import AnnotatedSpan, AnnotatedText, to_document
from unnoted.data.formats.records import ReadContext, first_fields
from unnoted.errors import DefectLog, Kind


def put(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def kinds(path):
    return {kind.slug: count for kind, count in check_files([path]).log.counts.items()}


def triples(document):
    return [
        (document.entities[f.head].name, f.relation, document.entities[f.tail].name) for f in document.facts
    ]


# The rule ------------------------------------------------------------------------------------------------------


def mark(ref, name, kind="PER", identifier=None):
    return AnnotatedSpan(ref, 0, 1, kind, name, identifier)


@pytest.mark.parametrize(
    ("marks", "links", "groups"),
    [
        ([mark("1", "Ada"), mark("2", "Ada"), mark("3", "ADA ")], [], [[0, 1, 2]]),
        ([mark("1", "Ada"), mark("2", "Ada", "LOC")], [], [[0], [1]]),
        ([mark("1", "the  Bank’s", "ORG"), mark("2", "ＢＡＮＫ", "ORG")], [], [[0, 1]]),
        # what links say is not undone by names
        (
            [mark("1", "Ada"), mark("2", "She"), mark("3", "Ada"), mark("4", "her")],
            [("1", "2"), ("3", "4")],
            [[0, 1], [2, 3]],
        ),
        ([mark("1", "Ada", identifier="Q1"), mark("2", "Ada", identifier="Q2")], [], [[0], [1]]),
        ([mark("1", "Ada", identifier="Q1"), mark("2", "Countess", identifier="Q1")], [], [[0, 1]]),
        # without id it joins the one that is called like it, and none of two
        ([mark("1", "Ada", identifier="Q1"), mark("2", "Ada")], [], [[0, 1]]),
        (
            [mark("1", "Ada", identifier="Q1"), mark("2", "Ada", identifier="Q2"), mark("3", "Ada")],
            [],
            [[0], [1], [2]],
        ),
        ([mark("1", "Ada"), mark("2", "She"), mark("3", "Bo")], [("1", "2"), ("2", "9")], [[0, 1], [2]]),
        (
            [mark("1", "Ada"), mark("2", "Bo"), mark("3", "x"), mark("4", "y")],
            [("4", "3"), ("3", "2")],
            [[0], [1, 2, 3]],
        ),
    ],
)
def test_which_mentions_are_one_entity(marks, links, groups):
    assert [
        [marks.index(mark) for mark in group] for group in cluster_mentions(marks, links).groups
    ] == groups


def test_links_join_no_different_ids(tmp_path):
    """Not even by way of a third mention, which goes with the first."""
    marks = [mark("1", "Ada", identifier="Q1"), mark("2", "She"), mark("3", "Bo", identifier="Q2")]
    found = cluster_mentions(marks, [("2", "1"), ("2", "3")])
    assert (found.groups, found.refused) == ([marks[:2], marks[2:]], [(marks[1], marks[2])])
    put(tmp_path / "a.txt", "Ada, she, Bo")
    lines = ["T1\tP 0 3\tAda", "T2\tP 5 8\tshe", "T3\tP 10 12\tBo", "*\tEquiv T2 T1 T3"]
    lines += ["N1\tReference T1 a:1", "N2\tReference T3 a:2"]
    path = put(tmp_path / "a.ann", "\n".join(lines))
    assert [len(entity.mentions) for entity in load_documents(path)[0].entities] == [2, 1]
    (defect,) = check_files([path]).log.examples[Kind.CONFLICTING_ID]
    assert defect.within_file == (
        "document 'a': line 3: 'a:2', expected the id of 'she', which it is linked to; they stay apart"
    )


# brat ----------------------------------------------------------------------------------------------------------

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
    assert kinds(brat) == {"unused-annotation": 3, "name-mismatch": 1}
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


def test_a_mention_that_cuts_a_word_cuts_the_word(tmp_path):
    put(tmp_path / "a.txt", "H2O2-induced stress\n")
    document = load_documents(put(tmp_path / "a.ann", "T1\tChemical 0 4\tH2O2\nT2\tX 14 17\ttre\n"))[0]
    assert document.sentences == (("H2O2", "-induced", "s", "tre", "ss"),)
    assert [document.words_of(entity.mentions[0]) for entity in document.entities] == [("H2O2",), ("tre",)]
    assert (
        kinds(tmp_path / "a.ann")["cut-start"] == kinds(tmp_path / "a.ann")["cut-end"] == 1
    )  # H2O2 is whole


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
    assert caught.value.defect.kind in (Kind.MALFORMED, Kind.OFFSET_MISMATCH)


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


@pytest.mark.parametrize("identifier", ["Q1", ":0", "GO:1", "a:", "unnoted:x", "a:b:c"])
def test_an_id_survives_brat_whatever_it_looks_like(tmp_path, identifier):
    entity = Entity((Mention(0, 0, 1, "PER", "Ada"),), identifier)
    write_documents(tmp_path / "out", [Document("1", (("Ada",),), (entity,), (), "Ada")], "brat")
    assert load_documents(tmp_path / "out")[0].entities == (entity,)


def test_the_text_of_an_annotation_file_is_needed(tmp_path):
    with pytest.raises(DataError, match=r"a.txt: no such file, expected a file"):
        load_documents(put(tmp_path / "a.ann", "T1\tORG 0 4\tSony\n"))


# Label Studio --------------------------------------------------------------------------------------------------


def region(ref, start, end, name, kind="PER", **more):
    return {
        "id": ref,
        "type": "labels",
        "value": {"start": start, "end": end, "text": name, "labels": [kind]},
        **more,
    }


def arc(head, tail, *labels, **more):
    return {
        "from_id": head,
        "to_id": tail,
        "type": "relation",
        "direction": "right",
        "labels": list(labels),
        **more,
    }


RESULT = [region("a", 0, 3, "Ada"), region("b", 8, 10, "Bo"), arc("a", "b", "met")]


def task(result=RESULT, text="Ada met Bo.", **more):
    return {"id": 7, "data": {"text": text}, "annotations": [{"result": result}]} | more


def test_a_task_of_label_studio(tmp_path):
    path = put(tmp_path / "a.json", [task()])
    (document,) = load_documents(path)
    assert (format_name(path), document.id, triples(document)) == (
        "Label Studio JSON",
        "7",
        [("Ada", "met", "Bo")],
    )


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"direction": "left"}, [("Bo", "met", "Ada")]),
        ({"direction": "bi"}, [("Ada", "met", "Bo"), ("Bo", "met", "Ada")]),
        ({"labels": ["met", "likes"]}, [("Ada", "met", "Bo"), ("Ada", "likes", "Bo")]),
        ({"labels": []}, [("Ada", "related", "Bo")]),
    ],
)
def test_relations_of_label_studio(tmp_path, more, found):
    (document,) = load_documents(put(tmp_path / "a.json", [task([*RESULT[:2], arc("a", "b", "met") | more])]))
    assert triples(document) == found


def test_entities_of_label_studio(tmp_path):
    text = "Ada met Bo. She left. The countess smiled."
    note = {"meta": {"text": ["id: Q7"]}}
    result = [
        region("a", 0, 3, "Ada", **note),
        region("b", 8, 10, "Bo"),
        region("c", 12, 15, "She"),
        region("d", 22, 34, "The countess", **note),
        arc("c", "a", "Coref"),
    ]
    (document,) = load_documents(put(tmp_path / "a.json", [task(result, text)]))
    assert [(e.id, [m.name for m in e.mentions]) for e in document.entities] == [
        ("Q7", ["Ada", "She", "The countess"]),
        (None, ["Bo"]),
    ]
    assert document.facts == ()


def test_a_second_label_of_a_region_is_reported(tmp_path):
    both = region("a", 0, 3, "Ada")
    both["value"]["labels"] = ["PER", "COUNTESS"]
    path = put(tmp_path / "a.json", [task([both, *RESULT[1:]])])
    assert load_documents(path)[0].entities[0].type == "PER"
    assert kinds(path)["unused-annotation"] == 1


def test_which_annotation_of_a_task_counts(tmp_path):
    old = {"result": [], "updated_at": "2026-01-01"}
    new = {"result": RESULT, "updated_at": "2026-02-01"}
    cancelled = {"result": [], "updated_at": "2026-03-01", "was_cancelled": True}
    truth = {"result": RESULT[:2], "ground_truth": True}
    for annotations, facts in (([old, new, cancelled], 1), ([new, old], 1), ([new, truth], 0)):
        (document,) = load_documents(put(tmp_path / "a.json", [task(annotations=annotations)]))
        assert len(document.facts) == facts


def test_offsets_in_units_of_utf_16_are_recognised(tmp_path):
    """Older versions of Label Studio counted as JavaScript does."""
    text = "💩 Ada met\nBo."
    for shift in (0, 1):
        result = [region("a", 2 + shift, 5 + shift, "Ada"), region("b", 6 + shift, 12 + shift, "met\\nBo")]
        (document,) = load_documents(put(tmp_path / "a.json", [task(result, text)]))
        assert [entity.name for entity in document.entities] == ["Ada", "met\nBo"]


def test_a_task_as_version_1_23_exports_it(tmp_path):
    """Predictions are numbers there, and the editor adds `origin`; made by Label Studio 1.23.2."""
    annotation = {"id": 1, "completed_by": 1, "result": [{**item, "origin": "manual"} for item in RESULT]}
    annotation |= {"was_cancelled": False, "ground_truth": True, "updated_at": "2026-11-17T10:28:52.066127Z"}
    exported = {
        "id": 1,
        "annotations": [annotation],
        "drafts": [],
        "predictions": [1],
        "data": {"text": "Ada met Bo."},
    }
    assert len(load_documents(put(tmp_path / "a.json", [exported]))[0].facts) == 1
    (document,) = load_documents(put(tmp_path / "a.json", [exported | {"annotations": []}]))
    assert document.entities == ()


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (
            task([region("a", 1, 4, "Ada")]),
            r"annotations\[0\].result\[0\].value.text: 'Ada', expected 'da ', the",
        ),
        (
            task([region("a", 0, 400, None)]),
            r"annotations\[0\].result\[0\], start/end: 0 to 400, expected 0 <=",
        ),
        (
            task([region("a", "x", 4, None)]),
            r"annotations\[0\].result\[0\].value.start: 'x', expected a whole",
        ),
        (task([arc("a", 3, "met")]), r"annotations\[0\].result\[0\].to_id: 3, expected a string"),
        (
            task(data={"a": "x", "b": "y"}),
            r"data: texts in \['a', 'b'\], expected one, or one called 'text'",
        ),
    ],
)
def test_a_bad_task_is_named(tmp_path, bad, problem):
    with pytest.raises(DataError, match=f"line 1: document '7': {problem}"):
        load_documents(put(tmp_path / "a.json", [bad]))


# Prodigy -------------------------------------------------------------------------------------------------------

WORDS = [("Ada", 0), ("met", 4), ("Bo", 8), (".", 10), ("She", 12), ("left", 16), (".", 20)]
SPANS = [
    {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"},
    {"start": 8, "end": 10, "token_start": 2, "token_end": 2, "label": "PER"},
]


def prodigy_task(**more):
    """As `rel.manual` saves it: relations name the last tokens of their spans, and the spans."""
    tokens = [
        {"text": word, "start": start, "end": start + len(word), "id": n, "ws": True, "disabled": False}
        for n, (word, start) in enumerate(WORDS)
    ]
    met = {
        "head": 0,
        "child": 2,
        "head_span": SPANS[0],
        "child_span": SPANS[1],
        "color": "#c5bdf4",
        "label": "MET",
    }
    she = {"start": 12, "end": 15, "token_start": 4, "token_end": 4, "label": None}
    same = {
        "head": 4,
        "child": 0,
        "head_span": she,
        "child_span": SPANS[0],
        "color": "#ffd882",
        "label": "COREF",
    }
    fields = {"text": "Ada met Bo. She left.", "tokens": tokens, "spans": SPANS, "relations": [met, same]}
    hashes = {"_input_hash": 1, "_task_hash": -2, "_view_id": "relations", "answer": "accept"}
    return fields | hashes | more


def test_a_task_of_prodigy(tmp_path):
    path = put(tmp_path / "a.jsonl", json.dumps(prodigy_task()))
    (document,) = load_documents(path)
    assert (format_name(path), document.id, triples(document)) == (
        "Prodigy JSONL",
        "-2",
        [("Ada", "MET", "Bo")],
    )
    assert [[m.name for m in e.mentions] for e in document.entities] == [["Ada", "She"], ["Bo"]]
    assert document.entities[0].mentions[1].type == "PER"  # what a pronoun is, coreference says


def test_tokens_are_enough_for_a_relation_of_prodigy(tmp_path):
    relations = [{"head": 0, "child": 2, "label": "MET"}, {"head": 5, "child": 2, "label": "MET"}]
    relations.append({"head": 2, "child": 0, "label": None})  # relations may be drawn without labels
    path = put(tmp_path / "a.jsonl", json.dumps(prodigy_task(relations=relations)))
    assert triples(load_documents(path)[0]) == [("Ada", "MET", "Bo"), ("Bo", "related", "Ada")]
    assert kinds(path)["unlinked-entity"] == 1  # "left" is no entity


def test_tasks_that_were_not_accepted_are_left_out(tmp_path):
    lines = [
        json.dumps(prodigy_task(_task_hash=n, answer=a)) for n, a in enumerate(["reject", "accept", "ignore"])
    ]
    path = put(tmp_path / "a.jsonl", "\n".join(lines))
    assert [document.id for document in load_documents(path)] == ["1"]
    assert kinds(path)["unused-annotation"] == 2


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            {"spans": [SPANS[0] | {"end": 99}]},
            r"spans\[0\], start/end: 0 to 99, expected 0 <= start < end <= 21",
        ),
        ({"spans": [SPANS[0] | {"start": "0"}]}, r"spans\[0\].start: '0', expected a whole number"),
        (
            {"relations": [{"head": 0, "child": 2, "label": 3}]},
            r"relations\[0\].label: 3, expected a string",
        ),
        ({"text": None}, "text: None, expected a string"),
    ],
)
def test_a_bad_task_of_prodigy_is_named(tmp_path, more, problem):
    with pytest.raises(DataError, match=f"line 1: document '-2': {problem}"):
        load_documents(put(tmp_path / "a.jsonl", json.dumps(prodigy_task(**more))))


# Rows of tokens ------------------------------------------------------------------------------------------------

ROW = {"tokens": ["Ada", "Lorne", "met", "Bo", ".", "Ada", "Lorne", "left", "."], "orig_id": 5441}
ENTITIES = [{"type": "Peop", "start": 0, "end": 2}, {"type": "Peop", "start": 3, "end": 4}]
TAGS = ["B-Peop", "I-Peop", "O", "B-Peop", "O", "B-Peop", "I-Peop", "O", "O"]


@pytest.mark.parametrize("listed", [False, True])
def test_rows_as_the_hub_has_conll04(tmp_path, listed):
    row = ROW | {"entities": ENTITIES, "relations": [{"type": "Met", "head": 0, "tail": 1}]}
    path = put(tmp_path / "a.json", [row] if listed else json.dumps(row))
    (document,) = load_documents(path)
    assert (format_name(path), document.id, triples(document)) == (
        "rows of tokens",
        "5441",
        [("Ada Lorne", "Met", "Bo")],
    )


def test_tags_are_mentions_and_names_join_them(tmp_path):
    row = ROW | {"ner_tags": TAGS, "relations": [{"label": "Met", "head": 2, "tail": 1}]}
    (document,) = load_documents(put(tmp_path / "a.jsonl", json.dumps(row)))
    assert [len(entity.mentions) for entity in document.entities] == [2, 1]
    assert triples(document) == [("Ada Lorne", "Met", "Bo")]


def test_tags_of_every_scheme(tmp_path):
    row = {"tokens": list("abcdefgh"), "ner_tags": ["I-A", "I-A", "B-A", "S-B", "B-B", "E-B", "U-C", "L-C"]}
    (document,) = load_documents(put(tmp_path / "a.jsonl", json.dumps(row)))
    assert [e.name for e in document.entities] == ["a b", "c", "d", "e f", "g", "h"]


def test_tags_without_prefix_are_types(tmp_path):
    row = {"tokens": list("abcdef"), "ner_tags": ["PER", "O", "PER", "PER", "LOC", "O"]}
    (document,) = load_documents(put(tmp_path / "a.jsonl", json.dumps(row)))
    assert [(e.name, e.type) for e in document.entities] == [("a", "PER"), ("c d", "PER"), ("e", "LOC")]
    with pytest.raises(DataError, match=r"ner_tags\[0\]"):  # a prefix without a type
        load_documents(put(tmp_path / "b.jsonl", json.dumps({"tokens": ["a"], "ner_tags": ["B"]})))


def test_numbers_of_tags_have_their_names_in_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ["O", "B-Peop", "I-Peop"]
    feature = {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}
    info = json.dumps({"info": {"features": {"ner_tags": feature}}})
    table = pa.table({"tokens": [ROW["tokens"]], "ner_tags": [[names.index(tag) for tag in TAGS]]})
    pq.write_table(table.replace_schema_metadata({"huggingface": info}), tmp_path / "a.parquet")
    (document,) = load_documents(tmp_path / "a.parquet")
    assert [entity.name for entity in document.entities] == ["Ada Lorne", "Bo"]
    with pytest.raises(DataError, match=r"ner_tags\[0\]: 1, expected tags as names, such as 'B-PER'"):
        load_documents(put(tmp_path / "a.jsonl", json.dumps({"tokens": ["a"], "ner_tags": [1]})))


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            {"entities": [{"type": "P", "start": 0, "end": 10}]},
            r"entities\[0\].start/end: 0 to 10, expected 0 <= start",
        ),
        ({"ner_tags": ["O"]}, "ner_tags: 1 tags, expected 9, one for each token"),
        (
            {"entities": ENTITIES, "relations": [{"type": "M", "head": 0, "tail": 2}]},
            r"relations\[0\].tail: 2, expected",
        ),
        (
            {"tokens": [["a"], ["b"]], "entities": [{"type": "P", "start": 0, "end": 2}]},
            "expected a mention within one sentence",
        ),
    ],
)
def test_a_bad_row_is_named(tmp_path, more, problem):
    with pytest.raises(DataError, match=problem):
        load_documents(put(tmp_path / "a.jsonl", json.dumps(ROW | more)))


# spaCy ---------------------------------------------------------------------------------------------------------


def test_a_docbin_as_the_tutorial_of_spacy_makes_it(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc, DocBin, Span

    if not Doc.has_extension("rel"):
        Doc.set_extension("rel", default={})
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Ada met Bo! He left.  Ada stayed.")
    doc.ents = [Span(doc, 0, 1, "PER", kb_id="Q7"), Span(doc, 2, 3, "PER"), Span(doc, 8, 9, "PER")]
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


@pytest.mark.parametrize("content", [b"\x78\x9cnothing", b"\x78\x9c", b"PAR1", b"PAR1xxxxPAR1"])
def test_a_damaged_binary_file_is_named(tmp_path, content):
    path = tmp_path / "a.spacy"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a.spacy: damaged content"):
        load_documents(path)


def test_words_that_are_not_those_of_the_text_are_named():
    """As a damaged file has them."""
    marked = AnnotatedText(
        "1", "Ada met", [AnnotatedSpan("T1", 0, 3, "PER", "Ada", None, "tokens 0 to 1")], words=[(4, 7)]
    )
    with pytest.raises(DataError, match="document '1': tokens 0 to 1: 'Ada', expected at least one word"):
        to_document(marked, ReadContext(DefectLog()))


# Plain text, and what is nothing of all this -------------------------------------------------------------------


def test_a_text_file_is_a_document_and_a_folder_several(tmp_path):
    put(tmp_path / "note.txt", "Ada met Bo.\n\nShe left.")
    (document,) = load_documents(tmp_path / "note.txt")
    assert (document.id, document.sentences[1], document.entities) == ("note", ("She", "left", "."), ())
    (tmp_path / "more").mkdir()
    put(tmp_path / "more" / "b.txt", "Bo.")
    assert [document.id for document in load_documents(tmp_path)] == ["more/b", "note"]


@pytest.mark.parametrize("content", ["1|x|Title\n1\t0\t5\tTitle\tX\t1\n", "a\tb\tc\n", "", "[1"])
def test_a_table_is_no_text(tmp_path, content):
    with pytest.raises(DataError):
        load_documents(put(tmp_path / "a.txt", content))


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (
            [{"id": 1, "text": "x", "label": [], "annotator": 1}],
            r"\(Label Studio's JSON-MIN export, which has no relations",
        ),
        ([{"tokenized_text": ["x"], "ner": []}], r"\(training data of GLiNER\)"),
        ([{"a": 1, "b": 2}], "objects with a, b, expected DocRED JSON, Label Studio JSON or rows of tokens"),
    ],
)
def test_a_list_of_something_else_says_what_it_looks_like(tmp_path, content, looks):
    with pytest.raises(DataError, match=looks) as caught:
        load_documents(put(tmp_path / "a.json", content))
    assert "docs/guides/annotation-tools.md" in str(caught.value)


def test_the_first_fields_of_what_is_cut_off():
    assert first_fields(' [ {"a" : { "b": 1 } , "c\\"d": [ "') == {"a": '{"', 'c\\"d': '["'}
    assert first_fields('{"a": "x, {[ \\" y", "b"') == {"a": '"'}
    assert first_fields("") == first_fields("[") == first_fields("{") == {}
