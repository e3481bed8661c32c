"""What readers do not use stays: through split, convert and decisions, in every format."""

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import corpora
from tests.unit.data.formats.test_annotated_text import row_documents, tool_documents
from tests.unit.data.test_decisions import content, pairs

from unnoted.data import Document, load_documents, stream_documents, write_documents
from unnoted.data.convert import convert_files, split_documents, write_selected
from unnoted.data.decisions import Decision, apply_decisions
from unnoted.data.formats import FORMATS, detect_format
from unnoted.errors import DataError

NAMES = {
    "docred": "a.json",
    "jsonl": "a.jsonl",
    "label-studio": "a.json",
    "prodigy": "a.jsonl",
    "columns": "a.jsonl",
    "parquet": "a.parquet",
    "spacy": "a.spacy",
    "brat": "corpus",
    "pubtator": "a.txt",
    "text": "texts",
}
UNKNOWN = {"mine": "MARK", "strange": [None, {"a": "ü☂"}]}
STYLES = [{}, {"separators": (",", ":")}, {"ensure_ascii": False}]


# Files with things in them that nobody reads -------------------------------------------------------------------


def strange(value):
    """The same JSON with an unknown field in every object."""
    if isinstance(value, dict):
        return {**{key: strange(each) for key, each in value.items()}, "x-unknown": UNKNOWN}
    return [strange(each) for each in value] if isinstance(value, list) else value


def strange_json(path, style, end, extra=()):
    """A number is written as JSON never would write it, so that parsing and writing again would show."""
    text = path.read_text("utf-8")
    listed = text.startswith("[")
    records = json.loads(text) if listed else [json.loads(line) for line in text.split("\n") if line]
    records = [strange(each) for each in records] + list(extra)
    written = [json.dumps(each, **style).replace('"MARK"', "1.50e0") for each in records]
    whole = (
        f"[ {f' ,{end}'.join(written)} ]{end}" if listed else "".join(f"{each}{end}{end}" for each in written)
    )
    path.write_bytes(("\ufeff" + whole).encode())


def strange_parquet(path, style, end):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    table = table.append_column("x-unknown", pa.array([[{"a": number}] for number in range(table.num_rows)]))
    pq.write_table(table.replace_schema_metadata({"mine": "1.50"}), path)


def strange_docbin(path, style, end):
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    packed = DocBin(
        attrs=("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "SENT_START", "LEMMA", "TAG"), store_user_data=True
    )
    for doc in DocBin().from_disk(path).get_docs(Vocab()):
        for token in doc:
            token.lemma_, token.tag_ = f"lemma of {token.i}", "TAG"
        doc.user_data["x-unknown"] = {"a": ["ü"]}
        doc.cats, doc.spans["mine"] = {"sport": 0.25}, [doc[:1]]
        packed.add(doc)
    packed.to_disk(path)


def strange_brat(path, style, end):
    (path / "annotation.conf").write_text("[entities]\nORG\n")
    for file in path.rglob("*.ann"):
        marks = [line.split("\t")[0] for line in file.read_text("utf-8").split("\n") if line.startswith("T")]
        lines = [f"A{n}\tSure {ref} high\n#9{n}\tAnnotatorNotes {ref}\tü\n" for n, ref in enumerate(marks)]
        events = f"E1\tEvent:{marks[0]} \nM1\tNegation E1\n" if marks else ""
        file.write_bytes(("\ufeff" + file.read_text("utf-8") + "".join(lines) + events).encode())


def write_pubtator(path, documents):
    blocks = []
    for number, document in enumerate(documents):
        lines = [f"{number}|t|Ada and Bo, {len(document.sentences)}", f"{number}|a|Both."]
        lines += [f"{number}\t0\t3\tAda\tPER\tQ1", f"{number}\t8\t10\tBo\tPER\tQ2\tseventh column"]
        blocks.append("".join(f"{line}\r\n" for line in [*lines, f"{number}\tmet\tQ1\tQ2"][: 4 + number % 2]))
    path.write_bytes(("\ufeff" + "\r\n\r\n".join(blocks)).encode())


def write_texts(path, documents):
    path.mkdir()
    (path / "README").write_text("mine")
    for number, document in enumerate(documents):
        (path / f"{number}.txt").write_bytes(f"Ada met {len(document.sentences)}.\r\n".encode())


MAKERS = {
    "parquet": strange_parquet,
    "spacy": strange_docbin,
    "brat": strange_brat,
    "prodigy": lambda path, style, end: strange_json(path, style, end, [REJECTED]),
}
REJECTED = {"text": "No.", "spans": [], "answer": "reject", "_task_hash": -7, "x-unknown": UNKNOWN}
WRITERS = {"pubtator": write_pubtator, "text": write_texts}


def make(folder, format, documents, style, end):
    path = Path(folder) / NAMES[format]
    if format in WRITERS:
        WRITERS[format](path, documents)
    else:
        write_documents(path, documents, format)
        MAKERS.get(format, strange_json)(path, style, end)
    assert detect_format(path).key == format
    return path


def records(path, format):
    """What a file holds, record by record, with everything."""
    if format == "spacy":
        from spacy.tokens import DocBin

        packed = DocBin().from_disk(path)
        parts = zip(packed.tokens, packed.cats, packed.span_groups, packed.user_data, strict=True)
        return [(tokens.tolist(), *rest) for tokens, *rest in parts]
    if format == "parquet":
        import pyarrow.parquet as pq

        assert pq.read_schema(path).metadata == {b"mine": b"1.50"}
        return pq.read_table(path).to_pylist()
    if path.is_dir():
        return list(content(path).items())
    text = path.read_bytes().decode("utf-8-sig")
    if format == "pubtator":
        return text.replace("\r\n", "\n").strip().replace("\n\n\n", "\n\n").split("\n\n")
    if text.lstrip().startswith("["):
        return [json.dumps(each) for each in json.loads(text)]
    return [line.strip() for line in text.split("\n") if line.strip()]


def files(format):
    made = {"docred": corpora, "jsonl": corpora}.get(format)
    if made is None:
        one = row_documents() if format in ("columns", "parquet") else tool_documents()
        made = st.lists(one, min_size=2, max_size=3, unique_by=lambda document: document.id)
    return made


@pytest.mark.parametrize("format", NAMES)
@settings(max_examples=4, deadline=None)
@given(st.data(), st.sampled_from(STYLES), st.sampled_from(["\n", "\r\n"]))
def test_everything_stays(format, data, style, end):
    documents = data.draw(files(format))
    with TemporaryDirectory() as folder:
        source = make(folder, format, documents, style, end)
        read = list(stream_documents(source))
        same = Path(folder) / f"same{source.suffix}"
        done = convert_files([source], same, format)
        assert (done.records, done.kept, done.lost) == (len(read), True, [])
        assert content(same) == content(source)
        if len(read) > 1:
            check_parts(Path(folder), source, format, read)
        if FORMATS[format].update is not None:
            check_updated(Path(folder), source, format, read, data)


def check_parts(folder, source, format, read):
    """Each record is in one part as it was, and the parts put together are the file again."""
    parts = split_documents(read, [0.5, 0.5])
    paths = [folder / f"{name}{source.suffix}" for name in ("train", "test")]
    write_selected([source], parts[0], paths[0], is_wanted=lambda name: name not in {d.id for d in parts[1]})
    write_selected([source], parts[1], paths[1])
    held = [records(path, format) for path in paths]
    assert [list(load_documents(path)) for path in paths] == parts
    whole = folder / f"whole{source.suffix}"
    convert_files(paths, whole, format)
    assert sorted(map(repr, records(whole, format))) == sorted(map(repr, records(source, format)))
    if not source.is_dir():  # settings are in every part
        assert sorted(map(repr, held[0] + held[1])) == sorted(map(repr, records(source, format)))


def check_updated(folder, source, format, read, data):
    """One new fact: it is read again, its document is else as it was, and no unknown thing is gone."""
    places = [(document, pair) for document in read for pair in pairs(document)]
    if not places:
        return
    document, (head, tail) = data.draw(st.sampled_from(places))
    to = folder / f"updated{source.suffix}"
    apply_decisions(source, [Decision(document.id, head, tail, "new", holds=True)], to)
    for before, after in zip(read, stream_documents(to), strict=True):
        added = {(head, tail, "new")} if before.id == document.id else set()
        assert after.labels == before.labels | added
        assert (after.entities, after.text, after.sentences) == (
            before.entities,
            before.text,
            before.sentences,
        )
    if format == "spacy":
        assert [part[:3] for part in records(to, format)] == [part[:3] for part in records(source, format)]
    elif format == "parquet":
        assert [row["x-unknown"] for row in records(to, format)] == [[{"a": n}] for n in range(len(read))]
    else:
        assert strange_things(to) == strange_things(source)


def strange_things(path):
    """How often there is something that nobody reads."""
    whole = b"".join(content(path).values()) if path.is_dir() else path.read_bytes()
    words = (
        "\ufeff".encode(),
        b"x-unknown",
        b"AnnotatorNotes",
        b"Sure",
        b"Negation",
        b"[entities]",
        b"seventh column",
    )
    return [whole.count(word) for word in words]


# And a few by hand ---------------------------------------------------------------------------------------------


def test_a_compressed_file_stays_as_it_is_inside(tmp_path):
    line = '{"id": "1", "text": "It rained.", "entities": [], "mine":1.50}'
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as stream:
        stream.write(line.encode())
    convert_files([tmp_path / "a.jsonl.gz"], tmp_path / "b.jsonl")
    convert_files([tmp_path / "b.jsonl"], tmp_path / "c.jsonl.gz")
    assert (tmp_path / "b.jsonl").read_text() == line
    assert gzip.decompress((tmp_path / "c.jsonl.gz").read_bytes()).decode() == line


def test_lists_and_lines_together_are_a_list(tmp_path):
    rows = [{"id": str(n), "tokens": ["Ada"], "mine": n} for n in range(3)]
    (tmp_path / "a.jsonl").write_text(json.dumps(rows[0]))
    (tmp_path / "b.json").write_text(json.dumps(rows[1:], indent=1))
    convert_files([tmp_path / "a.jsonl", tmp_path / "b.json"], tmp_path / "c.json", "columns")
    assert json.loads((tmp_path / "c.json").read_text()) == rows


def test_two_folders_with_other_settings_are_not_joined(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text("Ada.")
        (tmp_path / name / f"{name}.ann").write_text("T1\tPER 0 3\tAda\n")
        (tmp_path / name / "annotation.conf").write_text(name)
    with pytest.raises(DataError, match=r"two different files annotation.conf, expected one of that name"):
        convert_files([tmp_path / "a", tmp_path / "b"], tmp_path / "c", "brat")
    assert not (tmp_path / "c").exists()


def test_what_another_format_has_no_place_for_is_told(tmp_path):
    mention = [{"start": 0, "end": 3}]
    entities = [
        {"id": "Q1", "type": "PER", "mentions": mention},
        {"type": "PER", "mentions": [{"start": 8, "end": 10}]},
    ]
    fact = {"head": 0, "tail": 1, "relation": "met", "evidence": [0]}
    record = {"id": "1", "text": "Ada met Bo.", "entities": entities, "facts": [fact], "mine": 1}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    told = {
        format: convert_files([tmp_path / "a.jsonl"], tmp_path / format, format).lost
        for format in ("docred", "brat", "columns", "predictions")
    }
    unknown = "1 unknown field (mine)"
    assert told["docred"] == [unknown]
    assert told["brat"] == ["1 fact's evidence", unknown]
    assert told["columns"] == ["1 text", "1 fact's evidence", unknown]
    assert told["predictions"] == ["1 text", "1 id of an entity", "2 mentions", unknown]
    back = convert_files([tmp_path / "brat"], tmp_path / "b.jsonl")
    assert back.lost == []
    (tmp_path / "brat" / "1.ann").open("a").write("A1\tSure T1\n")
    assert convert_files([tmp_path / "brat"], tmp_path / "c.jsonl").lost == [
        "1 annotation of kinds that are not used here"
    ]


def test_docbins_are_joined_where_only_one_stores_user_data(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    for name, stores in (("a", False), ("b", True)):
        doc = nlp(f"Ada met {name}.")
        if stores:
            doc.user_data["id"] = name
        DocBin(docs=[doc], store_user_data=stores).to_disk(tmp_path / f"{name}.spacy")
    (tmp_path / "c.spacy").write_bytes((tmp_path / "a.spacy").read_bytes())
    convert_files([tmp_path / "a.spacy", tmp_path / "b.spacy"], tmp_path / "out.spacy")
    assert [document.id for document in load_documents(tmp_path / "out.spacy")] == ["document 1", "b"]


@pytest.mark.parametrize("name", ["a.parquet.gz", "a.spacy.gz", "a.csv", "a.json.bz2"])
def test_names_that_would_say_something_wrong_are_refused(tmp_path, name):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "It rained.", "entities": []}')
    with pytest.raises(ValueError, match=name):
        convert_files([tmp_path / "a.jsonl"], tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_any_name_will_do_where_the_format_is_given(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "It rained.", "entities": []}')
    convert_files([tmp_path / "a.jsonl"], tmp_path / "a.csv", "docred")
    assert recognised(tmp_path / "a.csv") == "docred"


def recognised(path):
    return detect_format(path).key


# Random splits ------------------------------------------------------------------------------------------------


@given(st.integers(2, 60), st.integers(), st.floats(0.1, 0.9))
def test_split_parts_are_disjoint_and_whole(count, seed, share):
    documents = [Document(str(number), (), ()) for number in range(count)]
    try:
        parts = split_documents(documents, [share, 1 - share], seed)
    except ValueError as error:
        assert "a part would be empty" in str(error) and min(share, 1 - share) * count < 1
        return
    assert sorted(int(d.id) for part in parts for d in part) == list(range(count))
    assert abs(len(parts[0]) - share * count) <= 0.5 + 1e-9
    assert parts == split_documents(documents, [share, 1 - share], seed)


@pytest.mark.parametrize("shares", [[], [0.5], [0.5, 0.6], [1.5, -0.5]])
def test_impossible_splits_are_refused(shares):
    with pytest.raises(ValueError, match="add up to 1"):
        split_documents([], shares)
