"""A thin subclass of `transformers.Trainer`: our batches, risks and checkpoints in its loop."""

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback, ProgressCallback, TrainingArguments, set_seed
from transformers.integrations.integration_utils import TensorBoardCallback
from transformers.optimization import get_linear_schedule_with_warmup

from unnoted.documents.corpus import Corpus
from unnoted.documents.schema import Document
from unnoted.features import (
    Batch,
    BatchLimits,
    Collator,
    Epoch,
    FeatureCache,
    FeatureSet,
    ShuffledBatches,
    UnlabelledSample,
    featurise,
)
from unnoted.model import RelationModel
from unnoted.risks import PositiveUnlabelledRisk, Risk, SquaredRanking
from unnoted.scores.decisions import DECISION_OF_RISK
from unnoted.training.checkpoints import (
    STATE,
    CheckpointError,
    check_files,
    checkpoint_folder,
    checkpoints,
    one_line,
    readable,
    tidy,
    whole_folder,
)
from unnoted.training.development import AfterEveryEpoch, development_score
from unnoted.training.progress import Progress, without_bars
from unnoted.training.settings import Optimisation, Precision
from unnoted.training.watch import RiskWatch

CHECKPOINTS = "checkpoints"
LOGS = "logs"


class Trainer(transformers.Trainer):
    """Trains a model on documents by minimising a risk; the model after the last step is the result.

    What is ours: the batches (an order that seed and epoch alone decide), the risk, two learning rates,
    checkpoints that are whole or not there, and a stop with names when a risk is not finite. The loop, mixed
    precision, several devices and logging are those of transformers.

    Args:
        model: the model, which is trained in place.
        risk: what is minimised. The model takes its decision rule, link, margin and priors from it.
        train: the documents. The model takes its candidate pairs from them.
        optimisation: how; the paper's settings by default.
        folder: where checkpoints and logs go; None for none of them, and then there is no resuming.
        cache: where features are kept for the next time; None keeps them in memory.
        dev: documents with facts that the model is scored on after every epoch. The scores are shown and kept
            in the history; they choose nothing.
        use_cpu: do not use a GPU that is there.

    Raises:
        ModelError: if the model scores other relations than the documents have.

    Example:
        The library in five lines is `Trainer(model, risk=SSRPU(priors=docs.labelled_priors * 3),
        train=docs).train()`.
    """

    def __init__(
        self,
        model: RelationModel,
        risk: Risk,
        train: Corpus,
        *,
        optimisation: Optimisation | None = None,
        folder: Path | str | None = None,
        cache: FeatureCache | None = None,
        dev: Sequence[Document] | None = None,
        use_cpu: bool = False,
    ) -> None:
        self.optimisation = Optimisation() if optimisation is None else optimisation
        _prepare(model, risk, train)
        self.features = _features(model, train, cache)
        self._keeps_checkpoints = folder is not None
        # The stock trainer makes its output folder, whether it has anything to write or not.
        self._scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self._scratch.name if folder is None else folder)
        self.checkpoints = self.folder / CHECKPOINTS
        self._watch = RiskWatch()
        super().__init__(model=model, args=self._arguments(use_cpu), train_dataset=self.features)
        self.relation_model = model
        self.risk = risk.to(self.args.device)
        for stock in (ProgressCallback, PrinterCallback):
            self.remove_callback(stock)
        self.add_callback(Progress())
        if dev is not None:
            self.add_callback(AfterEveryEpoch(lambda: self.log(development_score(model, dev))))
        if self._keeps_checkpoints and find_spec("tensorboard"):
            board = TensorBoardCallback()  # type: ignore[no-untyped-call]
            board.logging_dir = str(self.folder / LOGS)
            self.add_callback(board)

    def _arguments(self, use_cpu: bool) -> TrainingArguments:
        o = self.optimisation
        _check_precision(o.precision, use_cpu)
        saving: dict[str, Any] = {"save_strategy": "epoch"}
        if o.checkpoint_steps is not None:
            saving = {"save_strategy": "steps", "save_steps": o.checkpoint_steps}
        return TrainingArguments(
            output_dir=str(self.folder),
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
            **(saving if self._keeps_checkpoints else {"save_strategy": "no"}),
        )

    def train(self, resume: bool = False) -> transformers.trainer_utils.TrainOutput:  # type: ignore[override]
        """Train, from the beginning or from the last checkpoint.

        Args:
            resume: go on from the last checkpoint in the folder, if there is one.

        Raises:
            NotFinite: if a risk is not a finite number.
            CheckpointError: if a checkpoint cannot be written, or the last one not be read.
        """
        found = checkpoints(self.checkpoints) if resume else []
        for path in found[-1:]:
            check_files(path)
        # Dropout must not depend on what drew random numbers since the trainer was made.
        set_seed(self.args.seed)
        try:
            output = super().train(resume_from_checkpoint=str(found[-1]) if found else None)
        finally:
            self.is_in_train = False
        self._watch.look()
        self.relation_model.eval()  # type: ignore[no-untyped-call]
        return output

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches of documents of like length; the sample of unlabelled pairs goes with the epoch."""
        o, epoch = self.optimisation, Epoch()
        sample = UnlabelledSample(o.unlabelled_rate, o.seed, epoch) if o.unlabelled_rate < 1 else None
        loader: DataLoader[Any] = DataLoader(
            self.features,
            batch_sampler=ShuffledBatches(self.features, BatchLimits(o.batch_documents), o.seed, epoch),
            collate_fn=Collator.of(self.features, sample),
            pin_memory=self.args.device.type == "cuda",
        )
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """AdamW with one learning rate for the encoder and one for all else."""
        if self.optimizer is None:
            o = self.optimisation
            named = [
                item for item in (model or self.relation_model).named_parameters() if item[1].requires_grad
            ]
            encoder = [parameter for name, parameter in named if _is_encoder(name)]
            others = [parameter for name, parameter in named if not _is_encoder(name)]
            self.optimizer = torch.optim.AdamW(
                [{"params": encoder, "lr": o.encoder_rate}, {"params": others, "lr": o.new_layer_rate}],
                eps=o.adam_epsilon,
                weight_decay=o.weight_decay,
                fused=self.args.device.type in ("cpu", "cuda"),
            )
        return self.optimizer

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> torch.optim.lr_scheduler.LRScheduler:
        """Linear warm-up, then linear decay to 0."""
        if self.lr_scheduler is None:
            self.lr_scheduler = get_linear_schedule_with_warmup(  # type: ignore[no-untyped-call]
                self.optimizer if optimizer is None else optimizer,
                num_warmup_steps=int(num_training_steps * self.optimisation.warm_up),
                num_training_steps=num_training_steps,
            )
            self._created_lr_scheduler = True
        return self.lr_scheduler

    def compute_loss(  # type: ignore[override]
        self,
        model: nn.Module,
        inputs: Batch,
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The risk of a batch, and its scores where they are wanted."""
        scores = model(inputs)
        risk: Tensor = self.risk(scores, inputs.labels(), inputs.pair_weight)
        self._watch.note(risk, self.state.global_step + 1, inputs.documents)
        return (risk, scores) if return_outputs else risk

    def _prepare_inputs(self, inputs: Batch) -> Batch:  # type: ignore[override]
        return inputs.to(self.args.device, non_blocking=True)

    def _get_num_items_in_batch(self, batch_samples: list[Batch], device: torch.device) -> None:
        """None: a risk divides by its own counts, and batches that are accumulated count alike."""

    def floating_point_ops(self, inputs: Batch) -> int:  # type: ignore[override]
        """Not counted."""
        return 0

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Report, after a look at the risks since the last time."""
        self._watch.look()
        super().log(logs, start_time)

    def _save_checkpoint(self, model: nn.Module, trial: object) -> None:
        """As the stock method, but into a folder that appears when it is whole; the last ones are kept."""
        self._watch.look()
        if self.args.should_save:
            self._write_checkpoint(self.state.global_step)
        self.accelerator.wait_for_everyone()

    def _write_checkpoint(self, step: int) -> None:
        try:
            with without_bars(), whole_folder(checkpoint_folder(self.checkpoints, step)) as unfinished:
                target = str(unfinished)
                self.relation_model.save_pretrained(target)
                self._save_optimizer_and_scheduler(target)
                self._save_scaler(target)
                self._save_rng_state(target)
                self.state.save_to_json(str(unfinished / STATE))
        except (OSError, RuntimeError, SafetensorError) as error:
            left = checkpoints(self.checkpoints)
            last = f"{left[-1].name} is whole, resume from it" if left else "there is no earlier one"
            what = f"{self.checkpoints}: the checkpoint of step {step} was not written"
            raise CheckpointError(f"{what} ({one_line(error)}); {last}") from error
        tidy(self.checkpoints)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: nn.Module | None = None) -> None:
        """Only weights that are exactly the model's."""
        path = Path(resume_from_checkpoint)
        with readable(path):
            (model or self.relation_model).load_state_dict(load_file(path / "model.safetensors"))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            with readable(Path(checkpoint)):
                super()._load_optimizer_and_scheduler(checkpoint)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            with readable(Path(checkpoint)):
                super()._load_rng_state(checkpoint)


def _check_precision(precision: Precision, use_cpu: bool) -> None:
    """Half precision only where it is fast and works: some processors end the program at a bf16 product."""
    if precision == "float32":
        return
    if use_cpu or not torch.cuda.is_available():
        raise ValueError(f"precision: found {precision!r}, expected 'float32' where there is no GPU")
    if precision == "bf16" and not torch.cuda.is_bf16_supported():
        raise ValueError("precision: found 'bf16', expected 'fp16' or 'float32' on a GPU without bf16")


def _is_encoder(name: str) -> bool:
    return name.startswith("encoder.")


def _features(model: RelationModel, train: Corpus, cache: FeatureCache | None) -> FeatureSet:
    if model.tokenizer is None:
        raise ValueError("found a model without a tokenizer, expected one made by RelationModel.from_encoder")
    if not len(train):
        raise ValueError("found no training document, expected at least one")
    return featurise(
        train.documents, model.tokenizer, train.relations.ids, train.candidates, cache, model.entity_types
    )


def _prepare(model: RelationModel, risk: Risk, train: Corpus) -> None:
    """Let the model know what its scores will mean, so that every checkpoint can be used as a model."""
    model.check_relations(train.relations.ids)
    model.config.candidates = train.candidates.to_json()
    model.decision = DECISION_OF_RISK[risk.decision]
    model.config.link = risk.link
    model.priors = None
    if isinstance(risk, PositiveUnlabelledRisk):
        model.check_relations(risk.priors.relations)
        if isinstance(risk.surrogate, SquaredRanking):
            model.config.margin = risk.surrogate.margin
        model.priors = risk.priors
        model.config.class_weight = risk.class_weight
