"""What student code prints, per call."""

import pytest

from app.sandbox.job import Call, Job

CUT = "\n[output cut at 64 kB]\n"


def test_each_call_keeps_what_it_printed_and_the_first_what_loading_printed(run):
    text = """
        import sys
        print("loading")
        def f(x):
            print("called", x)
            print("to stderr", file=sys.stderr)
    """
    answers = run(text, Call("f", (1,)), Call("f", (2,)), Call("f", (3,), fork="b"))
    assert [answer.stdout for answer in answers] == [
        "loading\ncalled 1\nto stderr\n",
        "called 2\nto stderr\n",
        "called 3\nto stderr\n",
    ]


def test_text_survives_the_end_of_its_process(run):
    text = """
        import ctypes, time
        def crash():
            print("before the crash", end="")
            ctypes.string_at(0)
        def hang():
            print("before the kill", end="")
            time.sleep(60)
    """
    answers = run(text, "crash", "hang", case_s=0.5)
    assert [answer.stdout for answer in answers] == ["before the crash", "before the kill"]


def test_text_printed_by_a_file_that_fails_to_load_is_kept(sandbox):
    (answer,) = sandbox.run(Job({"w.py": b"print('here')\n1/0"}, (Call("f", ()),), 1))
    assert answer.stdout == "here\n"


@pytest.mark.parametrize(
    "statement",
    [
        "for _ in range(1000): print('x' * 1_000_000)",
        "for _ in range(100_000): print('xxxxxxxxxx')",
        "sys.stdout.write('x' * 70_000)",
    ],
)
def test_printing_too_much_is_quick_silent_and_cut(run, statement):
    answers = run(f"import sys\ndef f():\n    {statement}\n    return 1\n", "f", "f", case_s=10)
    for answer in answers:
        assert answer.failure is None
        assert answer.stdout.endswith(CUT)
        assert len(answer.stdout) == 64_000 + len(CUT)


def test_exactly_the_limit_is_not_cut(run_one):
    answer = run_one("def f():\n    print('x' * 63_999)\n")
    assert answer.stdout == "x" * 63_999 + "\n"


def test_any_text_can_be_printed(run_one):
    answer = run_one("def f():\n    print('中文 \\ud800 é')\n")
    assert answer.stdout == "中文 \\ud800 é\n"


def test_bytes_written_past_python_are_kept_too(run_one):
    answer = run_one("import os\ndef f():\n    os.write(1, b'raw \\xff')\n    os.system('ls')\n")
    assert answer.stdout == "raw \ufffd"


def test_flooding_the_descriptor_itself_ends_at_the_file_limit(run_one):
    text = """
        import os
        def f():
            try:
                while True:
                    os.write(1, b"x" * (1 << 20))
            except OSError as error:
                print("still fine")
                return error.errno
    """
    answer = run_one(text)
    assert answer.values[0].array == 27  # EFBIG
    assert answer.stdout.endswith(CUT)


@pytest.mark.parametrize(
    "statement",
    [
        "sys.stdout = None",
        "sys.stdout.close()",
        "os.close(1)",
        "os.ftruncate(1, 0)",
        "os.lseek(1, 1 << 40, 0)",
        "sys.stdout = sys.stderr = object()",
    ],
)
def test_tampering_with_the_streams_harms_nobody_else(run, statement):
    text = f"import os, sys\ndef f():\n    {statement}\n    return 1\ndef g():\n    return 2\n"
    answers = run(text, "f", "g")
    assert [answer.failure for answer in answers] == [None, None]
