import csv
import io
import re

import pytest
from tests.unit.report.grids import all_tables, levels_table, methods_table

from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.report import table_csv, table_latex, table_markdown, table_text
from unnoted.report.grid_tables import CSV_COLUMNS, claimed, grid_table, remarks_of
from unnoted.report.table_formats import latex_text
from unnoted.training.record import Failure

FORMATS = [table_text, table_markdown, table_latex]
HOSTILE = "a|b_c & 50% of $x$ {y} #1 \\z *w* <i>"


def made(*rows, columns=("F1",), **rest):
    return TableResult("t", "Title", columns, rows, **rest)


def row(name, published=None, measured=None, group="", **rest):
    one = {} if published is None else {"F1": published}
    other = {} if measured is None else {"F1": measured}
    return RowResult(
        name, rest.pop("title", name.upper()), group, one, other, rest.pop("records", ()), **rest
    )


@pytest.mark.parametrize("written", FORMATS)
def test_every_figure_note_claim_and_failure_is_written(written):
    result = methods_table()
    text = written(result)
    plain = re.sub(r"\$_\{\\pm (.*?)\}\$", r" ± \1", text).replace("\\_", "_").replace("\\%", "%")
    for each in result.rows:
        assert each.title in plain
        for figure in [*each.published.values(), *each.measured.values()]:
            assert str(figure) in plain
    assert plain.count("failed") == 4 + 1  # a cell in each column, and the reason below
    assert "the risk is not a number at step 120" in plain and "0123456789abcdef" in plain
    for note in result.notes:
        assert note in plain
    assert len(re.findall("points of F1", plain)) == len(result.claims) == 6


def test_text_is_aligned():
    lines = table_text(methods_table()).splitlines()
    assert lines[0] == "table1: DocRED with its original labels, scored on the revised test set"
    rows = [line for line in lines if re.match(r"( {2}|Model)\S", line + " ") or line.startswith("Model")]
    assert len({len(line) for line in rows if "published" in line or "±" in line}) == 1
    assert lines[4] == "other models"


def test_markdown_has_as_many_cells_in_every_line():
    lines = [line for line in table_markdown(methods_table()).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines} == {10}
    assert "**53.93 ± 0.63**" in table_markdown(methods_table())
    assert "| *BERT-base* |" in table_markdown(methods_table())


def test_latex_has_as_many_cells_in_every_line_and_closes_what_it_opens():
    text = table_latex(methods_table())
    body = text[text.index("Model &") : text.index(r"\end{tabular}")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count(" & ") for line in rows} == {8}
    assert r"\textbf{53.93$_{\pm 0.63}$}" in text
    opened, closed = re.findall(r"\\begin\{(\w+\*?)\}", text), re.findall(r"\\end\{(\w+\*?)\}", text)
    assert sorted(opened) == sorted(closed) and text.count("{") == text.count("}")


def test_what_markdown_and_latex_would_take_for_their_own_is_escaped():
    result = made(row("a", Figure(1.0), title=HOSTILE, group=HOSTILE), row("b", Figure(2.0), group="x"))
    (line,) = [line for line in table_markdown(result).splitlines() if line.startswith("| a")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 4 and "<i>" not in line
    assert latex_text(HOSTILE) in table_latex(result)
    left = re.sub(r"\\textbackslash\{\}|\\text\w+\{\}|\\[&%$#_{}]", "", latex_text(HOSTILE))
    assert not re.search(r"[&%$#_{}\\<>]", left)


def test_csv_has_every_figure_with_all_its_digits():
    for result in all_tables():
        lines = list(csv.DictReader(io.StringIO(table_csv(result))))
        assert len(lines) == len(result.rows) * len(result.columns) and tuple(lines[0]) == CSV_COLUMNS
        rows = {each.name: each for each in result.rows}
        for line in lines:
            for kind, figures in (
                ("published", rows[line["row"]].published),
                ("measured", rows[line["row"]].measured),
            ):
                figure = figures.get(line["column"])
                assert line[f"{kind}_mean"] == ("" if figure is None else repr(figure.mean))
                deviation = None if figure is None else figure.deviation
                assert line[f"{kind}_deviation"] == ("" if deviation is None else repr(deviation))
    lines = list(csv.DictReader(io.StringIO(table_csv(methods_table()))))
    assert {line["seeds"] for line in lines if line["row"] == "ssr-pu"} == {"3"}
    (reason,) = {line["failures"] for line in lines if line["row"] == "sr-pu"}
    assert "not a number" in reason


def test_where_nothing_was_published_only_the_measured_figures_are_shown():
    assert [column.title for column in grid_table(levels_table()).columns] == ["Model", "F1", "P", "R"]
    assert "published" not in table_text(levels_table())


def test_the_best_of_each_group_published_and_measured_apart():
    table = grid_table(methods_table())
    f1 = {row[0].text: (row[3].best, row[4].best) for row in table.cells()}
    assert [title for title, (published, _) in f1.items() if published] == ["SSR-PU+ATLOP+BERT-base"]
    assert [title for title, (_, measured) in f1.items() if measured] == ["SSR-PU+ATLOP+BERT-base"]


def test_a_single_group_has_no_heading():
    assert grid_table(made(row("a", group="only"))).row_groups == ()


def test_signs_are_explained_where_they_stand():
    result = made(
        row("a", Figure(1.0), mark="own"), row("b", Figure(2.0), mark="reported"), row("c", mark="x")
    )
    assert [cells[0].text for cells in grid_table(result).cells()] == ["A∗", "B†", "C (x)"]
    assert [line[0] for line in remarks_of(result).signs] == ["∗", "†", "–"]
    full = made(row("a", Figure(1.0), Figure(1.0)))
    assert remarks_of(full).titled() == []


def test_a_row_that_failed_in_part_keeps_its_figures():
    part = methods_table().rows[1]
    failures = (Failure("aa", "no memory"), Failure("bb", "no memory"), Failure("cc", "stopped"))
    result = made(row("a", None, Figure(40.0), records=part.records, failures=failures))
    assert grid_table(result).cells()[0][1].text == "40.00"
    assert remarks_of(result).failures == (
        "A: 2 of 6 runs failed (aa, bb): no memory",
        "A: 1 of 6 runs failed (cc): stopped",
    )


def test_a_run_that_was_never_begun_has_no_folder():
    result = made(row("a", failures=(Failure("", "no such file"),)))
    assert remarks_of(result).failures == ("A: 1 of 1 run failed: no such file",)
    assert grid_table(result).cells()[0][1].text == "failed"


def test_notes_depart_from_something_only_where_something_was_published():
    assert "Departs from what was published:" in table_text(made(row("a", Figure(1.0)), notes=("x",)))
    assert "Notes:" in table_text(made(row("a", None, Figure(1.0)), notes=("x",)))


@pytest.mark.parametrize(("low", "high", "said"), [(0.1, 2.0, "better"), (-2.0, -0.1, "worse"), (-1.0, 1.0, "not certain"), (0.0, 1.0, "not certain")])  # fmt: skip
def test_verdicts(low, high, said):
    claim = Claim("a", "b", 0.0, low, high, 0.5)
    assert claim.verdict == said
    assert claimed(claim, "A", "B").endswith(f": {said}")


def test_a_claim_about_a_row_that_is_not_there_keeps_its_name():
    assert (
        "nobody" in remarks_of(made(row("a"), claims=(Claim("a", "nobody", 1.0, 0.5, 2.0, 1.0),))).claims[0]
    )


def test_claims_name_the_group_where_titles_repeat():
    rows = [
        RowResult(f"{name}-{level}", name, level, {}, {}, ()) for level in ("all", "half") for name in "AB"
    ]
    result = TableResult("t", "T", ("F1",), (*rows, row("other")), claims=(
        Claim("A-half", "B-half", 1.0, 0.5, 1.5, 1.0), Claim("A-all", "other", 1.0, 0.5, 1.5, 1.0),
    ))  # fmt: skip
    first, second = remarks_of(result).claims
    assert first.startswith("A (half) against B (half)") and second.startswith("A (all) against ")
    assert "other (" not in second
