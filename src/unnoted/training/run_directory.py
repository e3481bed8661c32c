"""The folder of a run: which run it is, whether it may be used, and what is in it."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from unnoted.io import content_digest, hold_lock, is_held, open_output, refuse_stream, write_json
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.models.encoders.from_scratch import SUBWORDS, WORDS
from unnoted.models.model_io import TOKENIZER_FILES
from unnoted.progress import Progress, read_progress, show_progress
from unnoted.training.config import TrainingConfig
from unnoted.training.processes import join_processes, on_main
from unnoted.training.results import Record
from unnoted.utils import choose_threads, short_repr

RUN = "run.json"
"""Written first: the configuration of the run, and the hashes of its files."""

RECORD = "record.json"
"""Written after training, and again as each set of documents is scored."""

LOCK = ".lock"
LOG = "log.txt"
"""The output of the processes of a grid."""

MODEL = "model"
"""Where the trained model is put together before its files are moved into the run's folder."""

PROGRESS = "progress.txt"
"""How far the run is, for other processes, while it is trained."""

SECONDS = "seconds.txt"
THREADS = "threads.txt"

NOT_HASHED = ("output", "optimizer.checkpoint_steps")
"""Keys that change nothing about the result: a resumed run may have other values."""

MODEL_FILES = ("config.json", "model.safetensors")
"""What is read of the folder of a trained model."""


class RunError(ValueError):
    """A run that cannot be started or resumed here.

    Attributes:
        keys: the keys of the configuration that differ from those of the run in the folder.
        files: the files whose content has changed since.
    """

    def __init__(self, message: str, keys: Sequence[str] = (), files: Sequence[Path] = ()) -> None:
        super().__init__(message)
        self.keys = tuple(keys)
        self.files = tuple(files)


class BusyError(RunError):
    """Another process is at this run."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The configuration of a run by dotted key, with the SHA-256 of contents in place of paths.

    Attributes:
        values: by key.
        files: the paths behind the values that are contents.
    """

    values: Mapping[str, Any]
    files: Mapping[str, tuple[Path, ...]]

    @property
    def run_id(self) -> str:
        """16 hexadecimal digits: equal runs have the same, wherever their files are."""
        return _sha256(json.dumps(self.values, sort_keys=True, separators=(",", ":")))[:16]


def fingerprint(config: TrainingConfig) -> Fingerprint:
    """All that the result of a run depends on; an encoder in a folder counts by its content.

    Raises:
        RunError: a file cannot be read.

    Example:
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "train.json"
        >>> _ = path.write_text("[]")
        >>> def run_id(**changes):
        ...     given = {"train": path, "model": {"encoder": "recurrent"}, "loss": "atlop", "output": "x"}
        ...     return fingerprint(TrainingConfig(**given | changes)).run_id
        >>> run_id(output="y") == run_id(), run_id(seed=3) == run_id()
        (True, False)
    """
    values = {key: value for key, value in config.flatten().items() if key not in NOT_HASHED}
    files: dict[str, tuple[Path, ...]] = {"train": config.train}
    if config.dev is not None:
        files["dev"] = config.dev
    files |= {f"test.{name}": paths for name, paths in config.test.items()}
    for key in ("data.vocabulary", "loss.prior_file", "model.encoder_options.vectors"):
        if key in values:
            files[key] = (Path(values[key]),)
    if config.data.rules is not None and Path(config.data.rules).is_file():
        files["data.rules"] = (Path(config.data.rules),)
    for key, folder in (("loss.teacher", config.loss.teacher), ("model.init_from", config.model.init_from)):
        if folder is not None:
            files[key] = tuple(folder / name for name in MODEL_FILES)
    if config.model.encoder is not None and is_folder(config.model.encoder):
        files["model.encoder"] = (Path(config.model.encoder),)
    tokenizer = values.get("model.encoder_options.tokenizer")
    if tokenizer not in (None, WORDS, SUBWORDS) and Path(tokenizer).is_dir():
        found = tuple(path for name in TOKENIZER_FILES if (path := Path(tokenizer) / name).is_file())
        files["model.encoder_options.tokenizer"] = found
    return Fingerprint(
        values | {key: [digest(path) for path in paths] for key, paths in files.items()}, files
    )


def is_folder(encoder: str) -> bool:
    """Whether an encoder is a folder on this machine, and not one that is made or a name on the hub."""
    return encoder not in ENCODER_KINDS and (Path(encoder) / "config.json").is_file()


def digest(path: Path) -> str:
    """The SHA-256 of a file's content; of a folder, that of all its files that are not hidden."""
    try:
        refuse_stream(path)
        if path.is_dir():
            files = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
            names = sorted(f.as_posix() for f in files if not any(part[0] == "." for part in f.parts))
            return _sha256(json.dumps({name: digest(path / name) for name in names}))
        status = path.stat()
        return _digest_content(path.absolute(), status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})", files=[path]) from None


@lru_cache(maxsize=4096)
def _digest_content(file: Path, size: int, changed: int) -> str:
    """Cached, because the runs of a grid share files."""
    return content_digest(file)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class RunDirectory:
    """The output folder of a run.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether the folder holds a run."""
        return (self.path / RUN).is_file()

    @property
    def is_busy(self) -> bool:
        """Whether a process is at the run; only a look, which may be outdated at once."""
        return is_held(self.path / LOCK)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out but those that train together; a process that is killed lets go."""
        if not join_processes().is_main_process:
            yield
            return
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path}: is a file; give a folder for the run")
        others = [] if self.exists or not self.path.exists() else self.path.iterdir()
        for entry in others:
            if entry.name not in (LOCK, LOG):
                raise RunError(
                    f"{self.path}: holds {entry.name!r} and no run; give an empty folder or a new one"
                )
        self.path.mkdir(parents=True, exist_ok=True)
        with hold_lock(self.path / LOCK, BusyError(f"{self.path}: a run is going on here")):
            yield

    def check(self, wanted: Fingerprint) -> None:
        """Refuse another run than the one that is here, wherever its files are now.

        Raises:
            RunError: has the keys, or the files, that differ.
        """
        try:
            began: dict[str, Any] = dict(json.loads((self.path / RUN).read_text("utf-8"))["values"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RunError(f"{self.path / RUN}: is damaged; --overwrite removes the run") from None
        ours, paths = wanted.values, wanted.files
        differing = [key for key in sorted(ours.keys() | began.keys()) if ours.get(key) != began.get(key)]
        if keys := [key for key in differing if not (key in paths and key in began)]:
            values = "; ".join(
                f"{key} {short_repr(began.get(key))}, not {short_repr(ours.get(key))}" for key in keys
            )
            raise RunError(
                f"{self.path}: holds another run ({values}); give another --output, or --overwrite it", keys
            )
        if differing:
            files = [path for key in differing for path in paths[key]]
            digests = [digest in str(began[key]) for key in differing for digest in ours[key]]
            files = [path for path, known in zip(files, digests, strict=True) if not known] or files
            raise RunError(
                f"{files[0]}: has changed since this run began; restore the file, or begin anew with --overwrite "
                f"({self.path})",
                files=files,
            )

    def acquire(self, run: Fingerprint, overwrite: bool = False) -> None:
        """Mark the folder as this run's; to overwrite, all that is in it goes first.

        Raises:
            RunError: what would go is read by the run.
        """
        if self.exists and overwrite:
            own = self.path.resolve()
            for path in (path for paths in run.files.values() for path in paths):
                if path.resolve().is_relative_to(own) or own.is_relative_to(path.resolve()):
                    raise RunError(
                        f"{path}: is read by the run, and --overwrite would empty {self.path}", files=[path]
                    )
            self._clear()
        if not self.exists:
            files = {key: [str(path) for path in paths] for key, paths in run.files.items()}
            write_json(self.path / RUN, {"run_id": run.run_id, "values": dict(run.values), "files": files})

    def choose_threads(
        self, width: int, threads: int | None = None, log: Callable[[str], None] = lambda line: None
    ) -> None:
        """Choose the threads of torch, the same in all sessions: sums of other threads differ in last digits."""
        reason = "as asked for"
        if threads is None and (before := on_main(lambda: self._read_number(THREADS))) is not None:
            threads, reason = int(before), "as in the session before"
        chosen = choose_threads(width, threads, log, reason)
        if join_processes().is_main_process:
            with open_output(self.path / THREADS) as stream:
                stream.write(str(chosen))

    def _read_number(self, name: str) -> float | None:
        path = self.path / name
        if not path.is_file():
            return None
        try:
            number = float(path.read_text("utf-8"))
        except ValueError:
            number = -1
        if not 0 <= number < 1e9:
            raise RunError(f"{path}: is damaged; remove it")
        return number

    def _clear(self) -> None:
        """Remove all but the lock; the mark that a run is here goes last."""
        entries = [entry for entry in self.path.iterdir() if entry.name not in (LOCK, LOG, RUN)]
        for entry in [*entries, self.path / RUN]:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    @contextmanager
    def publishing(self, record: Record) -> Iterator[Path]:
        """A folder for the files of a trained model, which are moved here; then the record says that it is trained."""
        staged = self.path / MODEL
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
        try:
            yield staged
            for file in sorted(staged.iterdir()):
                # Some libraries write files that only their owner can read.
                file.chmod(file.stat().st_mode | (staged.stat().st_mode & 0o444))
                file.replace(self.path / file.name)
            record.write(self.path / RECORD)
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def read_record(self, log: Callable[[str], None] = lambda line: None) -> Record | None:
        """The result of the run; None if it is not trained, or its record is damaged."""
        try:
            return Record.read(self.path / RECORD)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            log(f"{self.path / RECORD}: is damaged ({reason}); it is made again")
            return None

    def read_finished(
        self, config: TrainingConfig, log: Callable[[str], None] = lambda line: None
    ) -> Record | None:
        """The record of the run, if all sets of the configuration are scored."""
        record = self.read_record(log)
        return record if record is not None and record.scored.keys() == config.test.keys() else None

    @contextmanager
    def showing_progress(self, total: float) -> Iterator[Progress]:
        """Show how far the run is, and let other processes read it."""
        is_main = join_processes().is_main_process
        file = self.path / PROGRESS if is_main else None
        try:
            with show_progress(total, "training", shown=is_main, file=file) as progress:
                yield progress
        finally:
            if file is not None:
                file.unlink(missing_ok=True)

    def read_progress(self) -> float:
        """The share of the run that another process has done."""
        return 1.0 if (self.path / RECORD).is_file() else read_progress(self.path / PROGRESS)

    @contextmanager
    def timed(self, since: float) -> Iterator[Callable[[], float]]:
        """Count the seconds of all sessions but those that were killed.

        Args:
            since: when this session began, by `time.monotonic`.
        """
        earlier = self._read_number(SECONDS) or 0.0
        try:
            yield lambda: earlier + time.monotonic() - since
        finally:
            if join_processes().is_main_process:
                # A full disk has errors that matter more.
                with suppress(OSError), open_output(self.path / SECONDS) as stream:
                    stream.write(str(earlier + time.monotonic() - since))
