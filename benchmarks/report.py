"""The tables between markers in the documentation, and its plots, from the records of finished runs."""

import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unnoted.data import Document
from unnoted.data.hide_labels import PopularityBiasedLabelDropout, hide_labels
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import Score
from unnoted.evaluation.metrics import total
from unnoted.experiments.plots import plot_lines
from unnoted.experiments.results import MeanStd
from unnoted.losses.pu import LogSigmoidRanking, SquaredRanking
from unnoted.priors import Priors
from unnoted.training import Record, RunScores

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "results").glob("*.md"))]
LOCATED_IN = "P131"
"""The relation that grew most when Re-DocRED's labels were closed under rules."""

RUN_TABLES = {
    "readme": ("docred-",),
    "docred": ("docred-",),
    "docred-settings": ("six-layers-", "extreme-", "complete-"),
    "chemdisgene": ("chemdisgene-",),
    "architectures": ("architecture-",),
}
"""For each marker, how the names of its runs begin."""

Records = dict[str, list[Record]]
Table = list[list[str]]


def write_tables(tables: dict[str, Table]) -> list[str]:
    """Replace what stands between the markers of the pages; returns the names of the tables that were found."""
    written = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for name, table in tables.items():
            start = f"<!-- table: {name} -->"
            pattern = re.compile(f"{re.escape(start)}.*?<!-- end -->", re.DOTALL)
            replaced = f"{start}\n{_markdown(table)}\n<!-- end -->"
            text, count = pattern.subn(lambda _, replaced=replaced: replaced, text)
            written += [name] * bool(count)
        page.write_text(text, "utf-8")
    return written


def _markdown(table: Table) -> str:
    header, *rows = table
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def all_tables(
    records: Records, titles: dict[str, str], analyses: dict[str, Any], speed: dict[str, Any]
) -> dict[str, Table]:
    """Every table that there are records for, by the name of its marker."""
    tables = {}
    for marker, prefixes in RUN_TABLES.items():
        chosen = {name: found for name, found in records.items() if name.startswith(prefixes)}
        if chosen:
            tables[marker] = run_table(chosen, titles, short=marker == "readme")
    for name, rows in analyses.items():
        marker = {"calibration": "docred-calibration", "held-out": "parts"}.get(name, name)
        tables[marker] = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    if speed:
        figures = [(what, value) for part in speed.values() for what, value in part.items()]
        tables["speed"] = [["", "figure"], *([what, f"{value:,.2f}"] for what, value in figures)]
    return tables


def run_table(records: Records, titles: dict[str, str], *, short: bool) -> Table:
    """A row for each run: mean ± standard deviation over its seeds, in per cent."""
    columns: dict[str, Callable[[Record], float]] = {
        "F1": lambda record: _scored(record).f1,
        "P": lambda record: _scored(record).precision,
        "R": lambda record: _scored(record).recall,
        "best F1 of the curve": lambda record: _of_test(record).best_f1,
        "AP": lambda record: _of_test(record).average_precision,
        f"F1 without {LOCATED_IN}": f1_without,
    }
    if short:
        columns = {name: columns[name] for name in ("F1", "P", "R", "AP")}
    else:
        columns["Ign F1"] = lambda record: _of_test(record).ignoring_train.f1
    if all(record.get("data.benchmark") != "docred" for found in records.values() for record in found):
        columns.pop(f"F1 without {LOCATED_IN}", None)
    if not short and all("dev" in record.scored for found in records.values() for record in found):
        columns["F1 (development)"] = lambda record: record.scored["dev"].overall.f1
    table = [["", *columns, *([] if short else ["seeds", "minutes"])]]
    for name, found in records.items():
        figures = [
            str(MeanStd.from_values([100 * figure(each) for each in found])) for figure in columns.values()
        ]
        minutes = sum(each.seconds for each in found) / 60 / len(found)
        table.append(
            [titles.get(name, name), *figures, *([] if short else [str(len(found)), f"{minutes:.0f}"])]
        )
    return table


def _of_test(record: Record) -> RunScores:
    """The scores on the test set, or on the development set of runs that are scored on it alone."""
    return record.scored.get("test") or record.scored["dev"]


def _scored(record: Record) -> Score:
    scored = _of_test(record)
    return scored.reachable or scored.overall


def f1_without(record: Record, relation: str = LOCATED_IN) -> float:
    """F1 over all relations but one."""
    scores = _of_test(record).relations
    return total(score for name, score in scores.items() if name != relation).f1


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3f}" if abs(value) < 1.5 else f"{value:.1f}"
    return "–" if value is None else str(value)


# Plots


def write_plots() -> None:
    """Draw the plots of the concept pages, from the package's own functions."""
    for name, draw in (
        ("prior-shift", prior_shift),
        ("losses", losses),
        ("incomplete-evaluation", incomplete_evaluation),
    ):
        (ROOT / "docs" / "concepts" / f"{name}.svg").write_text(draw(), "utf-8")


def prior_shift() -> str:
    """How often a relation holds among unlabelled pairs, and what each estimator assumes."""
    overall = 0.3
    shares = np.linspace(0, 1, 101)
    priors = Priors(tuple(map(str, range(101))), tuple(overall * shares), (overall,) * 101)
    lines = {
        "PN: none": _points(shares, np.zeros(101)),
        "S-PU, and the truth: π_u": _points(shares, np.array(priors.unlabelled)),
        "PU: as many as of all pairs": _points(shares, np.full(101, overall)),
    }
    return plot_lines(lines, "true facts that are labelled (%)", "unlabelled pairs assumed true (%)")


def losses() -> str:
    """The loss of a relation that holds, over the difference of its logit and that of the none class."""
    difference = torch.linspace(-1.5, 1.5, 121, dtype=torch.float64)
    logits = torch.stack([torch.zeros_like(difference), difference], dim=1)  # [P, none class and relation]
    surrogates = {
        "squared ranking, margin 0.25": SquaredRanking(0.25),
        "squared ranking, margin 1": SquaredRanking(1.0),
        "log-sigmoid ranking": LogSigmoidRanking(),
    }
    lines = {
        title: list(zip(difference.tolist(), surrogate(logits)[0][:, 0].tolist(), strict=True))
        for title, surrogate in surrogates.items()
    }
    return plot_lines(lines, "f_i − f_0", "loss")


def incomplete_evaluation() -> str:
    """Two systems that do not change, scored against fewer and fewer labels."""
    truth = list(generate_documents(300, seed=1))
    everything = _facts(truth)
    right = random.Random(0).sample(sorted(everything, key=str), round(0.8 * len(everything)))
    wrong = {("false", number) for number in range(round(len(right) * (1 / 0.6 - 1)))}
    systems = {
        "predicts what annotators would label": _facts(
            hide_labels(truth, PopularityBiasedLabelDropout.fit(truth, 0.35), seed=7)
        ),
        "predicts 80 % of all facts; 2 in 5 predictions are wrong": {*right, *wrong},
    }
    shares = np.linspace(0.1, 1, 10)
    golds = [
        _facts(hide_labels(truth, PopularityBiasedLabelDropout.fit(truth, float(share)), seed=3))
        for share in shares
    ]
    lines = {
        title: _points(shares, np.array([Score.count(predicted, gold).f1 for gold in golds]))
        for title, predicted in systems.items()
    }
    return plot_lines(lines, "true facts that are labelled (%)", "F1 against the labels (%)")


def _points(x: Sequence[float] | np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    return [(100 * float(a), 100 * float(b)) for a, b in zip(x, y, strict=True)]


def _facts(documents: Iterable[Document]) -> set[tuple[Any, ...]]:
    return {(document.id, *fact.triple) for document in documents for fact in document.facts}


def read_json(path: Path) -> dict[str, Any]:
    """A file of results, or nothing."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found
