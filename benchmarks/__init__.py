"""Runs on real data, what finished runs say, speed, and the tables of the documentation: `python -m benchmarks`."""
