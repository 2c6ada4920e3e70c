"""Slots, threads, and what is left when something dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from app.domain.outcome import Outcome
from app.errors import SandboxUnavailable
from app.sandbox import cgroup, slot
from app.sandbox.job import Call, Job, Limits
from app.sandbox.sandbox import Sandbox

DOUBLE = {"work.py": b"def f(x):\n    return 2 * x\n"}
SLEEP = {"work.py": b"import time\ndef f(seconds):\n    time.sleep(seconds)\n    return 7\n"}


def children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one, parents before children."""
    by_parent = children()
    found = [pid]
    for parent in found:
        found += by_parent.get(parent, [])
    return found[1:]


def alive() -> set[int]:
    """All processes but those that wait, dead, for their parent to look."""
    return {pid for family in children().values() for pid in family}


def gone(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not set(pids) & alive():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def own(lone):
    """A sandbox of one slot that the test may break, its guard, master and slot zygote; below
    that is the child on standby."""
    doubled(lone, 1)
    families = [[guard, *descendants(guard)] for guard in children()[os.getpid()]]
    # By its pid, since other sandboxes of one slot may be alive as well.
    ((guard, master, zygote, _),) = [f for f in families if f[0] == lone._jail._process.pid]
    return lone, guard, master, zygote


def groups() -> set[Path]:
    """This process's control groups, where the host lets it make any."""
    return {
        group
        for parent in cgroup.own_directories()
        for group in parent.glob(f"attest-{os.getpid()}-*")
    }


def doubled(sandbox: Sandbox, number: float) -> float:
    (answer,) = sandbox.run(Job(DOUBLE, (Call("f", (number,)),), 1))
    return answer.values[0].array.item()


def test_jobs_from_many_threads_get_their_own_answers(sandbox):
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: doubled(sandbox, n), range(40)))
    assert results == [2 * n for n in range(40)]


def test_two_slots_run_two_jobs_at_the_same_time(sandbox):
    """Each job waits for the other's process to exist: its own rendezvous cannot be inside."""
    job = Job(SLEEP, (Call("f", (0.4,)),), 1)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(sandbox.run, [job, job]))  # from now on each slot has a child on standby
        before = len(descendants(os.getpid()))
        running = [pool.submit(sandbox.run, job) for _ in range(2)]
        most = before
        while not all(future.done() for future in running):
            most = max(most, len(descendants(os.getpid())))
    assert [future.result()[0].values[0].array for future in running] == [7, 7]
    assert most - before == 2


def test_several_sandboxes_live_side_by_side(sandbox, own):
    assert doubled(own[0], 3) == doubled(sandbox, 3) == 6


def test_a_sandbox_outlives_the_thread_that_made_it():
    made: list[Sandbox] = []
    thread = threading.Thread(target=lambda: made.append(Sandbox()))
    thread.start()
    thread.join()
    time.sleep(0.1)
    with made[0]:
        assert doubled(made[0], 3) == 6


def test_a_job_leaves_no_process_behind(own):
    sandbox, guard, master, zygote = own
    text = b"""
import threading, time
def f():
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(60,)).start()
    return 7
def g():
    time.sleep(60)
"""
    (waiting,) = children()[zygote]
    sandbox.run(Job({"w.py": text}, (Call("f", ()), Call("g", ())), 1, Limits(case_s=0.3)))
    (next_to_wait,) = children()[zygote]
    assert next_to_wait != waiting
    assert descendants(guard) == [master, zygote, next_to_wait]


def test_a_slot_that_dies_between_jobs_is_replaced(own):
    sandbox, guard, master, zygote = own
    os.kill(zygote, signal.SIGKILL)
    assert doubled(sandbox, 3) == 6
    assert zygote not in descendants(guard)
    assert master in descendants(guard)


def test_a_job_whose_slot_dies_is_run_again(own):
    sandbox, guard, _, zygote = own
    job = Job(SLEEP, (Call("f", (0.5,)),), 1)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, job)
        time.sleep(0.2)
        os.kill(zygote, signal.SIGKILL)
        assert running.result()[0].values[0].array == 7
    assert len(descendants(guard)) == 3


@pytest.mark.parametrize("which", [1, 2])
def test_a_jail_that_dies_is_replaced_and_the_job_run_again(own, which):
    sandbox = own[0]
    job = Job(SLEEP, (Call("f", (0.5,)),), 1)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, job)
        time.sleep(0.2)
        os.kill(own[which], signal.SIGKILL)
        assert running.result()[0].values[0].array == 7
    assert gone(list(own[1:]), 5)
    assert doubled(sandbox, 3) == 6


def test_a_job_lost_twice_is_our_failure_to_be_tried_again(own):
    sandbox, _, master, zygote = own
    job = Job(SLEEP, (Call("f", (30,)),), 1, Limits(wall_s=60, case_s=60))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, job)
        for _ in range(2):
            time.sleep(0.4)
            (zygote,) = children()[master]
            os.kill(zygote, signal.SIGKILL)
        with pytest.raises(SandboxUnavailable, match="a job was lost twice") as failure:
            running.result()
    assert failure.value.retry
    assert doubled(sandbox, 3) == 6


def test_closing_ends_everything_at_once():
    before = set(descendants(os.getpid()))
    groups_before = groups()
    sandbox = Sandbox(slots=2)
    inside = sorted(set(descendants(os.getpid())) - before)
    assert len(inside) == 4
    job = Job(SLEEP, (Call("f", (30,)),), 1, Limits(wall_s=60, case_s=60))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, job)
        time.sleep(0.3)
        sandbox.close()
        with pytest.raises(SandboxUnavailable):
            running.result()
    assert gone(inside, 1)
    assert groups() == groups_before


def test_killing_the_service_leaves_no_process_of_the_jail():
    script = """
import sys
from app.sandbox.job import Call, Job, Limits
from app.sandbox.sandbox import Sandbox
sandbox = Sandbox(slots=2)
print("ready", flush=True)
text = b"import time\\ndef f():\\n    while True: pass\\n"
sandbox.run(Job({"w.py": text}, (Call("f", ()),), 1, Limits(wall_s=60, case_s=60)))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == b"ready\n"
        time.sleep(0.3)
        inside = descendants(service.pid)
        service.kill()
    assert len(inside) == 6  # guard, master, two zygotes, one child and one on standby
    assert gone(inside, 1)


def test_the_sandbox_holds_the_same_descriptors_after_many_jobs(sandbox):
    doubled(sandbox, 1)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(20):
        doubled(sandbox, number)
    sandbox.run(Job({"w.py": b"import os; os._exit(1)"}, (Call("f", ()),), 1))
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_answer_of_the_output_limit_arrives_whole(sandbox):
    text = b"import numpy as np\ndef f():\n    return np.arange(64 << 17, dtype='f8')\n"
    (answer,) = sandbox.run(Job({"w.py": text}, (Call("f", ()),), 1))
    assert answer.values[0].array.nbytes == 64 << 20
    assert (answer.values[0].array == np.arange(64 << 17)).all()


def test_a_sandbox_without_slots_is_refused():
    with pytest.raises(ValueError, match="slots is 0"):
        Sandbox(slots=0)


def test_a_negative_number_on_standby_is_refused():
    with pytest.raises(ValueError, match="standby is -1"):
        Sandbox(standby=-1)


def pids_of_children(zygote: int) -> list[int]:
    return children().get(zygote, [])


def test_a_child_on_standby_takes_the_next_job_and_only_one_of_its_limits(own):
    sandbox, _, _, zygote = own
    (waiting,) = pids_of_children(zygote)
    doubled(sandbox, 3)
    assert waiting not in alive()
    (waiting,) = pids_of_children(zygote)
    job = Job(DOUBLE, (Call("f", (3,)),), 1, Limits(memory_mb=1024))
    assert sandbox.run(job)[0].values[0].array == 6
    assert waiting not in alive()
    assert len(pids_of_children(zygote)) == 1


def test_a_child_that_dies_on_standby_costs_no_job(own):
    sandbox, _, _, zygote = own
    for _ in range(2):
        (waiting,) = pids_of_children(zygote)
        os.kill(waiting, signal.SIGKILL)
        assert gone([waiting], 5)
        time.sleep(0.05)  # for the zygote to tell
        assert doubled(sandbox, 3) == 6
    assert children()[own[2]] == [zygote], "the slot was replaced"


def test_a_job_that_uses_up_all_threads_leaves_the_next_one_unharmed(own):
    sandbox, _, _, zygote = own
    text = b"""
import threading, time
started = []
try:
    while True:
        started.append(threading.Thread(target=time.sleep, args=(60,), daemon=True))
        started[-1].start()
except RuntimeError:
    pass
def f():
    return len(started)
"""
    calls = tuple(Call("f", (), fork=name) for name in "abc")
    for answer in sandbox.run(Job({"w.py": text}, calls, 1)):
        assert answer.values[0].array > 10
    assert doubled(sandbox, 3) == 6
    assert children()[own[2]] == [zygote], "the slot was replaced"


def test_where_no_further_child_fits_jobs_run_without_one_on_standby(monkeypatch):
    if cgroup.version() == "none":
        pytest.skip("this host lets us make no control group")
    monkeypatch.setattr(cgroup, "_PIDS", 2)  # the zygote and one child
    with Sandbox() as sandbox:
        (zygote,) = children()[children()[sandbox._jail._process.pid][0]]
        assert [doubled(sandbox, number) for number in range(3)] == [0, 2, 4]
        assert pids_of_children(zygote) == []


def test_a_running_job_may_use_two_processors_for_its_wall_time(own):
    sandbox, _, _, zygote = own
    job = Job(SLEEP, (Call("f", (0.6,)),), 1, Limits(wall_s=5))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, job)
        time.sleep(0.3)
        limits = [Path(f"/proc/{pid}/limits").read_text() for pid in pids_of_children(zygote)]
        running.result()
    seconds = [line.split()[3:5] for text in limits for line in text.splitlines() if "cpu" in line]
    assert ["12", "12"] in seconds


def test_without_standby_no_child_waits():
    with Sandbox(standby=0) as sandbox:
        assert doubled(sandbox, 3) == 6
        assert len(descendants(sandbox._jail._process.pid)) == 2


def test_leaving_out_a_layer_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"no layers \['secomp'\]"):
        Sandbox(without=frozenset({"secomp"}))


def test_memory_limits_follow_the_job_and_not_the_slot(sandbox):
    text = b"import numpy as np\ndef f():\n    return np.ones(200 << 20, 'u1')[:1]\n"
    ends = []
    for memory_mb in (1024, 100, 512):
        limits = Limits(memory_mb=memory_mb)
        (answer,) = sandbox.run(Job({"w.py": text}, (Call("f", ()),), 1, limits))
        ends.append(answer.failure and answer.failure.outcome)
    assert ends == [None, Outcome.OUT_OF_MEMORY, None]


def test_a_zygote_is_replaced_after_many_jobs_and_nobody_notices(own, monkeypatch):
    sandbox, _, master, zygote = own
    monkeypatch.setattr(slot, "_RENEWED_AFTER", 3)
    sandbox._jail.slots[0]._served = 0
    for number in range(5):
        assert doubled(sandbox, number) == 2 * number
    (fresh,) = children()[master]
    assert fresh != zygote
    assert len(pids_of_children(fresh)) == 1
    sandbox._jail.slots[0]._close_standby()
    sandbox._jail.slots[0]._line.renew(20)  # which is no loss: it raises nothing
    assert doubled(sandbox, 3) == 6
