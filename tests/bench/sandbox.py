"""What the wall around student code costs, against a fork without any."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from app.sandbox.job import Call, Job
from app.sandbox.sandbox import Sandbox
from tests.bench.floor import bare_fork
from tests.bench.row import Row, median, seconds

ROUNDS = 200
MANY = 900  # a zygote is renewed after 1000
COLD_ROUNDS = 5

RETURN_ONE = {"work.py": b"def f():\n    return 1\n"}
ATTENTION = b"""
import numpy as np
def f(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v
"""


def rows() -> Iterator[Row]:
    with Sandbox() as sandbox, Sandbox(standby=0) as fresh, bare_fork() as fork:
        yield from _against_a_fork(sandbox, fresh, fork.seconds)
        yield _against_a_cold_start(sandbox)
        yield _ten_cases(sandbox)
    with Sandbox() as new:
        yield from _memory(new)
    # Without standby, as a slot with a child on standby keeps two cores busy by itself.
    with Sandbox(standby=0) as one, Sandbox(slots=2, standby=0) as two:
        yield _two_slots(one, two)


def _job(cases: int = 0) -> Job:
    """The least that a job can be, or attention on several cases of 64 by 64."""
    if not cases:
        return Job(RETURN_ONE, (Call("f", ()),), 1)
    draw = np.random.default_rng(0).standard_normal
    calls = tuple(Call("f", tuple(draw((3, 64, 64)))) for _ in range(cases))
    return Job({"work.py": ATTENTION}, calls, 1)


def _against_a_fork(sandbox, fresh, bare):  # type: ignore[no-untyped-def]
    waiting, made, floor = [], [], []
    for _ in range(ROUNDS):
        waiting.append(seconds(lambda: sandbox.run(_job())))
        made.append(seconds(lambda: fresh.run(_job())))
        floor.append(bare())
    for name, times in (("full job", waiting), ("full job, no child on standby", made)):
        detail = f"{median(times):.1f} ms against {median(floor):.1f} ms, medians of {ROUNDS}"
        yield Row(f"{name} / bare fork", 2, median(times) / median(floor), detail=detail)


def _against_a_cold_start(sandbox: Sandbox) -> Row:
    what = "cold `import torch` in bubblewrap / full job"
    if not shutil.which("bwrap"):
        return Row(what, 100, 0.0, at_least=True, detail="not measured: no bwrap on this machine")
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    command += [sys.executable, "-c", "import torch"]
    cold = [seconds(lambda: subprocess.run(command, check=True)) for _ in range(COLD_ROUNDS)]
    warm = [seconds(lambda: sandbox.run(_job())) for _ in range(ROUNDS)]
    detail = f"{median(cold):.0f} ms against {median(warm):.1f} ms"
    return Row(what, 100, median(cold) / median(warm), at_least=True, detail=detail)


def _ten_cases(sandbox: Sandbox) -> Row:
    one, ten = [], []
    for _ in range(ROUNDS):
        one.append(seconds(lambda: sandbox.run(_job(1))))
        ten.append(seconds(lambda: sandbox.run(_job(10))))
    detail = f"{median(ten):.1f} ms against {median(one):.1f} ms, attention of 64 × 64"
    return Row("ten cases in one fork / one case", 2, median(ten) / median(one), detail=detail)


def _two_slots(one: Sandbox, two: Sandbox) -> Row:
    """Jobs per second of two threads, in turns of a few jobs each."""
    jobs = [_job(1)] * (ROUNDS // 10)
    times: dict[Sandbox, list[float]] = {one: [], two: []}
    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            for sandbox, taken in times.items():
                taken.append(seconds(lambda: list(pool.map(sandbox.run, jobs))))  # noqa: B023
    speeds = [len(jobs) * 1000 / median(taken) for taken in times.values()]
    detail = f"{speeds[1]:.0f} jobs a second against {speeds[0]:.0f}, attention of 64 × 64"
    return Row(
        "two slots / one slot, none on standby",
        1.4,
        speeds[1] / speeds[0],
        at_least=True,
        detail=detail,
    )


# Memory, as the kernel counts it


def _memory(sandbox: Sandbox) -> Iterator[Row]:
    zygote = _zygote(sandbox)
    for _ in range(10):
        sandbox.run(_job(10))
    before = _private(zygote)
    dirty = _private_of_a_working_child(sandbox, zygote)
    yield Row("private dirty memory of a working child, MB", 8, dirty)
    for _ in range(MANY):
        sandbox.run(_job())
    grown = _private(zygote) - before
    detail = f"{before:.1f} MB private before {MANY} jobs"
    yield Row("growth of the zygote, MB", 0.5, grown, detail=detail)


def _private_of_a_working_child(sandbox: Sandbox, zygote: int) -> float:
    text = ATTENTION + b"\nimport time\ndef g(*x):\n    f(*x)\n    time.sleep(1)\n    return 1\n"
    calls = tuple(Call("g", call.arguments) for call in _job(1).calls)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, Job({"work.py": text}, calls, 1))
        time.sleep(0.6)
        dirty = max(_private(child) for child in _children(zygote))
        running.result()
    return dirty


def _zygote(sandbox: Sandbox) -> int:
    guard = sandbox._jail._process.pid
    (master,) = _children(guard)
    return _children(master)[0]


def _children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _private(pid: int) -> float:
    """Private dirty megabytes; only root may look at a process that cannot be dumped."""
    if os.geteuid() != 0:
        return float("nan")
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")]
    return kilobytes / 1024
