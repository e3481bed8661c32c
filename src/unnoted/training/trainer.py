"""`transformers.Trainer` with our batches, losses and parameter groups."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from accelerate.data_loader import prepare_data_loader  # type: ignore[import-untyped]
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback, TrainingArguments, set_seed
from transformers.integrations.integration_utils import TensorBoardCallback

from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.io import read_json
from unnoted.losses import P3M, Distillation, Loss
from unnoted.losses.base import shared_batch
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import DocumentFeatures, FeatureSet, featurise
from unnoted.models.model import RelationModel, RelationOutput
from unnoted.models.samplers import (
    PairSampler,
    RatioPairSampler,
    ShuffledBatches,
    UniformPairSampler,
)
from unnoted.models.type_constraints import RelationTypes
from unnoted.training.callbacks import Monitor, NotFiniteError, ProgressBar
from unnoted.training.checkpoints import (
    CheckpointError,
    check_checkpoint,
    checkpoint_path,
    find_checkpoint,
    list_checkpoints,
    remove_others,
)
from unnoted.training.config import OptimizerConfig, Precision
from unnoted.training.distillation import Teacher
from unnoted.training.entity_recognition import EntityRecognition, check_recognition
from unnoted.training.evidence import THRESHOLD as EVIDENCE_THRESHOLD
from unnoted.training.evidence import check_evidence, evidence_divergence
from unnoted.training.initialization import initialize
from unnoted.training.p3m import check_cosines, make_views
from unnoted.training.processes import join_processes, on_main
from unnoted.utils import describe_error, quiet_transformers, short_repr

CHECKPOINTS = "checkpoints"
LOGS = "logs"

LOG_STEPS = 10
"""Steps between two reports of the loss."""

CHECKPOINTS_KEPT = 2

BF16_WIDTH = 256
"""Encoders with narrower states are no faster in bf16 on a CPU."""

MODEL_SETTINGS = (
    "relations", "entity_types", "architecture", "architecture_options", "embedding", "block",
    "markers", "type_tokens", "use_type_bias", "lexical_weight", "candidates", "score_decoder",
)  # fmt: skip
"""What the model of a checkpoint must share with the model that continues from it."""


class Trainer(transformers.Trainer):
    """Trains a model on documents by minimising a loss; the model after the last step is the result.

    Ours are the batches, whose order depends on seed and epoch only, the loss, the learning rates, and a stop
    with names where a loss is not finite. Loop, checkpoints, mixed precision, several devices and logging are
    those of transformers.

    Several processes, as `torchrun` starts them, share each batch: the model that results is that of one process.

    Args:
        model: the model, which is trained in place.
        loss: what is minimised. The model takes its decision rule, link and priors from it.
        train: the documents. The model takes its candidate pairs from them.
        optimizer: how; the paper's settings by default.
        output: where checkpoints and logs go; without it there are none, and no resuming.
        features: those of the documents, if they were computed before.
        dev: documents with facts that the model is scored on after every epoch. They choose nothing.
        teacher: a trained model whose scores are learnt beside the labels.
        evidence_weight: of guiding the attention of labelled pairs to their evidence sentences.
        entity_recognition_weight: of entity recognition beside relation extraction.
        typed_relations: let the model predict relations only between types that they are labelled with.
        seed: decides the order of the documents, dropout and samples.

    Raises:
        ModelError: the model scores other relations than the documents have, or the teacher does not fit.

    Example:
        `Trainer(model, loss=SSRPU(priors=docs.labelled_priors * 3), train=docs).train()`
    """

    def __init__(
        self,
        model: RelationModel,
        loss: Loss,
        train: Corpus,
        *,
        optimizer: OptimizerConfig | None = None,
        output: Path | str | None = None,
        features: FeatureSet | None = None,
        dev: Sequence[Document] | None = None,
        teacher: Teacher | None = None,
        evidence_weight: float = 0.0,
        entity_recognition_weight: float = 0.0,
        typed_relations: bool = False,
        seed: int = 62,
    ) -> None:
        self.optimizer_config = optimizer or OptimizerConfig()
        self.loss = loss
        self.relation_model = model
        self._corpus, self._typed_relations = train, typed_relations
        self._teacher, self._evidence_weight = teacher, evidence_weight
        model.check_relations(train.relations.ids)
        self.features = compute_features(model, train) if features is None else features
        check_training(
            model, loss, self.features, self.optimizer_config, teacher=teacher, evidence_weight=evidence_weight,
            entity_recognition_weight=entity_recognition_weight,
        )  # fmt: skip
        self._recognition: EntityRecognition | None = None
        if entity_recognition_weight:
            self._recognition = EntityRecognition(model, entity_recognition_weight, seed)
        self._scratch = tempfile.TemporaryDirectory()  # transformers creates an output folder in any case
        self.checkpoints = None if output is None else Path(output) / CHECKPOINTS
        super().__init__(model=model, args=self._training_arguments(seed), train_dataset=self.features)
        if self.is_fsdp_enabled or self.is_deepspeed_enabled:
            raise ValueError(
                "FSDP and DeepSpeed split the weights, and nobody has tested that here; start the processes with "
                "torchrun, or accelerate launch --multi_gpu"
            )
        loss.to(self.args.device)
        if teacher is not None:
            teacher.model.to(self.args.device)  # type: ignore[arg-type]
        save = None if self._recognition is None else self._recognition.save
        self._monitor = Monitor(model, self.optimizer_config.warmup, dev, self.log, save)
        self._bar = ProgressBar(int(self.features.token_counts.sum()))
        self.remove_callback(PrinterCallback)
        self.add_callback(self._monitor)
        self.add_callback(self._bar)
        if output is not None and find_spec("tensorboard"):
            board = TensorBoardCallback()  # type: ignore[no-untyped-call]
            board.logging_dir = str(Path(output) / LOGS)
            self.add_callback(board)

    def _training_arguments(self, seed: int) -> TrainingArguments:
        config = self.optimizer_config
        precision = choose_precision(config.precision, self.relation_model.encoder.width)
        saving: dict[str, Any] = {"save_strategy": "no"}
        if self.checkpoints is not None:
            saving = {"save_strategy": "epoch", "save_total_limit": CHECKPOINTS_KEPT}
            if config.checkpoint_steps is not None:
                saving |= {"save_strategy": "steps", "save_steps": config.checkpoint_steps}
        schedule, cycles = config.schedule.name, config.schedule.num_cycles
        arguments = TrainingArguments(
            output_dir=str(self.checkpoints or self._scratch.name),
            num_train_epochs=config.epochs,
            per_device_train_batch_size=config.batch_size,
            gradient_accumulation_steps=config.gradient_accumulation,
            max_grad_norm=config.max_grad_norm,
            lr_scheduler_type="constant_with_warmup" if schedule == "constant" else schedule,
            lr_scheduler_kwargs=None if cycles is None else {"num_cycles": cycles},
            seed=seed,
            bf16=precision == "bf16",
            fp16=precision == "fp16",
            logging_steps=LOG_STEPS,
            logging_first_step=True,
            # The filter reads every loss, for which a GPU must wait, and hides what is not finite.
            logging_nan_inf_filter=False,
            report_to="none",
            accelerator_config={"non_blocking": torch.cuda.is_available()},
            use_cpu=not torch.cuda.is_available()
            and (precision == "bf16" or join_processes().num_processes > 1),
            ddp_find_unused_parameters=False,  # there are none, and it would not see the layers of `_batch_loss`
            disable_tqdm=True,
            **saving,
        )
        # With several visible GPUs transformers would split batches by `nn.DataParallel`, which cannot split
        # ours. A process uses one GPU; several are used by torchrun or accelerate launch.
        arguments._n_gpu = min(arguments.n_gpu, 1)
        return arguments

    def train(  # type: ignore[override]
        self, resume: bool = False, log: Callable[[str], None] = lambda line: None
    ) -> transformers.trainer_utils.TrainOutput:
        """Train, from the beginning or from the last checkpoint.

        Args:
            resume: continue from the last checkpoint, if there is one. One that is unfinished or damaged is
                passed over for the one before it.
            log: is given a line for the checkpoint that it continues from, and for each that is passed over.

        Raises:
            NotFiniteError: a loss, or a weight, is not a finite number.
            CheckpointError: a checkpoint cannot be written, or none of those that are there can be read.
        """
        model, found = self.relation_model, None
        self._configure_model()
        if resume and self.checkpoints is not None:
            found = on_main(lambda: self._find_checkpoint(log))
        if found is None:
            initialize(model, self.loss, self.features)
        elif self._recognition is not None:
            self._recognition.load(found)
        # Dropout must not depend on what drew random numbers since the trainer was made.
        set_seed(self.args.seed + self.args.process_index)
        try:
            with ExitStack() as stack:
                stack.enter_context(quiet_transformers())
                stack.enter_context(fast_floats(self.optimizer_config.precision))
                if self._recognition is not None:
                    stack.enter_context(self._recognition.attached())
                stack.enter_context(self._naming_checkpoint(found))
                output = super().train(resume_from_checkpoint=None if found is None else str(found))
        finally:
            self.is_in_train = False
            self._bar.close()
        self._monitor.check_losses()
        self._monitor.check_weights(self.state.global_step)
        # What comes next may be in another precision.
        self.accelerator.unwrap_model(self.model_wrapped, keep_fp32_wrapper=False)
        model.eval()  # type: ignore[no-untyped-call]
        return output

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches of documents, whose sample of unlabelled pairs goes with the epoch."""
        config, seed = self.optimizer_config, self.args.seed
        pair_sampler: PairSampler | None = None
        if config.unlabelled_per_labelled is not None:
            pair_sampler = RatioPairSampler(config.unlabelled_per_labelled, seed)
        elif config.unlabelled_rate < 1:
            pair_sampler = UniformPairSampler(config.unlabelled_rate, seed)
        batches = ShuffledBatches(
            self.features,
            config.batch_size,
            seed,
            like_length=config.group_by_length,
            pair_sampler=pair_sampler,
            process=self.args.process_index,
            processes=self.args.world_size,
        )
        join = Collator(self.features, pair_sampler)

        def collate(documents: list[DocumentFeatures]) -> dict[str, Any]:
            # A process without a document still takes part in every sum over processes.
            return {"inputs": join(documents or [self.features[0]]), "contributes": bool(documents)}

        loader: DataLoader[Any] = DataLoader(
            self.features,
            batch_sampler=batches,
            collate_fn=collate,
            pin_memory=self.args.device.type == "cuda",
        )
        # Alone, because accelerate would repeat documents to fill up an incomplete batch.
        alone: DataLoader[Any] = prepare_data_loader(
            loader, self.args.device, num_processes=1, process_index=0
        )
        return alone

    def create_optimizer(self, model: nn.Module | None = None) -> torch.optim.Optimizer:
        """AdamW over `parameter_groups`."""
        if self.optimizer is None:
            self.optimizer = torch.optim.AdamW(
                parameter_groups(
                    self.relation_model if model is None else model,
                    self.optimizer_config,
                    pair_map_layers(self.relation_model),
                ),
                eps=self.optimizer_config.adam_epsilon,
                weight_decay=self.optimizer_config.weight_decay,
                fused=self.args.device.type in ("cpu", "cuda"),
            )
        return self.optimizer

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> torch.optim.lr_scheduler.LRScheduler:
        """The scheduler of transformers, after whole warm-up steps."""
        self.args.warmup_steps = int(num_training_steps * self.optimizer_config.warmup)
        return super().create_scheduler(num_training_steps, optimizer)

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The loss of a batch, and its logits if they are wanted."""
        batch: Batch = inputs["inputs"].to(self.args.device, non_blocking=True)
        output = model(batch)
        with shared_batch(inputs["contributes"]) if self.args.world_size > 1 else nullcontext():
            loss = self._batch_loss(output, batch)
        self._monitor.record(loss, self.state.global_step + 1, batch.documents)
        self._bar.count(sum(batch.lengths) * self.args.world_size)
        return (loss, output.logits) if return_outputs else loss

    def _batch_loss(self, output: RelationOutput, batch: Batch) -> Tensor:
        """All that is minimised, for the output of the model."""
        loss: Tensor
        labels, negatives = batch.labels(), batch.negatives()
        if negatives is None and self.args.world_size > 1:  # other processes may have some
            negatives = torch.zeros_like(labels)
        labelled = (output.logits, labels, batch.pair_weight)
        if self._teacher is not None:
            with torch.no_grad(), self.accelerator.autocast():
                known = self._teacher.model(batch).logits
            loss = Distillation(self.loss, self._teacher.weight)(*labelled, negatives, teacher=known)
        elif isinstance(self.loss, P3M) and self.loss.needs_views:
            views = make_views(self.relation_model, self.loss, output, batch)
            loss = self.loss.with_views(*labelled, views, negatives)
        else:
            loss = self.loss(*labelled, negatives)
        if self._recognition is not None:
            loss = loss + self._recognition(output, batch)
        if self._evidence_weight:
            loss = loss + self._evidence_weight * evidence_divergence(output.encoded.entity_attention, batch)
        return loss

    def _configure_model(self) -> None:
        """Let the model know what its scores will mean, so that every checkpoint can be used as a model."""
        model, train = self.relation_model, self._corpus
        if self._typed_relations:
            model.relation_types = RelationTypes.from_documents(train)
        model.candidates = train.candidates
        model.decoder = self.loss.decoder
        model.card = None  # of an earlier run
        if self._evidence_weight and model.config.evidence_threshold is None:
            model.config.evidence_threshold = EVIDENCE_THRESHOLD  # its attention can be read as evidence

    def _find_checkpoint(self, log: Callable[[str], None]) -> Path | None:
        """The checkpoint to continue from; what is later is removed."""
        assert self.checkpoints is not None
        found = find_checkpoint(self.checkpoints, self._check_checkpoint, log)
        remove_others(self.checkpoints, found)
        return found

    def _check_checkpoint(self, checkpoint: Path) -> None:
        """Refuse a checkpoint that is damaged, or of another model."""
        check_checkpoint(checkpoint)
        saved = read_json(checkpoint / "config.json", ValueError)
        own = json.loads(self.relation_model.config.to_json_string(use_diff=False))
        for key in MODEL_SETTINGS:
            if (found := saved.get(key)) != own.get(key):
                raise CheckpointError(
                    checkpoint,
                    f"of another model: {key} is {short_repr(found)}, and this model's is {short_repr(own.get(key))}",
                )

    @contextmanager
    def _naming_checkpoint(self, resumed: Path | None) -> Iterator[None]:
        """Name the checkpoint that cannot be read or written."""
        try:
            yield
        except NotFiniteError:
            raise
        except (OSError, RuntimeError, ValueError, KeyError, EOFError, SafetensorError) as error:
            reason = describe_error(error)
            if resumed is not None and not self._bar.was_opened:
                raise CheckpointError(resumed, f"cannot be resumed from ({reason})") from error
            if self.checkpoints is not None:
                path = checkpoint_path(self.checkpoints, self.state.global_step)
                if path.is_dir() and path not in list_checkpoints(self.checkpoints):
                    problem = f"was not written ({reason}); --resume continues from the one before"
                    raise CheckpointError(path, problem) from error
            raise


def check_training(
    model: RelationModel,
    loss: Loss,
    features: FeatureSet,
    optimizer: OptimizerConfig,
    *,
    teacher: Teacher | None = None,
    evidence_weight: float = 0.0,
    entity_recognition_weight: float = 0.0,
) -> None:
    """Refuse what does not fit the model, the loss or this machine.

    Raises:
        ModelError: the teacher does not fit.
        ValueError: names the key.
    """
    choose_precision(optimizer.precision, model.encoder.width)
    if (processes := join_processes().num_processes) > optimizer.batch_size:
        raise ValueError(
            f"optimizer.batch_size: {optimizer.batch_size} documents cannot be shared by {processes} processes; "
            "start fewer processes, or choose larger batches"
        )
    if "pair_map" in optimizer.groups and not pair_map_layers(model):
        raise ValueError(
            f"optimizer.groups.pair_map: the architecture {model.config.architecture!r} has no layers over an "
            "entity-by-entity map, as docunet and kd-docre have"
        )
    if optimizer.unlabelled_per_labelled is not None and loss.decoder.priors is not None:
        # In a sample that favours labelled pairs, those with another relation weigh more than they do in the
        # documents, and a loss with priors estimates means over all pairs that lack a relation.
        raise ValueError(
            "optimizer.unlabelled_per_labelled: the priors of the loss are those of all pairs; unlabelled_rate "
            "draws a weighted sample"
        )
    check_cosines(model, loss)
    if teacher is not None:
        teacher.check(model, loss)
    if evidence_weight:
        check_evidence(model, features)
    if entity_recognition_weight:
        check_recognition(model)


def choose_precision(precision: Precision, width: int) -> Literal["float32", "bf16", "fp16"]:
    """What a precision is on this machine; `auto` is bf16 where the GPU, or the CPU for a wide encoder, computes in it.

    Args:
        precision: of the configuration.
        width: the size of the encoder's states.

    Raises:
        ValueError: half precision would not be fast here, or not work: some CPUs crash at a bf16 product.
    """
    gpu = torch.cuda.is_available()
    bf16 = torch.cuda.is_bf16_supported(including_emulation=False) if gpu else cpu_computes_in_bf16()
    if precision == "auto":
        return "bf16" if bf16 and (gpu or width >= BF16_WIDTH) else "float32"
    if precision == "fp16" and not gpu:
        raise ValueError("optimizer.precision: 'fp16' needs a GPU; 'auto' or 'float32' do not")
    if precision == "bf16" and not (bf16 or (gpu and torch.cuda.is_bf16_supported())):
        raise ValueError(
            f"optimizer.precision: this {'GPU' if gpu else 'CPU'} does not compute in 'bf16'; take 'auto'"
        )
    return precision


def cpu_computes_in_bf16() -> bool:
    """Whether the CPU has instructions for products of bf16; without them bf16 is slower than float32."""
    # Older versions of torch cannot say.
    features: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(features.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


@contextmanager
def fast_floats(precision: Precision) -> Iterator[None]:
    """Flush denormal numbers to 0 where the CPU can, and let a GPU round products to TF32; restored afterwards.

    A CPU computes with numbers below 1e-38 up to a hundred times slower, and gradients that vanish on their way
    through a document are full of them: steps of a BiLSTM by cross-entropy took 5 to 9 seconds instead of 0.4.

    Args:
        precision: of the configuration; `float32` keeps products exact.

    Example:
        >>> with fast_floats("auto"):
        ...     float(torch.full((), 1e-30) * 1e-10)
        0.0
    """
    products, were_flushed = torch.backends.cuda.matmul, float(torch.full((), 1e-30) * 1e-10) == 0
    before = products.fp32_precision
    torch.set_flush_denormal(True)
    products.fp32_precision = "ieee" if precision == "float32" else "tf32"
    try:
        yield
    finally:
        products.fp32_precision = before
        torch.set_flush_denormal(were_flushed)


def pair_map_layers(model: RelationModel) -> tuple[str, ...]:
    """The prefixes of the parameters over the entity-by-entity map; empty for a model without one."""
    return tuple(f"pair_encoder.{name}." for name in getattr(model.pair_encoder, "map_layers", ()))


def parameter_groups(
    model: nn.Module, config: OptimizerConfig, pair_map: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The parameters that learn: the encoder's, all others, and those over the pair map if it has values of its own.

    Example:
        >>> model = nn.ModuleDict({name: nn.Linear(1, 1) for name in ("encoder", "pairs", "scores")})
        >>> config = OptimizerConfig(encoder_learning_rate=1e-5, groups={"pair_map": {"learning_rate": 3e-4}})
        >>> groups = parameter_groups(model, config, ("pairs.",))
        >>> [(group["lr"], len(group["params"])) for group in groups]
        [(1e-05, 2), (0.0001, 2), (0.0003, 2)]
    """
    rates = {"encoder": config.encoder_learning_rate, "head": config.head_learning_rate}
    if "pair_map" in config.groups:
        rates["pair_map"] = config.head_learning_rate
    groups: dict[str, dict[str, Any]] = {name: {"params": [], "lr": rate} for name, rate in rates.items()}
    for changed, own in config.groups.items():
        values = {"lr": own.learning_rate, "weight_decay": own.weight_decay}
        groups[changed] |= {key: value for key, value in values.items() if value is not None}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            group = "encoder" if name.startswith("encoder.") else "head"
            is_map = "pair_map" in groups and name.startswith(pair_map)
            groups["pair_map" if is_map else group]["params"].append(parameter)
    return list(groups.values())


def compute_features(model: RelationModel, corpus: Corpus, types: Sequence[str] | None = None) -> FeatureSet:
    """The features of documents as a model sees them; `types` are numbered, by default those it knows."""
    if model.tokenizer is None:
        raise ValueError("the model has no tokenizer; make it with RelationModel.from_encoder")
    if not len(corpus):
        raise ValueError("there is no document to train on")
    return featurise(
        corpus.documents,
        model.tokenizer,
        corpus.relations.ids,
        corpus.candidates,
        types=model.entity_types if types is None else types,
        markers=model.config.markers,
    )
