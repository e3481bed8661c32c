import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    torch.set_num_threads(1)
