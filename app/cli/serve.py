"""``attest serve``: at this stage, the built-in submissions graded and told."""

from importlib.resources import files

from app.catalogue.folder import find_problem
from app.cli.grade import new_seed
from app.cli.sandbox import open_sandbox
from app.domain.problem import CodeProblem
from app.domain.report import report_of
from app.domain.report_text import report_text
from app.grading.grade import grade_code
from app.settings import Settings
from app.uploads.read import read_files

PROBLEM = "s33-masked-attention"
SUBMISSIONS = ("right.py", "mask_after_softmax.py")


def run(once: bool) -> int:
    """Grades the built-in submissions by the path of ``attest grade`` and prints the reports."""
    del once
    settings = Settings()
    version = find_problem(PROBLEM, settings.problems_folder)
    assert isinstance(version.problem, CodeProblem)
    with open_sandbox(settings) as sandbox:
        for name in SUBMISSIONS:
            data = (files("app.demo") / name).read_bytes()
            submission = read_files(version.problem, {name: data})
            result = grade_code(version.problem, submission, sandbox, new_seed())
            report = report_of(version.problem, version.version, result, language="en")
            print(report_text(report, "en"), flush=True)
    return 0
