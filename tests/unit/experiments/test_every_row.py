"""Every row of the paper's DocRED tables is trained and scored, on a few generated documents."""

import pytest
import torch
from tests.unit.experiments.making_runs import address
from tests.unit.experiments.making_tables import docred_folder
from tests.unit.training.making import tiny_encoder

from unnoted.experiments.data_sets import DataFolder
from unnoted.experiments.paper import table_named
from unnoted.experiments.paper_tables import plan_table
from unnoted.experiments.scale import Scale
from unnoted.training import run


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Data, a scale and a folder: a run that stands in several tables is performed once."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("grid")
    data = DataFolder(docred_folder(folder / "data", documents=3))
    scale = Scale({"encoder": str(tiny_encoder(folder / "encoder")), "epochs": 1}, seeds=(62,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNNOTED_CACHE", str(folder / "cache"))
        yield data, scale, folder / "runs"


@pytest.mark.parametrize("table", ["table2", "table9", "table10", "table8", "table11", "table12"])
def test_every_row_is_trained_and_scored(table, grid):
    data, scale, folder = grid
    runs = plan_table(table_named(table), scale, data, folder).runs
    assert runs
    for settings in runs:
        placed = settings.model_copy(update={"output": folder / address(settings)})
        assert run(placed).scored["test"].overall.gold
