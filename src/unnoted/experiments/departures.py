"""Every way in which runs depart from what was published, found by comparing their settings."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from unnoted.experiments.scale import Scaled
from unnoted.training.fingerprint import FREE
from unnoted.training.settings import Settings

NOT_DEPARTURES = FREE | {"seed", "train", "test", "benchmark", "loss_options", "architecture_options"}
"""Settings that change nothing, or of which something else tells: the seeds, the documents, the options
of loss and architecture by their own names."""

WITHOUT_A_VALUE = {"encoder_layers": "all"}
"""What a setting that is left open means, where that is not "none"."""


def departures(published: Settings, ours: Settings) -> dict[str, tuple[str, str]]:
    """Every setting in which a run departs from the published one: (ours, published) as text, by key."""
    theirs, mine = (
        {**dict(each), **each.loss_options, **each.architecture_options} for each in (published, ours)
    )
    pairs = {
        key: (_text(key, mine.get(key)), _text(key, theirs.get(key)))
        for key in dict.fromkeys([*theirs, *mine])
        if key not in NOT_DEPARTURES
    }
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _text(key: str, value: object) -> str:
    match value:
        case None:
            return WITHOUT_A_VALUE.get(key, "none")
        case Path():  # the same file lies elsewhere on every machine
            return value.name
        case tuple():
            return ", ".join(_text(key, each) for each in value)
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)


def departure_notes(rows: Mapping[str, Scaled]) -> list[str]:
    """The departures of a table's rows, those that several rows share in one line."""
    shared: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, row in rows.items():
        for key, (ours, published) in departures(row.published, row.settings).items():
            shared.setdefault((key, ours), {}).setdefault(published, []).append(name)
    notes = []
    for (key, ours), by_published in shared.items():
        if len(by_published) > 1:
            said = "; ".join(f"{value} in {', '.join(names)}" for value, names in by_published.items())
            where = ""
        else:
            ((said, names),) = by_published.items()
            where = "" if len(names) == len(rows) else f" in {', '.join(names)}"
        notes.append(f"{key.replace('_', ' ')}: {ours} (published: {said}){where}")
    return notes


def seed_note(seeds: Sequence[int], published: Sequence[int] | None) -> str | None:
    """How the seeds depart from the published ones.

    Example:
        >>> seed_note([62, 63, 64, 66], [62, 63, 64, 65, 66])
        'seeds: 62–64, 66 (published: 62–66)'
    """
    if published is not None and tuple(seeds) == tuple(published):
        return None
    said = "not said" if published is None else _shown(published)
    return f"seeds: {_shown(seeds)} (published: {said})"


def _shown(seeds: Iterable[int]) -> str:
    # Seeds that follow one another are equally far from their places.
    groups = groupby(enumerate(seeds), lambda each: each[1] - each[0])
    runs = [[seed for _, seed in group] for _, group in groups]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
