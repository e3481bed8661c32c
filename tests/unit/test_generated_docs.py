"""The generated parts of the documentation are up to date: `make docs` writes them."""

import ast
import re
import xml.etree.ElementTree as ElementTree
from importlib import import_module

import networkx as nx
import pytest
from tools.docs.architecture import DRAWING, PAGE, SOURCE, import_graph, page_with_table
from tools.docs.commands import command_reference, commands
from tools.docs.pages import DOCS, drawings, out_of_date, same_drawing

import unnoted

LARGEST_DRAWING = 40_000
LONGEST_WALK = 8
STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`: ", re.MULTILINE)


@pytest.fixture(scope="module")
def drawn():
    return drawings()


def page_text(name):
    return (DOCS / name).read_text("utf-8")


def definition(file, name):
    """The source of a function, class or method of the package."""
    text = (SOURCE / file).read_text("utf-8")
    node = ast.parse(text)
    for part in name.split("."):
        found = [each for each in node.body if getattr(each, "name", None) == part]
        assert found, f"{file} has no {name}"
        (node,) = found
    return ast.get_source_segment(text, node)


def walks():
    """The steps of each walk of the architecture page, as files and names, by the heading above them."""
    for section in page_text(PAGE).split("\n## ")[1:]:
        if steps := STEP.findall(section):
            yield section.splitlines()[0], steps


def test_the_drawings_are_up_to_date(drawn):
    assert out_of_date(drawn) == [], "`make docs` writes them"


def test_the_drawings_are_small_and_shown(drawn):
    pages = "".join(path.read_text("utf-8") for path in DOCS.rglob("*.md"))
    for name, text in drawn.items():
        assert len(text.encode()) < LARGEST_DRAWING
        assert f"]({name.rpartition('/')[2]})" in pages
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_same_drawing_may_differ_in_last_digits_only():
    assert same_drawing('<a id="p0123456789" d="M 1.01"/>', '<a id="pabcdef0123" d="M 1.02"/>')
    assert not same_drawing('<a d="M 1.0"/>', '<a d="M 2.0"/>')
    assert not same_drawing("<text>recall</text>", "<text>precision</text>")


def test_what_is_missing_changed_or_left_over_is_out_of_date(drawn):
    changed, removed = sorted(drawn)[:2]
    made = {**drawn, changed: "<svg/>", "new.svg": "<svg/>"}
    del made[removed]
    assert out_of_date(made) == sorted([changed, removed, "new.svg"])


def test_the_list_of_rooms_is_up_to_date():
    assert page_with_table(page_text(PAGE)) == page_text(PAGE), "`make docs` writes it"


def test_every_room_is_drawn(drawn):
    graph = import_graph()
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph) <= set(re.findall(r">([a-z_]+)</text>", drawn[DRAWING]))


@pytest.mark.parametrize(("walk", "steps"), list(walks()))
def test_a_walk_can_be_followed(walk, steps):
    """Every step exists, and the file of a step before it names it, or the class that it belongs to."""
    assert len({file for file, _ in steps}) <= LONGEST_WALK
    for place, (file, name) in enumerate(steps):
        assert definition(file, name)
        before = [(SOURCE / earlier).read_text("utf-8") for earlier, _ in steps[:place]]
        assert not before or any(re.search(rf"\b{name.split('.')[0]}\b", text) for text in before), name


def test_whatever_the_page_names_exists():
    for file, name in re.findall(r"`([\w/]+\.py)`\s+`([\w.]+)`", page_text(PAGE)):
        assert definition(file, name)


def test_there_are_walks_through_training_and_prediction():
    assert len(list(walks())) == 2


def test_every_command_and_option_is_described():
    page = command_reference()
    for path, command in commands():
        section = page.partition(f"## `{path}`\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert f"`{parameter.opts[0]}" in section
                assert parameter.help, f"{path} {parameter.opts[0]} has no help"


def test_every_room_with_public_names_has_a_page():
    shown = {
        name
        for path in DOCS.glob("reference/*.md")
        for name in re.findall(r"^::: ([\w.]+)", path.read_text(), re.M)
    }
    public = {
        f"unnoted.{room}" for room in import_graph() if hasattr(import_module(f"unnoted.{room}"), "__all__")
    }
    assert public <= shown
    for name in shown:
        import_module(name if (SOURCE.parent / name.replace(".", "/")).is_dir() else name.rpartition(".")[0])


def test_every_name_of_the_package_is_in_the_library_page():
    page = page_text("reference/README.md")
    assert set(re.findall(r"\[`(\w+)`\]\[unnoted\.", page)) == set(unnoted.__all__)
