"""`unnoted evaluate`, as a user types it."""

import csv
import json
from contextlib import closing
from functools import partial

import pytest
from tests.unit.cli import running
from tests.unit.data.formats.test_docred import GOOD
from tests.unit.review.factories import Authors, suggested

from unnoted.review.store import Verdict, open_review
from unnoted.suggestions import Order

run = partial(running.run, "evaluate")


def written(path, content):
    path.write_text(json.dumps(content), "utf-8")
    return path


def claim(title, head, tail, relation, **more):
    return {"title": title, "h_idx": head, "t_idx": tail, "r": relation, **more}


@pytest.fixture
def gold(tmp_path):
    return written(tmp_path / "gold.json", [GOOD, {**GOOD, "title": "Bo"}])


@pytest.fixture
def train(tmp_path):
    return written(tmp_path / "train.json", [{**GOOD, "title": "Cy", "labels": GOOD["labels"][:1]}])


@pytest.fixture
def predictions(tmp_path):
    rows = [
        claim("Ada", 1, 2, "P551", evidence=[1], score=0.9),
        claim("Ada", 0, 1, "P3373", score=0.8),
        claim("Bo", 0, 2, "P551", score=0.2),
        claim("Dee", 0, 1, "P551", score=0.1),
    ]
    return written(tmp_path / "predictions.json", rows)


def test_table(gold, predictions, train):
    output = run("--gold", gold, "--predictions", predictions, "--train", train).stdout
    # 2 of 4 right, 2 of 4 found; one of the right ones is known from train: P (2 − 1) / (4 − 1 + 1e-5)
    (overall,) = (line.split() for line in output.splitlines() if line.startswith("all facts"))
    assert overall[2:] == ["50.00", "50.00", "50.00", "2", "4", "4"]
    (ign,) = (line for line in output.splitlines() if "Ign F1" in line)
    assert ign.split()[-3:] == ["40.00", "33.33", "50.00"]
    assert "counted as wrong: 1 × unknown-document" in output and "'Dee'" in output
    assert "P3373" not in [line.split()[0] for line in output.splitlines() if line]


def test_per_relation_with_names(gold, predictions, tmp_path):
    names = written(tmp_path / "rel_info.json", {"P551": "residence", "P3373": "sibling"})
    output = run("--gold", gold, "--predictions", predictions, "--per-relation", "--vocabulary", names).stdout
    assert "P551 residence" in output and "P3373 sibling" in output
    assert "no Ign F1" in output


def test_json(gold, predictions, train):
    result = json.loads(run("--gold", gold, "--predictions", predictions, "--train", train, "--json").stdout)
    assert result["overall"]["f1"] == 0.5 and result["ignoring_train"]["correct_in_train"] == 1
    assert result["evidence"] == {
        "f1": 2 / 3, "precision": 1.0, "recall": 0.5, "correct": 1, "predicted": 1, "gold": 2
    }  # fmt: skip
    assert result["benchmark"] == "plain" and result["published"] is None
    assert result["curve"]["average_precision"] == 0.5
    assert set(result["relations"]) == {"P551", "P3373"}


def test_options(gold, predictions):
    common = ("--gold", gold, "--predictions", predictions, "--json")
    result = json.loads(run(*common, "--frequent", 1).stdout)
    assert result["frequent"]["relations"] == ["P3373"] and result["frequent"]["gold"] == 2
    result = json.loads(run(*common, "--relation", "P551").stdout)
    assert result["frequent"]["relations"] == ["P551"] and result["frequent"]["predicted"] == 3
    result = json.loads(run(*common, "--threshold", 0.8).stdout)
    assert result["overall"]["precision"] == 1.0 and result["predictions"]["distinct"] == 2
    result = json.loads(run(*common, "--benchmark", "chemdisgene").stdout)
    assert result["benchmark"] == "chemdisgene"


def test_curve(gold, predictions, tmp_path):
    path = tmp_path / "curve.csv"
    run("--gold", gold, "--predictions", predictions, "--curve", path)
    assert [row["threshold"] for row in csv.DictReader(path.open())] == ["0.9", "0.8", "0.2", "0.1"]
    bare = written(tmp_path / "bare.json", [claim("Ada", 1, 2, "P551")])
    path.unlink()
    message = run("--gold", gold, "--predictions", bare, "--curve", path, code=1).stderr
    assert "bare.json: " in message and not path.exists()


PUBTATOR = "7|t|Abc binds Def\n7|a|Ghi.\n7\t0\t3\tAbc\tChemical\tC1\n7\t10\t13\tDef\tGene\tG1\n"


def test_the_benchmark_is_chosen_and_not_guessed_from_the_format(tmp_path):
    texts, rows = tmp_path / "curated.txt", tmp_path / "curated.tsv"
    texts.write_text(PUBTATOR, "utf-8")
    rows.write_text("7\tchem_gene:affects^binding\tC1\tG1\n7\tchem_gene:new\tC1\tG1\n", "utf-8")
    train_texts, train_rows = tmp_path / "train.txt", tmp_path / "train.tsv"
    train_texts.write_text(PUBTATOR, "utf-8")
    train_rows.write_text("7\tchem_gene:affects^binding\tC1\tG1\n", "utf-8")
    predictions = written(tmp_path / "p.json", [claim("7", 0, 1, "chem_gene:affects^binding")])
    files = ("--gold", texts, "--gold", rows, "--predictions", predictions)
    both = ("--train", train_texts, "--train", train_rows, "--json")
    plain = json.loads(run(*files, *both).stdout)
    assert plain["benchmark"] == "plain" and plain["published"] is None
    assert plain["ignoring_train"] is not None
    result = json.loads(run(*files, *both, "--benchmark", "chemdisgene").stdout)
    assert result["benchmark"] == "chemdisgene"
    assert result["overall"]["recall"] == 0.5 and result["published"]["overall"]["recall"] == 1.0
    assert "no published denominator" in run(*files, "--benchmark", "chemdisgene").stdout


@pytest.mark.parametrize(
    ("option", "estimate", "interval"),
    [
        ("0.5", 0.5, (0.5, 0.5)),
        ("0.4-0.8", 0.6, (0.4, 0.8)),
        ("30/60", 0.5, (0.377, 0.623)),
        ({"*": {"multiplier": 2}}, 0.5, (0.5, 0.5)),
        ({"P551": {"multiplier": 3}, "P3373": {"multiplier": 1}, "P9": 0.1}, 4 / 8, (0.5, 0.5)),
    ],
)
def test_label_frequency(gold, predictions, tmp_path, option, estimate, interval):
    if isinstance(option, dict):
        option = written(tmp_path / "priors.json", option)
    common = ("--gold", gold, "--predictions", predictions)
    result = json.loads(run(*common, "--label-frequency", option, "--json").stdout)
    assert result["overall"]["precision"] == 0.5
    corrected = result["corrected"]
    frequency = corrected["label_frequency"]
    assert frequency["estimate"] == pytest.approx(estimate)
    assert (frequency["low"], frequency["high"]) == pytest.approx(interval, abs=1e-3)
    assert corrected["true_facts"] == pytest.approx(4 / estimate)
    table = run(*common, "--label-frequency", option).stdout
    assert "assumes that labels are right" in table and "all facts" in table


def test_checked_predictions(gold, predictions):
    common = ("--gold", gold, "--predictions", predictions, "--label-frequency", "0.5")
    result = json.loads(run(*common, "--checked", "1/2", "--json").stdout)["corrected"]
    assert result["estimate"]["precision"] == 0.75 and result["estimate"]["recall"] == 3 / 8
    assert result["favour"] == pytest.approx(4 / 3)


def test_label_frequency_of_a_review(tmp_path):
    suggestions = tmp_path / "s.jsonl"
    suggested(tmp_path).save(suggestions)
    claims = written(tmp_path / "found.json", [claim("d1", 0, 1, "lives"), claim("d1", 2, 3, "lives")])
    common = ("--gold", tmp_path / "corpus.jsonl", "--predictions", claims, "--label-frequency", suggestions)
    assert "begin one" in run(*common, code=1).stderr
    with closing(open_review(suggestions)) as store:
        store.decide(Authors()(), 3, Verdict.REJECT)  # in the order of scores
        assert "random" in run(*common, code=1).stderr
        random = Authors("Bo", Order.RANDOM)
        for item in range(3):
            store.decide(random(), item, Verdict.ACCEPT if item else Verdict.REJECT)
    done = run(*common, "--json")
    assert "2 labels of about 4 facts, by 3 random decisions" in done.stderr
    assert json.loads(done.stdout)["corrected"]["label_frequency"]["estimate"] == 0.5


@pytest.mark.parametrize(
    ("title", "relation", "hint"),
    [("Other", "P551", "same documents"), ("Ada", "residence", "'P3373'"), ("Ada", "P551", None)],
)
def test_predictions_that_do_not_belong_to_the_gold(gold, tmp_path, title, relation, hint):
    rows = [claim(title, 1, 2, relation), claim(title, 0, 1, relation)]
    output = run("--gold", gold, "--predictions", written(tmp_path / "result.json", rows)).stdout
    hints = [line for line in output.splitlines() if "same documents" in line or "do not exist" in line]
    assert hints == [] if hint is None else hint in hints[0]


def test_errors_are_one_line(gold, predictions, train, tmp_path):
    unlabelled = written(tmp_path / "test.json", [{**GOOD, "labels": []}])
    bad = written(tmp_path / "bad.json", [{"title": "Ada"}])
    mixed = written(
        tmp_path / "mixed.json", [claim("Ada", 1, 2, "P551"), claim("Ada", 0, 2, "P551", score=1)]
    )
    cases = {
        ("--gold", unlabelled, "--predictions", predictions): "have no fact",
        ("--gold", tmp_path / "no.json", "--predictions", predictions): "no such file",
        ("--gold", gold, "--predictions", tmp_path / "no.json"): "no such file",
        ("--gold", predictions, "--predictions", gold): "these are predictions",
        ("--gold", gold, "--predictions", bad): "[0].h_idx",
        ("--gold", gold, "--predictions", mixed): "1 of 2 predictions",
        ("--gold", gold, "--predictions", predictions, "--train", bad): "sents",
        ("--gold", gold, "--predictions", predictions, "--benchmark", "docked"): "nearest: 'docred'",
        ("--gold", gold, "--predictions", predictions, "--relation", "P55"): "nearest: 'P551'",
        ("--gold", gold, "--predictions", predictions, "--frequent", 0): "at least 1",
        ("--gold", gold, "--predictions", predictions, "--frequent", 2, "--relation", "P551"): "not both",
        ("--gold", gold, "--predictions", predictions, "--label-frequency", "36"): "at most 1",
        ("--gold", gold, "--predictions", predictions, "--label-frequency", "a/b"): "two counts",
        ("--gold", gold, "--predictions", predictions, "--label-frequency", "some"): "a range (0.3-0.45)",
        ("--gold", gold, "--predictions", predictions, "--label-frequency", gold): "an object",
        ("--gold", gold, "--predictions", predictions, "--checked", "1/2"): "needs --label-frequency",
        (
            "--gold",
            gold,
            "--predictions",
            predictions,
            "--label-frequency",
            1,
            "--checked",
            "9/9",
        ): "checked: 9 of 9",
    }
    for arguments, message in cases.items():
        result = run(*arguments, code=1)
        assert message in result.stderr and result.stderr.count("\n") == 1
        assert result.stderr.startswith("error: ") and not result.stdout


def test_reliability_is_drawn_of_probabilities(gold, tmp_path):
    rows = [
        claim("Ada", 1, 2, "P551", score=0.9),
        claim("Bo", 0, 2, "P551", score=0.2),
    ]
    found, drawn = written(tmp_path / "found.json", rows), tmp_path / "reliability.svg"
    run("--gold", gold, "--predictions", found, "--reliability", drawn)
    assert drawn.read_text("utf-8").startswith("<svg")
    assert "calibration error" in drawn.read_text("utf-8")


@pytest.mark.parametrize("score", [{}, {"score": 7.5}])
def test_reliability_needs_probabilities(gold, tmp_path, score):
    bare = written(tmp_path / "bare.json", [claim("Ada", 1, 2, "P551", **score)])
    result = run("--gold", gold, "--predictions", bare, "--reliability", tmp_path / "r.svg", code=1)
    assert "probabilities" in result.stderr and not (tmp_path / "r.svg").exists()
