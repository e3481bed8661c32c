"""`unnoted predict` and `unnoted evaluate --model`, as a user types them."""

import csv
import gzip
import json
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import networkx
import pyarrow.parquet as pq
import pytest
import spacy
import torch
from tests.markup import parse
from tests.unit.cli.running import run
from tests.unit.inference.making import calibration, corpus, document_of, saved_model

from unnoted import progress
from unnoted.cli import predict as command
from unnoted.data.formats import write_documents
from unnoted.data.formats.predictions import read_predictions
from unnoted.data.ner import TextReader
from unnoted.inference import Extractor
from unnoted.inference.writers import RESULT_FORMATS
from unnoted.io import CHECKSUMS
from unnoted.models.samplers import BatchLimits

DOCUMENTS = [*corpus()[:5], document_of("nobody", "No one came ."), *corpus()[5:]]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


def notes(result):
    """What the command says on stderr, but for the number of threads and the threshold."""
    usual = re.compile(r"\d threads? on \d+ core|facts have a score above")
    return [line for line in result.stderr.splitlines() if not usual.search(line)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"), link="sigmoid-ranking")


@pytest.fixture
def documents(tmp_path):
    path = tmp_path / "documents.jsonl"
    write_documents(path, DOCUMENTS)
    return path


@pytest.fixture(scope="module")
def expected(model):
    return list(Extractor(model, device="cpu").extract(DOCUMENTS))


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_jsonl(model, documents, expected, tmp_path):
    out = tmp_path / "out.jsonl"
    result = run("predict", model, documents, "--to", out)
    assert lines(out) == [extraction.to_json() for extraction in expected]
    facts = sum(len(extraction.facts) for extraction in expected)
    assert f"{facts:,} facts of {len(DOCUMENTS)} documents written to" in result.stdout
    assert "1 document without a candidate pair" in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"documents.jsonl", "out.jsonl"}


@pytest.mark.parametrize(
    ("name", "options"),
    [("out.json", ()), ("out.json.gz", ()), ("out.jsonl", ()), ("predictions.json", ("--format", "docred"))],
)
def test_the_evaluation_reads_what_is_written(model, documents, expected, tmp_path, name, options):
    found = list(read_predictions(write(model, documents, tmp_path / name, *options)))
    assert found == [row for extraction in expected for row in extraction.predictions()] and found


def test_json_is_a_list_of_the_lines_of_jsonl(model, documents, tmp_path):
    whole = json.loads(write(model, documents, tmp_path / "out.json").read_text("utf-8"))
    assert whole == lines(write(model, documents, tmp_path / "out.jsonl")) and whole
    official = json.loads(
        write(model, documents, tmp_path / "d.json", "--format", "docred").read_text("utf-8")
    )
    assert official[0].keys() == {"title", "h_idx", "t_idx", "r", "evidence", "score"}


@pytest.mark.parametrize("name", ["facts", "facts.xml", "facts.tsv.gz"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(model, documents, tmp_path, name):
    (error,) = notes(run("predict", model, documents, "--to", tmp_path / name, code=1))
    assert all(f".{each}" in error for each in ("json", "jsonl", "csv", "parquet", "html", "txt"))
    assert "docred" in error and not (tmp_path / name).exists()


def test_which_threshold_is_in_use_is_said(model, documents, tmp_path):
    assert (
        "above 0.500, the model's threshold; the model is not calibrated"
        in run("predict", model, documents).stderr
    )
    loaded = Extractor(model, device="cpu").model
    loaded.decoder = replace(loaded.decoder, calibration=calibration())
    loaded.save_pretrained(tmp_path / "calibrated")
    for changes, expected in (
        ((), "above 0.300, the model's threshold"),
        (("--target-precision", 0.8), "precision 0.80"),
    ):
        assert expected in run("predict", tmp_path / "calibrated", documents, *changes).stderr


def test_table(model, documents, expected):
    shown = run("predict", model, documents).stdout
    assert shown == "".join(f"{extraction}\n" for extraction in expected)
    assert "nobody\n  no fact found\n" in shown
    assert run("predict", model, "-", input=documents.read_bytes()).stdout == shown
    assert run("predict", model, documents, "--to", "-", "--format", "txt").stdout == shown
    assert len(run("predict", model, documents, "--to", "-").stdout.splitlines()) == len(DOCUMENTS)  # JSONL


def test_options(model, documents, tmp_path):
    out = tmp_path / "out.jsonl"
    options = ("--threshold", 0.55, "--batch", 3, "--device", "cpu", "--threads", 2)
    result = run("predict", model, documents, "--to", out, *options)
    assert torch.get_num_threads() == 2 and "2 threads" in result.stderr
    torch.set_num_threads(1)
    extractor = Extractor(model, batch=BatchLimits(documents=3, tokens=8192, pairs=16384), device="cpu")
    wanted = [extraction.to_json() for extraction in extractor.extract(DOCUMENTS, threshold=0.55)]
    assert [{**record, "facts": len(record["facts"])} for record in lines(out)] == [
        {**record, "facts": len(record["facts"])} for record in wanted
    ]
    assert any(record["facts"] for record in wanted)


class Killed(BaseException):
    """Stands for the end of the program."""


def stopping(after, error):
    """Progress that ends the program once so many documents are done."""

    words = sum(document.word_count for document in DOCUMENTS[:after])

    @contextmanager
    def show_progress(total, title, shown):
        def report(done):
            if done >= words:
                raise error

        yield SimpleNamespace(report=report)

    return show_progress


def interrupted(monkeypatch, after, *arguments):
    """Run the command until so many documents are done."""
    with monkeypatch.context() as patch:
        patch.setattr(command, "show_progress", stopping(after, Killed))
        with pytest.raises(Killed):
            run(*arguments, catch_exceptions=False)


@pytest.mark.parametrize("name", ["out.jsonl", "out.json"])
def test_an_interrupted_run_goes_on(model, documents, tmp_path, monkeypatch, name):
    monkeypatch.setattr(
        command,
        "load_extractor",
        lambda *given, **options: Extractor(model, device="cpu", chunk=3),
    )
    out, whole = tmp_path / name, tmp_path / f"whole-{name}"
    run("predict", model, documents, "--to", whole)
    interrupted(monkeypatch, 5, "predict", model, documents, "--to", out)
    partial = tmp_path / f"{name}.partial"
    assert [path.name for path in partial.glob("*.jsonl")] == ["00000000.jsonl"] and not out.exists()

    taken = []
    extract = Extractor.extract

    def watched(self, documents, **options):
        def recorded():
            for document in documents:
                taken.append(document.id)
                yield document

        return extract(self, recorded(), **options)

    monkeypatch.setattr(Extractor, "extract", watched)
    result = run("predict", model, documents, "--to", out)
    assert "note: 3 documents " in result.stderr
    assert taken == [document.id for document in DOCUMENTS[3:]]
    assert not partial.exists()
    assert out.read_bytes() == whole.read_bytes()


def test_whatever_is_computed_otherwise_does_not_go_on(documents, tmp_path, monkeypatch):
    model, other = saved_model(tmp_path / "model"), saved_model(tmp_path / "other", seed=1)
    out = tmp_path / "out.jsonl"
    interrupted(monkeypatch, 4, "predict", model, documents, "--to", out)

    def kept():
        return {path.name: path.read_bytes() for path in (tmp_path / "out.jsonl.partial").iterdir()}

    before = kept()

    def refused(*options, by=model):
        return run("predict", by, documents, "--to", out, *options, code=1).stderr

    assert "another batch ({'documents': 8," in refused("--batch", 3)
    assert "another threads (1, now 2)" in refused("--threads", 2)
    torch.set_num_threads(1)
    assert "another threshold" in refused("--threshold", 0.6)
    assert "another model" in refused(by=other)
    write_documents(documents, DOCUMENTS[1:])
    assert "another input (['documents.jsonl (" in refused()
    write_documents(documents, DOCUMENTS)
    (model / CHECKSUMS).unlink()
    settings = model / "tokenizer_config.json"
    settings.write_text(settings.read_text("utf-8").replace("{", '{"note": "edited", ', 1), "utf-8")
    assert "another tokenizer (" in refused()
    assert kept() == before


def test_a_file_of_the_user_in_the_place_of_results_is_left_alone(model, documents, tmp_path):
    out, own = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    own.write_text("three hours of work, and no newline", "utf-8")
    (error,) = notes(run("predict", model, documents, "--to", out, code=1))
    assert error.startswith(f"error: {own}: ")
    assert own.read_text("utf-8") == "three hours of work, and no newline" and not out.exists()


def test_results_that_are_there_stay_unless_this_command_was_about_to_write_them(
    model, documents, tmp_path, monkeypatch
):
    out, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    interrupted(monkeypatch, 3, "predict", model, documents, "--to", out)
    shutil.copytree(partial, tmp_path / "copy")
    run("predict", model, documents, "--to", out)
    whole = out.read_bytes()
    assert "--overwrite replaces it" in run("predict", model, documents, "--to", out, code=1).stderr
    (tmp_path / "copy").rename(partial)  # as after a kill between the last two steps
    out.write_bytes(b"old")
    run("predict", model, documents, "--to", out)
    assert out.read_bytes() == whole and not partial.exists()


def test_only_partial_results_of_this_very_call_let_it_replace_results(
    model, documents, tmp_path, monkeypatch
):
    out, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    out.write_text("keep")
    partial.mkdir()
    assert "--overwrite replaces it" in run("predict", model, documents, "--to", out, code=1).stderr
    partial.rmdir()
    interrupted(monkeypatch, 3, "predict", model, documents, "--to", out, "--overwrite")
    other = ("--threshold", 0.9)
    assert "another threshold" in run("predict", model, documents, "--to", out, *other, code=1).stderr
    assert out.read_text() == "keep"


@pytest.mark.parametrize(
    ("to", "format", "message"),
    [("z.parquet.gz", None, "compressed already"), ("z.parquet", None, "unnoted[frames]"),
     ("z", "jsonn", "nearest: 'json'"), ("folder/", "parquet", "unnoted[frames]")],
)  # fmt: skip
def test_a_format_that_cannot_be_written_is_refused_before_the_model_is_loaded(
    documents, tmp_path, monkeypatch, to, format, message
):
    if "frames" in message:
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    options = () if format is None else ("--format", format)
    result = run("predict", tmp_path / "no-model", documents, "--to", f"{tmp_path}/{to}", *options, code=1)
    assert message in result.stderr and "no-model" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"documents.jsonl"}


def test_the_help_lists_every_format(model):
    shown = run("predict", "--help").stdout
    assert all(name in shown for name in RESULT_FORMATS)


def test_threads_of_an_interrupted_run_are_said_to_be(model, documents, tmp_path, monkeypatch):
    out = tmp_path / "out.jsonl"
    interrupted(monkeypatch, 3, "predict", model, documents, "--to", out, "--threads", 1)
    told = run("predict", model, documents, "--to", out).stderr
    assert "1 thread on" in told and "as in the results so far" in told and "--threads" not in told


def test_neither_an_input_nor_the_model_is_written_over(model, documents, tmp_path):
    before = {path: path.read_bytes() for path in (documents, *model.iterdir())}
    (tmp_path / "link.jsonl").symlink_to(documents)
    (tmp_path / "hard.json").hardlink_to(model / "config.json")
    for to in (documents, tmp_path / "link.jsonl", model / "model.safetensors", tmp_path / "hard.json"):
        told = run("predict", model, documents, "--to", to, "--format", "jsonl", code=1).stderr
        assert told == f"error: {to}: is read as input; write to another file\n"
    assert {path: path.read_bytes() for path in before} == before


def test_a_pipe_gets_the_results_as_they_are_found(model, documents, expected, tmp_path):
    pipe = tmp_path / "pipe.gz"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text, "utf-8")
        result = run("predict", model, documents, "--to", pipe, "--format", "jsonl")
        assert [json.loads(line) for line in read.result().splitlines()] == [
            extraction.to_json() for extraction in expected
        ]
    assert f"documents written to {pipe}" in result.stderr and not result.stdout
    assert pipe.is_fifo() and {path.name for path in tmp_path.iterdir()} == {"documents.jsonl", "pipe.gz"}


def test_ctrl_c_says_how_to_continue(model, documents, tmp_path, monkeypatch):
    out = tmp_path / "out.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(command, "show_progress", stopping(0, KeyboardInterrupt))
        stopped = run("predict", model, documents, "--to", out, code=130)
        assert notes(stopped) == [f"interrupted; the same command continues from {out}.partial"]
        assert notes(run("predict", model, documents, code=130)) == ["interrupted"]
    assert run("predict", model, documents, "--to", out).exit_code == 0


def test_a_folder_gets_a_file_for_each_input(model, documents, tmp_path):
    (tmp_path / "in").mkdir()
    for number in (1, 2):
        write_documents(tmp_path / "in" / f"{number}.jsonl", DOCUMENTS[3 * number : 3 * number + 3])
    alone = write(model, tmp_path / "in" / "2.jsonl", tmp_path / "alone.csv").read_bytes()
    result = run("predict", model, tmp_path / "in", "--to", f"{tmp_path}/out/", "--format", "csv")
    assert "of 6 documents in 2 files written to" in result.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"_unnoted.json", "1.csv", "2.csv"}
    assert (tmp_path / "out" / "2.csv").read_bytes() == alone
    (tmp_path / "in" / "bad.jsonl").write_text('{"id": "x", "text": "Ada"}\n', "utf-8")
    again = run(
        "predict", model, tmp_path / "in" / "*.jsonl", "--to", tmp_path / "out", "--format", "csv", code=1
    )
    assert "note: 2 files had been completed before" in again.stderr
    assert "error: " in again.stderr and "bad.jsonl: line 1: document 'x'" in again.stderr


def test_all_files_of_a_folder_in_one(model, documents, expected, tmp_path):
    (tmp_path / "in").mkdir()
    for number in (0, 1):
        write_documents(tmp_path / "in" / f"{number}.jsonl", DOCUMENTS[6 * number : 6 * number + 6])
    run("predict", model, tmp_path / "in", "--to", tmp_path / "out.jsonl")
    assert [record["id"] for record in lines(tmp_path / "out.jsonl")] == [
        each.document.id for each in expected
    ][:12]


def test_unknown_types_are_told(documents, tmp_path):
    types = sorted({entity.type for document in DOCUMENTS for entity in document.entities})
    model = saved_model(tmp_path / "typed", candidates=[[types[0], types[1]]])
    told = run("predict", model, documents, "--to", tmp_path / "out.jsonl").stderr
    count = sum(entity.type not in types[:2] for document in DOCUMENTS for entity in document.entities)
    assert f"note: {count:,} entities of types that the model has no candidate pairs of" in told
    assert types[2] in told and types[0] not in told


def test_progress_without_a_terminal(model, documents, tmp_path, monkeypatch):
    for constant in ("SECONDS_A_LINE", "SETTLING"):
        monkeypatch.setattr(progress, constant, 0)
    lines = run("predict", model, documents, "--to", tmp_path / "out.jsonl", "--batch", 4).stderr
    assert re.findall(r"predicting: (\d+)%, \d+ s left\n", lines)[-1] == "100"


def test_errors_are_one_line(model, documents, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "x", "text": "Ada"}\n', "utf-8")
    out = ("--to", tmp_path / "out.jsonl")
    cases = {
        (tmp_path / "nowhere", documents, *out): "nowhere",
        (model, tmp_path / "no.jsonl", *out): "no such file",
        (model, bad, *out): "line 1: document 'x': entities",
        (model, documents, *out, "--threshold", 2): "threshold",
        (model, documents, *out, "--batch", 0): "batch",
        (model, documents, *out, "--format", "jsonn"): "nearest: 'json'",
        (model, documents, "--format", "jsonl"): "needs --to",
        (model, tmp_path / "*.nothing", *out): "no file",
        (
            model,
            documents,
            "--to",
            f"{tmp_path}/a/",
            "--format",
            "html",
        ): "expected one of jsonl, csv, parquet, nt",
        (model, documents, "--to", f"{tmp_path}/a/", "--overwrite"): "--overwrite",
        (model, documents, "--to", f"{tmp_path}/a/", "--text"): "plain text",
        (model, documents, *out, "--ray", "auto"): "--ray needs --to FOLDER/",
    }
    for arguments, message in cases.items():
        result = run("predict", *arguments, code=1)
        assert message in result.stderr and len(notes(result)) == 1, result.stderr
        assert notes(result)[0].startswith("error: ") and not (tmp_path / "out.jsonl").exists()


def test_evaluate_a_model(model, documents, expected, tmp_path):
    predictions, curve = tmp_path / "predictions.json", tmp_path / "curve.csv"
    run("predict", model, documents, "--to", predictions)
    common = ("evaluate", "--gold", documents, "--json", "--train", documents)
    of_file = json.loads(run(*common, "--predictions", predictions).stdout)
    of_model = json.loads(run(*common, "--model", model, "--curve", curve).stdout)
    assert of_file.pop("curve")["recall_at_end"] < of_model["curve"]["recall_at_end"]
    summary = of_model.pop("curve")
    assert of_model == of_file and of_model["overall"]["predicted"] > 0
    thresholds = [float(row["threshold"]) for row in csv.DictReader(curve.open())]
    assert thresholds == sorted(thresholds, reverse=True) and 0.01 <= thresholds[-1] < 0.5
    assert 0 < summary["average_precision"] < 1


def test_evaluate_a_model_at_a_threshold(model, documents):
    common = ("evaluate", "--gold", documents, "--json", "--model", model, "--threshold")
    few, many = (json.loads(run(*common, each).stdout)["overall"]["predicted"] for each in (0.8, 0.3))
    assert 0 < few < many


def test_evaluate_takes_predictions_or_a_model(model, documents, tmp_path):
    for arguments in ((), ("--model", model, "--predictions", documents)):
        message = run("evaluate", "--gold", documents, *arguments, code=1).stderr
        assert "either --predictions or --model" in message
    message = run("evaluate", "--gold", documents, "--predictions", documents, "--batch", 2, code=1).stderr
    assert "need --model" in message


def test_evaluate_names_the_relations_of_a_model(model, documents):
    shown = run("evaluate", "--gold", documents, "--model", model, "--per-relation").stdout
    assert "evidence sentences" in shown and "average precision" in shown
    assert "  child_of child of  " in shown


def write(model, documents, to, *options):
    """Run the command and return the file that it wrote."""
    run("predict", model, documents, "--to", to, *options)
    return to


def triples(expected):
    return [
        (each.document.id, fact.head, fact.relation, fact.tail) for each in expected for fact in each.facts
    ]


def test_the_name_decides_the_format(model, documents, expected, tmp_path):
    with open(write(model, documents, tmp_path / "facts.csv"), newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [
        (row["document"], int(row["head"]), row["relation"], int(row["tail"])) for row in rows
    ] == triples(expected)
    table = pq.read_table(write(model, documents, tmp_path / "facts.parquet")).to_pylist()
    assert [(row["document"], row["head"], row["relation"], row["tail"]) for row in table] == triples(
        expected
    )
    packed = gzip.decompress(write(model, documents, tmp_path / "facts.csv.gz").read_bytes())
    assert packed == write(model, documents, tmp_path / "other", "--format", "csv").read_bytes()
    assert write(model, documents, tmp_path / "facts.txt").read_text("utf-8") == "".join(
        f"{e}\n" for e in expected
    )


def test_the_name_of_a_graph_decides_its_format(model, documents, expected, tmp_path):
    graph = networkx.read_graphml(write(model, documents, tmp_path / "facts.graphml.gz"))
    assert graph.number_of_edges() == len(triples(expected))
    assert {name for _, _, name in graph.edges(data="document")} == {name for name, *_ in triples(expected)}
    for name in ("facts.nt", "facts.TTL"):
        text = write(model, documents, tmp_path / name).read_text("utf-8")
        assert text.count("#predicate>" if name == "facts.nt" else "rdf:predicate") == len(triples(expected))


def test_a_page_with_the_facts_drawn_in_their_documents(model, documents, expected, tmp_path):
    root = parse(write(model, documents, tmp_path / "facts.html").read_text("utf-8"))
    entries = list(root.all("details"))
    assert [entry.only("span", class_="name").text for entry in entries] == [each.id for each in DOCUMENTS]
    for entry, extraction in zip(entries, expected, strict=True):
        surest = sorted(extraction.facts, key=lambda fact: -fact.score)
        rows = [
            (int(row.attributes["data-head"]), int(row.attributes["data-tail"]))
            for row in entry.all("tr", class_="fact")
            if "hidden" not in row.attributes
        ]
        assert rows == [(fact.head, fact.tail) for fact in surest]
        sentences = [int(line.attributes["data-sentence"]) for line in entry.all("p", class_="sentence")]
        assert sentences == list(range(len(extraction.document.sentences)))
    facts = sum(len(each.facts) for each in expected)
    assert (
        f"{facts:,} facts predicted in {len(DOCUMENTS)} documents by the model {model.name}, with a score above 0.500"
        in root.only("header").text
    )


TEXTS = {"one.txt": "Ada met Bo in Kelm. Ada slept.\n", "two.txt": "Bo likes Kelm, and 9 cats.\n"}
PATTERNS = [
    {"label": "PERSON", "pattern": "Ada"},
    {"label": "PERSON", "pattern": "Bo"},
    {"label": "GPE", "pattern": "Kelm"},
    {"label": "CARDINAL", "pattern": "9"},
]


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"), entity_types=["LOC", "PER"])


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(tmp_path_factory.mktemp("nlp"))
    return nlp, tmp_path_factory.getbasetemp() / "nlp0"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, "utf-8")
    return list(TEXTS)


def test_text_gives_what_the_documents_made_of_it_give(text_model, pipeline, files, tmp_path):
    nlp, folder = pipeline
    to = tmp_path / "facts.jsonl"
    told = run("predict", text_model, "--text", *files, "--entities", folder, "--to", to)
    (note,) = notes(told)
    assert note.startswith("note: ") and "CARDINAL" in note
    documents = TextReader.load(nlp, ["LOC", "PER"], log=str).read(TEXTS.items())
    expected = Extractor(text_model, device="cpu").extract(documents)
    assert lines(to) == json.loads(json.dumps([extraction.to_json() for extraction in expected]))
    assert [record["id"] for record in lines(to)] == files


@pytest.mark.parametrize("order", ["{} one.txt", "{} one.txt --text", "{} --text -", "--text {} one.txt"])
def test_text_from_files_and_standard_input(order, text_model, pipeline, files):
    words = [str(text_model) if word == "{}" else word for word in order.split()]
    shown = run("predict", *words, "--entities", pipeline[1], "--type", "CARDINAL=", input=TEXTS["one.txt"])
    assert shown.stdout.splitlines()[0] in ("one.txt", "standard input") and notes(shown) == []


def test_errors_of_texts_are_one_line(text_model, pipeline, files, tmp_path):
    (tmp_path / "empty.txt").write_text(" \n")
    write_documents(tmp_path / "table.jsonl", DOCUMENTS[:1])
    (tmp_path / "latin.txt").write_bytes("größer".encode("latin-1"))
    ruler = ("--entities", pipeline[1])
    cases = {
        (text_model, "--text", "empty.txt", *ruler): "empty.txt",
        (text_model, "empty.txt", *ruler): "empty.txt: an empty file",
        (text_model, "one.txt", "empty.txt", *ruler): "empty.txt: an empty file",
        (text_model, "--text", "latin.txt", *ruler): "latin.txt",
        (text_model, "--text", "one.txt", "--entities", "nowhere"): "nowhere",
        (text_model, "--text", "one.txt", *ruler, "--type", "PERSON"): "'PERSON'",
        (text_model, "--text", "one.txt", *ruler, "--type", "PERSON=PRE"): "'PRE'",
        (text_model, "one.txt", "table.jsonl", *ruler): "table.jsonl",
        (text_model, "--text", "one.txt", *ruler, "--to", "one.txt"): "one.txt",
    }
    for arguments, message in cases.items():
        (line,) = notes(run("predict", *arguments, code=1))
        assert line.startswith("error: ") and message in line


def test_a_text_without_entities_is_told(text_model, pipeline, tmp_path):
    (tmp_path / "plain.txt").write_text("It rained.")
    shown = run("predict", text_model, "--text", tmp_path / "plain.txt", "--entities", pipeline[1])
    assert "note: no entity found in 1 document of 1\n" in shown.stderr and "no fact found" in shown.stdout
