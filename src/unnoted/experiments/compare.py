"""Architectures and losses on one's own documents, at several levels of labelling."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from unnoted.architectures import ARCHITECTURES
from unnoted.common.lookup import lookup
from unnoted.documents.candidates import TypePairs, observed
from unnoted.documents.levels import LEVELS
from unnoted.documents.loading import default_candidates, stream_documents
from unnoted.evaluation import BENCHMARKS
from unnoted.experiments.grid import Pool
from unnoted.experiments.plan import PlannedRow, PlannedTable
from unnoted.experiments.results import TableResult
from unnoted.experiments.scale import FIRST_SEED, Scale
from unnoted.experiments.training_files import MadeFile, check_level, make_training_file
from unnoted.risks.losses import LOSSES, loss_named
from unnoted.training.configs import read_config
from unnoted.training.settings import Settings, load_settings, unused_by

COLUMNS = ("Ign F1", "F1", "P", "R")


@dataclass(frozen=True, slots=True)
class Contest:
    """What is compared, on what.

    Attributes:
        architectures: of `ARCHITECTURES`.
        losses: of `LOSSES`; the first is what the others are compared with.
        train: the training documents; for PubTator also its relation files.
        test: the documents to score on, with all their facts.
        config: that all runs start from; its loss, architecture and data are not used.
        levels: of labelling, each one of `LEVELS` or the share of labels that stays; "full" is all that
            `train` has.
        prior_multiplier: how many true facts there are for each label of `train`; without it, that of
            `config`. Where labels are hidden, losses with priors are told that many more.
        benchmark: how the figures are reported, one of `BENCHMARKS`.
        name: of the table.

    Raises:
        ValueError: an unknown architecture, loss, level or benchmark, or one of them twice.
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
            check_level(level)
        lookup("benchmark", self.benchmark, BENCHMARKS)
        for what in ("architectures", "losses", "levels"):
            names = getattr(self, what)
            if not names or len(set(names)) < len(names):
                raise ValueError(f"{what}: found {', '.join(names) or 'none'}, expected each once")

    @property
    def multiplier(self) -> float | None:
        """The prior multiplier of all labels; None where no loss needs one.

        Raises:
            ValueError: a loss needs one, and there is none.
        """
        if self.prior_multiplier is not None:
            return self.prior_multiplier
        needing = [loss for loss in self.losses if loss_named(loss).needs_priors]
        found = read_config(self.config).values.get("prior_multiplier")
        if needing and found is None:
            raise ValueError(
                f"--prior-multiplier: found none, expected how many true facts there are for each label, "
                f"which {', '.join(needing)} must be told: 1 if the labels are complete; the paper has 3 for "
                "DocRED and ChemDisGene"
            )
        return None if found is None else float(found)


def compare(
    contest: Contest,
    scale: Scale,
    folder: Path,
    pool: Pool,
    tell: Callable[[str], None] = lambda line: None,
) -> TableResult:
    """Run every architecture with every loss at every level.

    Args:
        contest: what is compared.
        scale: how large the runs are.
        folder: of the runs. What is finished there is not repeated.
        pool: where runs are performed.
        tell: is given lines for the user.
    """
    result = plan_comparison(contest, scale, folder).carry_out(folder, pool, tell)
    return replace(result, notes=(*result.notes, *where_it_pays(result)))


def plan_comparison(contest: Contest, scale: Scale, folder: Path) -> PlannedTable:
    """What `compare` would run."""
    multiplier = contest.multiplier
    shared = {
        "output": folder, "test": contest.test, "benchmark": contest.benchmark, **_candidates(contest),
    }  # fmt: skip
    rows: list[PlannedRow] = []
    notes = []
    claims: list[tuple[str, str]] = []
    for level in contest.levels:
        made = make_training_file(contest.train, folder / "data", documents=scale.documents, level=level)
        if not made.after:
            raise ValueError(f"level {level}: found no label left of {made.before:,}, expected some")
        told = None if multiplier is None else multiplier / made.share
        title = _level_title(level, made)
        prior = "" if told is None else f"; prior ×{told:.3g}"
        notes.append(
            f"{title}: {made.after:,} of {made.before:,} labels of {made.documents:,} documents{prior}"
        )
        for architecture in contest.architectures:
            given = {**shared, "train": made.path, "architecture": architecture}
            if told is not None:
                given |= {"prior_multiplier": told, "prior_file": None}
            together = [
                _row(contest, scale, {**given, "loss": loss}, level, title) for loss in contest.losses
            ]
            rows += together
            claims += [(row.name, together[0].name) for row in together[1:]]
    heading = f"{', '.join(contest.losses)} on {contest.train[0].name}"
    return PlannedTable(contest.name, heading, COLUMNS, tuple(rows), tuple(notes), tuple(claims))


def _row(contest: Contest, scale: Scale, given: Mapping[str, object], level: str, group: str) -> PlannedRow:
    settings = _settings(contest.config, given, scale)
    name, loss = settings.architecture, settings.loss
    seeds = scale.seeds or (FIRST_SEED,)
    runs = tuple(settings.model_copy(update={"seed": seed}) for seed in seeds)
    title = f"{name}, {loss}" if len(contest.architectures) > 1 else loss
    return PlannedRow(f"{name}/{loss}/{level}", title, group, runs)


def _settings(config: str | Path, given: Mapping[str, object], scale: Scale) -> Settings:
    unused = unused_by(loss_named(str(given["loss"])))
    values = {key: value for key, value in given.items() if key not in unused}
    if "encoder" in scale.changes:
        values["encoder"] = scale.changes["encoder"]
    return load_settings(config, {**values, **scale.applied(load_settings(config, values))})


def _candidates(contest: Contest) -> dict[str, str]:
    """The candidate pairs of PubTator documents, which the runs read in another format.

    Only from the format would it be known that not all pairs are candidates.
    """
    files = contest.train
    rule = default_candidates(files, lambda: observed(stream_documents(*files)))
    if not isinstance(rule, TypePairs) or "candidates" in read_config(contest.config).values:
        return {}
    return {"candidates": ",".join(f"{head}:{tail}" for head, tail in sorted(rule.types))}


def _level_title(level: str, made: MadeFile) -> str:
    """What a level is called, with the share of labels that it came to.

    Example:
        >>> made = MadeFile(Path("x"), documents=3, before=10, after=2)
        >>> _level_title("0.2", made), _level_title("extreme", made), _level_title("full", made)
        ('20 % of the labels', 'extreme, 20 % of the labels', 'all labels')
    """
    if level == "full":
        return "all labels"
    share = f"{made.share:.0%} of the labels".replace("%", " %")
    return f"{level}, {share}" if level in LEVELS else share


def where_it_pays(result: TableResult) -> list[str]:
    """For each row that is compared with another: at which levels it is better, by all that was resampled."""
    groups = {row.name: row.group for row in result.rows}
    levels: dict[tuple[str, str], dict[str, list[str]]] = {}
    for claim in result.claims:
        pair = claim.better.rpartition("/")[0], claim.than.rpartition("/")[0]
        levels.setdefault(pair, {}).setdefault(claim.verdict, []).append(
            f"{groups[claim.better]} ({claim.difference:+.1f})"
        )
    return [
        f"F1 of {better} against {than}: "
        + "; ".join(f"{verdict} at {', '.join(where)}" for verdict, where in verdicts.items())
        for (better, than), verdicts in levels.items()
    ]
