"""The process of one run: `python -m unnoted.experiments.worker FOLDER/ADDRESS/run.json`."""

import json
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from unnoted.experiments.perform import perform
from unnoted.experiments.place import Busy, Place
from unnoted.experiments.pools import BUSY, END_WITH_INPUT, FAILED
from unnoted.experiments.runs import Run
from unnoted.training.checkpoints import one_line

ORPHANED = 76
"""The exit code of a process whose starter is gone."""


def main(arguments: Sequence[str]) -> int:
    """Perform the run that a file specifies.

    Args:
        arguments: the file, FOLDER/ADDRESS/run.json, and perhaps `--end-with-input`: the process ends when
            its standard input does, as it does when the process that started this one is gone.

    Returns:
        the exit code: 0, `FAILED` or `BUSY`.
    """
    specification = Path(arguments[0])
    if END_WITH_INPUT in arguments:
        threading.Thread(target=_end_with_input, daemon=True).start()
    place = Place(specification.parent.parent, specification.parent.name)
    _say(f"process {os.getpid()} begins")
    try:
        run = Run.from_json(json.loads(specification.read_text("utf-8")))
        if run.address != place.address:
            raise ValueError(f"{specification}: found data or an encoder that changed since the grid began")
        perform(run, specification.parent.parent, _say)
    except Busy as busy:
        _say(str(busy))
        return BUSY
    except Exception as error:
        details = traceback.format_exc()
        reason = f"{type(error).__name__}: {one_line(error)}" if str(error) else type(error).__name__
        print(details, file=sys.stderr, flush=True)
        place.fail(reason, details)
        return FAILED
    _say("finished")
    return 0


def _say(line: str) -> None:
    print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}", file=sys.stderr, flush=True)


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    # At once, as a kill would: all that a run writes is whole at any moment.
    os._exit(ORPHANED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
