"""Short ways to run one file in the sandbox and look at what came out."""

from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest

from app.errors import SandboxUnavailable
from app.sandbox.config import LAYERS
from app.sandbox.job import Answer, Call, Job, Limits
from app.sandbox.probe import Level
from app.sandbox.sandbox import Sandbox
from tests.conftest import SANDBOX_LEVEL

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
def landlocked() -> Iterator[Sandbox]:
    """One slot at the weaker level, on a host that allows more."""
    try:
        started = Sandbox(allow_level=Level.LANDLOCK, without=frozenset({"namespaces"}))
    except SandboxUnavailable as refusal:
        pytest.skip(f"no level landlock: {refusal}")
    with started:
        yield started


LANDLOCK_LACKS = {
    "own tmpfs": "no mount namespace: a job has nowhere to write",
    "own pids": "no pid namespace: a job is not process 1",
}
"""Layers that level landlock does not have, by the mark ``needs``."""


@pytest.fixture(params=list(Level))
def walled(request: pytest.FixtureRequest) -> Sandbox:
    """A sandbox of one slot, at each level; a test marked ``needs`` names what it is about."""
    level = request.param
    for mark in request.node.iter_markers("needs"):
        if level is Level.LANDLOCK:
            pytest.skip(f"level landlock: {LANDLOCK_LACKS[mark.args[0]]}")
    request.node.user_properties.append((SANDBOX_LEVEL, str(level)))
    name = "lone" if level is Level.FULL else "landlocked"
    found: Sandbox = request.getfixturevalue(name)
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(layer): what a sandbox test is about")


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
