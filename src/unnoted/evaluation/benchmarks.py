"""What differs between the benchmarks in how they are reported."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Benchmark:
    """How a benchmark is reported.

    Args:
        name: what it is called.
        frequent: how many of the most frequent relations are also scored apart.
        has_published_denominator: whether its published scores leave out facts (see `published`).
    """

    name: str
    frequent: int
    has_published_denominator: bool


PLAIN = Benchmark("plain", frequent=10, has_published_denominator=False)
DOCRED = Benchmark("docred", frequent=10, has_published_denominator=False)
CHEMDISGENE = Benchmark("chemdisgene", frequent=5, has_published_denominator=True)

BENCHMARKS = {benchmark.name: benchmark for benchmark in (PLAIN, DOCRED, CHEMDISGENE)}
"""Every benchmark by name."""
