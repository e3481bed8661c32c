"""The page of a grid of runs in a real browser, opened from disk."""

import json

import pytest
from tests.browser.pages import framed, with_script
from tests.unit.report.grids import all_tables

from unnoted.report import grid_page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "grid.html"
    grid_page(all_tables(), "Published and measured").write(path)
    return path


PLOTS = {
    "grid-table1": ["curves-1", "curves-2", "gains"],
    "grid-table3": ["curves-1", "gains"],
    "grid-table8": ["curves-1", "sweep-1"],
    "grid-table9": ["curves-1", "sweep-1"],
    "grid-compare": ["curves-1", "curves-2", "curves-3", "curves-4", "levels-f1", "levels-recall", "gains"],
    "levels-of-tables": ["f1", "recall"],
}
"""The plots of each section, in order."""

TABLES = {
    "grid-table1": 4,  # figures, claims, relations, runs
    "grid-table3": 3,
    "grid-table8": 2,
    "grid-table9": 2,
    "grid-compare": 6,  # figures, relations at four levels, runs
    "levels-of-tables": 0,
}


def test_every_table_and_plot_is_there(page, opened):
    root = opened(page)
    sections = {section.attributes["id"]: section for section in root.only("main").all("section")}
    assert list(sections) == list(PLOTS)
    for name, section in sections.items():
        found = [
            svg.only("g", id=f"{name}-{plot}-figure_1")
            for svg, plot in zip(section.all("svg"), PLOTS[name], strict=True)
        ]
        assert all(len(list(figure.all("path"))) > 10 for figure in found), name
        assert len(list(section.all("table"))) == TABLES[name], name


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
