"""Problems proven once for all tests of this folder, and edited copies of them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from app.catalogue.problem_file import read_problem
from app.grading.proof import Proof
from app.grading.prove import prove
from app.sandbox.sandbox import Sandbox

ProofOf = Callable[[Path], Proof]


@pytest.fixture(scope="session")
def proof_of(sandbox: Sandbox) -> ProofOf:
    """The proof of a problem file, made once for all tests that look at it."""
    return cache(lambda path: prove(read_problem(path).problem, sandbox))
