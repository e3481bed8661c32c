"""Every hook of transformers, torch, the hub and typer that we rely on and that is not promised to stay.

A new version that changes one fails here, by name, and not somewhere in a training. The versions that are allowed
are bounded in pyproject.toml; when a bound is raised, this file says what to look at.
"""

import inspect
from collections.abc import Mapping

import huggingface_hub
import pytest
import torch
import transformers
import typer
from huggingface_hub import constants
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
from tests.making import eight_bits
from transformers import AutoModel, BertConfig, TrainingArguments
from transformers.integrations.integration_utils import TensorBoardCallback
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.utils import logging
from typer.core import TyperCommand, TyperGroup

OVERRIDDEN = {
    "train": ["resume_from_checkpoint"],
    "get_train_dataloader": [],
    "create_optimizer": ["model"],
    "create_scheduler": ["num_training_steps", "optimizer"],
    "compute_loss": ["model", "inputs", "return_outputs", "num_items_in_batch"],
}
CALLED = {"remove_callback": ["callback"], "add_callback": ["callback"]}


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize(("name", "expected"), [*OVERRIDDEN.items(), *CALLED.items()])
def test_methods_of_the_stock_trainer(name, expected):
    assert parameters(getattr(transformers.Trainer, name))[: len(expected)] == expected


def test_attributes_of_the_stock_trainer():
    source = inspect.getsource(transformers.Trainer)
    for name in ("is_in_train", "model_wrapped"):
        assert f"self.{name}" in source, name
    assert "keep_fp32_wrapper" in parameters(__import__("accelerate").Accelerator.unwrap_model)


def test_the_number_of_gpus_of_a_process(tmp_path):
    arguments = TrainingArguments(output_dir=str(tmp_path), report_to="none")
    assert isinstance(inspect.getattr_static(TrainingArguments, "n_gpu"), property)
    arguments._n_gpu = 7
    assert arguments.n_gpu == 7


def test_attention_functions():
    expected = ["module", "query", "key", "value", "attention_mask", "dropout", "scaling", "is_causal"]
    assert parameters(sdpa_attention_forward)[: len(expected)] == expected
    assert parameters(sdpa_mask)[:3] == ["batch_size", "q_length", "kv_length"]
    assert parameters(ALL_ATTENTION_FUNCTIONS.get_interface) == ["attn_implementation", "default"]
    for interface in (transformers.AttentionInterface, transformers.AttentionMaskInterface):
        assert parameters(interface.register) == ["key", "value"]
    assert BertConfig(attn_implementation="sdpa")._attn_implementation == "sdpa"


def test_models():
    assert AutoModel._model_mapping[BertConfig] is transformers.BertModel
    model = transformers.PreTrainedModel
    assert parameters(model._init_weights) == ["module"] and callable(model.post_init)
    assert hasattr(model, "_supports_sdpa")
    assert "add_pooling_layer" in parameters(transformers.BertModel)
    assert parameters(transformers.PreTrainedConfig.from_dict)[:1] == ["config_dict"]


def test_what_keeps_the_terminal_quiet():
    for name in ("get_verbosity", "is_progress_bar_enabled", "disable_progress_bar", "enable_progress_bar"):
        assert parameters(getattr(logging, name)) == [], name
    assert parameters(logging.set_verbosity) == ["verbosity"]
    assert parameters(are_progress_bars_disabled) == parameters(enable_progress_bars) == ["name"]
    assert "logging_dir" in inspect.getsource(TensorBoardCallback)


def test_the_hub():
    assert hasattr(huggingface_hub.get_session(), "head") and constants.ENDPOINT.startswith("http")


def test_torch():
    assert "grad_input" in str(torch.ops.aten._softmax_backward_data.out._schema)
    assert torch.backends.cuda.matmul.fp32_precision in ("none", "ieee", "tf32")
    assert "including_emulation" in parameters(torch.cuda.is_bf16_supported)
    assert callable(torch.set_flush_denormal)


def test_typer():
    for method in ("list_commands", "get_command", "format_help", "shell_complete"):
        assert callable(getattr(TyperGroup, method)), method
    assert "self.commands" in inspect.getsource(TyperGroup)
    assert {"name", "help"} <= set(parameters(TyperCommand.__init__))
    assert parameters(typer.main.get_command) == ["typer_instance"]


@eight_bits
def test_torch_multiplies_8_bit_numbers():
    product, pack = torch.ops.onednn.qlinear_pointwise.default, torch.ops.onednn.qlinear_prepack.default
    assert [argument.name for argument in pack._schema.arguments] == ["weight", "x_shape"]
    assert [argument.name for argument in product._schema.arguments] == [
        "qx", "x_scale", "x_zero_point", "qw", "w_scale", "w_zero_point", "bias", "output_scale",
        "output_zero_point", "output_dtype", "post_op_name", "post_op_args", "post_op_algorithm",
    ]  # fmt: skip
    assert isinstance(torch.cpu.get_capabilities(), Mapping)
    weight = torch.zeros(2)
    before = weight._version
    weight.add_(1)
    assert weight._version > before
