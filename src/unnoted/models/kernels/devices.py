"""From the name of a device to one that works, before anything long begins."""

import torch

FAILURES = (RuntimeError, AssertionError, ImportError, TypeError, ValueError)
"""What torch raises, by kind of device, where there is none."""


def working_device(name: torch.device | str) -> torch.device:
    """The device of a name, after a number was stored on it and read back.

    Raises:
        ValueError: there is no device of this name here, or it holds no values.

    Example:
        >>> working_device("cpu")
        device(type='cpu')
        >>> working_device("meta")
        Traceback (most recent call last):
        ValueError: device: found 'meta', which keeps no values; expected cpu, cuda or cuda:N
    """
    found = ascii(str(name)[:40])
    try:
        device = torch.device(name)
    except FAILURES:
        raise ValueError(f"device: found {found}, expected cpu, cuda or cuda:N") from None
    if device.type == "meta":
        raise ValueError(f"device: found {found}, which keeps no values; expected cpu, cuda or cuda:N")
    try:
        torch.ones(1, device=device).cpu()
    except FAILURES:
        raise ValueError(f"device: found {found}, expected one of {_available()}") from None
    return device


def _available() -> str:
    """The devices of this machine, in words."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return ", ".join(["cpu", *(f"cuda:{number}" for number in range(gpus))]) + (
        "" if gpus else " (this machine has no GPU that torch can use)"
    )
