"""Every way in which runs depart from what was published, found by comparing their settings."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from unnoted.experiments.scale import Scaled
from unnoted.training.fingerprint import FREE
from unnoted.training.settings import Settings

NOT_DEPARTURES = FREE | {"seed", "train", "test", "benchmark"}
"""Settings that change nothing, or of which something else tells: the seeds and the documents."""

WITHOUT_A_VALUE = {"encoder_layers": "all"}
"""What a setting that is left open means, where that is not "none"."""


def departures(published: Settings, ours: Settings) -> dict[str, tuple[str, str]]:
    """Every setting in which a run departs from the published one: (ours, published) as text, by key."""
    found = {}
    theirs, mine = _values(published), _values(ours)
    for key in dict.fromkeys([*theirs, *mine]):
        absent = WITHOUT_A_VALUE.get(key, "none")
        pair = _text(mine.get(key), absent), _text(theirs.get(key), absent)
        if key not in NOT_DEPARTURES and pair[0] != pair[1]:
            found[key] = pair
    return found


def _values(settings: Settings) -> dict[str, object]:
    """Settings by key, those of the loss beside the others."""
    values: dict[str, object] = {key: getattr(settings, key) for key in Settings.model_fields}
    del values["loss_options"]
    return values | settings.loss_options


def _text(value: object, absent: str) -> str:
    match value:
        case None:
            return absent
        case Path():  # the same file lies elsewhere on every machine
            return value.name
        case tuple():
            return ", ".join(_text(each, absent) for each in value)
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
        published = "; ".join(
            f"{value} in {', '.join(names)}" if len(by_published) > 1 else value
            for value, names in by_published.items()
        )
        concerned = [name for names in by_published.values() for name in names]
        where = "" if len(concerned) == len(rows) or len(by_published) > 1 else f" in {', '.join(concerned)}"
        notes.append(f"{key.replace('_', ' ')}: {ours} (published: {published}){where}")
    return notes


def seed_note(seeds: Sequence[int], published: Sequence[int] | None) -> str | None:
    """How the seeds depart from the published ones.

    Example:
        >>> seed_note([62], [62, 63, 64, 65, 66])
        'seeds: 62 (published: 62–66)'
    """
    if published is not None and tuple(seeds) == tuple(published):
        return None
    said = "not said" if published is None else shown_seeds(published)
    return f"seeds: {shown_seeds(seeds)} (published: {said})"


def shown_seeds(seeds: Iterable[int]) -> str:
    """Seeds for people.

    Example:
        >>> shown_seeds([62, 63, 64, 66])
        '62–64, 66'
    """
    runs: list[list[int]] = []
    for seed in seeds:
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
