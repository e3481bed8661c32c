"""A run: from settings to a folder with a trained model, and everything that tells how it came about."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from unnoted.common.files import write_json
from unnoted.training.checkpoints import CheckpointError, one_line, whole_folder
from unnoted.training.environment import environment
from unnoted.training.run_folder import SUMMARY, RunError, RunFolder, description
from unnoted.training.settings import Settings
from unnoted.training.stages import DISTILLATION, Plan, Stage, is_distilled, plan_of
from unnoted.training.tuning import tuned_on

MODEL = ".model"
"""Where the trained model is put together before its files are moved into the run's folder."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run came to.

    Attributes:
        folder: the trained model's.
        trained: False if it had been finished before.
        steps: of the optimiser, in all stages.
        risk: the mean over the steps since the last report but one; None if nothing was reported.
    """

    folder: Path
    trained: bool
    steps: int
    risk: float | None


def train_from_settings(
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> RunReport:
    """Train as the settings say; the output folder then is a model for `RelationModel.from_pretrained`.

    Beside the weights are `settings.yaml` (resolved), `priors.json` (what was used for each relation),
    `environment.json` (versions and hardware), `training.json` (a summary with the risk over time), and
    `run.json` (settings and fingerprints of the data). With a teacher, `distillation/` has the first stage.

    Args:
        settings: what `load_settings` read.
        resume: go on with an unfinished run.
        overwrite: remove a run that is in the folder.
        tell: is given lines for the user, such as what was left out of the data.

    Raises:
        RunError: if the folder holds another run, or data changed since the run began.
        DataError: if a data file cannot be used.
        ModelError: if the teacher cannot be used, or does not fit.
        NotFinite: if a risk is not a finite number.
    """
    folder = RunFolder(settings.output)
    with folder.locked():
        run = description(settings)
        if folder.admit(run, resume, overwrite):
            plan = plan_of(settings, tell, distilled=not overwrite and is_distilled(settings))
            # Not before the data and the encoder have proved to be usable: an error leaves all as it was.
            folder.claim(run, overwrite)
            return _report(folder, _train(folder, settings, plan, resume, tell), trained=True)
        tell(f"{settings.output}: this run is finished; nothing to do")
        return _report(folder, folder.summary(), trained=False)


def _train(
    folder: RunFolder, settings: Settings, plan: Plan, resume: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    """All stages, and then the model in its place."""
    distilled = {}
    if settings.distillation is not None:
        distilled = {DISTILLATION: _distil(folder.path / DISTILLATION, plan, resume)}
    summary = {"finished": True, **plan.main.train(plan.model, resume), **distilled}
    if settings.tuned_thresholds and plan.main.dev is not None:
        tuned = tuned_on(plan.model, plan.main.dev)
        plan.model.meaning = replace(plan.model.meaning, decision=tuned.rule)
        summary["tuned_thresholds"] = tuned.to_json()
        for line in tuned.lines():
            tell(f"note: {line}")
    _place(folder, settings, plan, summary)
    return summary


def _distil(folder: Path, plan: Plan, resume: bool) -> dict[str, Any]:
    """The first of two stages, or what it came to if it is over."""
    if plan.distillation is None:
        path = folder / SUMMARY
        if not path.is_file():
            raise RunError(f"{path}: found no file, expected what the first stage came to")
        over: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return over
    summary = plan.distillation.train(plan.model, resume)
    _write_priors(folder, plan.distillation)
    write_json(folder / SUMMARY, summary)
    return summary


def _place(folder: RunFolder, settings: Settings, plan: Plan, summary: dict[str, Any]) -> None:
    """Write the trained model and all that belongs to it, and say that the run is finished."""
    try:
        with whole_folder(settings.output / MODEL) as staged:
            plan.model.save_pretrained(staged)
            settings.save(staged / "settings.yaml")
            _write_priors(staged, plan.main)
            write_json(staged / "environment.json", environment())
        folder.place(settings.output / MODEL, summary)
    except (OSError, SafetensorError) as error:
        what = f"{settings.output}: the trained model was not written ({one_line(error)})"
        raise CheckpointError(f"{what}; its checkpoint is whole, --resume writes it again") from error


def _write_priors(folder: Path, stage: Stage) -> None:
    write_json(folder / "priors.json", None if stage.priors is None else stage.priors.report())


def _report(folder: RunFolder, summary: dict[str, Any], trained: bool) -> RunReport:
    history = summary["history"]
    steps = summary["steps"] + summary.get(DISTILLATION, {"steps": 0})["steps"]
    return RunReport(folder.path, trained, steps, history[-1]["loss"] if history else None)
