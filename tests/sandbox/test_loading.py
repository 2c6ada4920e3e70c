"""How the student's files become modules, and what a file that cannot be loaded gives."""

import codecs

import pytest

from app.domain.outcome import Outcome
from app.sandbox.job import Call, Job, Limits

F = (Call("f", ()),)


def load(sandbox, files, calls=F, **limits):
    return sandbox.run(Job(files, calls, 1, Limits(**limits)))


def value(answers):
    assert answers[0].failure is None, answers[0].failure
    return answers[0].values[0].array.tolist()


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF8 + b"def f():\n    return len('\xc3\xa9')\n",
        b"def f():\r\n    return len('\xc3\xa9')\r\n",
        b"# -*- coding: latin-1 -*-\ndef f():\n    return len('\xe9')\n",
        "# vim: set fileencoding=gbk :\ndef f():\n    return len('中')\n".encode("gbk"),
        b"def f():\n    return 1",
    ],
    ids=["bom", "crlf", "latin-1", "gbk", "no newline"],
)
def test_bytes_are_read_as_python_reads_them(sandbox, content):
    assert value(load(sandbox, {"work.py": content})) == 1


def test_a_module_has_its_stem_as_name_and_is_not_main(sandbox):
    text = b"assert __name__ == 'work', __name__\nif __name__ == '__main__':\n    1 / 0\n"
    text += b"def f():\n    import sys\n    return sys.modules['work'].f is f\n"
    assert value(load(sandbox, {"work.py": text})) is True


def test_files_import_each_other_in_any_order(sandbox):
    files = {
        "first.py": b"from second import g\nimport pkg.third\ndef f():\n    return g() + 1\n",
        "second.py": b"loaded = []\nloaded.append(1)\ndef g():\n    return len(loaded)\n",
        "pkg/third.py": b"x = 3\n",
    }
    assert value(load(sandbox, files)) == 2


@pytest.mark.parametrize("name", ["random.py", "numpy.py", "wave.py", "torch.py", "jailed.py"])
def test_a_file_named_like_a_module_shadows_nothing_but_works(sandbox, name):
    stem = name.removesuffix(".py")
    files = {
        name: b"def f():\n    return 7\n",
        "after.py": f"import {stem}\ndef g():\n    return '/tmp' in {stem}.__file__\n".encode(),
    }
    answers = load(sandbox, files, (*F, Call("g", ())))
    assert value(answers) == 7
    if stem != "jailed":
        assert not answers[1].values[0].array


@pytest.mark.parametrize("name", ["10-my attention.py", "a.b.py", "é.py", "class.py"])
def test_a_file_name_need_not_be_an_identifier(sandbox, name):
    answers = load(
        sandbox, {name: b"def f():\n    return 7\ndef g():\n    1/0\n"}, (*F, Call("g", ()))
    )
    assert value(answers) == 7
    assert (answers[1].failure.file, answers[1].failure.line) == (name, 4)


def test_the_first_file_that_defines_the_entry_is_used_unless_one_is_named(sandbox):
    files = {
        "a.py": b"x = 1\n",
        "b.py": b"def f():\n    return 2\n",
        "c.py": b"def f():\n    return 3\n",
    }
    answers = load(sandbox, files, (*F, Call("f", (), file="c.py")))
    assert [int(answer.values[0].array) for answer in answers] == [2, 3]


def test_other_files_lie_in_the_working_directory_which_can_be_written_to(sandbox):
    text = b"""
import os, tempfile
data = open("data.txt").read()
def f():
    open("out.txt", "w").write("x")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    return [len(data), os.path.exists("out.txt"), os.path.samefile(".", os.path.dirname(__file__))]
"""
    assert value(load(sandbox, {"data.txt": b"hello", "work.py": text})) == [5, 1, 1]


def test_dataclasses_and_pickles_of_own_classes_work(sandbox):
    text = b"""
from __future__ import annotations
import pickle
from dataclasses import dataclass
@dataclass
class P:
    x: int
def f():
    return pickle.loads(pickle.dumps(P(3))).x
"""
    assert value(load(sandbox, {"work.py": text})) == 3


@pytest.mark.parametrize(
    ("content", "error_type", "line"),
    [
        (b"x = 1\ndef f(:\n", "SyntaxError", 2),
        (b"def f():\nreturn 1\n", "IndentationError", 2),
        (b"x = 1\nimport heldout\n", "ModuleNotFoundError", 2),
        (b"x = 1\n\n1 / 0\n", "ZeroDivisionError", 3),
        (b"x = input()\n", "EOFError", 1),
        (b"x = '\xff'\n", "NotText", 1),
        (b"# coding: nonsense\n", "SyntaxError", None),
        (b"x = 1\0\n", "NotText", 1),
        (b"open('weights.npy')\n", "FileNotFoundError", 1),
        (b"raise KeyboardInterrupt\n", "KeyboardInterrupt", 1),
    ],
)
def test_a_file_that_cannot_be_loaded_fails_every_call(sandbox, content, error_type, line):
    calls = (*F, Call("f", (), fork="b"), Call("g", ()))
    answers = load(sandbox, {"good.py": b"def f():\n    return 1\n", "bad.py": content}, calls)
    for answer in answers:
        failure = answer.failure
        assert (failure.outcome, failure.error_type) == (Outcome.LOAD_ERROR, error_type)
        assert failure.file == "bad.py"
        if line:
            assert failure.line == line
        assert "/tmp" not in failure.detail


def test_an_error_below_an_import_is_placed_where_it_happened(sandbox):
    files = {"a.py": b"import b\n", "b.py": b"\n1 / 0\n"}
    failure = load(sandbox, files)[0].failure
    assert (failure.outcome, failure.file, failure.line) == (Outcome.LOAD_ERROR, "b.py", 2)


@pytest.mark.parametrize("statement", ["import sys; sys.exit(0)", "exit()", "quit(1)"])
def test_a_file_that_exits_when_loaded_is_told_so(sandbox, statement):
    failure = load(sandbox, {"work.py": statement.encode()})[0].failure
    assert (failure.outcome, failure.detail) == (
        Outcome.LOAD_ERROR,
        "work.py calls sys.exit() when it is loaded",
    )


def test_a_process_that_dies_while_loading_is_a_load_error(sandbox):
    failure = load(sandbox, {"work.py": b"import ctypes; ctypes.string_at(0)"})[0].failure
    assert (failure.outcome, failure.signal) == (Outcome.LOAD_ERROR, 11)
    failure = load(sandbox, {"work.py": b"import os; os._exit(4)"})[0].failure
    assert (failure.outcome, failure.exit_code) == (Outcome.LOAD_ERROR, 4)


def test_an_endless_loop_while_loading_is_a_time_out_of_every_call(sandbox):
    calls = (*F, Call("f", (), fork="b"))
    answers = load(sandbox, {"work.py": b"while True: pass"}, calls, wall_s=0.5)
    assert [answer.failure.outcome for answer in answers] == [Outcome.TIMED_OUT] * 2
    assert [answer.failure.limit for answer in answers] == ["0.5 s"] * 2


def test_too_much_memory_while_loading_is_out_of_memory(sandbox):
    failure = load(sandbox, {"work.py": b"x = [0] * 10**9"}, memory_mb=128)[0].failure
    assert (failure.outcome, failure.limit) == (Outcome.OUT_OF_MEMORY, "128 MB")
    assert (failure.file, failure.line) == ("work.py", 1)


@pytest.mark.parametrize(
    "content",
    [
        b"x = " + b"(" * 5000 + b")" * 5000,
        b"x = " + b"-" * 100_000 + b"1",
        b"x = 'a' * 10**9 * 10**9",
        b"x = " + b"[" * 150 + b"]" * 150,
        b"def f(): return 1\n" * 2_000,
    ],
    ids=["parentheses", "minuses", "folding", "brackets", "many"],
)
def test_a_hostile_source_ends_in_an_answer(sandbox, content):
    (answer,) = load(sandbox, {"work.py": content})
    assert answer.failure is None or answer.failure.outcome in (
        Outcome.LOAD_ERROR,
        Outcome.OUT_OF_MEMORY,
        Outcome.TIMED_OUT,
        Outcome.NOT_DEFINED,
    )


def test_a_large_file_fits(sandbox):
    files = {
        "data.bin": bytes(20_000_000),
        "work.py": b"import os\ndef f():\n    return os.path.getsize('data.bin')\n",
    }
    assert value(load(sandbox, files)) == 20_000_000


@pytest.mark.parametrize("name", ["a" * 300 + ".py", "work.py/b.py"])
def test_a_file_that_cannot_be_written_is_a_load_error(sandbox, name):
    failure = load(sandbox, {"work.py": b"", name: b"x = 1\n"})[0].failure
    assert (failure.outcome, failure.file) == (Outcome.LOAD_ERROR, name)
