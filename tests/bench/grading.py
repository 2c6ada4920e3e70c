"""Grading in a warm process against the bare forks it needs and against a cold interpreter."""

from importlib.resources import files
from pathlib import Path

from app.catalogue.folder import find_problem
from app.domain.problem import CodeProblem
from app.domain.submission import Submission
from app.grading.grade import grade_code
from app.sandbox.sandbox import Sandbox
from tests.bench.floor import bare_fork, cold_import
from tests.bench.row import Row, median, seconds

PROBLEM = "s33-masked-attention"
ROUNDS = 60
COLD_ROUNDS = 5

# The forks that each submission cannot do without: the two sides of the leak check; for a wrong
# one also all known wrong answers in one fork, and the matching one on both sides of the leak.
SUBMISSIONS = {"right.py": 2, "mask_after_softmax.py": 5}


def rows() -> list[Row]:
    """The two targets, for a right submission and for one whose mistake is named."""
    problem = find_problem(PROBLEM, Path("problems")).problem
    assert isinstance(problem, CodeProblem)
    cold = median([cold_import() for _ in range(COLD_ROUNDS)])
    with Sandbox() as sandbox, bare_fork() as fork:
        return [
            row
            for name, forks in SUBMISSIONS.items()
            for row in _measured(problem, name, forks, cold, sandbox, fork.seconds)
        ]


def _measured(problem, name, forks, cold, sandbox, bare):  # type: ignore[no-untyped-def]
    submission = Submission(files={name: (files("app.demo") / name).read_bytes()})
    gradings, floors = [], []
    for seed in range(ROUNDS):
        gradings.append(seconds(lambda: grade_code(problem, submission, sandbox, seed)))  # noqa: B023
        floors.append(sum(bare() for _ in range(forks)))
    grading, floor = median(gradings), median(floors)
    yield Row(
        f"grade {name} / {forks} bare forks",
        3,
        grading / floor,
        detail=f"{grading:.1f} ms against {floor:.1f} ms, medians of {ROUNDS}",
    )
    yield Row(
        f"cold `import torch` / grade {name}",
        20,
        cold / grading,
        at_least=True,
        detail=f"{cold:.0f} ms against {grading:.1f} ms",
    )
