"""A room imports only from the rooms before it."""

import ast
from pathlib import Path

import pytest

import unnoted

SOURCE = Path(unnoted.__file__).parent
ROOMS = [
    "common",
    "configs",
    "priors",
    "documents",
    "rules",
    "features",
    "kernels",
    "encoders",
    "pairs",
    "scores",
    "architectures",
    "calibration",
    "risks",
    "saved",
    "model_card",
    "model",
    "extraction",
    "spacy_component",
    "evaluation",
    "training",
    "experiments",
    "report",
    "suggest",
    "review",
    "serve",
    "cli",
]


def room(module):
    """The room of a module's dotted name; the package itself and `python -m` are the last of all."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def steps_back(module, source):
    """Imports in a module's source that go to a later room."""
    order = [*ROOMS, "__init__", "__main__"]
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            rooms = [f"unnoted.{alias.name}" for alias in node.names if alias.name in ROOMS]
            names = rooms if node.module == "unnoted" and rooms else [node.module]
        for name in names:
            if name.split(".")[0] == "unnoted" and order.index(room(name)) > order.index(room(module)):
                yield f"{module} imports {name}"


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_no_step_back(module, path):
    assert room(module) in [*ROOMS, "__init__", "__main__"], f"{module} is in no room"
    assert list(steps_back(module, path.read_text("utf-8"))) == []


def test_a_step_back_is_seen():
    assert list(steps_back("unnoted.documents.x", "from unnoted.cli.main import app"))
    assert list(steps_back("unnoted.documents.x", "from unnoted import cli"))
    assert list(steps_back("unnoted.risks.x", "import unnoted.model"))
    assert not list(steps_back("unnoted.cli.x", "from unnoted.documents import schema"))
