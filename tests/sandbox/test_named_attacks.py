"""Attacks whose success would show elsewhere: in another job, in the zygote, in the service."""

import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from app.domain.outcome import Outcome
from app.errors import SandboxUnavailable
from app.sandbox.config import LAYERS
from app.sandbox.job import Answer, Call, Job, Limits
from app.sandbox.sandbox import Sandbox
from tests.sandbox.test_containment import TOOLS, serves
from tests.sandbox.test_lifecycle import children

CANARY = "a-canary-of-job-a"


def run(sandbox: Sandbox, text: str, *calls: Call | str, seed: int = 1, **limits) -> list[Answer]:
    made = tuple(Call(call, ()) if isinstance(call, str) else call for call in calls)
    files = {"work.py": (TOOLS + dedent(text)).encode()}
    return sandbox.run(Job(files, made, seed, Limits(**limits)))


def value(answer: Answer):
    assert answer.failure is None, answer.failure
    return answer.values[0].array.tolist()


def test_killing_everything_kills_nothing_even_next_door(sandbox):
    sleep = "import time\ndef f():\n    time.sleep(0.6)\n    return 7\n"
    kill = "def f():\n    os.kill(-1, 9)\n"
    with ThreadPoolExecutor(2) as pool:
        sleeping = pool.submit(run, sandbox, sleep, "f")
        time.sleep(0.2)
        assert run(sandbox, kill, "f")[0].failure.error_type == "PermissionError"
        assert value(sleeping.result()[0]) == 7


MEET = """
import time
def listen(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind("\\0meet-" + name)
    s.listen()
    s.settimeout(5)
    s.accept()
    return 1
def visit(name):
    for _ in range(200):
        try:
            socket.socket(socket.AF_UNIX).connect("\\0meet-" + name)
            return 1
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise ConnectionRefusedError
"""


def meeting(sandbox: Sandbox) -> list[Answer]:
    calls = [Call(name, (str(os.getpid()),)) for name in ("listen", "visit")]
    with ThreadPoolExecutor(2) as pool:
        met = pool.map(lambda call: run(sandbox, MEET, call, case_s=6)[0], calls)
        return list(met)


def test_two_live_jobs_cannot_meet_at_an_abstract_socket(sandbox):
    assert [a.failure.error_type for a in meeting(sandbox)] == ["PermissionError"] * 2


@pytest.fixture(scope="module")
def two_bare_slots():
    with Sandbox(slots=2, without=LAYERS) as started:
        yield started


def test_without_filters_and_landlock_they_would_meet(two_bare_slots):
    assert [value(a) for a in meeting(two_bare_slots)] == [1, 1]


def test_landlock_alone_keeps_two_live_jobs_apart():
    gone = frozenset({"seccomp", "outer_seccomp", "pid_namespace"})
    with Sandbox(slots=2, without=gone) as started:
        listening, visiting = meeting(started)
    assert visiting.failure.error_type == "PermissionError"
    assert listening.failure.error_type == "TimeoutError"


def test_a_fork_bomb_does_not_get_to_its_first_process(walled):
    text = """
        def f():
            tried = 0
            for _ in range(500):
                try:
                    os.fork()
                except PermissionError:
                    tried += 1
            return tried
    """
    assert value(run(walled, text, "f")[0]) == 500
    assert serves(walled)


def test_an_answer_beyond_the_limit_costs_the_service_no_memory(walled):
    run(walled, "import numpy as np\ndef f():\n    return np.zeros(3)\n", "f")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = "import numpy as np\ndef f():\n    return np.zeros(100 << 20, 'u1')\n"
    failure = run(walled, text, "f")[0].failure
    assert failure.outcome is Outcome.OUTPUT_TOO_LARGE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KB


def test_a_claim_of_an_answer_beyond_the_limit_costs_the_service_no_memory(walled):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = """
        import msgspec
        def f():
            header = {"number": 0, "values": [[[], "array"]], "arrays": [["|u1", [1 << 30]]]}
            text = msgspec.msgpack.encode(header)
            os.write(3, struct.pack("<I", len(text)) + text)
            while True:
                os.write(3, bytes(1 << 16))
    """
    failure = run(walled, text, "f")[0].failure
    assert failure.outcome is Outcome.CRASHED
    assert "could not be read" in failure.detail
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096


@pytest.mark.parametrize(
    ("poison", "probe"),
    [
        ("numpy.allclose = numpy.exp = lambda *a, **k: 7", "numpy.exp(0.0) == 1"),
        ("torch.allclose = torch.softmax = None", "torch.softmax(torch.zeros(2), 0)[0] == 0.5"),
        ("builtins.len = lambda x: 7", "len([]) == 0"),
        ("sys.modules['json'] = sys.modules['math'] = sys", "__import__('json').dumps(1) == '1'"),
        ("sys.path.insert(0, '/tmp')", "sys.path[0] != '/tmp'"),
        ("sys.setrecursionlimit(60)", "sys.getrecursionlimit() == 1000"),
        ("numpy.random.seed(3)", "numpy.random.get_state()[1][0] != 3"),
        ("torch.set_default_dtype(torch.float64)", "torch.get_default_dtype() == torch.float32"),
        ("numpy.seterr(all='raise')", "numpy.geterr()['over'] == 'warn'"),
        ("os.umask(0o777)", "os.umask(0) != 0o777"),
        ("os.environ['X'] = '1'", "'X' not in os.environ"),
        ("libc.setenv(b'X', b'1', 1)", "not ctypes.CDLL(None).getenv(b'X')"),
        ("signal.signal(15, signal.SIG_IGN)", "signal.getsignal(15) == signal.SIG_DFL"),
        ("sys.modules['jailed.results'].flatten = lambda *a: []", "True"),
        ("ctypes.memset(id(300), 0, 8)", "True"),
    ],
)
def test_what_a_job_poisons_is_whole_for_the_next(walled, poison, probe):
    imports = "import builtins, numpy, torch\n"
    run(walled, f"{imports}{poison}\ndef f():\n    return 1\n", "f")
    assert value(run(walled, f"{imports}def f():\n    return bool({probe})\n", "f")[0]) is True
    assert serves(walled)


def test_nothing_of_a_job_is_in_the_memory_or_files_of_the_next(walled):
    leave = f"""
        kept = ["{CANARY}-" + str(n) for n in range(10_000)]
        os.environ["CANARY"] = kept[0]
        try:
            open("/tmp/{CANARY}", "w").write(kept[1])
        except OSError:
            pass
        print(*kept[:10])
        def f():
            return 1
    """
    search = """
        import gc, glob
        def f():
            # spelt in halves, or this text itself would be found
            words = ("a-canary", "-of-job-a")
            word = "".join(words)
            seen = [o for o in gc.get_objects() if type(o) is list and o
                    and type(o[0]) is str and o[0].startswith(word)]
            return [len(seen), len(glob.glob("/tmp/*" + word + "*")), len(os.environ)]
        def scan():
            libc.malloc.restype = ctypes.c_void_p
            blocks = [libc.malloc(1 << 12) for _ in range(2000)]
            word = b"a-canary" + b"-of-job-a-7"
            return sum(word in ctypes.string_at(b, 1 << 12) for b in blocks if b)
    """
    assert value(run(walled, leave, "f")[0]) == 1
    found, scanned = run(walled, search, "f", "scan")
    assert value(found) == [0, 0, 0]
    assert value(scanned) == 0


def test_a_call_sees_its_own_input_and_no_other(walled):
    text = """
        import gc, select
        import numpy as np
        def f(x):
            ahead = select.select([3], [], [], 0.2)[0]
            arrays = [o for o in gc.get_objects() if isinstance(o, np.ndarray)]
            frame, seen = sys._getframe(), []
            while frame:
                seen += [v for v in frame.f_locals.values() if isinstance(v, np.ndarray)]
                frame = frame.f_back
            others = [a for a in arrays + seen if a.size == 3 and a.flat[0] != x[0]]
            return [len(ahead), len(others)]
    """
    calls = [Call("f", (np.full(3, float(n)),)) for n in (101, 102, 103)]
    assert [value(a) for a in run(walled, text, *calls)] == [[0, 0]] * 3


def test_the_same_seed_gives_the_same_numbers_and_another_one_others(walled):
    text = """
        import random, numpy, torch
        def f():
            return [random.random(), numpy.random.rand(), torch.rand(1).item()]
        def g():
            return numpy.random.default_rng().random()
    """
    first, again, other = (run(walled, text, "f", "g", seed=s) for s in (5, 5, 6))
    assert value(first[0]) == value(again[0])
    assert not set(value(first[0])) & set(value(other[0]))
    assert value(first[1]) != value(again[1]), "a fresh generator is fresh"


def test_an_exit_handler_writes_to_nobody(walled):
    text = "import atexit\natexit.register(lambda: os.write(3, b'zzzz'))\ndef f():\n    return 7\n"
    assert [value(a) for a in run(walled, text, "f", "f")] == [7, 7]


# The warm processes themselves


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: text.strip() for name, _, text in (line.partition(":") for line in lines)}


def family(sandbox: Sandbox) -> list[int]:
    """The master, the slot's zygote and a child on standby."""
    guard = sandbox._jail._process.pid
    (master,) = children()[guard]
    (zygote,) = children()[master]
    (waiting,) = children()[zygote]
    return [master, zygote, waiting]


def test_zygotes_have_one_thread_and_two_capabilities_and_a_child_has_none(lone):
    serves(lone)
    master, zygote, waiting = family(lone)
    two = f"{1 << 8 | 1 << 21:016x}"  # SETPCAP and SYS_ADMIN, in their own user namespace
    for pid in (master, zygote):
        told = status(pid)
        assert (told["Threads"], told["NoNewPrivs"], told["Seccomp"]) == ("1", "1", "2")
        assert {told[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {two}
        assert told["CapInh"] == told["CapAmb"] == "0" * 16
    told = status(waiting)
    assert {told[n] for n in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")} == {"0" * 16}
    assert (told["Threads"], told["NoNewPrivs"], told["Seccomp_filters"]) == ("1", "1", "2")
    assert told["NSpid"].split()[-1] == "1"


def test_at_level_landlock_nobody_has_any_capability(landlocked):
    serves(landlocked)
    for pid in family(landlocked):
        told = status(pid)
        assert {told[n] for n in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {"0" * 16}
        assert told["NoNewPrivs"] == "1"


def test_no_process_of_the_jail_has_a_proc_or_belongs_to_root(lone):
    serves(lone)
    for pid in family(lone):
        if os.geteuid() == 0:
            assert "0" not in status(pid)["Uid"].split()
            mounts = Path(f"/proc/{pid}/mountinfo").read_text()
            assert " - proc " not in mounts
            for line in mounts.splitlines():
                place, options = line.split()[4:6]
                assert place == "/tmp" or options.startswith("ro")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into another's descriptors")
def test_a_child_on_standby_holds_its_own_socket_and_no_other(lone):
    serves(lone)
    waiting = family(lone)[-1]
    links = {fd.name: os.readlink(fd) for fd in Path(f"/proc/{waiting}/fd").iterdir()}
    assert sorted(links, key=int) == ["0", "1", "2", "3"]
    assert links["0"] == "/dev/null"
    assert links["1"] == links["2"] == "/memfd:printed (deleted)"
    assert links["3"].startswith("socket:")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into another's descriptors")
def test_a_zygote_of_two_holds_no_socket_of_the_other(sandbox):
    serves(sandbox)
    master = children()[sandbox._jail._process.pid][0]
    for zygote in children()[master]:
        links = [os.readlink(fd) for fd in Path(f"/proc/{zygote}/fd").iterdir()]
        assert sum(link.startswith("socket:") for link in links) == 1
        assert not [link for link in links if "cgroup" in link or "config" in link]


def test_a_zygote_that_has_used_threads_refuses_to_start():
    """Shown in a process of its own, on the function that the zygote calls."""
    script = """
import threading, time
from app.sandbox import zygote
zygote._check_single_thread()
threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
zygote._check_single_thread()
"""
    command = [sys.executable, "-c", script]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr == "the zygote has 2 threads after its imports, expected 1\n"


def test_a_child_may_use_threads_where_its_zygote_used_none(walled):
    text = """
        import threading, torch
        def f():
            torch.set_num_threads(2)
            a = torch.ones(700, 700)
            done = []
            def work():
                done.append((a @ a)[0, 0].item())
            threads = [threading.Thread(target=work) for _ in range(2)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            return done
    """
    assert value(run(walled, text, "f", case_s=10)[0]) == [700.0, 700.0]


def test_the_service_reads_no_descriptor_and_runs_nothing_that_a_child_sends():
    """recvmsg and an unpickler are not there to be reached."""
    folder = Path(__file__).parents[2] / "app" / "sandbox"
    trusted = ["fork", "line", "session", "slot", "sandbox", "wire", "jailer"]
    for name in trusted:
        text = (folder / f"{name}.py").read_text()
        words = ("recvmsg", "recv_fds", "pickle", "eval(", "exec(", "literal_eval", "torch")
        called = [word for word in words if f".{word}" in text or f" {word}(" in text]
        assert called == [], name


def test_a_closed_sandbox_says_so():
    sandbox = Sandbox()
    sandbox.close()
    with pytest.raises(SandboxUnavailable, match="the sandbox is closed"):
        run(sandbox, "def f(): return 1\n", "f")
