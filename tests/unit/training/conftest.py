import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread_and_own_cache(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setenv("UNNOTED_CACHE", str(tmp_path / "cache"))
