"""Our settings in the words of transformers."""

from pathlib import Path
from typing import Any

import torch
from transformers import TrainingArguments

from unnoted.training.optimisation import Optimisation


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
    saving: dict[str, Any] = {"save_strategy": "epoch"}
    if o.checkpoint_steps is not None:
        saving = {"save_strategy": "steps", "save_steps": o.checkpoint_steps}
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=o.epochs,
        per_device_train_batch_size=o.batch_documents,
        gradient_accumulation_steps=o.gradient_accumulation,
        max_grad_norm=o.clip,
        seed=o.seed,
        bf16=o.precision == "bf16",
        fp16=o.precision == "fp16",
        logging_steps=o.log_steps,
        # The stock filter looks at every loss, for which a GPU must wait, and hides what is not finite.
        logging_nan_inf_filter=False,
        report_to="none",
        accelerator_config={"non_blocking": torch.cuda.is_available() and not use_cpu},
        use_cpu=use_cpu,
        disable_tqdm=False,  # by default, as quiet as transformers' log
        **(saving if keeps_checkpoints else {"save_strategy": "no"}),
    )
