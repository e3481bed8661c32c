"""Files in and out: limits on input, text and gzip, locks, atomic writes, JSON, YAML, checksums."""

# ruff: noqa: F403
from unnoted.io.checksums import *
from unnoted.io.inputs import *
from unnoted.io.outputs import *
from unnoted.io.parsing import *
