"""What must not stand in the code, with its line. The student's text is parsed in the sandbox only,
in a job in which it is data and nothing of it runs."""

import inspect
from collections.abc import Mapping

import numpy as np

from app.domain.checks import StaticCheck
from app.domain.outcome import Outcome
from app.domain.problem import CodeProblem
from app.domain.run import Finding, Json
from app.errors import AttestError
from app.grading.checks import static_rules
from app.grading.compare import Verdict
from app.sandbox import notebook
from app.sandbox.job import Answer, Call, Function, Job, Limits
from app.sandbox.sandbox import Sandbox

RULES, NOTEBOOK = "static_rules.py", "notebook.py"
PARSING = Limits(wall_s=10.0, case_s=5.0, memory_mb=1024)

StaticVerdicts = Mapping[str, Verdict | None]
"""By the id of the check."""


def static_verdicts(
    problem: CodeProblem, files: Mapping[str, bytes], sandbox: Sandbox, seed: int
) -> StaticVerdicts:
    """What each static check finds in the files; {} where there is no such check."""
    checks = [check for check in problem.checks if isinstance(check, StaticCheck)]
    if not checks:
        return {}
    names = [name for name in files if name.endswith((".py", ".ipynb"))]
    sources = [_source(name, files[name]) for name in names]
    job = Job(
        files={
            RULES: inspect.getsource(static_rules).encode(),
            NOTEBOOK: inspect.getsource(notebook).encode(),
        },
        calls=tuple(
            Call("forbidden", (sources, list(c.forbid_names), list(c.forbid_imports)), file=RULES)
            for c in checks
        ),
        seed=seed,
        limits=PARSING,
    )
    answers = sandbox.run(job)
    return {c.id: _verdict(c, names, a) for c, a in zip(checks, answers, strict=True)}


def _source(name: str, data: bytes) -> tuple[object, Function | None]:
    reader = Function("read_cells", NOTEBOOK) if name.endswith(".ipynb") else None
    return np.frombuffer(data, np.uint8), reader


def _verdict(check: StaticCheck, names: list[str], answer: Answer) -> Verdict | None:
    if answer.failure:
        if answer.failure.outcome in (Outcome.RAISED, Outcome.LOAD_ERROR, Outcome.NOT_DEFINED):
            raise AttestError(f"check {check.id}: {answer.failure.detail}")
        return _unreadable("the text is too large or too deeply nested to be read", names[0])
    rows = [tuple(map(int, row)) for value in answer.values for row in value.array]
    if not rows:
        return None
    number, cell, line, kind, rule = rows[0]
    if kind == static_rules.UNREADABLE:
        return _unreadable("this is not Python", names[number], line)
    rules = check.forbid_names if kind == static_rules.NAME else check.forbid_imports
    facts: dict[str, Json] = {"name": rules[rule], "file": names[number], "line": line}
    facts |= {"cell": cell} if cell else {}
    return Verdict(Outcome.FORBIDDEN, Finding(key="forbidden", facts=facts))


def _unreadable(why: str, file: str, line: int | None = None) -> Verdict:
    facts: dict[str, Json] = {"detail": why, "error_type": "", "file": file, "line": line}
    return Verdict(Outcome.LOAD_ERROR, Finding(key="load_error", facts=facts))
