"""The house rules that a test can check: names that are told apart, functions of one screen, no type switches."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import unnoted

SOURCE = Path(unnoted.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in FILES}
LONGEST, DEEPEST = 60, 4
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def lines(function):
    """The lines of a function, from `def` to its end."""
    return function.end_lineno - function.lineno + 1


def depth(node):
    """How deep blocks lie within one another; an `elif` is as deep as its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, depth(child) + (isinstance(child, BLOCKS) and not is_elif))
    return deepest


@pytest.mark.parametrize("file", TREES)
def test_functions_are_one_screen_long_and_not_deeply_nested(file):
    for function in functions(TREES[file]):
        assert lines(function) <= LONGEST, f"{function.name} has {lines(function)} lines"
        assert depth(function) <= DEEPEST, f"{function.name} is nested {depth(function)} deep"


def test_the_measures_see_what_they_are_for():
    text = "def f():\n    '''A\n    B'''\n    for a in b:\n        if a:\n            pass\n        elif b:\n            pass\n"
    (function,) = functions(ast.parse(text))
    assert (lines(function), depth(function)) == (8, 2)


def test_no_two_files_have_one_name():
    names = Counter(Path(file).name for file in TREES if not file.endswith("__init__.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_two_classes_have_one_name():
    names = Counter(
        node.name for tree in TREES.values() for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )  # fmt: skip
    assert [name for name, count in names.items() if count > 1] == []


def test_nobody_outside_the_risks_asks_what_kind_a_loss_is():
    ours = {
        node.name for file, tree in TREES.items() if file.startswith("risks/")
        for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    }  # fmt: skip
    assert {"PositiveUnlabelledRisk", "SquaredRanking", "Fixed"} <= ours
    for file, tree in TREES.items():
        if file.startswith("risks/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                assert not asked & ours, f"{file}: {ast.unparse(node)}"
