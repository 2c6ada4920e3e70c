"""Short ways to grade code written in a test, in the real sandbox."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from app.catalogue.problem_file import read_problem
from app.domain.problem import AnswerProblem, CodeProblem, Problem
from app.domain.run import CheckResult, RunResult
from app.domain.submission import Submission
from app.grading.grade import grade
from app.sandbox.sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[2]

ProblemOf = Callable[..., Problem]
Grade = Callable[..., RunResult]


@pytest.fixture(scope="session")
def masked() -> CodeProblem:
    """The shipped problem of attention with a mask."""
    problem = read_problem(ROOT / "problems/masks/s33-masked-attention.yaml").problem
    assert isinstance(problem, CodeProblem)
    return problem


@pytest.fixture(scope="session")
def sheet() -> AnswerProblem:
    """The shipped Assignment1 sheet: two matrices and a row number."""
    problem = read_problem(ROOT / "problems/assignment1/s34-a1-masked.yaml").problem
    assert isinstance(problem, AnswerProblem)
    return problem


@pytest.fixture(scope="session")
def shapes() -> AnswerProblem:
    """The shipped closed-book question about shapes."""
    problem = read_problem(ROOT / "problems/closed-book/cb-shapes.yaml").problem
    assert isinstance(problem, AnswerProblem)
    return problem


@pytest.fixture(scope="session")
def sdpa() -> CodeProblem:
    """Attention with an optional mask and leading axes."""
    problem = read_problem(ROOT / "tests/problem_files/sdpa.yaml").problem
    assert isinstance(problem, CodeProblem)
    return problem


@pytest.fixture(scope="session")
def problem_of(tmp_path_factory: pytest.TempPathFactory) -> ProblemOf:
    """Reads a problem from YAML text in a file of the right name."""

    def read(text: str, name: str = "p") -> Problem:
        path = tmp_path_factory.mktemp("problems") / f"{name}.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return read_problem(path).problem

    return read


@pytest.fixture(scope="session")
def graded(sandbox: Sandbox) -> Grade:
    """Grades one file of code, bytes or text."""

    def run(problem: Problem, code: str | bytes, seed: int = 1, name: str = "work.py") -> RunResult:
        data = code if isinstance(code, bytes) else dedent(code).encode()
        return grade(problem, Submission(files={name: data}), sandbox, seed)

    return run


def by_id(run: RunResult) -> dict[str, CheckResult]:
    """The results of a run by the check's id."""
    return {result.id: result for result in run.checks}


@pytest.fixture(scope="session")
def outcomes() -> Callable[[RunResult], dict[str, Any]]:
    """The outcome of every check as a word."""
    return lambda run: {name: result.outcome.value for name, result in by_id(run).items()}
