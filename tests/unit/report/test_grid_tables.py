import csv
import io
import re

import pytest
from tests.unit.report.grids import all_tables, levels_table, methods_table

from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.experiments.tables import Table, latex_text
from unnoted.report.grid_tables import CSV_COLUMNS, csv_table, grid_table, statistics_table
from unnoted.training.record import Failure

FORMATS = [Table.text, Table.markdown, Table.latex]
HOSTILE = "a|b_c & 50% of $x$ {y} #1 \\z *w* <i>"


def made(*rows, columns=("F1",), **rest):
    return TableResult("t", "Title", columns, rows, **rest)


def cells(result):
    return [row for _, rows in grid_table(result).bodies() for row in rows]


def notes(result, heading=""):
    """The lines below a table under a heading, found by how it begins."""
    found = grid_table(result).notes
    return next(
        (lines for title, lines in found if bool(title) == bool(heading) and title.startswith(heading)), ()
    )


def row(name, published=None, measured=None, group="", **rest):
    one = {} if published is None else {"F1": published}
    other = {} if measured is None else {"F1": measured}
    return RowResult(
        name, rest.pop("title", name.upper()), group, one, other, rest.pop("records", ()), **rest
    )


@pytest.mark.parametrize("written", FORMATS)
def test_every_figure_note_claim_and_failure_is_written(written):
    result = methods_table()
    text = written(grid_table(result))
    plain = re.sub(r"\$_\{\\pm (.*?)\}\$", r" ± \1", text).replace("\\_", "_").replace("\\%", "%")
    for each in result.rows:
        assert each.title in plain
        for figure in [*each.published.values(), *each.measured.values()]:
            assert str(figure) in plain
    assert plain.count("failed") == 4 + 2 + 1  # a cell in each column, and the reason below
    assert "the loss is not a number at step 120" in plain and "0123456789abcdef" in plain
    for note in result.notes:
        assert note in plain
    assert len(re.findall("points of F1", plain)) == len(result.claims) == 6


def test_text_is_aligned():
    lines = grid_table(methods_table()).text().splitlines()
    assert lines[0] == "table1: DocRED with its original labels, scored on the revised test set"
    rows = [line for line in lines if re.match(r"( {2}|Model)\S", line + " ") or line.startswith("Model")]
    assert len({len(line) for line in rows if "published" in line or "±" in line}) == 1
    assert lines[4] == "other models"


def test_markdown_has_as_many_cells_in_every_line():
    lines = [line for line in grid_table(methods_table()).markdown().splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines} == {12}
    assert "**53.93 ± 0.63**" in grid_table(methods_table()).markdown()
    assert "| *BERT-base* |" in grid_table(methods_table()).markdown()


def test_latex_has_as_many_cells_in_every_line_and_closes_what_it_opens():
    text = grid_table(methods_table()).latex()
    body = text[text.index("Model &") : text.index(r"\end{tabular}")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count(" & ") for line in rows} == {10}
    assert r"\textbf{53.93$_{\pm 0.63}$}" in text
    opened, closed = re.findall(r"\\begin\{(\w+\*?)\}", text), re.findall(r"\\end\{(\w+\*?)\}", text)
    assert sorted(opened) == sorted(closed) and text.count("{") == text.count("}")


def test_what_markdown_and_latex_would_take_for_their_own_is_escaped():
    result = made(row("a", Figure(1.0), title=HOSTILE, group=HOSTILE), row("b", Figure(2.0), group="x"))
    (line,) = [line for line in grid_table(result).markdown().splitlines() if line.startswith("| a")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 4 and "<i>" not in line
    assert latex_text(HOSTILE) in grid_table(result).latex()
    left = re.sub(r"\\textbackslash\{\}|\\text\w+\{\}|\\[&%$#_{}]", "", latex_text(HOSTILE))
    assert not re.search(r"[&%$#_{}\\<>]", left)


def test_csv_has_every_figure_with_all_its_digits():
    for result in all_tables():
        lines = list(csv.DictReader(io.StringIO(csv_table(result).csv())))
        assert len(lines) == len(result.rows) * (len(result.columns) + 2) and tuple(lines[0]) == CSV_COLUMNS
        rows = {each.name: each for each in result.rows}
        for line in lines:
            for kind, figures in (
                ("published", rows[line["row"]].published),
                ("measured", rows[line["row"]].measured),
            ):
                if line["column"] in ("Best F1", "AP"):
                    continue
                figure = figures.get(line["column"])
                assert line[f"{kind}_mean"] == ("" if figure is None else repr(figure.mean))
                deviation = None if figure is None else figure.deviation
                assert line[f"{kind}_deviation"] == ("" if deviation is None else repr(deviation))
    lines = list(csv.DictReader(io.StringIO(csv_table(methods_table()).csv())))
    assert {line["seeds"] for line in lines if line["row"] == "ssr-pu"} == {"3"}
    (reason,) = {line["failures"] for line in lines if line["row"] == "sr-pu"}
    assert "not a number" in reason


def test_where_nothing_was_published_only_the_measured_figures_are_shown():
    assert [column.title for column in grid_table(levels_table()).columns] == [
        *("Model", "F1", "P", "R", "Best F1", "AP")
    ]
    assert "published" not in grid_table(levels_table()).text()


def test_the_best_of_each_group_published_and_measured_apart():
    f1 = {row[0].text: (row[3].best, row[4].best) for row in cells(methods_table())}
    assert [title for title, (published, _) in f1.items() if published] == ["SSR-PU+ATLOP+BERT-base"]
    assert [title for title, (_, measured) in f1.items() if measured] == ["SSR-PU+ATLOP+BERT-base"]


def test_a_single_group_has_no_heading():
    assert grid_table(made(row("a", group="only"))).row_groups == ()


def test_signs_are_explained_where_they_stand():
    result = made(
        row("a", Figure(1.0), mark="own"), row("b", Figure(2.0), mark="reported"), row("c", mark="x")
    )
    assert [row[0].text for row in cells(result)] == ["A∗", "B†", "C (x)"]
    assert [line[0] for line in notes(result)] == ["∗", "†", "–"]
    full = made(row("a", Figure(1.0), Figure(1.0)))
    assert grid_table(full).notes == ()


def test_a_row_that_failed_in_part_keeps_its_figures():
    part = methods_table().rows[1]
    failures = (Failure("aa", "no memory"), Failure("bb", "no memory"), Failure("cc", "stopped"))
    result = made(row("a", None, Figure(40.0), records=part.records, failures=failures))
    assert cells(result)[0][1].text == "40.00"
    assert notes(result, "Failed") == (
        "A: 2 of 6 runs failed (aa, bb): no memory",
        "A: 1 of 6 runs failed (cc): stopped",
    )


def test_a_run_that_was_never_begun_has_no_folder():
    result = made(row("a", failures=(Failure("", "no such file"),)))
    assert notes(result, "Failed") == ("A: 1 of 1 run failed: no such file",)
    assert cells(result)[0][1].text == "failed"


def test_notes_depart_from_something_only_where_something_was_published():
    assert notes(made(row("a", Figure(1.0)), notes=("x",)), "Differs from the published setting") == ("x",)
    assert notes(made(row("a", None, Figure(1.0)), notes=("x",)), "Notes") == ("x",)


@pytest.mark.parametrize(
    ("low", "high", "seeds", "said"),
    [
        (0.1, 2.0, 2, "better"),
        (-2.0, -0.1, 3, "worse"),
        (-1.0, 1.0, 3, "not certain"),
        (0.0, 1.0, 3, "not certain"),
        (0.1, 2.0, 1, "ahead, with one seed"),
        (-2.0, -0.1, 1, "behind, with one seed"),
        (-1.0, 1.0, 1, "not certain"),
    ],
)
def test_verdicts(low, high, seeds, said):
    claim = Claim("a", "b", 0.0, low, high, 0.5, seeds)
    assert claim.verdict == said
    assert notes(made(row("a"), row("b"), claims=(claim,)), "Which")[0].endswith(f": {said}")


def test_a_claim_about_a_row_that_is_not_there_keeps_its_name():
    result = made(row("a"), claims=(Claim("a", "nobody", 1.0, 0.5, 2.0, 1.0, 3),))
    assert "A against nobody" in notes(result, "Which")[0]


def test_claims_name_the_group_where_titles_repeat():
    rows = [
        RowResult(f"{name}-{level}", name, level, {}, {}, ()) for level in ("all", "half") for name in "AB"
    ]
    result = TableResult("t", "T", ("F1",), (*rows, row("other")), claims=(
        Claim("A-half", "B-half", 1.0, 0.5, 1.5, 1.0, 3), Claim("A-all", "other", 1.0, 0.5, 1.5, 1.0, 3),
    ))  # fmt: skip
    first, second = notes(result, "Which")
    assert first.startswith("A (half) against B (half)") and second.startswith("A (all) against ")
    assert "other (" not in second


def test_the_whole_curve_stands_beside_the_decision():
    result = levels_table()
    for line, each in zip(cells(result), result.rows, strict=True):
        (record,) = each.records
        scored = record.scored["test"]
        assert [cell.text for cell in line[-2:]] == [
            f"{100 * scored.best_f1:.2f}",
            f"{100 * scored.average_precision:.2f}",
        ]
    assert [line.partition(":")[0] for line in notes(result)] == ["Best F1", "AP"]
    nothing_ran = made(row("a", Figure(1.0)))
    assert [column.group for column in grid_table(nothing_ran).columns] == ["", "F1", "F1"]


STATISTICS = TableResult(
    "accents1",
    "What there is",
    ("train", "test"),
    (
        RowResult("# docs", "# docs", "", {"train": Figure(3053.0), "test": Figure(500.0)}, {"train": Figure(548.0)}, ()),
        RowResult("Avg # ents", "Avg # ents", "", {"train": Figure(19.5), "test": Figure(10.0)}, {"train": Figure(19.2463)}, ()),
    ),
    ("test: found no file_1",),
)  # fmt: skip


def test_of_data_sets_counts_are_whole_and_means_have_a_digit():
    lines = [line.split() for line in statistics_table(STATISTICS).text().splitlines()]
    assert ["#", "docs", "3,053", "548", "500", "–"] in lines
    assert ["Avg", "#", "ents", "19.5", "19.2", "10.0", "–"] in lines
    assert lines[-1] == ["-", "test:", "found", "no", "file_1"]


def test_of_data_sets_nothing_is_marked_as_the_best():
    assert (
        "**548**" not in statistics_table(STATISTICS).markdown()
        and "| 548 |" in statistics_table(STATISTICS).markdown()
    )


def test_latex_of_data_sets_has_no_bare_sign():
    text = statistics_table(STATISTICS).latex()
    assert r"\# docs & 3,053 & 548 & 500 & -- \\" in text and r"file\_1" in text


def test_csv_of_data_sets_has_all_digits():
    rows = list(csv.DictReader(io.StringIO(csv_table(STATISTICS).csv())))
    assert [row["measured_mean"] for row in rows] == ["548.0", "", "19.2463", ""]
