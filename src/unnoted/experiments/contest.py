"""Architectures and losses on one's own documents, at several levels of labelling."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from unnoted.configs import read_config
from unnoted.data.candidates import CandidatePairs
from unnoted.data.hide_labels import LABELLING_SETTINGS
from unnoted.data.loading import default_candidates, require_facts, stream_documents
from unnoted.evaluation import BENCHMARKS
from unnoted.experiments.grid import Pool
from unnoted.experiments.plan import carry_out, with_seeds
from unnoted.experiments.results import RowResult, TableResult
from unnoted.experiments.scale import FIRST_SEED, Scale
from unnoted.experiments.training_files import MadeFile, level_rule, make_training_file
from unnoted.losses import LOSSES, get_loss
from unnoted.models.architectures.registry import ARCHITECTURES
from unnoted.training.settings import Settings, load_settings, unused_by
from unnoted.utils import lookup

COLUMNS = ("Ign F1", "F1", "P", "R")


@dataclass(frozen=True, slots=True)
class Contest:
    """What is compared, on what.

    Attributes:
        architectures: of `ARCHITECTURES`.
        losses: of `LOSSES`; the others are compared with the first.
        train: the training documents; for PubTator also its relation files.
        test: the documents to score on, with all their facts.
        config: that all runs start from; its loss, architecture and data are not used.
        levels: of labelling, see `level_rule`; "full" is all that `train` has.
        prior_multiplier: true facts per label of `train`, by default that of `config`. Where labels are
            hidden, losses with priors are told that many more.
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
            raise ValueError(f"prior multiplier: found {self.prior_multiplier}, expected a number above 0")
        for what in ("architectures", "losses", "levels"):
            names = getattr(self, what)
            if not names or len(set(names)) < len(names):
                raise ValueError(f"{what}: found {', '.join(names) or 'none'}, expected each once")
        if Path(self.name).name != self.name or self.name in ("", ".", "..") or not self.name.isprintable():
            raise ValueError(f"--name: found {self.name!r}, expected the name of a file, without a folder")

    @property
    def multiplier(self) -> float | None:
        """The prior multiplier of all labels; None where no loss needs one.

        Raises:
            ValueError: a loss needs one, and there is none.
        """
        if self.prior_multiplier is not None:
            return self.prior_multiplier
        found = read_config(self.config).values.get("prior_multiplier")
        needing = [loss for loss in self.losses if get_loss(loss).needs_priors]
        if needing and found is None:
            raise ValueError(
                f"--prior-multiplier: found none, expected how many true facts there are for each label, "
                f"which {', '.join(needing)} must be told: 1 if the labels are complete; the paper has 3 for "
                "DocRED and ChemDisGene"
            )
        return None if found is None else float(found)


def compare(
    contest: Contest, scale: Scale, folder: Path, pool: Pool, tell: Callable[[str], None] = lambda line: None
) -> TableResult:
    """Run every architecture with every loss at every level; finished runs in the folder are not repeated."""
    result = carry_out(plan_comparison(contest, scale, folder), folder, pool, tell)
    return replace(result, notes=(*result.notes, *where_it_pays(result)))


def plan_comparison(contest: Contest, scale: Scale, folder: Path) -> TableResult:
    """What `compare` would run."""
    multiplier = contest.multiplier
    shared = {"output": folder, "test": contest.test, "benchmark": contest.benchmark} | _candidates(contest)
    rows: list[RowResult] = []
    notes: list[str] = []
    compared: list[tuple[str, str]] = []
    for level in contest.levels:
        made = make_training_file(contest.train, folder / "data", documents=scale.documents, level=level)
        require_facts(made.documents, made.before, contest.train)
        if not made.after:
            raise ValueError(f"level {level}: found no label left of {made.before:,}, expected some")
        title, given = _level_title(level, made), shared | {"train": made.path}
        note = f"{title}: {made.after:,} of {made.before:,} labels of {made.documents:,} documents"
        if multiplier is not None:
            told = multiplier / made.share
            given |= {"prior_multiplier": told, "prior_file": None}
            note += f"; prior ×{told:.3g}"
        notes.append(note)
        for architecture in contest.architectures:
            for loss in contest.losses:
                values = given | {"architecture": architecture, "loss": loss}
                runs = with_seeds(_settings(contest.config, values, scale), scale.seeds or (FIRST_SEED,))
                shown = f"{architecture}, {loss}" if len(contest.architectures) > 1 else loss
                name, first = (f"{architecture}/{each}/{level}" for each in (loss, contest.losses[0]))
                rows.append(RowResult(name, shown, title, {}, {}, (), runs=runs))
                compared += [(name, first)] if name != first else []
    heading = f"{', '.join(contest.losses)} on {contest.train[0].name}"
    return TableResult(contest.name, heading, COLUMNS, tuple(rows), tuple(notes), (), tuple(compared))


def _settings(config: str | Path, given: Mapping[str, object], scale: Scale) -> Settings:
    unused = unused_by(get_loss(str(given["loss"])), str(given["architecture"]))
    values = {key: value for key, value in given.items() if key not in unused}
    if "encoder" in scale.changes:
        values["encoder"] = scale.changes["encoder"]
    return load_settings(config, {**values, **scale.applied(load_settings(config, values))})


def _candidates(contest: Contest) -> dict[str, object]:
    """The candidate pairs of PubTator documents: the runs read another format, which does not tell them."""
    rule = default_candidates(
        contest.train, lambda: CandidatePairs.from_facts(stream_documents(*contest.train))
    )
    if rule.types is None or "candidates" in read_config(contest.config).values:
        return {}
    return {"candidates": ",".join(f"{head}:{tail}" for head, tail in sorted(rule.types))}


def _level_title(level: str, made: MadeFile) -> str:
    """What a level is called, such as "extreme, 20 % of the labels"."""
    if level == "full":
        return "all labels"
    share = f"{100 * made.share:.0f} % of the labels"
    return f"{level}, {share}" if level in LABELLING_SETTINGS else share


def where_it_pays(result: TableResult) -> Iterator[str]:
    """For each row that is compared with another: at which levels it is better, worse, or neither."""
    groups = {row.name: row.group for row in result.rows}
    levels: dict[tuple[str, str], dict[str, list[str]]] = {}
    for claim in result.claims:
        pair = claim.better.rpartition("/")[0], claim.than.rpartition("/")[0]
        where = levels.setdefault(pair, {}).setdefault(claim.verdict, [])
        where.append(f"{groups[claim.better]} ({claim.difference:+.1f})")
    for (better, than), verdicts in levels.items():
        said = "; ".join(f"{verdict} at {', '.join(where)}" for verdict, where in verdicts.items())
        yield f"F1 of {better} against {than}: {said}"
