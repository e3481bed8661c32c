"""Modules that only the site imports, and whose packages tests do without."""

collect_ignore = ["hooks.py", "docstrings.py"]
