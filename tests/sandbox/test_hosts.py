"""Hosts that lack something, imitated in a process of its own: a level, or one clear sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.domain.outcome import Outcome
from app.errors import SandboxUnavailable
from app.sandbox import cgroup, landlock, probe
from app.sandbox.job import Call, Job, Limits
from app.sandbox.probe import Level
from app.sandbox.sandbox import Sandbox

RUN_A_JOB = """
import sys
from app.errors import SandboxUnavailable
from app.sandbox.job import Call, Job
from app.sandbox.probe import Level
from app.sandbox.sandbox import Sandbox
try:
    with Sandbox(allow_level=Level(sys.argv[1])) as sandbox:
        (answer,) = sandbox.run(Job({"w.py": b"def f(): return 7.0"}, (Call("f", ()),), 1))
        print(sandbox.level, answer.values[0].array)
except SandboxUnavailable as refusal:
    print("refused:", refusal)
"""


def on_a_host(setup: str, level: str = "full", *, wrapper: tuple[str, ...] = ()) -> str:
    """What a job gives where ``setup`` was run first, in mount namespaces of its own."""
    program = 'eval "$0"; exec "$@"'
    inner = ["sh", "-ec", program, setup, sys.executable, "-c", RUN_A_JOB, level]
    command = [*wrapper, "unshare", "--mount", "--propagation", "private", *inner]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=root, timeout=120, check=False
    )
    return done.stdout.strip() or done.stderr.strip()[-500:]


as_root = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"),
    reason="imitating this host takes root and the program unshare",
)


@as_root
def test_a_masked_proc_as_in_a_container_does_not_lower_the_level(sandbox):
    masks = "for d in /proc/acpi /proc/scsi /proc/bus /proc/fs /proc/irq; do"
    masks += " [ -d $d ] && mount -t tmpfs none $d; done; mount --bind /dev/null /proc/keys"
    assert on_a_host(masks) == "full 7.0"


@as_root
def test_a_read_only_root_does_not_matter(sandbox, tmp_path):
    writable = f"mount -t tmpfs none '{tmp_path}'; export TMPDIR='{tmp_path}'"
    assert on_a_host(f"mount -o remount,bind,ro /; {writable}") == "full 7.0"


@as_root
def test_a_host_that_forbids_user_namespaces_is_refused_with_the_setting_to_change(sandbox):
    """The count of namespaces is per user namespace, so it is lowered in one of our own."""
    wrapper = ("unshare", "--user", "--map-root-user")
    setup = "echo 0 > /proc/sys/user/max_user_namespaces"
    told = on_a_host(setup, wrapper=wrapper)
    assert told.startswith("refused: this host isolates at level landlock, expected full")
    assert "user.max_user_namespaces above 0" in told
    assert on_a_host(setup, "landlock", wrapper=wrapper) == "landlock 7.0"


@pytest.fixture
def without_groups(monkeypatch, tmp_path):
    (tmp_path / "own").write_text("0::/\n")
    monkeypatch.setattr(cgroup, "_OWN", tmp_path / "own")
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path)


def test_without_control_groups_memory_is_bounded_all_the_same(sandbox, without_groups):
    text = b"import numpy as np\ndef f():\n    return len([np.ones(1 << 22) for _ in range(64)])\n"
    with Sandbox() as started:
        job = Job({"w.py": text}, (Call("f", ()),), 1, Limits(memory_mb=256))
        failure = started.run(job)[0].failure
    assert (failure.outcome, failure.limit) == (Outcome.OUT_OF_MEMORY, "256 MB")
    assert cgroup.version() == "none"


@pytest.mark.parametrize("abi", [1, 4, 5])
def test_an_old_landlock_is_a_level_of_its_own_and_said_so(sandbox, monkeypatch, abi):
    monkeypatch.setattr(landlock, "abi", lambda: abi)
    probe.probe.cache_clear()
    try:
        found = probe.probe()
        assert found.level is Level.LANDLOCK
        assert found.landlock_abi == abi
        assert found.advice == [
            f"a kernel of 6.12 or later with lsm=landlock (Landlock ABI {abi}, expected 6)"
        ]
        with pytest.raises(SandboxUnavailable, match=r"6\.12 or later"):
            probe.require(Level.FULL)
    finally:
        monkeypatch.undo()
        probe.probe.cache_clear()


@pytest.mark.skipif(os.geteuid() == 0, reason="run as root; the whole folder runs as a user too")
def test_an_ordinary_user_gets_level_full(sandbox):
    assert sandbox.level is Level.FULL


@pytest.mark.skipif(os.geteuid() != 0, reason="run as a user; the whole folder runs as root too")
def test_root_is_given_up_before_anything_is_built(sandbox):
    guard = sandbox._jail._process.pid
    status = Path(f"/proc/{guard}/status").read_text()
    uids = next(line.split()[1:] for line in status.splitlines() if line.startswith("Uid:"))
    assert set(uids) == {"65532"}
