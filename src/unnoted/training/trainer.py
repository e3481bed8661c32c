"""A thin subclass of `transformers.Trainer`: our batches, losses and checkpoints in its loop."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback, ProgressCallback, set_seed
from transformers.integrations.integration_utils import TensorBoardCallback

from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.io import read_json
from unnoted.losses import P3M, Loss
from unnoted.models.batch import Batch, Collator
from unnoted.models.encoders.loading import find_nonfinite
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationConfig, RelationModel
from unnoted.training.arguments import chosen_precision, training_arguments
from unnoted.training.checkpoints import (
    REMEDY,
    STATE,
    CheckpointError,
    check_files,
    checkpoint_folder,
    checkpoints,
    last_good,
    note_files,
    readable,
    tidy,
    whole_folder,
)
from unnoted.training.development import AfterEveryEpoch, development_score
from unnoted.training.distil import Teacher
from unnoted.training.entity_recognition import WithEntityRecognition, check_entity_recognition
from unnoted.training.evidence_guidance import WithEvidence, check_evidence
from unnoted.training.further_views import FromViews, check_scorer
from unnoted.training.initialization import initialize
from unnoted.training.objective import FromLabels, FromTeacher, Objective
from unnoted.training.optimisation import Optimisation
from unnoted.training.optimiser import check_map_learning_rate, make_optimiser, map_layers
from unnoted.training.preparing import (
    batches_of,
    check_sample,
    features_of,
    sample_of,
    tell_task,
)
from unnoted.training.progress import Progress
from unnoted.training.schedule import make_schedule, undertrained
from unnoted.training.watch import LossWatch, NotFinite
from unnoted.utils import one_line, short_repr

CHECKPOINTS = "checkpoints"
LOGS = "logs"

OWN_SETTINGS = (
    "relations",
    "entity_types",
    "architecture",
    "architecture_options",
    "embedding",
    "block",
    "window",
    "markers",
    "type_tokens",
    "use_type_bias",
    "lexical_weight",
    "candidates",
    "score_decoder",
)
"""What a checkpoint's model must share with the model that is to continue from it."""


class Trainer(transformers.Trainer):
    """Trains a model on documents by minimising a loss; the model after the last step is the result.

    What is ours: the batches (an order that seed and epoch alone decide), the loss, the groups of learning
    rates, checkpoints that are whole or not there, and a stop with names when a loss is not finite. The loop,
    mixed precision, several devices and logging are those of transformers.

    Args:
        model: the model, which is trained in place.
        loss: what is minimised. The model takes its decision rule, link, margin and priors from it.
        train: the documents. The model takes its candidate pairs from them.
        optimisation: how; the paper's settings by default.
        folder: where checkpoints and logs go; None for none of them, and then there is no resuming.
        features: those of the documents, if they were made before.
        dev: documents with facts that the model is scored on after every epoch. The scores are shown and kept
            in the history; they choose nothing.
        teacher: a trained model whose scores the model learns from, beside the labels.
        use_cpu: do not use a GPU that is there.
        typed_relations: let the model learn which types each relation connects, and predict no others.

    Raises:
        ModelError: if the model scores other relations than the documents have, or the teacher does not fit.

    Example:
        The library in five lines is `Trainer(model, loss=SSRPU(priors=docs.labelled_priors * 3),
        train=docs).train()`.
    """

    def __init__(
        self,
        model: RelationModel,
        loss: Loss,
        train: Corpus,
        *,
        optimisation: Optimisation | None = None,
        folder: Path | str | None = None,
        features: FeatureSet | None = None,
        dev: Sequence[Document] | None = None,
        teacher: Teacher | None = None,
        use_cpu: bool = False,
        typed_relations: bool = True,
    ) -> None:
        self.optimisation = Optimisation() if optimisation is None else optimisation
        chosen_precision(self.optimisation.precision, use_cpu)
        check_map_learning_rate(model, self.optimisation)
        check_sample(loss, self.optimisation)
        check_entity_recognition(model, self.optimisation)
        check_scorer(model, loss)
        tell_task(model, loss, train, typed_relations)
        if teacher is not None:
            teacher.check(model, loss)
        self.features = features_of(model, train) if features is None else features
        initialize(model, loss, self.features)
        check_evidence(model, self.optimisation, self.features)
        self._keeps_checkpoints = folder is not None
        # The stock trainer makes its output folder, whether it has anything to write or not.
        self._scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self._scratch.name if folder is None else folder)
        self.checkpoints = self.folder / CHECKPOINTS
        self._watch = LossWatch()
        arguments = training_arguments(
            self.optimisation, self.folder, keeps_checkpoints=self._keeps_checkpoints, use_cpu=use_cpu
        )
        super().__init__(model=model, args=arguments, train_dataset=self.features)
        self.relation_model = model
        model.card = None  # it tells of an earlier training
        self.loss = loss.to(self.args.device)
        self._make_objective(model, teacher)
        self._add_callbacks("training", dev)

    def _make_objective(self, model: RelationModel, teacher: Teacher | None) -> None:
        """The loss, on labels alone or beside a teacher, and what is learnt beside it."""
        self._objective: Objective = FromLabels(self.loss)
        self._views: FromViews | None = None
        if teacher is None and isinstance(self.loss, P3M) and self.loss.view_options is not None:
            self._objective = self._views = FromViews(self.loss, self.loss.view_options, model)
        if teacher is not None:
            teacher = teacher.to(self.args.device)
            self._objective = FromTeacher(self.loss, teacher, self.accelerator.autocast)
        self._recognition: WithEntityRecognition | None = None
        if weight := self.optimisation.entity_recognition_weight:
            self._recognition = WithEntityRecognition(self._objective, model, weight, self.args.seed)
            self._objective = self._recognition
        self._evidence: WithEvidence | None = None
        if weight := self.optimisation.evidence_weight:
            self._evidence = WithEvidence(self._objective, model, weight)
            self._objective = self._evidence

    def _add_callbacks(self, what: str, dev: Sequence[Document] | None) -> None:
        """Our bar in the place of the stock ones, scores of an epoch, and TensorBoard if it is there."""
        for stock in (ProgressCallback, PrinterCallback):
            self.remove_callback(stock)
        self._progress = Progress(what)
        self.add_callback(self._progress)
        if dev is not None:
            self.add_callback(AfterEveryEpoch(lambda: self.log(development_score(self.relation_model, dev))))
        if self._keeps_checkpoints and find_spec("tensorboard"):
            board = TensorBoardCallback()  # type: ignore[no-untyped-call]
            board.logging_dir = str(self.folder / LOGS)
            self.add_callback(board)

    def train(  # type: ignore[override]
        self, resume: bool = False, tell: Callable[[str], None] = lambda line: None
    ) -> transformers.trainer_utils.TrainOutput:
        """Train, from the beginning or from the last checkpoint.

        Args:
            resume: continue from the last checkpoint in the folder, if there is one. One that is damaged is
                passed over for the one before it.
            tell: is given a line for each checkpoint that is passed over.

        Raises:
            NotFinite: if a loss, or a weight, is not a finite number.
            CheckpointError: if a checkpoint cannot be written, or none of those that are there can be read.
        """
        found = last_good(self.checkpoints, self._check_checkpoint, tell) if resume else None
        # Dropout must not depend on what drew random numbers since the trainer was made.
        set_seed(self.args.seed)
        try:
            with ExitStack() as stack:
                stack.enter_context(flush_denormals())
                for part in (self._recognition, self._views, self._evidence):
                    if part is not None:
                        stack.enter_context(part.in_training())
                output = super().train(resume_from_checkpoint=None if found is None else str(found))
        finally:
            self.is_in_train = False
            self._progress.close()
        self._watch.look()
        self._check_weights()
        self._note_length(self.state.global_step)
        # What comes next (another stage, thresholds) may be in another precision.
        self.accelerator.unwrap_model(self.model_wrapped, keep_fp32_wrapper=False)
        self.relation_model.eval()  # type: ignore[no-untyped-call]
        return output

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches of documents; the sample of unlabelled pairs goes with the epoch."""
        pair_sampler = sample_of(self.optimisation)
        batches = batches_of(self.features, self.optimisation, pair_sampler)
        loader: DataLoader[Any] = DataLoader(
            self.features,
            batch_sampler=batches,
            collate_fn=Collator(self.features, pair_sampler),
            pin_memory=self.args.device.type == "cuda",
        )
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """AdamW with a learning rate for the encoder, one for the rest, and `map_learning_rate` a third."""
        if self.optimizer is None:
            over_map = map_layers(self.relation_model)
            chosen = self.relation_model if model is None else model
            self.optimizer = make_optimiser(chosen, self.optimisation, over_map, self.args.device)
        return self.optimizer

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> torch.optim.lr_scheduler.LRScheduler:
        """Linear warm-up, then what the settings say."""
        if self.lr_scheduler is None:
            chosen = self.optimizer if optimizer is None else optimizer
            assert chosen is not None, "transformers makes the optimiser first"
            self.lr_scheduler = make_schedule(chosen, self.optimisation, num_training_steps)
            self._created_lr_scheduler = True
        return self.lr_scheduler

    def compute_loss(  # type: ignore[override]
        self,
        model: nn.Module,
        inputs: Batch,
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The loss of a batch, and its scores where they are wanted."""
        scores = model(inputs).logits
        loss = self._objective(scores, inputs)
        self._watch.note(loss, self.state.global_step + 1, inputs.documents)
        return (loss, scores) if return_outputs else loss

    def _prepare_inputs(self, inputs: Batch) -> Batch:  # type: ignore[override]
        return inputs.to(self.args.device, non_blocking=True)

    def _get_num_items_in_batch(self, batch_samples: list[Batch], device: torch.device) -> None:
        """None: a loss divides by its own counts, and batches that are accumulated count alike."""

    def floating_point_ops(self, inputs: Batch) -> int:  # type: ignore[override]
        """Not counted."""
        return 0

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Report, after a look at the losses since the last time."""
        self._watch.look()
        super().log(logs, start_time)

    def _save_checkpoint(self, model: nn.Module, trial: object) -> None:
        """As the stock method, but into a folder that appears when it is whole; the last ones are kept."""
        self._watch.look()
        if self.args.should_save:
            self._write_checkpoint(self.state.global_step)
        self.accelerator.wait_for_everyone()

    def _check_weights(self) -> None:
        """Refuse weights that a last step, whose loss nobody sees, has made infinite or no numbers at all."""
        if (name := find_nonfinite(self.relation_model)) is not None:
            left = checkpoints(self.checkpoints)
            last = (
                f"{left[-1].name} is the last good checkpoint" if left else "there is no earlier checkpoint"
            )
            raise NotFinite(
                f"step {self.state.global_step}: found weights {name} that are not finite, expected finite "
                f"numbers; {last}"
            )

    def _check_checkpoint(self, checkpoint: Path) -> None:
        """Refuse a checkpoint that is damaged, or of another training."""
        check_files(checkpoint)
        content = read_json(checkpoint / "config.json", CheckpointError)
        saved = RelationConfig.from_dict(content).to_dict() if isinstance(content, dict) else {}
        own = self.relation_model.config.to_dict()
        for key in OWN_SETTINGS:
            found = saved.get(key)
            if json.dumps(found, sort_keys=True) != json.dumps(own.get(key), sort_keys=True):
                raise CheckpointError(
                    f"{checkpoint / 'config.json'}: {key}: found {short_repr(found)}, expected this model's "
                    f"{short_repr(own.get(key))}; {REMEDY}"
                )

    def _note_length(self, step: int) -> None:
        """Let the model say if it is used before its warm-up is over."""
        warm_up = self.state.max_steps * self.optimisation.warm_up
        self.relation_model.config.undertrained = undertrained(step, warm_up)

    def _write_checkpoint(self, step: int) -> None:
        self._check_weights()
        self._note_length(step)
        try:
            with whole_folder(checkpoint_folder(self.checkpoints, step)) as unfinished:
                target = str(unfinished)
                self._save_weights(unfinished)
                self._save_optimizer_and_scheduler(target)
                self._save_scaler(target)
                self._save_rng_state(target)
                self.state.save_to_json(str(unfinished / STATE))
                note_files(unfinished)
        except (OSError, RuntimeError, SafetensorError) as error:
            left = checkpoints(self.checkpoints)
            last = f"{left[-1].name} is whole, resume from it" if left else "there is no earlier one"
            what = f"{self.checkpoints}: the checkpoint of step {step} was not written"
            raise CheckpointError(f"{what} ({one_line(error)}); {last}") from error
        tidy(self.checkpoints)

    def _save_weights(self, folder: Path) -> None:
        """The model, as it can be used; what is learnt or kept beside it goes into files of their own."""
        if self._recognition is None:
            self.relation_model.save_pretrained(folder)
            return
        with self._recognition.set_aside():
            self.relation_model.save_pretrained(folder)
        self._recognition.save(folder)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: nn.Module | None = None) -> None:
        """Only weights that are exactly the model's."""
        path = Path(resume_from_checkpoint)
        with readable(path), self._recognition.set_aside() if self._recognition else nullcontext():
            (model or self.relation_model).load_state_dict(load_file(path / "model.safetensors"))
            if self._recognition is not None:
                self._recognition.load(path)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            with readable(Path(checkpoint)):
                super()._load_optimizer_and_scheduler(checkpoint)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            with readable(Path(checkpoint)):
                super()._load_rng_state(checkpoint)


@contextmanager
def flush_denormals() -> Iterator[None]:
    """Flush denormal numbers to 0 in this thread, where the CPU can.

    A CPU computes with numbers below 1e-38 up to a hundred times slower, and gradients that vanish on their way
    through a document are full of them: steps of a BiLSTM by cross-entropy took 5 to 9 seconds instead of 0.4.

    Example:
        >>> with flush_denormals():
        ...     float(torch.full((), 1e-30) * 1e-10)
        0.0
    """
    were_flushed = float(torch.full((), 1e-30) * 1e-10) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(were_flushed)
