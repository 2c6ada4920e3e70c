"""The report: one model for the API, the command line, pages and exports.

Keys may be added, never changed. What a student may not see is left out here, in one place.
"""

from dataclasses import asdict, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.domain.bilingual import Words
from app.domain.checks import Check, PropertyCheck
from app.domain.outcome import Outcome
from app.domain.problem import Misconception, Problem, RubricLine, question_of
from app.domain.run import CheckResult, Finding, Remark, RemarkKind, RunResult, RunStatus
from app.domain.words import Language, remark_sentence, sentence

Viewer = Literal["student", "staff"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OverrideReport(_Part):
    """Points that a person gave instead of the machine's."""

    points: float
    reason: str


class CheckReport(_Part):
    """One check: what came of it and where it went wrong. ``points`` count any override."""

    id: str
    outcome: Outcome
    points: float
    max_points: float
    message: str
    misconception: str | None
    hidden: bool
    override: OverrideReport | None = None


class MisconceptionReport(_Part):
    """A named misunderstanding, with the checks that show it."""

    id: str
    checks: list[str]
    feedback: str


class RemarkReport(_Part):
    """What was noticed when a file was loaded: ``message`` says it in words, ``text`` is the
    student's own text in it. In a notebook ``line`` counts in the ``cell``."""

    kind: RemarkKind
    file: str
    cell: int | None
    line: int | None
    text: str
    message: str


class Timing(_Part):
    """Seconds."""

    queued_s: float
    sandbox_s: float
    total_s: float


class LimitsReport(_Part):
    """What the submission was allowed to use."""

    wall_s: float
    memory_mb: int


class Report(_Part):
    """One grading, told in one language to one kind of viewer."""

    id: str | None
    problem: str
    problem_version: str
    seed: int | None
    status: RunStatus
    score: float | None
    max_score: float
    checks: list[CheckReport]
    misconceptions: list[MisconceptionReport]
    warnings: list[str]
    remarks: list[RemarkReport] = []
    timing: Timing
    limits: LimitsReport
    stdout: str
    sandbox_level: str | None


def report_of(
    problem: Problem,
    version: str,
    run: RunResult,
    *,
    language: Language,
    viewer: Viewer = "staff",
    revealed: bool = False,
    submission_id: str | None = None,
    queued_s: float = 0.0,
) -> Report:
    """Words for ``run``. A student before reveal sees no seed and nothing of hidden checks but
    outcome, points and misconception."""
    sees_all = viewer == "staff" or revealed
    return Report(
        id=submission_id,
        problem=problem.id,
        problem_version=version,
        seed=run.seed if sees_all else None,
        status=run.status,
        score=run.score,
        max_score=problem.points,
        checks=[_check(question_of(problem, r.id), r, language, sees_all) for r in run.checks],
        misconceptions=_misconceptions(problem, run, language),
        warnings=_notes(problem, run, language),
        remarks=[_remark(remark, language) for remark in run.remarks],
        timing=Timing(queued_s=queued_s, sandbox_s=run.sandbox_s, total_s=run.total_s),
        limits=LimitsReport(wall_s=problem.limits.wall_s, memory_mb=problem.limits.memory_mb),
        stdout=run.printed + (run.printed_hidden if viewer == "staff" else ""),
        sandbox_level=run.sandbox_level or None,
    )


def _check(
    check: Check | RubricLine, result: CheckResult, language: Language, sees_all: bool
) -> CheckReport:
    return CheckReport(
        id=check.id,
        outcome=result.outcome,
        points=result.points,
        max_points=check.points,
        message=_message(check, result, language, sees_all),
        misconception=result.misconception,
        hidden=check.hidden,
    )


def _message(
    check: Check | RubricLine, result: CheckResult, language: Language, sees_all: bool
) -> str:
    if result.finding and (sees_all or not check.hidden):
        finding = _in_words(check, result.finding, language)
        return sentence(finding, language, show_expected=sees_all or check.show_expected)
    return in_language(check.says, language) if isinstance(check, RubricLine) and sees_all else ""


def _in_words(check: Check | RubricLine, finding: Finding, language: Language) -> Finding:
    """The finding with the property that an answer lacks, where the problem says it in words."""
    if finding.key != "property" or not isinstance(check, PropertyCheck) or check.says is None:
        return finding
    return replace(finding, facts={**finding.facts, "says": in_language(check.says, language)})


def _misconceptions(
    problem: Problem, run: RunResult, language: Language
) -> list[MisconceptionReport]:
    named: dict[str, list[str]] = {}
    for result in run.checks:
        if result.misconception:
            named.setdefault(result.misconception, []).append(result.id)
    known = {misconception.id: misconception for misconception in problem.misconceptions}
    return [_misconception(known[name], checks, language) for name, checks in named.items()]


def _misconception(
    known: Misconception, checks: list[str], language: Language
) -> MisconceptionReport:
    feedback = in_language(known.feedback, language)
    return MisconceptionReport(id=known.id, checks=checks, feedback=feedback)


def _notes(problem: Problem, run: RunResult, language: Language) -> list[str]:
    noted = {accepted.id: accepted.note for accepted in problem.accepted if accepted.note}
    return [in_language(noted[name], language) for name in run.notes if name in noted]


def _remark(remark: Remark, language: Language) -> RemarkReport:
    return RemarkReport(**asdict(remark), message=remark_sentence(remark, language))


def in_language(words: Words, language: Language) -> str:
    """The text in that language."""
    return words.zh if language == "zh" else words.en
