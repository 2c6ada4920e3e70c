"""``attest grade``: one submission, here and now."""

import json
import secrets
import sys
from pathlib import Path

from app.catalogue.folder import find_problem
from app.catalogue.problem_file import ProblemVersion
from app.cli.arguments import read_paths
from app.domain.gradescope import gradescope_results
from app.domain.problem import needs_sandbox
from app.domain.report import Report, report_of
from app.domain.report_text import report_text
from app.domain.run import RunResult
from app.domain.submission import Submission
from app.domain.words import Language
from app.errors import AttestError
from app.settings import Settings
from app.uploads.read import read_files


def run(
    name: str,
    paths: list[Path],
    seed: int | None,
    as_json: bool,
    language: Language,
    gradescope: Path | None,
) -> int:
    """Grades and prints. Returns 0 for full marks, else 1."""
    settings = Settings()
    version = find_problem(name, settings.problems_folder)
    files = read_paths(paths, settings.upload_limit)
    submission = read_files(version.problem, files, settings.upload_limit)
    result = graded(version, submission, new_seed() if seed is None else seed, settings)
    report = report_of(version.problem, version.version, result, language=language)
    if gradescope:
        _write_gradescope(gradescope, version, result, language)
    print(report.model_dump_json() if as_json else report_text(report, language), end="")
    return 0 if report.score == report.max_score else 1


def new_seed() -> int:
    """A secret seed that every JSON reader keeps exactly."""
    return secrets.randbits(48)


def graded(
    version: ProblemVersion, submission: Submission, seed: int, settings: Settings
) -> RunResult:
    """One grading in a sandbox of its own; answers need none."""
    # Not before there is something to grade: numpy would make every refusal slow.
    from app.grading.grade import grade, grade_without_code
    from app.sandbox.host import open_sandbox

    problem = version.problem
    if not needs_sandbox(problem) or submission.is_empty:
        return grade_without_code(problem, submission, seed)
    with open_sandbox(settings) as sandbox:
        return grade(problem, submission, sandbox, seed)


def _write_gradescope(
    path: Path, version: ProblemVersion, result: RunResult, language: Language
) -> None:
    report: Report = report_of(
        version.problem, version.version, result, language=language, viewer="student"
    )
    try:
        path.write_text(json.dumps(gradescope_results(report)) + "\n", encoding="ascii")
    except OSError as error:
        raise AttestError(f"{path} cannot be written: {error.strerror}") from error
    print(f"wrote {path}", file=sys.stderr)
