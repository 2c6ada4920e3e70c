"""Attacks on what is outside the job, and proof that each would work without its layers.

Every attack returns 1 where it works. A test of an attack that could never work proves nothing,
so the negative controls run some of them with the layers taken away.
"""

import errno
import signal
from textwrap import dedent

import numpy as np
import pytest

from app.domain.outcome import Outcome
from app.sandbox.job import Answer, Call, Job, Limits
from app.sandbox.sandbox import Sandbox

TOOLS = """
import ctypes, errno, mmap, os, resource, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def syscall(number, *arguments):
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *wide)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""

KILLED = signal.SIGSYS

ATTACKS = {
    # other processes
    "signal everything": "os.kill(-1, 0)",
    "signal the parent": "os.kill(os.getppid() or 2, 0)",
    "ptrace": ("syscall(101, 16, 2, 0, 0)", KILLED),
    "read another process": ("syscall(310, 2, b'', 0, b'', 0, 0)", KILLED),
    "open a process": "syscall(434, 2, 0)",
    "steal a descriptor": ("syscall(438, 3, 0, 0)", KILLED),
    # new processes and programs
    "fork": "os.fork()",
    "vfork": "syscall(58)",
    "fork by clone": "syscall(56, 17, 0, 0, 0, 0)",
    "run a program": "os.execv('/py/bin/python3', ['python', '-c', 'pass'])",
    "run a program by the shell": "assert os.system('true') == 0",
    "run from memory": "fd = os.memfd_create('x'); os.execve(fd, ['x'], {})",
    "spawn": "os.posix_spawn('/py/bin/python3', ['python'], {})",
    # network
    "tcp": "socket.create_connection(('127.0.0.1', 22), 1)",
    "any socket": "socket.socket()",
    "udp": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))",
    "raw packets": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "abstract socket": "socket.socket(socket.AF_UNIX).bind('\\0x')",
    "unix socket": "socket.socket(socket.AF_UNIX)",
    "netlink": "socket.socket(16, 3, 0)",
    "socket pair": "socket.socketpair()",
    # the kernel's less trodden paths
    "user namespace": "syscall(272, 0x10000000)",
    "user namespace by clone": "syscall(56, 0x10000011, 0, 0, 0, 0)",
    "user namespace by clone3": "syscall(435, struct.pack('8Q', 1 << 28, *[0] * 7), 64)",
    "enter a namespace": ("syscall(308, 3, 0)", KILLED),
    "io_uring": ("syscall(425, 4, ctypes.create_string_buffer(256))", KILLED),
    "userfaultfd": ("syscall(323, 1)", KILLED),
    "bpf": ("syscall(321, 0, ctypes.create_string_buffer(128), 128)", KILLED),
    "perf": ("syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)", KILLED),
    "keyring": ("syscall(250, 1, b'x')", KILLED),
    "add a key": ("syscall(248, b'user', b'k', b'v', 1, -3)", KILLED),
    "x32 call": ("syscall(0x40000000 | 39)", KILLED),
    "32-bit call": (
        "m = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex('b814000000cd80c3'));"
        " ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()",
        KILLED,
    ),
    "shared memory": "syscall(29, 1, 4096, 0o1600)",
    "message queue": "syscall(240, b'x', os.O_CREAT | os.O_RDWR, 0o600, 0)",
    "memory file": "os.memfd_create('x')",
    # mounts and files
    "mount": ("syscall(165, b't', b'/tmp', b'tmpfs', 0, 0)", KILLED),
    "remount": ("syscall(165, 0, b'/py', 0, 32 | 4096, 0)", KILLED),
    "make an own /proc": ("syscall(165, b'proc', b'/tmp', b'proc', 0, 0)", KILLED),
    "move to another control group": "open('/sys/fs/cgroup/memory/cgroup.procs', 'w')",
    "core pattern": "open('/proc/sys/kernel/core_pattern', 'w')",
    "unmount": ("syscall(166, b'/tmp', 2)", KILLED),
    "chroot": ("os.chroot('/tmp')", KILLED),
    "open by handle": ("syscall(304, -100, ctypes.create_string_buffer(64), 0)", KILLED),
    "device node": "os.mknod('/tmp/d', 0o60600, os.makedev(254, 0))",
    "symbolic link": "os.symlink('/etc/shadow', '/tmp/s')",
    "hard link": "os.link(__file__, '/tmp/h')",
    "write to the interpreter": "open(os.__file__, 'a')",
    "write to a package": "open(sys.modules['numpy'].__file__, 'a')",
    "run code from a file": (
        "open('x', 'wb').write(bytes(4096));"
        " mmap.mmap(os.open('x', os.O_RDONLY), 4096, mmap.MAP_PRIVATE, 5)"
    ),
    "write to a device": "open('/dev/zero', 'wb')",
    "terminal": "os.open('/dev/tty', os.O_RDWR)",
    "type into the terminal": "import fcntl; fcntl.ioctl(0, 0x5412, b'x')",
    # rights
    "become another user": "os.setuid(0); os.setresuid(1, 1, 1)",
    "regain capabilities": "syscall(126, struct.pack('Ii', 0x20080522, 0), bytes([255] * 24))",
    "undo no_new_privs": "syscall(157, 38, 0, 0, 0, 0)",
    "become dumpable": "syscall(157, 4, 1, 0, 0, 0)",
    "outlive the parent": "syscall(157, 1, 0, 0, 0, 0)",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
    "priority": "os.nice(-5)",
    "affinity": "os.sched_setaffinity(0, {0})",
    "lock memory": "syscall(149, 4096 * 4096, 4096)",
}


def attack(sandbox: Sandbox, statement: str) -> Answer:
    text = f"{TOOLS}\ndef f():\n    {statement}\n    return 1\n"
    return sandbox.run(Job({"attack.py": text.encode()}, (Call("f", ()),), 1))[0]


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_or_ends_its_process(walled, name):
    content = ATTACKS[name]
    statement, end = content if isinstance(content, tuple) else (content, None)
    failure = attack(walled, statement).failure
    assert serves(walled)
    assert failure is not None, "the attack worked"
    if end is not None:
        assert (failure.outcome, failure.signal) == (Outcome.CRASHED, end)
        return
    assert failure.outcome is Outcome.RAISED
    assert failure.error_type in (
        "PermissionError",
        "FileNotFoundError",
        "ProcessLookupError",
        "ValueError",
        "OSError",
        "AssertionError",
    ), failure


def serves(sandbox: Sandbox) -> bool:
    """Whether the slot still does an honest job right."""
    text = b"import numpy as np\ndef f(x):\n    return np.exp(x).sum() / 3\n"
    (answer,) = sandbox.run(Job({"w.py": text}, (Call("f", (np.zeros(3),)),), 1))
    return bool(answer.values and answer.values[0].array == 1)


@pytest.fixture(scope="module")
def unfiltered():
    """Namespaces and Landlock remain; both system call filters are gone."""
    with Sandbox(without=frozenset({"seccomp", "outer_seccomp"})) as started:
        yield started


@pytest.fixture(scope="module")
def ruled():
    """As ``bare``, with Landlock."""
    gone = {"seccomp", "outer_seccomp", "pid_namespace"}
    with Sandbox(without=frozenset(gone)) as started:
        yield started


@pytest.mark.parametrize(
    "name", ["fork", "any socket", "unix socket", "socket pair", "shared memory", "memory file"]
)
def test_without_the_filters_the_same_attack_works(unfiltered, name):
    assert attack(unfiltered, ATTACKS[name]).failure is None


@pytest.mark.parametrize("name", ["keyring", "userfaultfd", "32-bit call"])
def test_without_the_filters_nothing_ends_the_process(unfiltered, name):
    answer = attack(unfiltered, ATTACKS[name][0])
    assert answer.failure is None or answer.failure.signal is None


@pytest.mark.parametrize("name", ["signal the parent", "run a program by the shell"])
def test_without_inner_layers_the_jail_alone_does_not_stop_it(bare, name):
    statement = ATTACKS[name]
    if name == "run a program by the shell":
        statement = "pid = os.posix_spawn('/py/bin/python3', ['python'], {}); assert pid > 1"
    assert attack(bare, statement).failure is None


@pytest.mark.parametrize(
    "name",
    [
        "signal the parent",
        "ptrace",
        "mount",
        "write to the interpreter",
        "become another user",
        "raise a limit",
        "regain capabilities",
        "device node",
    ],
)
def test_a_second_layer_stops_it_where_the_filters_are_gone(unfiltered, name):
    content = ATTACKS[name]
    statement = content[0] if isinstance(content, tuple) else content
    failure = attack(unfiltered, statement).failure
    assert failure is not None, "the attack worked"
    assert failure.outcome is Outcome.RAISED


def test_landlock_alone_keeps_signals_inside(ruled, bare):
    assert attack(bare, ATTACKS["signal the parent"]).failure is None
    failure = attack(ruled, ATTACKS["signal the parent"]).failure
    assert failure.error_type == "PermissionError"


def test_the_mounts_alone_are_read_only(bare):
    for statement in ("os.mkdir('/x')", "os.mkdir('/dev/x')", "open(os.__file__, 'a')"):
        failure = attack(bare, statement).failure
        assert failure.error_type in ("OSError", "PermissionError")
    assert "Read-only file system" in attack(bare, "os.mkdir('/x')").failure.detail


def test_no_process_of_the_jail_can_be_dumped(bare):
    is_dumpable = "assert syscall(157, 3, 0, 0, 0, 0) == 1"
    assert attack(bare, is_dumpable).failure.error_type == "AssertionError"


# Exhaustion


def run(sandbox: Sandbox, text: str, **limits) -> Answer:
    job = Job({"work.py": (TOOLS + dedent(text)).encode()}, (Call("f", ()),), 1, Limits(**limits))
    return sandbox.run(job)[0]


def test_the_disk_of_a_job_is_small_and_its_own(sandbox):
    answer = run(
        sandbox,
        """
        def f():
            ends = []
            for attempt in (fill, sparse, many):
                try:
                    attempt()
                except OSError as error:
                    ends.append(error.errno)
            return ends
        def fill():
            for n in range(100):
                open(f"f{n}", "wb").write(bytes(1 << 20))
        def sparse():
            os.truncate("f0", 1 << 40)
        def many():
            for n in range(100_000):
                open(f"/tmp/{n}", "w").close()
        """,
        case_s=10,
    )
    assert answer.values[0].array.tolist() == [
        errno.ENOSPC,
        errno.EFBIG,
        errno.ENOSPC,
    ]


def test_threads_run_out_and_take_nobody_along(sandbox):
    answer = run(
        sandbox,
        """
        import threading, time
        def f():
            for n in range(10_000):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            return n
        """,
        case_s=10,
    )
    assert (answer.failure.outcome, answer.failure.error_type) == (Outcome.RAISED, "RuntimeError")


def test_a_flood_of_the_job_socket_is_unreadable(sandbox):
    answer = run(sandbox, "def f():\n    while True:\n        os.write(3, b'\\xff' * (1 << 20))\n")
    assert answer.failure.outcome is Outcome.CRASHED
    assert "could not be read" in answer.failure.detail


def test_a_trickle_on_the_job_socket_meets_the_time_limit(sandbox):
    text = """
        import time
        def f():
            os.write(3, b"\\xff\\x00\\x00\\x00")
            while True:
                os.write(3, b"x")
                time.sleep(0.01)
    """
    answer = run(sandbox, text, case_s=0.4)
    assert answer.failure.outcome is Outcome.TIMED_OUT


def test_a_descriptor_sent_over_the_job_socket_cannot_leave(sandbox):
    text = """
        import array
        def f():
            s = socket.socket(fileno=3)
            s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
    """
    assert run(sandbox, text).failure.error_type == "PermissionError"


def test_a_forged_answer_is_only_an_answer(sandbox):
    """What a child says is compared by others, so forging gains nothing; it must just parse."""
    text = """
        def f():
            import msgspec
            header = {"number": 0, "values": [[[], "array"]], "arrays": [["<f8", [1]]]}
            text = msgspec.msgpack.encode(header)
            os.write(3, struct.pack("<I", len(text)) + text + struct.pack("<d", 5.0))
            os._exit(0)
    """
    answer = run(sandbox, text)
    assert answer.values[0].array.tolist() == [5.0]


@pytest.mark.parametrize(
    "header",
    [
        '{"number": 1}',
        '{"number": 0, "values": [[[], "array"]]}',
        '{"number": 0, "arrays": [["|u1", [4]]]}',
        '{"number": 0, "failure": {"outcome": "passed"}}',
        '{"number": 0, "failure": {"outcome": "timed_out"}}',
    ],
)
def test_a_forged_answer_that_does_not_fit_is_a_crash(sandbox, header):
    text = f"""
        def f():
            import msgspec
            text = msgspec.msgpack.encode({header})
            os.write(3, struct.pack("<I", len(text)) + text + bytes(4))
            os._exit(0)
    """
    answer = run(sandbox, text)
    assert answer.failure.outcome is Outcome.CRASHED
    assert "could not be read" in answer.failure.detail


def test_a_failure_may_not_point_outside_the_job_s_files(sandbox):
    text = """
        def f():
            import msgspec
            failure = {"outcome": "raised", "file": "/etc/passwd", "line": 7}
            text = msgspec.msgpack.encode({"number": 0, "failure": failure})
            os.write(3, struct.pack("<I", len(text)) + text)
            os._exit(0)
    """
    failure = run(sandbox, text).failure
    assert (failure.outcome, failure.file, failure.line) == (Outcome.RAISED, "", None)


def test_shared_memory_beyond_every_limit_is_caught(sandbox):
    """By the address space, or by the control group where that does not count it."""
    text = """
        def f():
            maps = []
            while True:
                maps.append(mmap.mmap(-1, 1 << 22))
                maps[-1].write(bytes(1 << 22))
    """
    failure = run(sandbox, text, case_s=10).failure
    assert failure.outcome is Outcome.OUT_OF_MEMORY or failure.error_type == "OSError"
