"""Architectures and losses compared on one's own documents, at several levels of labelling."""

import math
from dataclasses import dataclass
from pathlib import Path

from unnoted.configs import read_config
from unnoted.data.candidates import CandidatePairs
from unnoted.data.formats import find_format
from unnoted.data.hide_labels import LABELLING_SETTINGS
from unnoted.data.loading import default_candidates, require_facts, stream_documents
from unnoted.evaluation import BENCHMARKS
from unnoted.experiments.grid import (
    FIRST_SEED,
    Log,
    Scale,
    execute,
    level_rule,
    make_training_file,
    with_seeds,
)
from unnoted.experiments.reproduce import applicable
from unnoted.experiments.results import CURVE, Row, TableResult
from unnoted.losses import LOSSES, get_loss
from unnoted.models.architectures import ARCHITECTURES
from unnoted.training.config import TrainingConfig, is_used, load_config
from unnoted.utils import lookup

COLUMNS = ("Ign F1", "F1", "P", "R", *CURVE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, on what.

    Attributes:
        architectures: of `ARCHITECTURES`.
        losses: of `LOSSES`; the others are compared with the first.
        train: the training documents; for PubTator also its relation files.
        test: the documents to score on, with all their facts.
        config: that all runs start from; its loss, architecture and data are not used.
        levels: of labelling, see `level_rule`; "full" is all that `train` has.
        prior_multiplier: true facts per label of `train`, by default that of `config`. Where labels are
            hidden, losses with priors get a multiplier larger by as much.
        benchmark: how the figures are reported, one of `BENCHMARKS`.
        name: of the table's files, without a folder.

    Raises:
        ValueError: an unknown architecture, loss, level or benchmark, one of them twice, or a name that leads
            out of its folder.
    """

    architectures: tuple[str, ...]
    losses: tuple[str, ...]
    train: tuple[Path, ...]
    test: tuple[Path, ...]
    config: str | Path
    levels: tuple[str, ...] = ("full",)
    prior_multiplier: float | None = None
    benchmark: str = "plain"
    name: str = "comparison"

    def __post_init__(self) -> None:
        for architecture in self.architectures:
            lookup("architecture", architecture, ARCHITECTURES)
        for loss in self.losses:
            lookup("loss", loss, LOSSES)
        for level in self.levels:
            level_rule(level)
        lookup("benchmark", self.benchmark, BENCHMARKS)
        if self.prior_multiplier is not None and not 0 < self.prior_multiplier < math.inf:
            raise ValueError(f"prior multiplier: {self.prior_multiplier} must be a number above 0")
        for what in ("architectures", "losses", "levels"):
            names = getattr(self, what)
            if not names or len(set(names)) < len(names):
                raise ValueError(
                    f"{what}: name at least one, and each once, not {', '.join(names) or 'none'}"
                )
        if Path(self.name).name != self.name or self.name in ("", ".", "..") or not self.name.isprintable():
            raise ValueError(f"--name: {self.name!r} must be the name of a file, without a folder")

    @property
    def multiplier(self) -> float | None:
        """The prior multiplier of all labels; None where no loss needs one.

        Raises:
            ValueError: a loss needs one, and there is none.
        """
        if self.prior_multiplier is not None:
            return self.prior_multiplier
        configured = read_config(self.config).values.get("loss", {}).get("prior_multiplier")
        needing = [loss for loss in self.losses if get_loss(loss).needs_priors]
        if needing and configured is None:
            raise ValueError(
                f"--prior-multiplier: {', '.join(needing)} needs it: how many true facts there are for each "
                "label; 1 if the labels are complete; the paper has 3 for DocRED and ChemDisGene"
            )
        return None if configured is None else float(configured)


def compare(
    comparison: Comparison, scale: Scale, folder: Path, jobs: int = 1, log: Log = lambda line: None
) -> TableResult:
    """Run every architecture with every loss at every level; finished runs in the folder are not repeated."""
    return execute(plan_comparison(comparison, scale, folder), folder, jobs, log)


def plan_comparison(comparison: Comparison, scale: Scale, folder: Path) -> TableResult:
    """What `compare` would run."""
    rows: list[Row] = []
    notes: list[str] = []
    compared: list[tuple[str, str]] = []
    for level in comparison.levels:
        made = make_training_file(comparison.train, folder / "data", documents=scale.documents, level=level)
        require_facts(made.documents, made.before, comparison.train)
        if not made.after:
            raise ValueError(f"level {level}: none of the {made.before:,} labels is left")
        group = "all labels"
        if level != "full":
            kept = f"{100 * made.after / made.before:.0f} % of the labels"
            group = f"{level}, {kept}" if level in LABELLING_SETTINGS else kept
        note = f"{group}: {made.after:,} of {made.before:,} labels of {made.documents:,} documents"
        given = {
            "train": made.path,
            "test": comparison.test,
            "benchmark": comparison.benchmark,
            "output": folder,
            **_candidates(comparison),
        }
        if comparison.multiplier is not None:
            multiplier = comparison.multiplier * made.before / made.after
            given |= {"prior_multiplier": multiplier, "prior_file": None}
            note += f"; prior ×{multiplier:.3g}"
        notes.append(note)
        for architecture in comparison.architectures:
            for loss in comparison.losses:
                name = f"{architecture}/{loss}/{level}"
                title = f"{architecture}, {loss}" if len(comparison.architectures) > 1 else loss
                settings = _settings(comparison, scale, architecture, loss, given)
                rows.append(Row(name, title, group, with_seeds(settings, scale.seeds or (FIRST_SEED,))))
                if loss != comparison.losses[0]:
                    compared.append((name, f"{architecture}/{comparison.losses[0]}/{level}"))
    title = f"{', '.join(comparison.losses)} on {comparison.train[0].name}"
    return TableResult(comparison.name, title, COLUMNS, tuple(rows), tuple(notes), tuple(compared))


def _candidates(comparison: Comparison) -> dict[str, object]:
    """The candidate pairs of PubTator documents: the runs read another format, which does not have them."""
    rule = default_candidates(
        map(find_format, comparison.train),
        lambda: CandidatePairs.from_facts(stream_documents(*comparison.train)),
    )
    if rule.types is None or "candidates" in read_config(comparison.config).values.get("data", {}):
        return {}
    return {"candidates": ",".join(f"{head}:{tail}" for head, tail in sorted(rule.types))}


def _settings(
    comparison: Comparison, scale: Scale, architecture: str, loss: str, given: dict[str, object]
) -> TrainingConfig:
    """The settings of a row: what is given, and the scale, as far as they mean something to it."""
    values = {key: value for key, value in given.items() if is_used(key, loss, architecture)}
    values |= {"architecture": architecture, "loss": loss}
    if "encoder" in scale.changes:
        values["encoder"] = scale.changes["encoder"]
    started = load_config(comparison.config, values)
    return load_config(comparison.config, {**values, **applicable(scale, started)})
