"""Commands on files of annotation tools: folders are read and written."""

import json

import pytest
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data import load_documents
from unnoted.io import content_digest


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def tasks(tmp_path):
    regions = [
        {
            "id": ref,
            "type": "labels",
            "origin": "manual",
            "value": {"start": a, "end": b, "text": name, "labels": ["PER"]},
        }
        for ref, a, b, name in (("x", 0, 3, "Ada"), ("y", 8, 10, "Bo"))
    ]
    met = {"from_id": "x", "to_id": "y", "type": "relation", "direction": "right", "labels": ["met"]}
    annotation = {"result": [*regions, met], "lead_time": 1.50, "completed_by": 3}
    made = [
        {"id": number, "data": {"text": "Ada met Bo."}, "annotations": [annotation], "inner_id": number}
        for number in range(4)
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(made, indent=1))
    return path


def test_parts_of_an_export_are_tasks_again(tasks, tmp_path):
    first, second = tmp_path / "train.json", tmp_path / "test.json"
    format = ["--format", "label-studio"]
    run("data", "split", tasks, "--into", f"{first}=0.5", "--into", f"{second}=0.5", *format)
    parts = [document for path in (first, second) for document in load_documents(path)]
    assert sorted(parts, key=lambda document: document.id) == list(load_documents(tasks))


def test_another_ending_or_format_converts(tasks, tmp_path):
    lines, folder = tmp_path / "a.jsonl", tmp_path / "corpus"
    run("data", "split", tasks, "--into", f"{lines}=0.5", "--into", f"{tmp_path / 'b.jsonl'}=0.5")
    assert len(lines.read_text().splitlines()) == 2
    run("data", "convert", tasks, "--to", folder, "--format", "brat")
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{n}.{e}" for n in range(4) for e in ("ann", "txt")
    ]
    assert "brat standoff" in run("data", "check", folder)
    assert [document.facts for document in load_documents(folder)] == [
        document.facts for document in load_documents(tasks)
    ]


def test_what_is_not_carried_over_is_told(tasks, tmp_path):
    run("data", "convert", tasks, "--to", tmp_path / "a.jsonl")
    record = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    record["facts"][0]["evidence"] = [0]
    (tmp_path / "b.jsonl").write_text(json.dumps(record | {"mine": 1, "yours": 2}))
    done = CliRunner().invoke(
        app, ["data", "convert", str(tmp_path / "b.jsonl"), "--to", str(tmp_path / "c"), "--format", "brat"]
    )
    told = "note: not kept in brat standoff: 1 fact's evidence; 2 unknown fields (mine, yours)\n"
    assert done.stderr.endswith(told)


def test_a_folder_that_has_files_is_not_written_to(tasks, tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "mine.txt").write_text("mine")
    done = CliRunner().invoke(
        app, ["data", "convert", str(tasks), "--to", str(tmp_path / "corpus"), "--format", "brat"]
    )
    assert done.exit_code == 1
    assert [path.name for path in (tmp_path / "corpus").iterdir()] == ["mine.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "tasks.json"]  # nothing half made


def test_a_folder_is_known_by_names_and_contents(tmp_path):
    (tmp_path / "in").mkdir()
    digests = set()
    for name, text in (("a", "x"), ("a", "y"), ("b", "y")):
        (tmp_path / "in" / name).write_text(text)
        digests.add(content_digest(tmp_path / "in"))
    assert len(digests) == 3
