"""What a proof of a problem found: its flaws, its warnings and the kill matrix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from app.domain.problem import Problem

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Flaw:
    """Why a problem is not proven, at a location of its file."""

    location: Location
    message: str


@dataclass(frozen=True)
class Caught:
    """What became of one misconception: the checks that refused it, and whether it was named."""

    caught_by: str
    caught: tuple[str, ...]
    named: bool
    ok: bool


@dataclass(frozen=True)
class Proof:
    """The outcome of a proof: its flaws, and the kill matrix."""

    problem: Problem
    flaws: tuple[Flaw, ...] = ()
    accepted: Mapping[str, bool] = field(default_factory=dict)
    misconceptions: Mapping[str, Caught] = field(default_factory=dict)
    warnings: tuple[Flaw, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.flaws

    @property
    def samples(self) -> int:
        """The wrong texts that stand there for those who mark."""
        return sum(known.text is not None for known in self.problem.misconceptions)


def unreached(problem: Problem, misconceptions: Mapping[str, Caught]) -> Iterator[Flaw]:
    """A warning at each check that no misconception reaches: nothing shows that it can fail."""
    reached = {check for row in misconceptions.values() for check in row.caught}
    for n, check in enumerate(problem.checks):
        if check.id not in reached:
            yield Flaw(("checks", n), f"no misconception reaches the check `{check.id}`")
