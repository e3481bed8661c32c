"""A package imports only from those above it, in the order in which `unnoted.__init__` lists them."""

import ast
import re
from pathlib import Path

import unnoted

ROOT = Path(unnoted.__file__).parent
ORDER = re.findall(r"^    (\w+) {2,}\S", unnoted.__doc__, re.MULTILINE)


def imports(path):
    """The packages of ours that a module imports, and where; imports for types alone do not count."""
    tree = ast.parse(path.read_text("utf-8"))
    types = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    skipped = {id(each) for block in types for each in ast.walk(block)}
    for node in ast.walk(tree):
        if (
            id(node) not in skipped
            and isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("unnoted.")
        ):
            yield node.module.split(".")[1], f"{path.relative_to(ROOT)}:{node.lineno}"


def test_a_package_imports_only_from_those_above_it():
    packages = {path.name.removesuffix(".py") for path in ROOT.iterdir() if not path.name.startswith("_")}
    assert packages - {"py.typed"} == set(ORDER)
    wrong = [
        f"{place} imports {package}"
        for path in ROOT.rglob("*.py")
        if path.parent != ROOT or not path.name.startswith("_")
        for package, place in imports(path)
        if ORDER.index(package) > ORDER.index(path.relative_to(ROOT).parts[0].removesuffix(".py"))
    ]
    assert not wrong
