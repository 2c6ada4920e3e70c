"""What the host allows, told per step, and the refusal to run below the level asked for."""

import json
import subprocess
import sys

import pytest

from app.errors import SandboxUnavailable
from app.sandbox import landlock, probe, seccomp
from app.sandbox.job import Call, Job, Limits
from app.sandbox.probe import Level

UNDER_A_CONTAINER_S_FILTER = """
import errno, json, sys
import pyseccomp
from app.errors import SandboxUnavailable
from app.sandbox import probe, syscalls

policy = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in sys.argv[1:]:
    policy.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
syscalls.set_no_new_privileges()
policy.load()
found = probe.probe()
refusals = {}
for level in probe.Level:
    try:
        probe.require(level)
    except SandboxUnavailable as refusal:
        refusals[level] = str(refusal)
print(json.dumps([found.level, found.steps, found.advice, refusals]))
"""


def under_a_filter(*refused: str):
    command = [sys.executable, "-c", UNDER_A_CONTAINER_S_FILTER, *refused]
    output = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    return json.loads(output)


def test_importing_the_probe_loads_neither_numpy_nor_torch():
    check = "import sys, app.sandbox.probe; print(sorted({'numpy', 'torch'} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", check], capture_output=True, check=True).stdout
    assert output == b"[]\n"


def test_every_step_is_told(sandbox):
    found = probe.probe()
    assert found.level is sandbox.level is Level.FULL
    assert set(found.steps.values()) == {"ok"}
    assert len(found.steps) == 6
    assert found.landlock_abi == landlock.abi() >= landlock.WANTED_ABI
    assert found.cgroup in ("v1", "v2", "none")
    assert found.advice == []


def test_where_namespaces_are_refused_the_level_is_landlock(sandbox):
    level, steps, advice, refusals = under_a_filter("unshare", "setns", "mount")
    assert level == "landlock"
    assert steps["user namespace"].startswith("EPERM: unshare")
    assert steps["landlock"] == steps["seccomp"] == "ok"
    assert "seccomp profile" in advice[0]
    assert list(refusals) == ["full"]
    assert "isolates at level landlock, expected full" in refusals["full"]
    assert "user namespace: EPERM" in refusals["full"]


def test_where_only_the_first_mount_is_refused_the_level_is_landlock_too(sandbox):
    level, steps, _, _ = under_a_filter("mount")
    assert level == "landlock"
    assert steps["user namespace"] == "ok"
    assert steps["mounts"].startswith("EPERM: mount")


@pytest.mark.parametrize("refused", ["landlock_create_ruleset", "landlock_restrict_self"])
def test_without_landlock_nothing_runs(sandbox, refused):
    level, _, _, refusals = under_a_filter(refused)
    assert level is None
    assert set(refusals) == {"full", "landlock"}
    assert "isolates at level none, expected landlock" in refusals["landlock"]


def test_a_missing_libseccomp_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    seccomp.job_filter.cache_clear()
    with pytest.raises(SandboxUnavailable, match=r"libseccomp.* install .*libseccomp2"):
        seccomp.job_filter()


def test_another_architecture_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    seccomp.job_filter.cache_clear()
    with pytest.raises(SandboxUnavailable, match=r"this machine is riscv64; .* x86_64 only"):
        seccomp.job_filter()


def test_at_level_landlock_a_job_runs_and_reads_its_own_files_only(landlocked):
    text = b"""
import os
data = open("data.txt").read()
def f(path):
    return len(open(path).read())
def g():
    return len(data)
def h():
    open("x", "w")
"""
    assert landlocked.level is Level.LANDLOCK
    outside = [Call("f", (path,)) for path in ("/etc/passwd", __file__, "/proc/self/environ")]
    calls = (Call("g", ()), Call("f", ("data.txt",)), Call("h", ()), *outside)
    for _ in range(2):
        first, second, *others = landlocked.run(
            Job({"data.txt": b"hello", "w.py": text}, calls, 1, Limits())
        )
        assert first.values[0].array == second.values[0].array == 5
        assert [a.failure.error_type for a in others] == ["PermissionError"] * 4


def test_at_level_landlock_the_filters_still_hold(landlocked):
    text = b"import os, socket\ndef f():\n    os.fork()\ndef g():\n    socket.socket()\n"
    answers = landlocked.run(Job({"w.py": text}, (Call("f", ()), Call("g", ())), 1))
    assert [a.failure.error_type for a in answers] == ["PermissionError"] * 2
