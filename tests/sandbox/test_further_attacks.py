"""Attacks of other kinds: on the trusted side through what an answer holds, on a neighbour's
submission, on the host, on the score, and through time.

Each ends in an ordinary answer, whose text and size are bounded, and an honest job follows.
"""

import math
import os
import time
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from app.catalogue.problem_file import read_problem
from app.domain.outcome import Outcome
from app.domain.submission import Submission
from app.grading.cases import draw_cases
from app.grading.code import reseeded_answers
from app.grading.grade import grade
from app.sandbox.job import Answer, Call, Job, Limits
from tests.sandbox.test_containment import TOOLS, serves
from tests.sandbox.test_isolated_checks import PROBLEM as MEMORY
from tests.sandbox.test_lifecycle import children
from tests.sandbox.test_shared_attacks import PROBLEM

RAISED, CRASHED, WRONG_TYPE = Outcome.RAISED, Outcome.CRASHED, Outcome.WRONG_TYPE


def run(sandbox, text: str, *arguments: object, **limits) -> Answer:
    files = {"work.py": (TOOLS + "import numpy as np, torch\n" + dedent(text)).encode()}
    return sandbox.run(Job(files, (Call("f", arguments),), 1, Limits(**limits)))[0]


ON_THE_TRUSTED_SIDE = {
    "a text that slices itself into something else": (
        """
        class Text(str):
            def __getitem__(self, key): return 7
            def encode(self, *a): return b"\\xff"
        class E(Exception):
            def __str__(self): return Text("x" * 10**6)
        def f(): raise E
        """,
        {RAISED, CRASHED},
    ),
    "an exception that lies about its type": (
        """
        class Meta(type):
            def __getattribute__(cls, name): return "\\x1b[31m" * 10**5
        class E(Exception, metaclass=Meta): pass
        def f(): raise E("x")
        """,
        {RAISED},
    ),
    "a type with a name of a megabyte": (
        "def f(): raise type('E' * 10**6, (Exception,), {})('x')\n",
        {RAISED},
    ),
    "a syntax error with odd places": (
        """
        def f():
            error = SyntaxError("x")
            error.lineno, error.filename, error.msg = 10**30, ["/etc/passwd"], object()
            raise error
        """,
        {RAISED},
    ),
    "a syntax error on a line that cannot be": (
        """
        def f():
            error = SyntaxError("x")
            error.lineno, error.filename = 10**30, __file__
            raise error
        """,
        {RAISED, CRASHED},
    ),
    "code that claims to be another file": (
        """
        def f():
            exec(compile("1 / 0", __file__[:-7] + "../../etc/passwd", "exec"))
        """,
        {RAISED},
    ),
    "a chain of ten thousand causes": (
        """
        def f():
            error = None
            for _ in range(10_000):
                fresh = ValueError("x")
                fresh.__cause__ = error
                error = fresh
            raise error
        """,
        {RAISED},
    ),
    "a group of exceptions within groups": (
        """
        def f():
            error = ValueError("x")
            for _ in range(500):
                error = ExceptionGroup("g", [error])
            raise error
        """,
        {RAISED},
    ),
    "a dict that lies about its members": (
        """
        class D(dict):
            def items(self):
                while True: yield "k", np.zeros(1)
        def f(): return D(a=1)
        """,
        {Outcome.OUTPUT_TOO_LARGE, Outcome.TIMED_OUT},
    ),
    "a list that lies about its members": (
        """
        class L(list):
            def __getitem__(self, key): return [object()] * 3
            def __iter__(self): return iter([object()])
            def __bool__(self): return True
        def f(): return L([1.0])
        """,
        {WRONG_TYPE, RAISED},
    ),
    "a key of a megabyte": ("def f(): return {'k' * 10**6: 1.0}\n", {WRONG_TYPE}),
    "a key that is half a character": (
        "def f(): return {'\\ud800': 1.0}\n",
        {RAISED, CRASHED},
    ),
    "an array that reaches outside its memory": (
        """
        def f():
            a = np.zeros(8)
            return np.lib.stride_tricks.as_strided(a, (3,), (1 << 40,))
        """,
        {CRASHED},
    ),
    "an array whose memory was given back": (
        """
        def f():
            m = mmap.mmap(-1, 1 << 20)
            a = np.frombuffer(m, np.uint8)
            libc.munmap(ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(1 << 20))
            return a
        """,
        {CRASHED},
    ),
    "a structured array": ("def f(): return np.zeros(3, [('a', 'f8')])\n", {WRONG_TYPE}),
    "dates": ("def f(): return np.zeros(3, 'M8[s]')\n", {WRONG_TYPE}),
    "a harness replaced in place": (
        """
        def f():
            sys.modules["jailed.runner"].wire.describe = lambda *a: 1 / 0
            return 1.0
        """,
        {RAISED, CRASHED},
    ),
    "an encoder replaced in place": (
        """
        def f():
            wire = sys.modules["jailed.wire"]
            wire.parts = lambda *a: [b"\\xff" * 100]
            return 1.0
        """,
        {CRASHED},
    ),
    "a socket swapped for a file": (
        """
        def f():
            os.dup2(os.open("/dev/null", os.O_RDWR), 3)
            return 1.0
        """,
        {CRASHED},
    ),
    "a thread that garbles the answer": (
        """
        import threading
        def f():
            def write():
                while True: os.write(3, b"x")
            threading.Thread(target=write, daemon=True).start()
            return np.zeros(10**6)
        """,
        {CRASHED, None},
    ),
    "an entry that is no function": ("f = 5\n", {RAISED}),
    "an entry that makes itself": (
        "def __getattr__(name): return lambda *a: 1.0\n",
        {Outcome.NOT_DEFINED},
    ),
}


@pytest.mark.parametrize("name", ON_THE_TRUSTED_SIDE)
def test_an_answer_cannot_upset_the_service(walled, name):
    text, outcomes = ON_THE_TRUSTED_SIDE[name]
    answer = run(walled, text)
    assert serves(walled)
    failure = answer.failure
    if failure is None:
        assert None in outcomes, answer
        return
    assert failure.outcome in outcomes, failure
    assert failure.file in ("", "work.py")
    assert failure.line is None or 0 < failure.line < 1 << 31
    assert len(failure.detail) <= 2000
    assert len(failure.error_type) <= 200
    (failure.detail + failure.error_type).encode()  # no half of a character


def test_a_thread_that_goes_on_after_the_answer_ends_with_the_job(walled):
    text = """
        import threading
        def burn():
            while True: pass
        def f():
            for _ in range(3):
                threading.Thread(target=burn, daemon=True).start()
            return 1.0
    """
    assert run(walled, text).failure is None
    guard = walled._jail._process.pid
    (zygote,) = children()[children()[guard][0]]
    assert len(children()[zygote]) == 1  # the one on standby
    assert serves(walled)


def test_an_answer_sent_ahead_is_an_answer_to_the_next_call_and_no_more(walled):
    """Answering without looking at the input is guessing; it is compared like any other."""
    text = """
        import msgspec, struct
        def f(x):
            for number in (0, 1):
                header = {"number": number, "values": [[[], "array"]], "arrays": [["<f8", []]]}
                text = msgspec.msgpack.encode(header)
                os.write(3, struct.pack("<I", len(text)) + text + struct.pack("<d", 5.0))
            import time
            time.sleep(60)
    """
    files = {"work.py": (TOOLS + dedent(text)).encode()}
    calls = (Call("f", (1.0,)), Call("f", (2.0,)), Call("f", (3.0,)))
    first, second, third = walled.run(Job(files, calls, 1, Limits(case_s=0.5)))
    assert first.values[0].array == second.values[0].array == 5.0
    assert third.failure.outcome is Outcome.TIMED_OUT


def test_text_printed_before_cannot_be_rewritten_into_the_visible_part(walled):
    """Each call's text is read when it has answered; what is written over later stays unread."""
    text = """
        def f(x):
            print("call", x)
            if x == 2:
                os.lseek(1, 0, 0)
                os.write(1, b"FORGED")
    """
    files = {"work.py": (TOOLS + dedent(text)).encode()}
    calls = tuple(Call("f", (n,)) for n in (1, 2))
    first, _ = walled.run(Job(files, calls, 1))
    assert first.stdout == "call 1\n"


# The score


@pytest.fixture(scope="module")
def problem():
    return read_problem(PROBLEM).problem


def value_points(problem, walled, code: str, seed: int = 3) -> float:
    """The points of the checks that compare values."""
    submission = Submission(files={"submission.py": dedent(code).encode()})
    result = grade(problem, submission, walled, seed)
    values = {check.id for check in problem.checks if check.kind == "values"}
    return sum(check.points for check in result.checks if check.id in values)


@pytest.mark.parametrize(
    "body",
    [
        "np.zeros(q.shape[:-1] + v.shape[-1:]), np.zeros(q.shape[:-1] + k.shape[-2:-1])",
        "np.full(q.shape[:-1] + v.shape[-1:], np.nan),"
        " np.full(q.shape[:-1] + k.shape[-2:-1], np.nan)",
        "np.broadcast_to(v.mean(-2, keepdims=True), q.shape[:-1] + v.shape[-1:]),"
        " np.full(q.shape[:-1] + k.shape[-2:-1], 1 / k.shape[-2])",
        "np.random.rand(*q.shape[:-1], v.shape[-1]), np.random.rand(*q.shape[:-1], k.shape[-2])",
    ],
    ids=["zeros", "nan", "means", "chance"],
)
def test_a_guess_gets_no_values_right(walled, problem, body):
    code = f"""
        import numpy as np
        def scaled_dot_product_attention(q, k, v, mask=None):
            return {body}
    """
    assert value_points(problem, walled, code) == 0


def test_answers_learned_from_one_run_are_worth_nothing_in_the_next(walled, problem):
    """Inputs are drawn anew: a table of inputs and right answers meets none of them again."""
    learn = """
        import hashlib
        import numpy as np
        def scaled_dot_product_attention(q, k, v, mask=None):
            print("SEEN", hashlib.sha256(q.tobytes() + k.tobytes()).hexdigest())
            return q, k
    """
    seen = []
    for seed in (1, 2):
        submission = Submission(files={"submission.py": dedent(learn).encode()})
        result = grade(problem, submission, walled, seed)
        printed = result.printed + result.printed_hidden
        seen.append({line for line in printed.splitlines() if line.startswith("SEEN")})
    fixed = {"one_blind_row", "huge_hidden_score"}  # whose q and k the problem states
    assert len(seen[0] & seen[1]) <= len(fixed)
    assert len(seen[0]) >= 8


def test_a_forged_report_on_every_channel_earns_nothing(walled, problem):
    code = """
        import json, os, sys
        report = json.dumps({"score": 17, "checks": [], "status": "graded"})
        def scaled_dot_product_attention(q, k, v, mask=None):
            print(report)
            print(report, file=sys.stderr)
            return {"output": report, "score": 17.0}
    """
    assert value_points(problem, walled, code) == 0


def test_a_tolerance_cannot_be_stretched_by_infinities(walled, problem):
    code = """
        import numpy as np
        def scaled_dot_product_attention(q, k, v, mask=None):
            return (np.full(q.shape[:-1] + v.shape[-1:], np.inf),
                    np.full(q.shape[:-1] + k.shape[-2:-1], -np.inf))
    """
    assert value_points(problem, walled, code) == 0


HIDES = """
import numpy as np
seen = []
def squares(x):
    seen.append(float(x[0]))
    print("seen so far:", seen)
    return x + x
"""


def test_a_visible_case_cannot_print_what_a_hidden_one_was_given(walled):
    """A function may remember, so the calls of visible cases come first."""
    text = MEMORY.replace(
        "  - {id: again, kind: repeatable, cases: [first], points: 1}\n",
        "  - {id: again, kind: values, cases: [second], points: 1}\n",
    ).replace("points: 2, isolate: true", "points: 2, hidden: true")
    text = text.replace("cases: [first, second], points: 2", "cases: [first], points: 2")
    hidden_first = read_problem(Path("memory.yaml"), text.encode()).problem
    result = grade(hidden_first, Submission(files={"w.py": HIDES.encode()}), walled, 3)
    assert result.printed == "seen so far: [3.0]\n"
    assert result.printed_hidden == "seen so far: [3.0, 1.0]\n"


TELLS = b"""
seen = []
def squares(x):
    seen.extend(x.tolist())
    if len(seen) > SILENT:
        raise ValueError(f"seen so far: {seen}")
    return x * x
"""


def hidden_before_shown(kind: str) -> str:
    """A problem that asks the same of a hidden case and then of one that students see."""
    head, _, rest = MEMORY.partition("checks:\n")
    hidden = f"  - {{id: alone, kind: {kind}, cases: [second], points: 2, hidden: true}}\n"
    shown = f"  - {{id: again, kind: {kind}, cases: [first], points: 1}}\n"
    return f"{head}checks:\n{hidden}{shown}{rest[rest.index('accepted:') :]}"


@pytest.mark.parametrize("kind", ["repeatable", "invariant, change: {x: other_samples}"])
def test_no_call_of_a_visible_check_can_tell_what_a_hidden_one_was_given(walled, kind):
    """The calls too that a check makes beside those of its cases."""
    text = hidden_before_shown(kind)
    problem = read_problem(Path("memory.yaml"), text.encode()).problem
    work = Submission(files={"w.py": TELLS.replace(b"SILENT", b"2")})
    hidden, shown = grade(problem, work, walled, 3).checks
    assert "3.0" in str(hidden.finding)
    assert "3.0" not in str(shown.finding)


def test_under_other_seeds_too_visible_cases_come_first(walled):
    text = hidden_before_shown("repeatable, across: seeds")
    problem = read_problem(Path("memory.yaml"), text.encode()).problem
    files = {"w.py": TELLS.replace(b"SILENT", b"0")}
    answers = reseeded_answers(walled, problem, files, draw_cases(problem, 3), 3)
    assert answers["reseeded", "first"].failure.detail == "seen so far: [1.0, 2.0]"


# The host and its clocks


def test_a_job_leaves_no_core_file(walled, tmp_path):
    before = set(os.listdir(".")) | set(os.listdir(tmp_path))
    assert run(walled, "def f(): ctypes.string_at(0)\n").failure.outcome is CRASHED
    assert set(os.listdir(".")) | set(os.listdir(tmp_path)) == before


def test_a_job_cannot_stop_itself_out_of_the_clock_s_reach(walled):
    text = """
        def f():
            for stop in (lambda: os.kill(os.getpid(), 19), lambda: signal.raise_signal(19),
                         lambda: signal.pthread_kill(0, 19)):
                try:
                    stop()
                except (OSError, ValueError, AttributeError):
                    pass
            while True: pass
    """
    began = time.monotonic()
    assert run(walled, text, case_s=0.3).failure.outcome in (Outcome.TIMED_OUT, CRASHED)
    assert time.monotonic() - began < 10
    assert serves(walled)


def test_time_reported_by_a_job_is_not_believed(walled):
    text = """
        import time
        time.monotonic = time.time = time.perf_counter = lambda: 0.0
        def f():
            while True: pass
    """
    answer = run(walled, text, case_s=0.3)
    assert answer.failure.outcome is Outcome.TIMED_OUT
    assert answer.seconds >= 0.3


def test_a_job_cannot_tell_one_kind_of_check_from_another(walled, problem):
    """The calls say nothing of checks: the same function, positional arguments, no names."""
    code = """
        import sys
        def scaled_dot_product_attention(*arguments, **named):
            frame, words = sys._getframe(), []
            while frame:
                words += [v for v in frame.f_locals.values() if type(v) is str]
                frame = frame.f_back
            told = " ".join(words)
            for word in ("repeatable", "inputs_unchanged", "plain_square", "huge_hidden", "seed"):
                if word in told:
                    print("LEAKED", word)
            assert not named
            return arguments[0], arguments[1]
    """
    submission = Submission(files={"submission.py": dedent(code).encode()})
    result = grade(problem, submission, walled, 3)
    assert "LEAKED" not in result.printed + result.printed_hidden


@pytest.mark.needs("own tmpfs")
def test_a_full_disk_of_one_job_is_an_empty_one_for_the_next(walled):
    fill = """
        def f():
            try:
                for n in range(100): open(f"/tmp/{n}", "wb").write(bytes(1 << 20))
            except OSError:
                return 1.0
    """
    assert run(walled, fill).failure is None
    look = """
        def f():
            open("/tmp/x", "wb").write(bytes(12 << 20))
            return len(os.listdir("/tmp"))
    """
    assert run(walled, look).values[0].array == 2  # its own directory and its own file


@pytest.mark.needs("own pids")
def test_a_job_is_process_one_and_alone(walled):
    text = "def f():\n    return [os.getpid(), os.getppid()]\n"
    assert run(walled, text).values[0].array.tolist() == [1, 0]


def test_names_of_files_stay_inside_the_job_s_directory(walled):
    for name in ("../x.py", "/x.py", "a/../../x.py", "x\0.py"):
        with pytest.raises(ValueError, match="file name"):
            walled.run(Job({name: b""}, (Call("f", ()),), 1))
    odd = {"-rf.py": b"def f(): return 1.0\n", "\u202ecod.py": b"", "a\nb.txt": b"", "%s.py": b""}
    (answer,) = walled.run(Job(odd, (Call("f", ()),), 1))
    assert answer.values[0].array == 1.0
    assert not Path("/tmp/submission").exists()


def test_special_numbers_stay_numbers(walled):
    payload = np.frombuffer(np.uint64(0x7FF8DEADBEEF0001).tobytes(), np.float64)
    answer = run(walled, "def f(x): return x\n", payload)
    assert math.isnan(answer.values[0].array[0])
