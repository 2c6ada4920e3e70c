"""The real console script in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ATTEST = Path(sys.executable).with_name("attest")

WITHOUT_ISOLATION = """
import errno, os, sys
import pyseccomp as seccomp
filter = seccomp.SyscallFilter(seccomp.ALLOW)
filter.add_rule(seccomp.ERRNO(errno.EPERM), "unshare")
filter.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
filter.add_rule(seccomp.ERRNO(errno.ENOSYS), "landlock_create_ruleset")
namespaces = 0x7E020000  # any CLONE_NEW… flag
for flag in (1 << bit for bit in range(32) if namespaces >> bit & 1):
    filter.add_rule(
        seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag)
    )
filter.load()
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a program as on a host that allows no isolation: the kernel refuses every namespace."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Attest = Callable[..., Ended]


@pytest.fixture(scope="session")
def attest() -> Attest:
    """Runs ``attest`` with arguments; ``isolated=False`` on a host without isolation."""

    def run(*arguments: object, isolated: bool = True, cwd: Path = ROOT, **more: str) -> Ended:
        command = [str(ATTEST), *map(str, arguments)]
        if not isolated:
            command = [sys.executable, "-c", WITHOUT_ISOLATION, *command]
        done = subprocess.run(
            command, cwd=cwd, env={**os.environ, **more}, capture_output=True, timeout=120
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
