"""Models and losses on one's own documents, at several levels of labelling."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unnoted.architectures import ARCHITECTURES
from unnoted.common.lookup import lookup
from unnoted.documents.candidates import TypePairs, observed
from unnoted.documents.formats import format_name
from unnoted.documents.levels import LEVELS
from unnoted.documents.loading import default_candidates, stream_documents
from unnoted.evaluation.benchmarks import CHEMDISGENE, DOCRED, Benchmark
from unnoted.experiments.plan import Plan, PlannedRow, carry_out
from unnoted.experiments.pools import Pool
from unnoted.experiments.results import TableResult
from unnoted.experiments.runs import Run
from unnoted.experiments.scale import Scale, override
from unnoted.experiments.training_files import MadeFile, check_level, make_training_file
from unnoted.risks.losses import LOSSES, loss_named
from unnoted.training.configs import read_config
from unnoted.training.settings import Settings, load_settings, parse_changes, unused_by

COLUMNS = ("Ign F1", "F1", "P", "R")

DEFAULT_SEEDS = (62,)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, on what.

    Attributes:
        architectures: of `ARCHITECTURES`.
        losses: of `LOSSES`; the first is what the others are compared with.
        train: the training documents; for PubTator also its relation files.
        test: the documents to score on, with all their facts.
        levels: of labelling, each one of `LEVELS` or the share of labels that stays; "full" is all that
            `train` has.
        prior_multiplier: how many true facts there are for each label of `train`. Where labels are hidden,
            losses with priors are told that many more.
        config: the config that all runs start from; loss, model and data in it are not used.
        name: of the table.

    Raises:
        ValueError: an unknown architecture, loss or level, or one of them twice.
    """

    architectures: tuple[str, ...]
    losses: tuple[str, ...]
    train: tuple[Path, ...]
    test: tuple[Path, ...]
    config: str | Path
    levels: tuple[str, ...] = ("full",)
    prior_multiplier: float = 1.0
    name: str = "comparison"

    def __post_init__(self) -> None:
        for architecture in self.architectures:
            lookup("architecture", architecture, ARCHITECTURES)
        for loss in self.losses:
            lookup("loss", loss, LOSSES)
        for level in self.levels:
            check_level(level)
        for what in ("architectures", "losses", "levels"):
            names = getattr(self, what)
            if not names or len(set(names)) < len(names):
                raise ValueError(f"{what}: found {', '.join(names) or 'none'}, expected each once")


def compare(
    comparison: Comparison,
    scale: Scale,
    folder: Path,
    pool: Pool,
    tell: Callable[[str], None] = lambda line: None,
) -> TableResult:
    """Run every model with every loss at every level.

    Args:
        comparison: what is compared.
        scale: how large the runs are.
        folder: of the runs. What is finished there is not repeated.
        pool: where runs are performed.
        tell: is given lines for the user.
    """
    result = carry_out(plan_comparison(comparison, scale, folder), folder, pool, tell)
    return replace(result, notes=(*result.notes, *where_it_pays(result)))


def plan_comparison(comparison: Comparison, scale: Scale, folder: Path) -> Plan:
    """What `compare` would run."""
    shared = {"output": str(folder), **_candidates(comparison)}
    benchmark = _benchmark(comparison.test)
    rows: list[PlannedRow] = []
    notes = []
    claims: list[tuple[str, str]] = []
    for level in comparison.levels:
        made = make_training_file(comparison.train, folder / "data", documents=scale.documents, level=level)
        if not made.after:
            raise ValueError(f"level {level}: found no label left of {made.before:,}, expected some")
        multiplier = comparison.prior_multiplier / made.share
        notes.append(
            f"{_level_title(level, made)}: {made.after:,} of {made.before:,} labels of {made.documents:,} "
            f"documents; prior ×{multiplier:.3g}"
        )
        given = {**shared, "train": [str(made.path.resolve())], "prior_multiplier": multiplier}
        for architecture in comparison.architectures:
            together = [
                _row(
                    comparison,
                    scale,
                    benchmark,
                    {**given, "architecture": architecture, "loss": loss},
                    level,
                    made,
                )
                for loss in comparison.losses
            ]
            rows += together
            claims += [(row.name, together[0].name) for row in together[1:]]
    title = f"{', '.join(comparison.losses)} on {comparison.train[0].name}"
    return Plan(comparison.name, title, COLUMNS, tuple(rows), tuple(notes), tuple(claims))


def _row(
    comparison: Comparison,
    scale: Scale,
    benchmark: Benchmark,
    given: Mapping[str, object],
    level: str,
    made: MadeFile,
) -> PlannedRow:
    settings = _settings(comparison.config, given, scale)
    architecture, loss = settings.architecture, settings.loss
    runs = tuple(
        Run(settings.model_copy(update={"seed": seed}), {"test": comparison.test}, benchmark)
        for seed in scale.seeds or DEFAULT_SEEDS
    )
    title = f"{architecture}, {loss}" if len(comparison.architectures) > 1 else loss
    return PlannedRow(f"{architecture}/{loss}/{level}", title, _level_title(level, made), runs)


def _settings(config: str | Path, given: Mapping[str, object], scale: Scale) -> Settings:
    unused = unused_by(loss_named(str(given["loss"])))
    values = {key: value for key, value in given.items() if key not in unused}
    if scale.encoder is not None:
        values["encoder"] = scale.encoder
    base = [override(key, value) for key, value in values.items()]
    sized = replace(scale, encoder=None).overrides(load_settings(config, parse_changes(base)))
    return load_settings(config, parse_changes([*base, *sized]))


def _candidates(comparison: Comparison) -> dict[str, str]:
    """The candidate pairs of PubTator documents, which the runs read in another format.

    Only from the format would it be known that not all pairs are candidates.
    """
    files = comparison.train
    rule = default_candidates(files, lambda: observed(stream_documents(*files)))
    if not isinstance(rule, TypePairs) or "candidates" in read_config(comparison.config).values:
        return {}
    return {"candidates": ",".join(f"{head}:{tail}" for head, tail in sorted(rule.types))}


def _benchmark(files: Sequence[Path]) -> Benchmark:
    return CHEMDISGENE if any(format_name(path) == "PubTator" for path in files) else DOCRED


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
