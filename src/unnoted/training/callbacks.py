"""What happens beside the training loop: checks, development scores, complete checkpoints, a progress bar."""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import torch
from accelerate.utils import gather_object, wait_for_everyone  # type: ignore[import-untyped]
from torch import Tensor
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from unnoted.data.document import Document
from unnoted.evaluation import evaluate
from unnoted.inference import Extractor
from unnoted.models.encoders.loading import find_nonfinite
from unnoted.models.model import RelationModel
from unnoted.progress import Progress, show_progress
from unnoted.training.checkpoints import checkpoint_path, write_manifest
from unnoted.utils import plural


class NotFiniteError(ValueError):
    """A loss, or a weight, that is not a finite number.

    Attributes:
        step: of the optimizer, from 1.
        documents: of the batch whose loss it was; empty for a weight.
    """

    def __init__(self, message: str, step: int, documents: tuple[str, ...] = ()) -> None:
        super().__init__(f"step {step}: {message}")
        self.step = step
        self.documents = documents


class Monitor(TrainerCallback):
    """Stops where a number is not finite, scores development documents, and completes checkpoints.

    Reading a loss makes a GPU wait, so losses are kept until they are reported or a checkpoint is written.

    Args:
        model: that is trained.
        warmup: the share of steps that are its warm-up.
        dev: documents with facts that it is scored on after every epoch; the scores choose nothing.
        log: is given these scores.
        save: writes what a checkpoint has besides what transformers writes.
    """

    def __init__(
        self,
        model: RelationModel,
        warmup: float,
        dev: Sequence[Document] | None,
        log: Callable[[dict[str, float]], None],
        save: Callable[[Path], None] | None,
    ) -> None:
        self._model, self._warmup, self._dev, self._log, self._save = model, warmup, dev, log, save
        self._losses: list[Tensor] = []
        self._places: list[tuple[int, tuple[str, ...]]] = []

    def record(self, loss: Tensor, step: int, documents: tuple[str, ...]) -> None:
        """Keep the loss of a batch, its step (from 1) and its documents."""
        self._losses.append(loss.detach())
        self._places.append((step, documents))

    def check_losses(self) -> None:
        """Check the losses since the last time.

        Raises:
            NotFiniteError: names the first step whose loss is not finite, and the documents of the batch.
        """
        values = torch.stack(self._losses).tolist() if self._losses else []
        places, self._losses, self._places = self._places, [], []
        own = [
            (*place, value) for value, place in zip(values, places, strict=True) if not math.isfinite(value)
        ][:1]
        if found := gather_object(own):  # of all processes, each with its documents of the batch
            step, _, value = min(found)
            documents = tuple(chain.from_iterable(names for at, names, _ in found if at == step))
            names = ", ".join(map(repr, documents))
            raise NotFiniteError(f"the loss is {value}; documents: {names}", step, documents)

    def check_weights(self, step: int) -> None:
        """Check the weights, which may be infinite after a step whose loss was finite."""
        if (name := find_nonfinite(self._model)) is not None:
            raise NotFiniteError(f"the weights {name} are not finite", step)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Check before a report and before a checkpoint; note in the model how far it was trained."""
        if control.should_log or control.should_save:
            self.check_losses()
        if control.should_save:
            self.check_weights(state.global_step)
        warmup = state.max_steps * self._warmup
        self._model.config.undertrained = describe_undertraining(state.global_step, warmup)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Check as after a step, and score the development documents."""
        self.on_step_end(args, state, control)
        if self._dev is not None:
            self._log(development_scores(self._model, self._dev))

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Write the manifest of a checkpoint, once all of it is there.

        Rotation has removed old checkpoints by then; it counts the new one, so that of two that are left the
        earlier one has its manifest whatever happens here.
        """
        wait_for_everyone()  # each writes the state of its random numbers
        if state.is_world_process_zero:
            checkpoint = checkpoint_path(Path(str(args.output_dir)), state.global_step)
            (checkpoint / "training_args.bin").unlink(missing_ok=True)  # a pickle that nothing reads
            if self._save is not None:
                self._save(checkpoint)
            write_manifest(checkpoint)


def development_scores(model: RelationModel, gold: Sequence[Document]) -> dict[str, float]:
    """F1, precision and recall by the model's own decision rule, under names by which TensorBoard groups them."""
    extractions = Extractor(model).extract(gold)
    score = evaluate(gold, (claim for found in extractions for claim in found.predictions())).overall
    return {"eval_f1": score.f1, "eval_precision": score.precision, "eval_recall": score.recall}


def describe_undertraining(step: int, warmup: float) -> str | None:
    """How far a model was trained that has not gone beyond its warm-up; None for one that has.

    Example:
        >>> describe_undertraining(5, 7.5), describe_undertraining(8, 7.5)
        ('trained for 5 steps, of which 7 are its warm-up', None)
        >>> describe_undertraining(10, 0.6)
        'trained for 10 steps, too few for a warm-up'
    """
    if 0 < warmup < 1:
        return f"trained for {plural(step, 'step')}, too few for a warm-up"
    if step <= int(warmup):
        return f"trained for {plural(step, 'step')}, of which {int(warmup)} are its warm-up"
    return None


class ProgressBar(TrainerCallback):
    """Shows how far training is, measured in tokens, with the loss and the development scores.

    Args:
        tokens: of an epoch.
    """

    def __init__(self, tokens: int) -> None:
        self._tokens, self._done, self._note = tokens, 0.0, ""
        self._shown = ExitStack()
        self._progress: Progress | None = None

    @property
    def was_opened(self) -> bool:
        """Whether the loop began."""
        return self._progress is not None

    def count(self, tokens: int) -> None:
        """A batch of so many tokens is done by this process."""
        self._done += tokens

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Open the bar, where the last session ended."""
        total = self._tokens * args.num_train_epochs
        self._done = total * state.global_step / state.max_steps
        self._progress = self._shown.enter_context(
            show_progress(total, "training", shown=state.is_world_process_zero)
        )
        self._progress.skip(self._done)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """One step on."""
        assert self._progress is not None  # training began
        self._progress.report(self._done, self._note)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **others: object,
    ) -> None:
        """Show the mean loss since the last report, or the scores of an epoch."""
        logs = logs or {}
        epoch = logs.get("epoch", 0)
        if "loss" in logs:
            self._note = f"epoch {epoch:.2f}, loss {logs['loss']:.4g}"
        if "eval_f1" in logs and state.is_world_process_zero:
            f1, precision, recall = (logs[f"eval_{name}"] for name in ("f1", "precision", "recall"))
            line = (
                f"epoch {epoch:.0f}: development F1 {f1:.2%}, precision {precision:.2%}, recall {recall:.2%}"
            )
            print(line, file=sys.stderr)

    def close(self) -> None:
        """Close the bar, so that what is printed next stands on a line of its own."""
        self._shown.close()
