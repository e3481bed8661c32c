"""The generated parts of the documentation are up to date: `make docs` writes them."""

import xml.etree.ElementTree as ElementTree

import pytest
from tools.docs.commands import command_page, commands
from tools.docs.docstrings import markdown, summary
from tools.docs.names import name_list, public_names, room_pages, rooms
from tools.docs.pages import DOCS, out_of_date, reference_pages, same_drawing, same_text
from tools.docs.plots import plots

import unnoted

LARGEST_PLOT, LARGEST_REFERENCE = 40_000, 200_000


@pytest.fixture(scope="module")
def drawn():
    return plots()


def test_the_reference_is_up_to_date():
    assert out_of_date(reference_pages(), "reference/*.md", same_text) == [], "`make docs` writes them"


def test_the_reference_is_small():
    assert sum(path.stat().st_size for path in DOCS.glob("reference/*.md")) < LARGEST_REFERENCE


def test_the_plots_are_up_to_date(drawn):
    assert out_of_date(drawn, "concepts/*.svg", same_drawing) == [], "`make docs` writes them"


def test_the_plots_are_small_and_shown(drawn):
    pages = "".join(path.read_text("utf-8") for path in DOCS.glob("concepts/*.md"))
    for name, text in drawn.items():
        assert len(text.encode()) < LARGEST_PLOT
        assert f"]({name.removeprefix('concepts/')})" in pages
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_same_drawing_may_differ_in_last_digits_only():
    assert same_drawing('<a id="p0123456789" d="M 1.01"/>', '<a id="pabcdef0123" d="M 1.02"/>')
    assert not same_drawing('<a d="M 1.0"/>', '<a d="M 2.0"/>')
    assert not same_drawing("<text>recall</text>", "<text>precision</text>")


def test_what_is_missing_changed_or_left_over_is_out_of_date():
    there = sorted(path.name for path in DOCS.glob("concepts/*.svg"))
    made = {f"concepts/{name}": "<svg/>" for name in [*there[1:], "new.svg"]}
    assert out_of_date(made, "concepts/*.svg", same_text) == sorted(
        f"concepts/{name}" for name in [*there, "new.svg"]
    )


def test_every_command_and_option_is_told():
    page = command_page()
    for path, command in commands():
        section = page.partition(f"## {path}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert f"`{parameter.opts[0]}" in section
                assert parameter.help, f"{path} {parameter.opts[0]} has no help"


def test_every_public_name_is_told():
    listed = {name.name for room in rooms() for name in public_names(room)}
    assert set(unnoted.__all__) <= listed
    page = name_list()
    assert all(f"[{name}](" in page or f"[**{name}**](" in page for name in listed)


def test_the_full_docstrings_can_be_written():
    pages = room_pages()
    assert "SquaredRanking(margin: float = MARGIN)" in pages["risks.md"]
    assert "### Extractor.extract" in pages["extraction.md"]


def test_a_docstring_becomes_markdown():
    text = "Adds a * b.\n\nArgs:\n    first: one\n        number.\n\nExample:\n    >>> 1 * 1\n    1\n"
    assert (
        markdown(text) == "Adds a \\* b.\n\nArgs:\n\n- `first`: one number.\n\n```python\n>>> 1 * 1\n1\n```"
    )
    assert summary("Two\nlines.\n\nMore.") == "Two lines."
