"""The commands: one file each, a thin wrapper over an importable function."""
