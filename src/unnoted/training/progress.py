"""How far a training is, how long it still takes, and its current loss."""

import sys
from typing import Any

from tqdm.auto import tqdm  # type: ignore[import-untyped]
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments


class Progress(TrainerCallback):
    """A bar on stderr; time left counts from where this session began, so that it holds after a resume.

    Args:
        what: is under way.
    """

    def __init__(self, what: str = "training") -> None:
        self._what = what
        self._bar: Any = None

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Open the bar."""
        if state.is_world_process_zero and not args.disable_tqdm:
            self._bar = tqdm(
                total=state.max_steps,
                initial=state.global_step,
                unit="step",
                desc=self._what,
                dynamic_ncols=True,
                # A line a minute where stderr goes to a file.
                mininterval=0.5 if sys.stderr.isatty() else 60,
            )

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """One step on."""
        if self._bar is not None:
            self._bar.update(state.global_step - self._bar.n)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **others: object,
    ) -> None:
        """Show the mean loss since the last report, or the scores of an epoch."""
        if self._bar is not None and logs and "loss" in logs:
            now = f"epoch {logs.get('epoch', 0):.2f}, loss {logs['loss']:.4g}"
            self._bar.set_postfix_str(now, refresh=False)
        if self._bar is not None and logs and "eval_f1" in logs:
            figures = ", ".join(
                f"{name} {logs[f'eval_{key}']:.2%}"
                for name, key in (("F1", "f1"), ("precision", "precision"), ("recall", "recall"))
            )
            self._bar.write(f"after epoch {logs.get('epoch', 0):.0f}: development {figures}", file=sys.stderr)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Close the bar."""
        self.close()

    def close(self) -> None:
        """Close the bar, so that what is printed next stands on a line of its own."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
