"""How a call can fail, and that it fails alone."""

import signal

import pytest

from app.domain.outcome import Outcome
from app.sandbox import cgroup
from app.sandbox.job import Call, Job, Limits


def test_an_exception_is_told_with_type_text_file_and_innermost_own_line(run_one):
    failure = run_one(
        """
        import numpy as np
        def g(x):
            return np.reshape(x, (7, 7))
        def f(x):
            return g(x)
        """,
        3.0,
    ).failure
    assert (failure.outcome, failure.error_type) == (Outcome.RAISED, "ValueError")
    assert failure.detail == "cannot reshape array of size 1 into shape (7,7)"
    assert (failure.file, failure.line) == ("work.py", 4)


@pytest.mark.parametrize(
    ("body", "error_type"),
    [
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("return f()", "RecursionError"),
        ("return input()", "EOFError"),
        ("return 1 / 0", "ZeroDivisionError"),
        ("return Missing", "NameError"),
        ("import heldout", "ModuleNotFoundError"),
        ("import os; os.fork()", "PermissionError"),
        ("import multiprocessing as m; m.Process(target=f).start()", "PermissionError"),
    ],
)
def test_what_student_code_raises_is_raised(run_one, body, error_type):
    failure = run_one(f"def f():\n    {body}\n").failure
    assert (failure.outcome, failure.error_type) == (Outcome.RAISED, error_type)
    assert (failure.file, failure.line) == ("work.py", 2)


@pytest.mark.parametrize(
    "statement",
    [
        "os.fork()",
        "subprocess.run(['ls'])",
        "multiprocessing.Process(target=f).start()",
        "os.execv('/py/bin/python3', ['python'])",
        "list(DataLoader([1, 2], num_workers=1))",
    ],
)
def test_a_refused_process_is_told_as_what_it_is(run_one, statement):
    imports = "import multiprocessing, os, subprocess\nfrom torch.utils.data import DataLoader\n"
    failure = run_one(f"{imports}def f():\n    {statement}\n").failure
    assert failure.outcome is Outcome.RAISED
    assert failure.detail.endswith("; processes cannot be started here"), failure


def test_another_refusal_is_not_explained(run_one):
    failure = run_one("import os\ndef f():\n    os.setuid(0)\n").failure
    assert failure.detail == "[Errno 1] Operation not permitted"


def test_a_refused_thread_is_told_as_what_it_is(run_one):
    text = """
        import threading, time
        def f():
            while True:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    """
    failure = run_one(text, case_s=10).failure
    assert failure.detail == "can't start new thread; there are too many threads already"


def test_a_long_or_odd_exception_text_is_cut_and_made_readable(run_one):
    failure = run_one("def f():\n    raise ValueError('\\ud800' + 'a' * 10**6)\n").failure
    assert failure.detail == "?" + "a" * 1999


@pytest.mark.parametrize("text", ["1 / 0", "return 7", "__import__('sys').exit(3)"])
def test_an_exception_that_cannot_be_shown_is_still_told(run_one, text):
    failure = run_one(
        f"class E(BaseException):\n    def __str__(self):\n        {text}\n"
        "def f():\n    raise E()\n"
    ).failure
    assert (failure.outcome, failure.error_type, failure.line) == (Outcome.RAISED, "E", 5)
    assert failure.detail == "(its text cannot be shown)"


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("sys.exit()", 0),
        ("sys.exit(3)", 3),
        ("sys.exit('text')", 1),
        ("exit(5)", 5),
        ("raise SystemExit(-1)", 255),
        ("os._exit(7)", 7),
        ("os._exit(0)", 0),
    ],
)
def test_leaving_the_process_is_a_crash_with_its_exit_code(run_one, statement, code):
    failure = run_one(f"import os, sys\ndef f():\n    {statement}\n").failure
    assert (failure.outcome, failure.exit_code) == (Outcome.CRASHED, code)
    assert failure.signal is None
    assert failure.detail == ("text" if "text" in statement else "")


@pytest.mark.parametrize("statement", ["ctypes.string_at(0)", "os.abort()"])
def test_a_signal_is_a_crash_with_its_number(run_one, statement):
    failure = run_one(f"import ctypes, os\ndef f():\n    {statement}\n").failure
    assert failure.outcome is Outcome.CRASHED
    # The first process of a pid namespace survives abort's SIGABRT and dies of what follows it.
    assert failure.signal == signal.SIGSEGV


def test_recursion_without_a_bound_ends_in_a_failure(run_one):
    """By memory, stack, time or an interpreter in distress: whichever comes first."""
    failure = run_one(
        """
        import sys
        sys.setrecursionlimit(10**9)
        def f():
            return [f() for _ in (1,)]
        """
    ).failure
    assert failure.outcome in (
        Outcome.CRASHED,
        Outcome.OUT_OF_MEMORY,
        Outcome.RAISED,
        Outcome.TIMED_OUT,
    )


@pytest.mark.parametrize(
    "statement",
    [
        "l = [np.ones(1 << 22) for _ in range(64)]",
        "l = [torch.ones(1 << 22) for _ in range(128)]",
        "l = [bytearray(1 << 25) for _ in range(64)]",
        "l = [0] * 10**9",
        "raise MemoryError",
    ],
)
def test_too_much_memory_is_told_with_the_limit(run_one, statement):
    failure = run_one(
        f"import numpy as np, torch\ndef f():\n    {statement}\n", memory_mb=256
    ).failure
    assert (failure.outcome, failure.limit) == (Outcome.OUT_OF_MEMORY, "256 MB"), failure
    assert failure.signal is None, "the kernel killed before the student could be told the line"


def test_most_of_the_memory_limit_can_be_used(run_one):
    answer = run_one("import numpy as np\ndef f():\n    return np.ones(50 << 20)[:1]\n")
    assert answer.failure is None


@pytest.mark.parametrize(
    "statement",
    [
        "while True: pass",
        "time.sleep(100)",
        "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15, 24)]\n    while True: pass",
        "7 ** (10**9)",
        "re.match('(a+)+$', 'a' * 60 + 'b')",
        "threading.Lock().acquire() and threading.Event().wait()",
    ],
)
def test_an_endless_call_meets_its_time_limit(run_one, statement):
    answer = run_one(f"import re, signal, threading, time\ndef f():\n    {statement}\n", case_s=0.2)
    assert (answer.failure.outcome, answer.failure.limit) == (Outcome.TIMED_OUT, "0.2 s")
    assert answer.seconds >= 0.2


def test_a_kill_by_the_kernel_for_memory_is_out_of_memory_and_spares_the_slot(
    sandbox, run, monkeypatch
):
    """The control group is only a backstop, so here it is made narrower than the other limit."""
    if cgroup.version() == "none":
        pytest.skip("this host lets us make no control group")
    text = "def f():\n    return len(bytearray(400 << 20))\ndef g():\n    return 7\n"
    with monkeypatch.context() as narrow:
        narrow.setattr(cgroup, "_HEADROOM", 0.3)
        killed, spared = run(text, "f", "g")
    assert (killed.failure.outcome, killed.failure.limit, killed.failure.signal) == (
        Outcome.OUT_OF_MEMORY,
        "512 MB",
        signal.SIGKILL,
    )
    assert spared.values[0].array == 7
    assert run(text, "f")[0].values[0].array == 400 << 20


def test_a_missing_entry_is_not_defined(run):
    answers = run("def f():\n    return 1\n", "g", Call("f", (), file="other.py"), "f")
    assert [a.failure and a.failure.outcome for a in answers] == [
        Outcome.NOT_DEFINED,
        Outcome.NOT_DEFINED,
        None,
    ]
    assert answers[0].failure.detail == "g"


ENDINGS = """
    import ctypes, os, time
    import numpy as np
    calls = 0
    def count():
        global calls
        calls += 1
        return calls
    def crash(): ctypes.string_at(0)
    def leave(): os._exit(0)
    def hang(): time.sleep(60)
    def close(): os.close(3)
    def garble(): os.write(3, b"x" * 100)
    def fail(): raise ValueError
"""


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ("crash", Outcome.CRASHED),
        ("leave", Outcome.CRASHED),
        ("close", Outcome.CRASHED),
        ("garble", Outcome.CRASHED),
        ("hang", Outcome.TIMED_OUT),
    ],
)
def test_a_call_that_ends_the_process_fails_alone(run, ending, outcome):
    answers = run(ENDINGS, "count", "count", ending, "count", case_s=0.5)
    assert answers[2].failure.outcome is outcome, answers[2]
    assert [a.values[0].array for a in (answers[0], answers[1], answers[3])] == [1, 2, 1]


def test_a_call_that_raises_leaves_the_process_as_it_is(run):
    answers = run(ENDINGS, "count", "fail", "count")
    assert answers[2].values[0].array == 2


def test_calls_with_different_fork_names_do_not_know_of_each_other(run):
    calls = [Call("count", (), fork=name) for name in ("a", "b", "a", "", "b")]
    answers = run(ENDINGS, *calls)
    assert [int(a.values[0].array) for a in answers] == [1, 1, 2, 1, 2]


def test_the_job_s_wall_clock_covers_all_its_forks(run):
    calls = [Call("hang", (), fork=str(n)) for n in range(3)]
    answers = run(ENDINGS, *calls, Call("count", ()), case_s=0.4, wall_s=0.7)
    assert [a.failure.outcome for a in answers] == [Outcome.TIMED_OUT] * 4
    assert answers[0].failure.limit == "0.4 s"
    assert [a.failure.limit for a in answers[1:]] == ["0.7 s"] * 3


def test_an_input_enters_only_after_the_answer_before_it_has_left(run):
    text = """
        import os, select
        def f(secret):
            readable, _, _ = select.select([3], [], [], 0.2)
            return len(readable)
    """
    answers = run(text, Call("f", ("first",)), Call("f", ("second",)), Call("f", ("third",)))
    assert [int(a.values[0].array) for a in answers] == [0, 0, 0]


def test_threads_that_never_end_do_not_matter(run_one):
    answer = run_one(
        """
        import threading, time
        threading.Thread(target=time.sleep, args=(1e6,)).start()
        def f():
            threading.Thread(target=time.sleep, args=(1e6,)).start()
            return 7
        """
    )
    assert answer.values[0].array == 7


def test_global_generators_follow_the_seed_and_are_the_same_in_every_fork(run):
    text = """
        import random
        import numpy as np
        import torch
        def f():
            return [random.random(), np.random.rand(), torch.rand(1).item()]
    """
    drawn = [
        [a.values[0].array.tolist() for a in run(text, *calls, seed=seed)]
        for seed, calls in [
            (2**64 - 1, (Call("f", ()), Call("f", (), fork="b"))),
            (2**64 - 1, (Call("f", ()),)),
            (5, (Call("f", ()),)),
        ]
    ]
    assert drawn[0][0] == drawn[0][1] == drawn[1][0]
    assert not set(drawn[2][0]) & set(drawn[0][0])


def test_a_job_without_calls_or_files_is_answered(sandbox):
    assert sandbox.run(Job({"work.py": b""}, (), 1)) == []
    (answer,) = sandbox.run(Job({}, (Call("f", ()),), 1))
    assert answer.failure.outcome is Outcome.NOT_DEFINED


def test_a_file_name_that_leads_elsewhere_is_our_mistake(sandbox):
    for name in ("/etc/passwd", "../work.py", "a/../../b.py", "", ".", "a//b.py", "a\0.py"):
        with pytest.raises(ValueError, match="file name"):
            sandbox.run(Job({name: b""}, (), 1, Limits()))
