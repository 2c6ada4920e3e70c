"""Short ways to run one file in the sandbox and look at what came out."""

from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest

from app.sandbox.config import LAYERS
from app.sandbox.job import Answer, Call, Job, Limits
from app.sandbox.sandbox import Sandbox

RunCalls = Callable[..., list[Answer]]
RunOne = Callable[..., Answer]


def code(text: str) -> bytes:
    return dedent(text).encode()


@pytest.fixture(scope="session")
def lone(sandbox: Sandbox) -> Iterator[Sandbox]:
    """A sandbox of one slot, which a test may break: it heals."""
    with Sandbox(slots=1) as started:
        yield started


@pytest.fixture(scope="session")
def bare(sandbox: Sandbox) -> Iterator[Sandbox]:
    """Only the jail's namespaces and mounts remain of the layers, for negative controls."""
    with Sandbox(without=LAYERS) as started:
        yield started


@pytest.fixture
def run(sandbox: Sandbox) -> RunCalls:
    """Run calls (or names of functions without arguments) on the text of one file."""

    def run_calls(text: str, *calls: Call | str, seed: int = 1, **limits: Any) -> list[Answer]:
        made = tuple(Call(call, ()) if isinstance(call, str) else call for call in calls)
        return sandbox.run(Job({"work.py": code(text)}, made, seed, Limits(**limits)))

    return run_calls


@pytest.fixture
def run_one(run: RunCalls) -> RunOne:
    """Call ``f`` of the given text with the given arguments."""

    def run_call(text: str, *arguments: object, **limits: Any) -> Answer:
        return run(text, Call("f", arguments), **limits)[0]

    return run_call
