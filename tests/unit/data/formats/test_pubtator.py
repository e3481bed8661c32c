"""PubTator text, with relations inline or in files of their own."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.data import CandidatePairs, DataError, DefectLog, load_documents
from unnoted.errors import DefectKind

TITLE = "Dorvane and H2O2-induced velosis."
ABSTRACT = "We gave dorvane (DV). It raised KLM1/2 in mice, e.g. Mus minor! Velosis fell."
TEXT = f"{TITLE} {ABSTRACT}"


def line(mention, kind, identifier, after=0):
    start = TEXT.index(mention, after)
    return f"7\t{start}\t{start + len(mention)}\t{mention}\t{kind}\t{identifier}"


MENTIONS = [
    line("Dorvane", "Chemical", "MESH:C1"),
    line("H2O2", "Chemical", "-"),
    line("velosis", "Disease", "MESH:D9"),
    line("dorvane", "Chemical", "MESH:C1"),
    line("DV", "Chemical", "MESH:C1"),
    line("KLM1/2", "Gene", "11;12;11"),
    line("Mus minor", "Species", "11"),
    line("Velosis", "Disease", "MESH:D9"),
]
HEADER = [f"7|t|{TITLE}", f"7|a|{ABSTRACT}"]


def write(folder, lines, rows=(), name="abstracts.txt"):
    abstracts, relations = Path(folder) / name, Path(folder) / "relations.tsv"
    abstracts.write_text("\n".join(lines) + "\n\n", "utf-8")
    if not rows:
        return [abstracts]
    relations.write_text("".join(row + "\n" for row in rows), "utf-8")
    return [abstracts, relations]


def read(folder, lines, rows=(), **options):
    return load_documents(*write(folder, lines, rows), **options)


def test_entities_are_types_and_ids(tmp_path):
    corpus = read(tmp_path, HEADER + MENTIONS)
    (document,) = corpus
    assert document.id == "7" and document.text == TEXT
    assert [(entity.type, entity.id, len(entity.mentions)) for entity in document.entities] == [
        ("Chemical", "MESH:C1", 3),
        ("Disease", "MESH:D9", 2),
        ("Gene", "11", 1),
        ("Gene", "12", 1),
        ("Species", "11", 1),
    ]
    assert corpus.log.counts[DefectKind.UNLINKED_MENTION] == 1
    assert corpus.log.counts[DefectKind.SHARED_MENTION] == 1


def test_words_meet_every_mention(tmp_path):
    (document,) = read(tmp_path, HEADER + MENTIONS)
    for entity in document.entities:
        for mention in entity.mentions:
            assert "".join(document.words_of(mention)) == "".join(mention.name.split())
    assert document.sentences[0] == ("Dorvane", "and", "H2O2", "-induced", "velosis", ".")
    assert len(document.sentences) == 4  # "e.g." ends none


def test_relation_rows(tmp_path):
    rows = [
        "7\tchem_gene:increases^expression\tMESH:C1\t12",
        "7\tchem_gene:increases^expression\tMESH:C1\t12",
        "7\tchem_gene:affects^binding\tMESH:C1\t11",
        "7\tgene_disease:therapeutic\tMESH:D9\t12",
        "7\tchem_disease:therapeutic\tMESH:C1\tMESH:D404",
        "7\tpart of\tMESH:C1\tMESH:C1",
        "99\tchem_disease:therapeutic\tMESH:C1\tMESH:D9",
    ]
    corpus = read(tmp_path, HEADER + MENTIONS, rows)
    (document,) = corpus
    facts = [(document.entities[f.head].id, f.relation, document.entities[f.tail]) for f in document.facts]
    assert [(head, relation, tail.type) for head, relation, tail in facts] == [
        ("MESH:C1", "chem_gene:increases^expression", "Gene"),
        ("MESH:C1", "chem_gene:affects^binding", "Gene"),  # not the species of the same number
    ]
    counts = corpus.log.counts
    dropped = (
        DefectKind.DUPLICATE_FACT,
        DefectKind.WRONG_TYPE,
        DefectKind.UNLINKED_ENTITY,
        DefectKind.SELF_RELATION,
        DefectKind.UNKNOWN_DOCUMENT,
    )
    assert [counts[kind] for kind in dropped] == [1, 1, 1, 1, 1]
    assert corpus.log.relation_rows == len(rows) == len(document.facts) + sum(counts[k] for k in dropped)
    assert corpus.candidates == CandidatePairs(frozenset({("Chemical", "Gene")}))


def test_rows_of_several_files(tmp_path):
    abstracts, first = write(tmp_path, HEADER + MENTIONS, ["7\tr\tMESH:C1\t12"])
    second = tmp_path / "more.tsv"
    second.write_text("7\ts\tMESH:D9\tMESH:C1\n", "utf-8")
    (document,) = load_documents(second, abstracts, first)
    assert {fact.relation for fact in document.facts} == {"r", "s"}


def test_inline_relations_and_composite_mentions(tmp_path):
    lines = [*HEADER, *MENTIONS[:1], MENTIONS[2] + "\tvelosis", "7\tCID\tMESH:C1\tMESH:D9"]
    (document,) = read(tmp_path, lines)
    assert [fact.triple for fact in document.facts] == [(0, 1, "CID")]


def test_title_only_and_carriage_returns(tmp_path):
    lines = [f"7|t|{TITLE}\r", MENTIONS[0] + "\r", "\r", "8|t|A\u2028B\r", "8|a|C.\r"]
    first, second = read(tmp_path, lines)
    assert first.entities[0].name == "Dorvane"
    assert second.sentences == (("A", "B"), ("C", "."))


def test_mutation_ids_are_whole(tmp_path):
    lines = [*HEADER, line("KLM1", "ProteinMutation", "p|SUB|K|1|M;RS#:5")]
    (document,) = read(tmp_path, lines)
    assert [entity.id for entity in document.entities] == ["p|SUB|K|1|M;RS#:5"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([MENTIONS[0]], "expected DocRED JSON or unnoted JSONL or PubTator"),
        (["7|a|x"], "line 1: '7|a|x', expected a title line"),
        ([HEADER[0], "8|a|text"], "document '7': line 2: '8|a|text', expected '7|a|abstract'"),
        ([*HEADER, "8\t0\t7\tDorvane\tChemical\tX"], "document '7': line 3: .*expected a line of 7"),
        ([*HEADER, "7\t0\t7\tDorvane\tChemical"], "line 3: 5 columns"),
        ([*HEADER, "7\tx\t7\tDorvane\tChemical\tX"], "start/end: 'x' to '7', expected whole numbers"),
        ([*HEADER, "7\t7\t7\t\tChemical\tX"], "start/end: '7' to '7'"),
        ([*HEADER, "7\t0\t999\tDorvane\tChemical\tX"], "start/end: '0' to '999'"),
        ([*HEADER, "7\t1\t8\tDorvane\tChemical\tX"], "'Dorvane' at 1 to 8, expected 'orvane ', the text"),
        ([*HEADER, "7\t7\t8\t \tChemical\tX"], "a mention with a word"),
        ([*HEADER, "", *HEADER], "document '7': line 4: the title or id of an earlier document"),
        ([*HEADER, *HEADER], "document '7': line 3"),
    ],
)
def test_bad_lines_are_located(tmp_path, lines, message):
    with pytest.raises(DataError, match=message.replace("|", r"\|")) as caught:
        read(tmp_path, lines)
    assert "abstracts.txt" in str(caught.value)


def test_bad_rows_are_located(tmp_path):
    with pytest.raises(DataError, match=r"relations\.tsv: line 2: '7\\tr\\tMESH:C1'"):
        read(tmp_path, HEADER + MENTIONS, ["7\tr\tMESH:C1\t12", "7\tr\tMESH:C1"])


def test_a_bad_document_leaves_the_others(tmp_path):
    log = DefectLog(collect=True)
    lines = [*HEADER, "7\t1\t8\tDorvane\tChemical\tX", "", "8|t|Fine.", "8|a|Really."]
    assert [document.id for document in read(tmp_path, lines, log=log)] == ["8"]
    assert log.counts[DefectKind.OFFSET_MISMATCH] == 1


@given(data=st.data())
def test_any_corrupted_column_of_a_mention_gives_a_located_error(data):
    number = data.draw(st.integers(0, len(MENTIONS) - 1))
    columns = MENTIONS[number].split("\t")
    column = data.draw(st.integers(0, 3))
    if column in (1, 2):
        shift = data.draw(st.integers(-200, 200).filter(bool))
        value = data.draw(st.sampled_from([str(int(columns[column]) + shift), "", "1.0", "²", "-0"]))
    else:
        value = data.draw(st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=8))
    if value == columns[column]:
        return
    columns[column] = value
    lines = [*HEADER, *MENTIONS[:number], "\t".join(columns), *MENTIONS[number + 1 :]]
    with TemporaryDirectory() as folder, pytest.raises(DataError) as caught:
        read(folder, lines)
    assert caught.value.defect.document == "7"
    assert caught.value.defect.field.startswith(f"line {number + 3}")
