"""Every row of the paper's DocRED tables is trained and scored, on a few generated documents."""

import pytest
import torch
from tests.unit.experiments.making_tables import docred_folder
from tests.unit.training.making import tiny_encoder

from unnoted.experiments.data_sets import DataFolder
from unnoted.experiments.paper import published
from unnoted.experiments.perform import perform
from unnoted.experiments.reproduce import plan_table
from unnoted.experiments.scale import Scale


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Data, a scale and a folder: a run that stands in several tables is performed once."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("grid")
    data = DataFolder(docred_folder(folder / "data", documents=3))
    scale = Scale(encoder=str(tiny_encoder(folder / "encoder")), seeds=(62,), epochs=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNNOTED_CACHE", str(folder / "cache"))
        yield data, scale, folder / "runs"


@pytest.mark.parametrize("table", ["table1", "table_full", "table_ext", "table6", "table8", "table9"])
def test_every_row_is_trained_and_scored(table, grid):
    data, scale, folder = grid
    runs = plan_table(published().table(table), scale, data, folder).runs
    assert runs
    for run in runs:
        assert perform(run, folder).scored["test"].overall.gold
