"""What the stock trainer is told: one GPU per process, and a precision that the hardware has."""

import pytest
import torch

from unnoted.training.arguments import chosen_precision, training_arguments
from unnoted.training.optimisation import Optimisation


def arguments(tmp_path, **changes):
    return training_arguments(Optimisation(**changes), tmp_path, keeps_checkpoints=False, use_cpu=False)


@pytest.mark.parametrize(("visible", "used"), [(0, 0), (1, 1), (2, 1), (8, 1)])
def test_a_process_uses_one_gpu(tmp_path, monkeypatch, visible, used):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: visible)
    told = arguments(tmp_path, batch_documents=3)
    # Where it is greater than 1, the stock trainer wraps the model in nn.DataParallel.
    assert told.n_gpu == used
    assert told.train_batch_size == 3


def gpu(monkeypatch, bf16):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: bf16)


@pytest.mark.parametrize(("bf16", "expected"), [(True, "bf16"), (False, "float32")])
def test_auto_is_the_fastest_that_a_gpu_has(monkeypatch, bf16, expected):
    gpu(monkeypatch, bf16)
    assert chosen_precision("auto") == expected
    assert chosen_precision("float32") == chosen_precision("auto", use_cpu=True) == "float32"


def test_a_precision_that_the_hardware_lacks_is_refused(monkeypatch):
    gpu(monkeypatch, bf16=False)
    with pytest.raises(
        ValueError, match="precision: found 'bf16', expected 'auto' or 'fp16' on a GPU without bf16"
    ):
        chosen_precision("bf16")
    assert chosen_precision("fp16") == "fp16"
    with pytest.raises(
        ValueError, match="precision: found 'fp16', expected 'auto' or 'float32' without a GPU"
    ):
        chosen_precision("fp16", use_cpu=True)


@pytest.mark.parametrize(("precision", "products"), [("auto", "tf32"), ("fp16", "tf32"), ("float32", "ieee")])
def test_products_on_a_gpu(tmp_path, monkeypatch, precision, products):
    before = torch.backends.cuda.matmul.fp32_precision
    gpu(monkeypatch, bf16=False)
    monkeypatch.setattr(
        "unnoted.training.arguments.TrainingArguments", lambda **told: type("Told", (), {"n_gpu": 1})
    )
    try:
        arguments(tmp_path, precision=precision)
        assert torch.backends.cuda.matmul.fp32_precision == products
    finally:
        torch.backends.cuda.matmul.fp32_precision = before


def test_without_a_gpu_nothing_is_rounded(tmp_path):
    if torch.cuda.is_available():
        pytest.skip("has a GPU")
    before = torch.backends.cuda.matmul.fp32_precision
    told = arguments(tmp_path)
    assert not told.bf16 and not told.fp16
    assert torch.backends.cuda.matmul.fp32_precision == before
