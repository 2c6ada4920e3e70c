"""A report as the results file of a Gradescope autograder, in the student's view."""

from app.domain.report import CheckReport, Report


def gradescope_results(report: Report) -> dict[str, object]:
    """The object that Gradescope reads from ``results.json``."""
    feedback = [f"{m.id}: {m.feedback}" for m in report.misconceptions]
    remarks = [remark.message for remark in report.remarks]
    return {
        "score": report.score,
        "execution_time": report.timing.total_s,
        "output": "\n".join([*feedback, *report.warnings, *remarks]),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_test(check) for check in report.checks],
    }


def _test(check: CheckReport) -> dict[str, object]:
    return {
        "name": check.id,
        "score": check.points,
        "max_score": check.max_points,
        "status": "passed" if check.points == check.max_points else "failed",
        "output": check.message or check.outcome.value,
        "output_format": "text",
        "visibility": "visible",
    }
