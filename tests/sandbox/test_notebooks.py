"""How a notebook becomes a module, and what is told about what did not become part of it."""

import json
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from app.domain.outcome import Outcome
from app.sandbox.job import Answer, Call, Job, Limits
from app.sandbox.notebook import read_cells

F = (Call("f", ()),)

ZERO_DIVISION = "ZeroDivisionError: division by zero"
NOT_FOUND = "ModuleNotFoundError: No module named 'heldout'"
UNSHOWN = "E: (its text cannot be shown)"


def notebook(*cells: str | list[str] | dict[str, Any]) -> bytes:
    """A notebook of code cells, or of cells as they are given."""
    made = [
        cell if isinstance(cell, dict) else {"cell_type": "code", "metadata": {}, "source": cell}
        for cell in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


def tagged(source: str, *tags: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source}


@pytest.fixture
def load(sandbox):
    """Loads a notebook and calls ``f`` of it."""

    def load(*cells, calls=F, **files) -> list[Answer]:
        named = {"hw.ipynb": notebook(*cells), **files}
        return sandbox.run(Job(named, calls, 1, Limits(wall_s=4)))

    return load


def value(answers: list[Answer]) -> Any:
    assert answers[0].failure is None, answers[0].failure
    return answers[0].values[0].array.tolist()


def told(answers: list[Answer]) -> list[tuple[object, ...]]:
    return [(r.kind, r.cell, r.line, r.text) for r in answers[0].remarks]


def python(text: str) -> str:
    """What Python sees of one cell."""
    (cell,), _ = read_cells(notebook(text))
    return cell.python


def test_cells_share_one_module_in_any_order_of_helpers(load):
    answers = load(
        "import math", "def f():\n    return helper() + math.floor(1.5)", "def helper(): return 4"
    )
    assert value(answers) == 5
    assert told(answers) == []


def test_a_source_may_be_a_list_of_lines_and_other_cells_are_text(load):
    markdown = {"cell_type": "markdown", "source": ["def f():", " !?"]}
    raw = {"cell_type": "raw", "source": "x ="}
    assert value(load(markdown, ["def f():\n", "    return 3"], raw)) == 3


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("%matplotlib inline\nx = 1", "\nx = 1"),
        ("!pip install -q 'it\nx = 1", "\nx = 1"),
        ("np.sum?\n?np\nnp??\nx = 1", "\n\n\nx = 1"),
        ("files = !ls \"it's\nt = %timeit -o f(\nd['a'] = %pwd\nx = 1", "\n\n\nx = 1"),
        ("%load_ext \\\n  autoreload\nx = 1", "\n\nx = 1"),
        ("for i in a:\n    %timeit i\nx = 1", "for i in a:\n    pass\nx = 1"),
        ("%time x = 1", "x = 1"),
        ("\n%%time\n%%capture out\nx = 1", "\n\n\nx = 1"),
        ("%%bash\nrm -rf x\n", ""),
        ("%%writefile a.py\nx = 1", ""),
        ("%%javascript\nx = 1", ""),
        ("%%html\n<b>", ""),
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
        ("x = 1\r\n%who\r\ny = 2", "x = 1\n\ny = 2"),
        (
            "%matplotlib inline\nfrom __future__ import annotations",
            "\nfrom __future__ import annotations",
        ),
    ],
)
def test_what_only_jupyter_understands_is_left_out_and_lines_keep_their_numbers(text, seen):
    assert python(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "x = a \\\n % b",
        "x = (\n a\n % b\n)",
        "x = [\n  '%s'\n  % b]",
        "s = '''\n%matplotlib inline\n!ls\nwhat?\n'''",
        's = """it\'s\n%who\n"""',
        "s = r'\\'\n'%s' % x",
        "print('=%s' % a, '= !', \"?\")",
        "x = a == b % c",
        "f'{a=!r}'",
        "x = 1  # what?\n# !ls\n# %who",
        "x = {'?': 1}",
        "assert a != b",
        "if a:\n    s = 'x'  \\\n    '%d'",
    ],
)
def test_python_that_looks_like_a_command_stays(text):
    assert python(text) == text


def test_no_file_of_the_standard_library_is_changed():
    for file in Path(sysconfig.get_path("stdlib")).glob("*.py"):
        text = file.read_text("utf-8")
        assert python(text) == text, file


def test_what_was_left_out_is_told_with_its_cell_and_line(load):
    answers = load(
        "x = 1\n%matplotlib   inline\n",
        {"cell_type": "markdown", "source": "text"},
        "   ",
        "\n%%time\ndef f():\n    return 1",
        "%%bash\necho hello",
    )
    assert value(answers) == 1
    assert told(answers) == [
        ("left_out", 1, 2, "%matplotlib inline"),
        ("left_out", 2, 2, "%%time"),
        ("cell_left_out", 3, 1, "%%bash"),
    ]
    assert {remark.file for remark in answers[0].remarks} == {"hw.ipynb"}


@pytest.mark.parametrize(
    ("cell", "kind", "line", "text"),
    [
        ("x = 1\nimport heldout", "statement_failed", 2, NOT_FOUND),
        ("\nplt.show()", "statement_failed", 2, "NameError: name 'plt' is not defined"),
        ("x = (1,\n 2", "cell_failed", 1, "SyntaxError: '(' was never closed"),
        ("assert 1 == 2, 'no'", "statement_failed", 1, "AssertionError: no"),
        ("n = int(input())", "statement_failed", 1, "EOFError: EOF when reading a line"),
        ("import sys\nsys.exit(3)", "statement_failed", 2, "SystemExit: 3"),
        ("raise SystemExit", "statement_failed", 1, "SystemExit"),
        ("quit()", "statement_failed", 1, "SystemExit"),
        ("raise KeyboardInterrupt", "statement_failed", 1, "KeyboardInterrupt"),
        ("x = 1\nawait x", "cell_failed", 2, "SyntaxError: 'await' outside function"),
        ("return 1", "cell_failed", 1, "SyntaxError: 'return' outside function"),
        ("get_ipython()", "statement_failed", 1, "NameError: name 'get_ipython' is not defined"),
        ("def g():\n  1/0\n\n[g()\n for _ in 'a']", "statement_failed", 4, ZERO_DIVISION),
        ("open('/etc/passwd', 'w')", "statement_failed", 1, None),
        ("class E(Exception):\n  __str__ = 3\nraise E", "statement_failed", 3, UNSHOWN),
        ("raise ValueError('\\ud800' * 300)", "statement_failed", 1, None),
        ("'\ud800'", "cell_failed", None, None),
        ("x = " + "(" * 5000, "cell_failed", None, None),
    ],
)  # fmt: skip
def test_a_cell_that_fails_is_told_and_loses_no_function(load, cell, kind, line, text):
    answers = load("def f(): return h()", cell, "def h(): return 2")
    assert value(answers) == 2
    ((found, number, place, words),) = told(answers)
    assert (found, number) == (kind, 2)
    assert place == line or line is None
    assert words == text or text is None
    assert len(words) <= 200


def test_what_stands_below_a_statement_that_failed_runs(load):
    answers = load(
        "import heldout_plots\nimport math\nimport seaborn\ndef f(): return math.floor(2.5)"
    )
    assert value(answers) == 2
    assert [(kind, line) for kind, _, line, _ in told(answers)] == [
        ("statement_failed", 1),
        ("statement_failed", 3),
    ]


def test_a_function_that_no_cell_defines_is_not_defined_beside_the_reason(load):
    answers = load("def f(:\n    return 1")
    assert answers[0].failure.outcome == Outcome.NOT_DEFINED
    ((kind, cell, line, _),) = told(answers)
    assert (kind, cell, line) == ("cell_failed", 1, 1)


def test_failures_of_calls_name_the_cell_and_its_line(load):
    cells = (
        {"cell_type": "markdown", "source": "x"},
        "%time x = 1\ndef f():\n    return g()",
        "\ndef g():\n    raise ValueError('no')",
    )
    failure = load(*cells)[0].failure
    assert (failure.outcome, failure.detail) == (Outcome.RAISED, "no")
    assert (failure.file, failure.cell, failure.line) == ("hw.ipynb", 2, 3)


def test_a_traceback_and_inspect_show_the_cell(load):
    head = "import inspect, traceback\n"
    body = "def f():\n    traceback.print_stack()\n    return len(inspect.getsource(f))\n"
    answers = load(head + body)
    assert value(answers) == len(body)
    assert 'hw.ipynb, cell 1", line 3, in f\n    traceback.print_stack()' in answers[0].stdout


def test_a_notebook_is_not_main_and_guarded_code_does_not_run(load):
    answers = load("if __name__ == '__main__':\n    1 / 0\ndef f(): return 1")
    assert (value(answers), told(answers)) == (1, [])


def test_future_annotations_hold_from_their_cell_on(load):
    answers = load(
        "try:\n    def a(x: Missing): pass\nexcept NameError:\n    early = 1",
        "from __future__ import annotations\ndef b(x: Missing): pass",
        "def f(x: Missing = 0): return early",
    )
    assert (value(answers), told(answers)) == (1, [])


def test_display_prints_and_is_no_function_of_the_student_s(load):
    answers = load(
        "display('a', 2, display_id=1)\ndef f(): return 1", calls=(*F, Call("display", ()))
    )
    assert answers[0].stdout == "a\n2\n"
    assert answers[1].failure.outcome == Outcome.NOT_DEFINED


def test_dataclasses_pickles_and_files_beside_the_notebook_work(load):
    cells = (
        "import pickle\nfrom dataclasses import dataclass\nfrom helper import two",
        "@dataclass\nclass P:\n    x: int",
        "def f(): return pickle.loads(pickle.dumps(P(3))).x + two()",
    )
    assert value(load(*cells, **{"helper.py": b"def two(): return 2\n"})) == 5


def test_only_cells_with_the_tag_run_if_there_is_one(load):
    answers = load("1 / 0", tagged("def f(): return 1", "x", "grade"), tagged("2 / 0", "other"))
    assert value(answers) == 1
    assert told(answers) == [("only_tagged", None, None, "")]
    failure = load("x = 1", tagged("def f(): 1 / 0", "grade"))[0].failure
    assert (failure.cell, failure.line) == (2, 1)


def test_tags_of_any_form_are_read(load):
    for tags in (None, "grade", {"grade": 1}, [["grade"]], 3):
        cell = {"cell_type": "code", "metadata": {"tags": tags}, "source": "def f(): return 1"}
        assert value(load("x = 1", cell)) == 1


def test_remarks_are_few_and_failures_come_before_what_was_left_out(load):
    answers = load("%who\n" * 300, "1 / 0", "%who\n" * 30 + "def f(): return 1")
    assert value(answers) == 1
    remarks = told(answers)
    assert len(remarks) == 20
    assert [kind for kind, *_ in remarks].count("statement_failed") == 1
    assert remarks[-1] == ("more", None, None, "312")


def test_remarks_belong_to_the_first_answer_and_come_once(load):
    answers = load("%who\ndef f(): return 1", calls=(*F, Call("f", ()), Call("f", (), fork="b")))
    assert [len(answer.remarks) for answer in answers] == [1, 0, 0]


def test_a_file_that_cannot_be_loaded_keeps_the_remarks_of_the_notebook(load):
    answers = load("%who\ndef f(): return 1", **{"bad.py": b"1 / 0\n"})
    assert (answers[0].failure.outcome, answers[0].failure.file) == (Outcome.LOAD_ERROR, "bad.py")
    assert told(answers) == [("left_out", 1, 1, "%who")]


def test_an_endless_loop_in_a_cell_is_a_time_out(load):
    failure = load("def f(): return 1", "while True: pass")[0].failure
    assert (failure.outcome, failure.limit) == (Outcome.TIMED_OUT, "4 s")


def test_a_notebook_may_stand_for_the_file_that_a_problem_names(load):
    assert value(load("def f(): return 1", calls=(Call("f", (), file="hw.py"),))) == 1
    other = load("def f(): return 1", calls=(Call("f", (), file="model.py"),))
    assert other[0].failure.outcome == Outcome.NOT_DEFINED


@pytest.mark.parametrize(
    "name", ["random.ipynb", "numpy.ipynb", "jailed.ipynb", "a b.c.ipynb", "d/é.ipynb"]
)
def test_a_notebook_of_any_name_shadows_nothing_and_works(sandbox, name):
    cell = "import random, numpy\ndef f(): return numpy.ones(2).sum() + random.choice([1])"
    files = {name: notebook(cell)}
    assert value(sandbox.run(Job(files, F, 1))) == 3


@pytest.mark.parametrize("name", ["hw.py", "hw/__init__.py", "hw/layers.py", "hw/hw.py"])
def test_a_notebook_keeps_no_file_of_its_name_from_being_loaded(load, name):
    answers = load("from hw import f as g\ndef h(): return g()", **{name: b"def f(): return 1\n"})
    assert value(answers) == 1


def test_a_notebook_imports_the_file_of_its_name(load):
    cell = "from hw import two\ndef f(): return two() + two()"
    assert value(load(cell, **{"hw.py": b"def two(): return 2\n"})) == 4


def test_cells_are_placed_wherever_they_say_that_they_lie(load):
    failure = load("__file__ = 'a'", "del __file__", "def f(): 1 / 0")[0].failure
    assert (failure.file, failure.cell, failure.line) == ("hw.ipynb", 3, 1)


@pytest.mark.parametrize("data", [b"", b"  "])
def test_an_empty_notebook_beside_a_file_defines_nothing(sandbox, data):
    files = {"hw.ipynb": data, "work.py": b"def f(): return 1\n"}
    assert value(sandbox.run(Job(files, F, 1))) == 1


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"cells": 3}', b'{"cells": [{}]}', b"\xff"])
def test_what_is_no_notebook_is_a_load_error(sandbox, data):
    failure = sandbox.run(Job({"hw.ipynb": data}, F, 1))[0].failure
    assert (failure.outcome, failure.file) == (Outcome.LOAD_ERROR, "hw.ipynb")


def test_remarks_that_a_cell_forges_stay_within_their_form(load):
    forged = """
        import sys, gc
        wire = sys.modules['jailed.wire']
        module = sys.modules['jailed.notebook_module']
        module.shortened = None
        sys.modules['jailed.runner'].shortened = lambda remarks: [
            wire.RemarkHeader('left_out', '/etc/passwd', 1, 1, '<b>')] * {count}
        def f(): return 1
    """
    cell = "\n".join(line[8:] for line in forged.splitlines())
    few = load(cell.format(count=20))
    assert value(few) == 1
    assert {remark.file for remark in few[0].remarks} == {""}
    many = load(cell.format(count=21))
    assert (many[0].failure.outcome, many[0].remarks) == (Outcome.CRASHED, ())
