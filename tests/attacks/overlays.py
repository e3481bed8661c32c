"""Cases that are a folder with a few files changed hold only these: a fixture stays small."""

from pathlib import Path

from tests.attacks.judging import Files

MISSING = ".missing"
"""A file NAME.missing stands for NAME not being there."""


def lay_over(folder: Path, base: Files) -> None:
    """Fill a folder that holds what differs with the rest of its files."""
    for name, content in base.items():
        path, missing = folder / name, folder / f"{name}{MISSING}"
        if missing.exists():
            missing.unlink()
        elif not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
