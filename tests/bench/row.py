"""One measured ratio beside its target."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """``target`` is a bound on ``measured``: at most, or at least where ``at_least``."""

    what: str
    target: float
    measured: float
    at_least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool:
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        met = "yes" if self.met else "no"
        cells = [self.what, f"{sign} {self.target:g}", f"{self.measured:.2f}", met, self.detail]
        return f"| {' | '.join(cells)} |"


HEADER = "| what | target | measured | met | detail |\n|---|---|---|---|---|"


def seconds(function: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def median(times: list[float]) -> float:
    """The median, in milliseconds."""
    return statistics.median(times) * 1000
