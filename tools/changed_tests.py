"""The unit tests of what changed since the last commit, or since a given one: `python tools/changed_tests.py [BASE]`."""

import subprocess
import sys
from pathlib import Path


def tests_of(path: Path) -> Path | None:
    """The test module of a source file, else the tests of its package; a test module is its own."""
    if path.parts[0] == "tests":
        return path if path.name.startswith("test_") and path.exists() else None
    if path.parts[:2] != ("src", "unnoted") or path.suffix != ".py":
        return None
    module = Path("tests/unit", *path.parts[2:-1], f"test_{path.name}")
    if module.exists():
        return module
    package = Path("tests/unit", *path.parts[2:3]) if len(path.parts) > 3 else None
    return package if package is not None and package.is_dir() else None


def main() -> None:
    """Print them, or what all agree on if nothing has tests."""
    base = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    commands = (["git", "diff", "--name-only", base], ["git", "ls-files", "--others", "--exclude-standard"])
    changed = "".join(
        subprocess.run(each, check=True, capture_output=True, text=True).stdout for each in commands
    )
    found = {str(tests) for line in changed.splitlines() if (tests := tests_of(Path(line))) is not None}
    print(" ".join(sorted(found)) or "tests/unit/test_public_names.py")


if __name__ == "__main__":
    main()
