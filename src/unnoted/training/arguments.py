"""Our settings in the words of transformers."""

from pathlib import Path
from typing import Any, Literal

import torch
from transformers import TrainingArguments

from unnoted.training.optimisation import Optimisation, Precision


def chosen_precision(precision: Precision, use_cpu: bool = False) -> Literal["float32", "bf16", "fp16"]:
    """What a precision comes to on this machine; `auto` is bf16 on a GPU that computes in it.

    Raises:
        ValueError: where half precision would not be fast, or not work: some CPUs crash at a bf16 product.
    """
    gpu = torch.cuda.is_available() and not use_cpu
    if precision == "auto":
        return "bf16" if gpu and torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    if precision != "float32" and not gpu:
        raise ValueError(f"precision: found {precision!r}, expected 'auto' or 'float32' without a GPU")
    if precision == "bf16" and not torch.cuda.is_bf16_supported():
        raise ValueError("precision: found 'bf16', expected 'auto' or 'fp16' on a GPU without bf16")
    return precision


def training_arguments(
    optimisation: Optimisation, folder: Path, *, keeps_checkpoints: bool, use_cpu: bool
) -> TrainingArguments:
    """What the stock trainer is told.

    Args:
        optimisation: how the model is trained.
        folder: where the trainer may write.
        keeps_checkpoints: whether it writes checkpoints.
        use_cpu: do not use a GPU that is there.
    """
    o = optimisation
    precision = chosen_precision(o.precision, use_cpu)
    if torch.cuda.is_available() and not use_cpu:
        # Products in float32 may be rounded to TF32, unless float32 was asked for.
        torch.backends.cuda.matmul.fp32_precision = "ieee" if o.precision == "float32" else "tf32"
    saving: dict[str, Any] = {"save_strategy": "epoch"}
    if o.checkpoint_steps is not None:
        saving = {"save_strategy": "steps", "save_steps": o.checkpoint_steps}
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=o.epochs,
        per_device_train_batch_size=o.batch_documents,
        gradient_accumulation_steps=o.gradient_accumulation,
        max_grad_norm=o.clip,
        seed=o.seed,
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        logging_steps=o.log_steps,
        # The stock filter looks at every loss, for which a GPU must wait, and hides what is not finite.
        logging_nan_inf_filter=False,
        report_to="none",
        accelerator_config={"non_blocking": torch.cuda.is_available() and not use_cpu},
        use_cpu=use_cpu,
        disable_tqdm=False,  # by default, as quiet as transformers' log
        **(saving if keeps_checkpoints else {"save_strategy": "no"}),
    )
    # With two visible GPUs the stock trainer would split our batches between them by `nn.DataParallel`, which
    # cannot. A process uses one; several are used by `torchrun` or `accelerate launch`.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments
