"""docs/paper.md: every equation, table and hyper-parameter, and everything that it names exists."""

import re
from pathlib import Path

import pytest
from tools.docs.commands import commands

from unnoted.configs import read_config
from unnoted.experiments.paper import published
from unnoted.losses import loss_named
from unnoted.training.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/paper.md").read_text("utf-8")


def rows(heading):
    """The cells of the rows of the table below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def source(shared):
    """The paper's source without its comments."""
    return re.sub(r"(?<!\\)%.*", "", (shared / "paper.tex").read_text("utf-8"))


@pytest.mark.shared
def test_every_equation_has_a_row_with_its_printed_number(shared):
    number = source(shared).count(r"\begin{equation}")
    assert [row[0] for row in rows("Equations")] == [f"({each})" for each in range(1, number + 1)]


@pytest.mark.shared
def test_every_table_has_a_row_with_its_printed_number(shared):
    labels = re.findall(r"\\begin\{table\*?\}.*?\\label\{(.*?)\}", source(shared), re.DOTALL)
    assert [table.label for table in published().values()] == labels
    assert [table.number for table in published().values()] == list(range(1, len(labels) + 1))


def test_every_table_of_the_command_has_a_row():
    assert "unnoted reproduce" in dict(commands())
    assert [(row[0], row[1]) for row in rows("Tables")] == [
        (f"`unnoted reproduce {name}`", f"`{table.word}`") for name, table in published().items()
    ]


def test_labels_of_the_source_stand_in_the_published_data_only():
    labels = {table.label for table in published().values()} - published().keys()
    for file in [*(ROOT / "src").rglob("*.py"), ROOT / "docs/paper.md"]:
        text = file.read_text("utf-8")
        assert not [label for label in labels if re.search(rf"\b{label}\b", text)], file


def test_configs_of_a_table_are_those_of_its_rows():
    for command, _, _, configs in rows("Tables"):
        table = published()[command.strip("`").split()[-1]]
        folder = configs.strip("`")
        assert all(row.config.startswith(folder) for row in table.rows), table.name


def test_every_file_exists():
    named = re.findall(r"`((?:tests|documents|losses|scores|experiments)/[\w./-]*)`", PAGE)
    assert len(named) >= 40
    for name in named:
        place = ROOT if name.startswith("tests") else ROOT / "src/unnoted"
        assert (place / name).exists(), name


def test_names_in_brackets_are_in_their_files():
    found = re.findall(r"`([\w/]+\.py)` \(`([\w.]+)`\)", PAGE)
    assert len(found) > 8
    for file, name in found:
        text = (ROOT / "src/unnoted" / file).read_text("utf-8")
        assert all(re.search(rf"(class|def) {part}\b", text) for part in name.split(".")), f"{file}: {name}"


def test_hyper_parameters_are_those_of_their_configs():
    values = {}
    for what, value, setting, config in rows("Hyper-parameters"):
        key = setting.strip("`").partition(":")[0]
        assert key in Settings.model_fields or key in loss_named("ssr-pu").options.model_fields, setting
        if config.startswith("`base/"):
            values[what] = str(read_config(config.strip("`")).values[key]), value
        elif config != "the default":
            values[what] = str(getattr(load_settings(config.strip("`")), key)), value
    for what, (ours, told) in values.items():
        number = re.search(r"\d[\d.]*(e-\d+)?", told.replace(" %", "e-2"))
        if "prior" in what:
            assert float(ours) == float(number[0] if number else 1), what
        elif number and "encoder" not in what and "threshold" not in what:
            assert float(ours) == pytest.approx(float(number[0])), what
    assert len(values) > 15
