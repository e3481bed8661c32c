"""A look at development documents after every epoch: it is shown and kept, and never chooses anything."""

from collections.abc import Callable, Sequence

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from unnoted.data.document import Document
from unnoted.evaluation import evaluate
from unnoted.inference import Extractor
from unnoted.models.model import RelationModel


def development_score(model: RelationModel, gold: Sequence[Document]) -> dict[str, float]:
    """F1, precision and recall on documents with facts, by the model's own decision rule.

    The names begin with `eval_`, by which TensorBoard shows them apart from the training.
    """
    extractions = Extractor(model).extract(gold)
    score = evaluate(gold, (claim for found in extractions for claim in found.predictions())).overall
    return {"eval_f1": score.f1, "eval_precision": score.precision, "eval_recall": score.recall}


class AfterEveryEpoch(TrainerCallback):
    """Calls a function when an epoch ends, before its checkpoint is written.

    Args:
        act: what to call.
    """

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> None:
        """Act."""
        self._act()
