"""A table as aligned text, as Markdown and as LaTeX."""

from collections.abc import Iterator, Sequence

from unnoted.report.tables import Alignment, Cell, Column, Table

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": r"$-$",
    "–": "--",
    "∗": r"$^{\ast}$",
    "†": r"$^{\dagger}$",
    "π": r"$\pi$",
    "→": r"$\rightarrow$",
    "…": r"\ldots{}",
}
"""What stands for a character in LaTeX; all others stand for themselves."""

_IN_MARKDOWN = str.maketrans({"|": r"\|", "*": r"\*", "_": r"\_", "<": "&lt;", "\n": " "})
_IN_LATEX = str.maketrans(LATEX)
_SIDES = {Alignment.LEFT: "l", Alignment.RIGHT: "r"}


def latex_text(text: str) -> str:
    r"""A text as LaTeX sets it.

    Example:
        >>> print(latex_text("50 % ± 1 of P_17"))
        50 \% $\pm$ 1 of P\_17
    """
    return text.translate(_IN_LATEX)


def markdown_text(text: str) -> str:
    r"""A text as Markdown shows it.

    Example:
        >>> print(markdown_text("a|b_c"))
        a\|b\_c
    """
    return text.translate(_IN_MARKDOWN)


def text_lines(table: Table) -> list[str]:
    r"""The table in columns of one width each; nothing is marked as the best.

    Example:
        >>> from unnoted.report.tables import shares, words
        >>> table = Table("Scores.", (words("Method"), shares("F1")), (("A", 0.5), ("BB", 0.25)))
        >>> print(*text_lines(table), sep="\n")
        Method    F1
        A       50.0
        BB      25.0
    """
    indent = "  " if table.row_groups else ""
    bodies = [
        (heading, [[f"{indent}{row[0].text}", *(cell.text for cell in row[1:])] for row in rows])
        for heading, rows in table.bodies()
    ]
    titles = [column.title for column in table.columns]
    widths = [max(map(len, column)) for column in zip(titles, *_all_rows(bodies), strict=True)]
    _widen(widths, table.groups())
    lines = [_group_line(widths, table.groups())] if table.groups() else []
    lines.append(_aligned(titles, widths, table.columns))
    for heading, rows in bodies:
        lines += [heading] if heading else []
        lines += [_aligned(row, widths, table.columns) for row in rows]
    return lines


def _all_rows(bodies: Sequence[tuple[str, list[list[str]]]]) -> Iterator[list[str]]:
    return (row for _, rows in bodies for row in rows)


def _widen(widths: list[int], groups: Sequence[tuple[str, int]]) -> None:
    """Let the last column of a group take what its heading needs beyond its columns."""
    start = 0
    for heading, span in groups:
        lacking = len(heading) - _width(widths[start : start + span])
        widths[start + span - 1] += max(lacking, 0)
        start += span


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _group_line(widths: Sequence[int], groups: Sequence[tuple[str, int]]) -> str:
    start, parts = 0, []
    for heading, span in groups:
        parts.append(f"{heading:>{_width(widths[start : start + span])}}")
        start += span
    return "  ".join(parts).rstrip()


def _aligned(texts: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    cells = [
        text.ljust(width) if column.alignment is Alignment.LEFT else text.rjust(width)
        for text, width, column in zip(texts, widths, columns, strict=True)
    ]
    return "  ".join(cells).rstrip()


def markdown_lines(table: Table) -> list[str]:
    r"""The table in Markdown; the best values are bold, and a heading of rows is a row of its own.

    Markdown has one line of titles, so the heading over several columns goes before each title.

    Example:
        >>> from unnoted.report.tables import shares, words
        >>> table = Table("Scores.", (words("Method"), shares("F1")), (("A", 0.5), ("B", 0.25)))
        >>> print(*markdown_lines(table), sep="\n")
        | Method | F1 |
        | :--- | ---: |
        | A | **50.0** |
        | B | 25.0 |
    """
    titles = [markdown_text(f"{column.group} {column.title}".strip()) for column in table.columns]
    sides = [":---" if column.alignment is Alignment.LEFT else "---:" for column in table.columns]
    lines = [_piped(titles), _piped(sides)]
    for heading, rows in table.bodies():
        if heading:
            lines.append(_piped([f"*{markdown_text(heading)}*", *[""] * (len(table.columns) - 1)]))
        lines += [_piped([_marked(cell, markdown_text(cell.text), "**{}**") for cell in row]) for row in rows]
    return lines


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _marked(cell: Cell, text: str, strong: str) -> str:
    return strong.format(text) if cell.best else text


def latex_lines(table: Table) -> list[str]:
    r"""The table as a `tabular` that needs no package; the best values are bold.

    Example:
        >>> from unnoted.report.tables import shares, words
        >>> table = Table("Scores.", (words("Method"), shares("F1")), (("A", 0.5), ("B", 0.25)))
        >>> print(*latex_lines(table)[2:-2], sep="\n")
        Method & F1 \\
        \hline
        A & \textbf{50.0} \\
        B & 25.0 \\
    """
    sides = "".join(_SIDES[column.alignment] for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\hline"]
    if groups := table.groups():
        lines.append(
            _ended([rf"\multicolumn{{{span}}}{{c}}{{{latex_text(heading)}}}" for heading, span in groups])
        )
    lines.append(_ended([latex_text(column.title) for column in table.columns]))
    for heading, rows in table.bodies():
        lines.append(r"\hline")
        if heading:
            lines.append(
                _ended([rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\textit{{{latex_text(heading)}}}}}"])
            )
        lines += [
            _ended([_marked(cell, _latex_cell(cell.text), r"\textbf{{{}}}") for cell in row]) for row in rows
        ]
    return [*lines, r"\hline", r"\end{tabular}"]


def _latex_cell(text: str) -> str:
    """A cell's text; a deviation is set small, so that published beside measured ones fit a page."""
    mean, deviates, deviation = text.partition(" ± ")
    small = rf"$_{{\pm {latex_text(deviation)}}}$" if deviates else ""
    return f"{latex_text(mean)}{small}"


def _ended(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"
