"""The page of a grid of runs in a real browser, opened from disk."""

import json

import pytest
from tests.browser.pages import framed, with_script
from tests.unit.report.grids import all_tables

from unnoted.report import grid_page

TABLES = {result.name: result for result in all_tables()}

PLOTS = {
    "table1": ["curves-1", "curves-2", "gains"],
    "table3": ["curves-1", "gains"],
    "table8": ["curves-1", "trend-1-f1"],
    "table9": ["curves-1", "trend-1-f1", "trend-1-precision", "trend-1-recall"],
    "compare": [
        *("curves-1", "curves-2", "curves-3", "curves-4"),
        *("trend-1-f1", "trend-1-precision", "trend-1-recall", "gains"),
    ],
}
"""The plots of each page, in order."""

COUNTS = {
    "table1": 3,  # figures, relations, runs
    "table3": 3,
    "table8": 2,
    "table9": 2,
    "compare": 6,  # figures, relations at four levels, runs
}
"""The number of tables in each page."""


@pytest.fixture(scope="module", params=list(PLOTS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def page(name, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "grid.html"
    path.write_text(grid_page(TABLES[name]), "utf-8")
    return path


def test_every_table_and_plot_is_there(name, page, opened):
    root = opened(page)
    found = [
        svg.only("g", id=f"{plot}-figure_1") for svg, plot in zip(root.all("svg"), PLOTS[name], strict=True)
    ]
    assert all(len(list(figure.all("path"))) > 10 for figure in found)
    assert len(list(root.all("table"))) == COUNTS[name]


def test_everything_has_a_size_and_no_text_leaves_its_plot(page, opened, tmp_path):
    script = """
        const wrong = [];
        for (const svg of document.querySelectorAll('svg')) {
            const box = svg.getBoundingClientRect();
            if (box.width < 200 || box.height < 150) wrong.push(`${svg.innerHTML.slice(0, 40)} is too small`);
            for (const text of svg.querySelectorAll('text')) {
                const inner = text.getBoundingClientRect();
                if (inner.left < box.left - 1 || inner.right > box.right + 1 ||
                    inner.top < box.top - 1 || inner.bottom > box.bottom + 1) wrong.push(text.textContent);
            }
        }
        document.title = JSON.stringify(wrong);
    """
    root = opened(with_script(page, tmp_path / "measured.html", script))
    assert json.loads(root.only("title").text) == []


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_wider_than_the_window(page, width, opened, tmp_path):
    assert opened(framed(page, tmp_path, width)).only("title").text == "over by 0"


def test_nothing_is_asked_for(page, opened, tmp_path):
    script = "document.title = performance.getEntriesByType('resource').length + ' asked for'"
    assert opened(with_script(page, tmp_path / "asked.html", script)).only("title").text == "0 asked for"
