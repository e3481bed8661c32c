"""Where a model was trained: versions and hardware, to be saved beside its weights."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

PACKAGES = ("unnoted", "torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy")


def environment() -> dict[str, str | int | None]:
    """Versions and hardware, as JSON can hold them.

    Example:
        >>> sorted(set(environment()) & {"python", "torch", "unnoted", "git", "platform"})
        ['git', 'platform', 'python', 'torch', 'unnoted']
    """
    return {
        **{package: _version(package) for package in PACKAGES},
        "git": git_describe(Path(__file__).parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def git_describe(folder: Path) -> str | None:
    """What git calls the state of a folder; None where there is no git, or the folder is not in its care."""
    tracked = ["git", "-C", str(folder), "ls-files", "--error-unmatch", "."]
    describe = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--tags"]
    try:
        # An installed copy may lie inside somebody else's repository, which says nothing about it.
        subprocess.run(tracked, check=True, capture_output=True, timeout=20)
        done = subprocess.run(describe, check=True, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
