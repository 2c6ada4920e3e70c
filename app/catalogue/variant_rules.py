"""What accepted variants and misconceptions must say without contradicting themselves."""

from collections.abc import Iterator, Mapping

from app.catalogue.answer_rules import property_findings, value_findings
from app.catalogue.known import At, Found, unknown_names
from app.catalogue.staff_code import python_findings
from app.domain.problem import CodeProblem, Problem, TextProblem, questions_of


def variant_findings(problem: Problem) -> Iterator[Found]:
    """Contradictions in the accepted variants and the misconceptions."""
    ids = [each.id for each in questions_of(problem)]
    wanted = "code" if isinstance(problem, CodeProblem) else "answers"
    for part in ("accepted", "misconceptions"):
        for n, variant in enumerate(getattr(problem, part)):
            at = (part, n)
            if variant.changes:
                yield from _changes((*at, "changes"), variant.changes, problem)
            kinds = ("code", "answers", "text")
            given = [key for key in kinds if getattr(variant, key, None) is not None]
            if given == ["text"] and isinstance(problem, TextProblem):
                continue
            if given != [wanted]:
                yield at, f"`{variant.id}` has {given or 'nothing'}; expected `{wanted}` alone"
            elif wanted == "code":
                yield from python_findings((*at, "code"), variant.code)
            else:
                assert not isinstance(problem, CodeProblem)
                yield from value_findings((*at, "answers"), variant.answers, problem)
    for n, accepted in enumerate(problem.accepted):
        yield from unknown_names(("accepted", n, "except"), accepted.excused, ids, "check")
        yield from unknown_names(("accepted", n, "points"), accepted.points, ids, "check")
    for n, wrong in enumerate(problem.misconceptions):
        yield from unknown_names(
            ("misconceptions", n, "caught_by"), [wrong.caught_by], ids, "check"
        )
        yield from unknown_names(("misconceptions", n, "passes"), wrong.passes, ids, "check")
        if wrong.when and not isinstance(problem, CodeProblem):
            yield from property_findings(("misconceptions", n, "when"), wrong.when, "when", problem)


def _changes(at: At, changes: Mapping[str, str], problem: Problem) -> Iterator[Found]:
    first = problem.accepted[0].code if problem.accepted else None
    if first is None:
        yield at, "there is no accepted code to change; expected the first of `accepted` in full"
        return
    for old in changes:
        if first.count(old) != 1:
            yield (*at, old), f"this stands {first.count(old)} times in `{problem.accepted[0].id}`"
