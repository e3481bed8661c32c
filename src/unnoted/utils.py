"""Small helpers of every package: names, numbers in text, errors of other libraries, optional parts."""

import inspect
import json
import logging
import os
import sys
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict, ValidationError, create_model


def short_repr(value: object, longest: int = 60) -> str:
    """A value as an error message shows it: its repr, shortened.

    Example:
        >>> short_repr("x" * 100)[-6:], short_repr(10**5000)
        ('xxx...', 'a value of type int')
    """
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number too long to be written out
        text = f"a value of type {type(value).__name__}"
    return shorten(text, longest)


def shorten(text: str, longest: int = 300) -> str:
    """A text, or its beginning where it is long.

    Example:
        >>> shorten("abcdefgh", 6)
        'abc...'
    """
    return text if len(text) <= longest else text[: longest - 3] + "..."


_JOINERS = "\u200c\u200d"
"""Characters of the category of direction marks that are needed to write Persian, Hindi and some emoji."""


def strip_control(text: str, keep: str = "") -> str:
    r"""A text that a terminal only shows: escape codes, direction marks and the like are spelt out.

    Args:
        text: may come from anywhere.
        keep: control characters that mean no harm here, such as a newline.

    Example:
        >>> print(strip_control("a\x1b[31m\u202eb\nc"))
        a\x1b[31m\u202eb\nc
        >>> strip_control("größer\u00a0als") == "größer\u00a0als"
        True
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter in keep or letter in _JOINERS or _is_shown(letter) else repr(letter)[1:-1]
        for letter in text
    )


def _is_shown(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) in ("Zs", "Co", "Cn")


Thing = TypeVar("Thing")

LONGEST_NAME = 200
"""Characters up to which a name may be misspelt: finding the nearest takes the square of its length."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint at the nearest valid name, to be appended to an error; empty where none is near.

    Example:
        >>> nearest("spuse", ["spouse", "child"]), nearest("zzz", ["spouse", "child"])
        (" (nearest: 'spouse')", '')
    """
    if len(name) > LONGEST_NAME:
        return ""
    close = get_close_matches(name, list(valid), n=1, cutoff=0.4)
    return f" (nearest: {close[0]!r})" if close else ""


def lookup(what: str, name: object, table: Mapping[str, Thing]) -> Thing:
    """The entry of a table.

    Example:
        >>> lookup("loss", "srpu", {"sr-pu": 1, "atlop": 2})
        Traceback (most recent call last):
        ValueError: unknown loss 'srpu', expected one of sr-pu, atlop (nearest: 'sr-pu')
    """
    if isinstance(name, str) and name in table:
        return table[name]
    raise ValueError(
        f"unknown {what} {short_repr(name)}, expected one of {', '.join(table)}{nearest(str(name), table)}"
    )


def register(what: str, name: str, thing: Thing, table: MutableMapping[str, Thing]) -> None:
    """Add an entry to a table under a name that is not taken.

    Example:
        >>> register("loss", "atlop", 3, {"atlop": 2})
        Traceback (most recent call last):
        ValueError: loss 'atlop' is registered already; choose another name
    """
    if name in table:
        raise ValueError(f"{what} {name!r} is registered already; choose another name")
    table[name] = thing


class MissingExtra(ValueError):
    """A library that only an extra installs is not there."""


def require_extra(module: str, extra: str) -> ModuleType:
    """A module that an extra of `unnoted` installs.

    Raises:
        MissingExtra: it is not installed; names what to install.

    Example:
        >>> require_extra("missing", "spacy")
        Traceback (most recent call last):
        unnoted.utils.MissingExtra: missing is not installed: pip install 'unnoted[spacy]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise  # it is there, and something of its own is missing
        raise MissingExtra(f"{root} is not installed: pip install 'unnoted[{extra}]'") from None


@contextmanager
def wrap_errors(place: object, found: str, expected: str, error: type[ValueError]) -> Iterator[None]:
    """Turn everything that a library raises over a file into one error, which names the file.

    Libraries raise what comes to hand over a damaged file (`tokenizers` a bare `Exception`), so everything is
    taken. Keep to the other library's call what stands within: a mistake of ours would be blamed on the file.

    Args:
        place: the file or folder.
        found: the problem; the library's own words follow in brackets.
        expected: what is needed.
        error: what is raised; errors of this type pass, and name the file if they did not.

    Example:
        >>> with wrap_errors("config.json", "no readable JSON", "that of a model", ValueError):
        ...     {}["hidden_size"]
        Traceback (most recent call last):
        ValueError: config.json: no readable JSON (KeyError: 'hidden_size'); needed: that of a model
    """
    try:
        yield
    except error as own:
        if str(own).startswith(str(place)):
            raise
        raise error(f"{place}: {own}") from own
    except Exception as other:
        raise error(f"{place}: {found} ({describe_error(other)}); needed: {expected}") from other


def describe_error(error: BaseException) -> str:
    """What went wrong, in one line that is not too long.

    Example:
        >>> describe_error(KeyError("size")), describe_error(MemoryError())
        ("KeyError: 'size'", 'MemoryError')
    """
    text = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
    if "trust_remote_code" in text:
        return "it has code of its own, which is never run"
    plain = type(error) is ValueError or isinstance(error, OSError | json.JSONDecodeError | UnicodeError)
    named = text if plain and text else f"{type(error).__name__}{': ' if text else ''}{text}"
    return shorten(named)


def one_line(error: BaseException) -> str:
    """An error's message without its line breaks."""
    return " ".join(str(error).split())


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Let transformers draw no bars of its own and warn of nothing, while what matters is checked by us.

    Downloads keep their bars: they take long.
    """
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils import logging as transformers_log

    verbosity, drawn = transformers_log.get_verbosity(), transformers_log.is_progress_bar_enabled()
    downloads_drawn = not are_progress_bars_disabled()
    transformers_log.set_verbosity(logging.ERROR)
    transformers_log.disable_progress_bar()  # type: ignore[no-untyped-call]
    if downloads_drawn:
        enable_progress_bars()
    try:
        yield
    finally:
        transformers_log.set_verbosity(verbosity)
        if drawn:
            transformers_log.enable_progress_bar()  # type: ignore[no-untyped-call]


class Options(BaseModel):
    """The settings of a part that is chosen by name: a loss, an architecture.

    A part that has any declares them in a subclass, as a pydantic model.

    Attributes:
        owner: what such a part is called.

    Example:
        >>> class FocalOptions(Options):
        ...     owner = "loss"
        ...     gamma: float = 2.0
        >>> FocalOptions.checked({"gamma": 1.5})
        FocalOptions(gamma=1.5)
        >>> FocalOptions.checked({"gama": 1.5})
        Traceback (most recent call last):
        ValueError: gama: this loss has no such setting (nearest: 'gamma')
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True)

    owner: ClassVar[str] = "part"

    @classmethod
    def checked(cls, values: Mapping[str, object]) -> Self:
        """The options with these values, and defaults for the others.

        Raises:
            ValueError: in one line, names each setting and what it must be.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            problems = [cls._problem(dict(detail)) for detail in error.errors()]
            raise ValueError("; ".join(problems)) from None

    @classmethod
    def from_signature(cls, call: Callable[..., object], leave_out: Container[str] = ()) -> type[Self]:
        """The options that are the arguments of a function, with their annotations and defaults.

        Example:
            >>> def focal(scale: float, gamma: float = 2.0) -> float: ...
            >>> Options.from_signature(focal, leave_out=("scale",)).checked({})
            FocalOptions(gamma=2.0)
        """
        hints = get_type_hints(call, include_extras=True)
        fields: dict[str, Any] = {
            argument.name: (hints[argument.name], argument.default)
            for argument in inspect.signature(call).parameters.values()
            if argument.name in hints
            and argument.name not in leave_out
            and argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        }
        name = "".join(part.capitalize() for part in call.__name__.split("_"))
        return create_model(f"{name}Options", __base__=cls, **fields)

    @classmethod
    def _problem(cls, detail: Mapping[str, Any]) -> str:
        key = ".".join(map(str, detail["loc"]))
        if detail["type"] == "extra_forbidden":
            return f"{key}: this {cls.owner} has no such setting{nearest(key, cls.model_fields)}"
        message = str(detail["msg"]).removeprefix("Input should be ")
        if detail["type"] == "value_error":
            reason = message.removeprefix("Value error, ")
            return f"{key}: {reason}" if key else reason  # what concerns several settings names them itself
        return f"{key}: must be {message[:1].lower()}{message[1:]}, not {short_repr(detail['input'])}"


@contextmanager
def without_working_directory() -> Iterator[None]:
    """Start processes without the working directory on their path, where a `yaml.py` would replace the library."""
    path, safe = sys.path, os.environ.get("PYTHONSAFEPATH")
    sys.path, os.environ["PYTHONSAFEPATH"] = [entry for entry in path if entry], "1"
    try:
        yield
    finally:
        sys.path = path
        if safe is None:
            del os.environ["PYTHONSAFEPATH"]


def count_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


SMALL_WIDTH = 512
"""Encoders of narrower states are no faster with several threads."""


def choose_threads(
    width: int,
    threads: int | None = None,
    log: Callable[[str], None] = lambda line: None,
    reason: str = "as asked for",
) -> int:
    """Set how many threads torch computes with, by what a model needs and what the machine has free.

    Threads that share a core wait for each other: beside one busy process, two threads on two cores made a
    small model 62 times slower than one.

    Args:
        width: the size of the encoder's states.
        threads: a given number. Else the environment variable OMP_NUM_THREADS counts.
        log: is given one line.
        reason: why the number is given.

    Returns:
        The number.
    """
    import torch

    cores = count_cores()
    processes = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))  # of torchrun, which sets OMP_NUM_THREADS to 1
    hint = "; --threads changes it"
    if threads is not None:
        hint = ""
    elif processes > 1 and width >= SMALL_WIDTH:
        threads, reason = max(1, cores // processes), f"shared by {processes} processes"
    elif os.environ.get("OMP_NUM_THREADS", "").isdigit():
        threads, reason = torch.get_num_threads(), "OMP_NUM_THREADS"
    elif width < SMALL_WIDTH:
        threads, reason = 1, "a small model is no faster with more"
    else:
        busy = round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
        threads, reason = max(1, cores - busy), f"{min(busy, cores)} busy"
    torch.set_num_threads(threads)
    log(f"{plural(threads, 'thread')} on {plural(cores, 'core')} ({reason}{hint})")
    return threads


def format_count(number: int) -> str:
    """A count with its thousands set apart.

    Example:
        >>> format_count(1234567)
        '1,234,567'
    """
    return f"{number:,}"


def plural(number: int, thing: str, things: str | None = None) -> str:
    """A count of something, in the singular for one.

    Args:
        number: how many there are.
        thing: the noun for one.
        things: the plural, if it is not `thing` with an s.

    Example:
        >>> plural(1, "fact"), plural(2000, "fact"), plural(0, "entity", "entities")
        ('1 fact', '2,000 facts', '0 entities')
    """
    return f"{format_count(number)} {thing if number == 1 else things or thing + 's'}"


def percent(share: float) -> str:
    """A share as a percentage with one decimal, without the sign.

    Example:
        >>> percent(0.6127), percent(1.0)
        ('61.3', '100.0')
    """
    return f"{100 * share:.1f}"


def duration(seconds: float) -> str:
    """A time span, in the two largest units that matter.

    Example:
        >>> duration(7.4), duration(192), duration(7500)
        ('7 s', '3 min 12 s', '2 h 05 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def templates_of(package: str, folder: str = "templates") -> Environment:
    """The templates in a folder of a package: they escape, and an unknown name is an error.

    Example:
        >>> made = templates_of("unnoted.experiments", ".")
        >>> made.from_string("{{ name }}: {{ 1200 | count }}").render(name="<b>")
        '&lt;b&gt;: 1,200'
    """
    made = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"count": format_count, "counted": plural, "duration": duration, "percent": percent}
    return made
