"""The package's public names."""

import subprocess
import sys

import pytest

import unnoted


def test_every_public_name_can_be_had():
    assert all(getattr(unnoted, name) is not None for name in unnoted.__all__)
    listed = [name for names in unnoted._PACKAGES.values() for name in names]
    assert sorted(listed) == sorted(unnoted.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = unnoted.nothing


def test_reading_documents_does_not_load_torch():
    code = "import sys, unnoted.cli.main, unnoted; unnoted.load_documents; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
