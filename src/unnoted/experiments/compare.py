"""Configs, architectures and losses compared on one's own documents, at several levels of labelling."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product, starmap
from pathlib import Path
from typing import NamedTuple

from unnoted.configs import merge_values, read_config
from unnoted.data.candidates import CandidatePairs
from unnoted.data.formats import find_format
from unnoted.data.hide_labels import LABELLING_SETTINGS
from unnoted.data.loading import default_candidates, require_facts, stream_documents
from unnoted.evaluation import BENCHMARKS
from unnoted.experiments.grid import (
    FIRST_SEED,
    Log,
    Scale,
    TrainingFile,
    execute,
    level_rule,
    make_training_file,
    with_seeds,
)
from unnoted.experiments.reproduce import applicable
from unnoted.experiments.results import CURVE, Row, TableResult
from unnoted.losses import LOSSES, get_loss
from unnoted.models.architectures import ARCHITECTURES
from unnoted.training.config import TrainingConfig, is_used, load_config, nest_changes
from unnoted.utils import lookup

COLUMNS = ("Ign F1", "F1", "P", "R", *CURVE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, on what: every config with every architecture and loss, at every level.

    Attributes:
        configs: that runs start from; their data are not used.
        train: the training documents; for PubTator also its relation files.
        test: the documents to score on, with all their facts.
        architectures: of `ARCHITECTURES`; without any, that of each config.
        losses: of `LOSSES`; without any, that of each config.
        levels: of labelling, see `level_rule`; "full" is all that `train` has.
        prior_multiplier: true facts per label of `train`, by default that of each config. Where labels are
            hidden, losses with priors get a multiplier larger by as much.
        benchmark: how the figures are reported, one of `BENCHMARKS`.
        name: of the table's files, without a folder.

    Raises:
        ValueError: an unknown architecture, loss, level or benchmark, one of them twice, or a name that leads
            out of its folder.
    """

    configs: tuple[str, ...]
    train: tuple[Path, ...]
    test: tuple[Path, ...]
    architectures: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
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
        for what in ("configs", "architectures", "losses", "levels"):
            names = getattr(self, what)
            if len(set(names)) < len(names) or not (names or what in ("architectures", "losses")):
                raise ValueError(
                    f"{what}: name at least one, and each once, not {', '.join(names) or 'none'}"
                )
        if Path(self.name).name != self.name or self.name in ("", ".", "..") or not self.name.isprintable():
            raise ValueError(f"--name: {self.name!r} must be the name of a file, without a folder")

    @property
    def methods(self) -> tuple["Method", ...]:
        """Every config with every architecture and loss."""
        return tuple(
            starmap(Method, product(self.configs, self.architectures or (None,), self.losses or (None,)))
        )

    def baseline(self, method: "Method") -> "Method":
        """What a method is compared with: the first loss, if there are several, else architecture, else config."""
        if len(self.losses) > 1:
            return method._replace(loss=self.losses[0])
        if len(self.architectures) > 1:
            return method._replace(architecture=self.architectures[0])
        return method._replace(config=self.configs[0])


class Method(NamedTuple):
    """A config, and what takes the place of its architecture and loss."""

    config: str
    architecture: str | None
    loss: str | None

    @property
    def values(self) -> dict[str, str]:
        """What is changed in the config."""
        changed = {"architecture": self.architecture, "loss": self.loss}
        return {key: value for key, value in changed.items() if value is not None}


def compare(
    comparison: Comparison,
    scale: Scale,
    folder: Path,
    jobs: int = 1,
    log: Log = lambda line: None,
    ray: str | None = None,
) -> TableResult:
    """Run every method at every level; finished runs in the folder are not repeated."""
    return execute(plan_comparison(comparison, scale, folder), folder, jobs, log, ray)


def plan_comparison(comparison: Comparison, scale: Scale, folder: Path) -> TableResult:
    """What `compare` would run."""
    rows: list[Row] = []
    notes: list[str] = []
    compared: list[tuple[str, str]] = []
    methods, titles = comparison.methods, _titles(comparison.methods)
    for level in comparison.levels:
        made = make_training_file(comparison.train, folder / "data", documents=scale.documents, level=level)
        require_facts(made.documents, made.before, comparison.train)
        if not made.after:
            raise ValueError(f"level {level}: none of the {made.before:,} labels is left")
        group = "all labels"
        if level != "full":
            kept = f"{100 * made.after / made.before:.0f} % of the labels"
            group = f"{level}, {kept}" if level in LABELLING_SETTINGS else kept
        notes.append(f"{group}: {made.after:,} of {made.before:,} labels of {made.documents:,} documents")
        names = {method: f"{'/'.join(filter(None, method))}/{level}" for method in methods}
        for (method, name), title in zip(names.items(), titles, strict=True):
            settings = _settings(comparison, scale, method, made, folder)
            rows.append(Row(name, title, group, with_seeds(settings, scale.seeds or (FIRST_SEED,))))
            if (baseline := comparison.baseline(method)) != method:
                compared.append((name, names[baseline]))
        multipliers = {row.runs[0].loss.prior_multiplier or 0 for row in rows[-len(methods) :]} - {0}
        if multipliers:
            notes[-1] += f"; prior {', '.join(f'×{each:.3g}' for each in sorted(multipliers))}"
    title = f"{', '.join(titles)} on {comparison.train[0].name}"
    return TableResult(comparison.name, title, COLUMNS, tuple(rows), tuple(notes), tuple(compared))


def _titles(methods: Sequence[Method]) -> list[str]:
    """Methods named by that in which they differ."""
    differing = [len(set(parts)) > 1 for parts in zip(*methods, strict=True)]
    if not any(differing):
        return [method.loss or method.config for method in methods]
    return [
        ", ".join(part for part, wanted in zip(method, differing, strict=True) if wanted and part)
        for method in methods
    ]


def _settings(
    comparison: Comparison, scale: Scale, method: Method, made: TrainingFile, folder: Path
) -> TrainingConfig:
    """The settings of a row: what is given, and the scale, as far as they mean something to it."""
    configured = read_config(method.config).values
    started = merge_values(configured, nest_changes(method.values))
    loss, architecture = started.get("loss", {}), started.get("model", {}).get("architecture", "atlop")
    multiplier = comparison.prior_multiplier or loss.get("prior_multiplier")
    if multiplier is None and get_loss(loss.get("name", "")).needs_priors:
        raise ValueError(
            f"--prior-multiplier: {loss['name']} needs it: how many true facts there are for each label; 1 if the "
            "labels are complete; the paper has 3 for DocRED and ChemDisGene"
        )
    given: dict[str, object] = {
        "train": made.path,
        "test": comparison.test,
        "benchmark": comparison.benchmark,
        "output": folder,
    }
    if "candidates" not in configured.get("data", {}):
        given |= _candidates(comparison)
    if multiplier is not None:
        given |= {"prior_multiplier": float(multiplier) * made.before / made.after, "prior_file": None}
    values = {key: value for key, value in given.items() if is_used(key, loss.get("name", ""), architecture)}
    values |= method.values
    if "encoder" in scale.changes:
        values["encoder"] = scale.changes["encoder"]
    settings = load_config(method.config, values)
    return load_config(method.config, {**values, **applicable(scale, settings)})


def _candidates(comparison: Comparison) -> dict[str, object]:
    """The candidate pairs of PubTator documents: the runs read another format, which does not have them."""
    rule = default_candidates(
        map(find_format, comparison.train),
        lambda: CandidatePairs.from_facts(stream_documents(*comparison.train)),
    )
    if rule.types is None:
        return {}
    return {"candidates": ",".join(f"{head}:{tail}" for head, tail in sorted(rule.types))}
