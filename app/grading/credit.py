"""Points in proportion to the entries that are right."""

from collections.abc import Iterable

from app.domain.checks import Check
from app.grading.compare import Verdict


def partial_points(check: Check, parts: Iterable[tuple[int, Verdict | None]]) -> float:
    """The points of a check that failed; ``parts`` are the sizes of its results with verdicts.

    A result of a wrong shape or kind has no right entries.
    """
    if check.credit == "all":
        return 0.0
    asked = right = 0
    for size, verdict in parts:
        asked += size
        right += size - _wrong(size, verdict)
    return round(check.points * right / asked, 9) if asked else 0.0


def _wrong(size: int, verdict: Verdict | None) -> int:
    if verdict is None:
        return 0
    wrong = verdict.finding.facts.get("wrong")
    return wrong if isinstance(wrong, int) else size
