"""How people save, write and return their code: each habit works, or one sentence says why not."""

import codecs

import pytest

from app.domain.outcome import Outcome
from app.domain.words import sentence
from app.grading.grade import grade
from app.uploads.read import read_files

PROBLEM = """
    id: row-sums
    kind: code
    title: {en: Row sums, zh: 行和}
    section: "3.1"
    source: written for the tests
    points: 2
    statement: {en: Sum the rows., zh: 求每行之和。}
    entry: row_sums
    parameters: {x: {shape: [n, m]}}
    returns: {s: {shape: [n]}}
    starter: "def row_sums(x): ..."
    solution: "def row_sums(x): return x.sum(axis=-1)"
    cases:
      narrow: {dims: {n: 3, m: 5}, entries: normals}
      wide: {dims: {n: 7, m: 11}, entries: normals}
    checks:
      - {id: narrow, kind: values, cases: [narrow], points: 1, atol: 1.0e-5}
      - {id: wide, kind: values, cases: [wide], points: 1, atol: 1.0e-5}
    limits: {wall_s: 8, case_s: 1, memory_mb: 256}
"""


@pytest.fixture(scope="module")
def row_sums(problem_of):
    return problem_of(PROBLEM, "row-sums")


def in_words(run, language="en"):
    """The one sentence that all checks of a file that cannot be loaded share."""
    assert {check.outcome for check in run.checks} == {Outcome.LOAD_ERROR}
    (told,) = {sentence(check.finding, language) for check in run.checks}
    return told


# Encodings

TEXT = """# 每一行之和
import numpy as np

def row_sums(x):
    '''求和'''
    名称 = np.asarray(x)  # 中文变量名
    return 名称.sum(axis=-1)
"""

READ = {
    "utf-8": TEXT.encode(),
    "byte order mark": codecs.BOM_UTF8 + TEXT.encode(),
    "windows": codecs.BOM_UTF8 + TEXT.replace("\n", "\r\n").encode(),
    "old mac": TEXT.replace("\n", "\r").encode(),
    "tabs": TEXT.replace("    ", "\t").encode(),
    "form feed": TEXT.replace("def", "\f\ndef").encode(),
    "no line end": TEXT.rstrip("\n").encode(),
    "gbk stated": b"# -*- coding: gbk -*-\n" + TEXT.encode("gbk"),
    "gb18030 stated below": b"#!/usr/bin/env python\n# coding=gb18030\n" + TEXT.encode("gb18030"),
    "big5 stated": b"# coding: big5\n" + TEXT.replace("变", "變").replace("为", "為")
    .replace("称", "稱").encode("big5"),
    "latin-1 stated": b"# coding: latin-1\n# \xe9t\xe9\n" + TEXT.split("\n", 5)[3].encode()
    + b"\n    return x.sum(-1)\n",
}  # fmt: skip


@pytest.mark.parametrize("encoding", READ)
def test_a_file_is_read_as_python_reads_it(encoding, row_sums, graded):
    assert graded(row_sums, READ[encoding]).score == 2


UNREAD = {
    "gbk": (TEXT.encode("gbk"), "UTF-8", 1),
    "gbk from line 5 on": (TEXT.split("\n", 1)[1].encode("gbk"), "UTF-8", 4),
    "gbk in a comment": ("x = 1\n# 注释\ndef row_sums(x): return x.sum(-1)\n".encode("gbk"),
                         "UTF-8", 2),
    "gbk stated as utf-8": (b"# coding: utf-8\n" + TEXT.encode("gbk"), "utf-8", 2),
    "utf-8 stated as gbk": (b"# coding: gbk\n" + "x = '每一行'\n".encode(), "gbk", 2),
    "gbk in old mac lines": (TEXT.replace("\n", "\r").encode("gbk"), "UTF-8", 1),
    "utf-16": (TEXT.encode("utf-16"), "UTF-8", 1),
    "utf-16 of the other order": (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "UTF-8", 1),
    "utf-16 without a mark": ("x = 1\n".encode("utf-16-le"), "UTF-8", 1),
    "nul": (b"x = 1\ny = 2\0\n", "UTF-8", 2),
    "half a character": (TEXT.encode()[:-1] + b"# \xe4\xb8", "UTF-8", 7),
}  # fmt: skip


@pytest.mark.parametrize("encoding", UNREAD)
def test_a_file_in_another_encoding_is_to_be_saved_as_utf_8(encoding, row_sums, graded):
    data, stated, line = UNREAD[encoding]
    run = graded(row_sums, data)
    assert in_words(run) == (
        f"your file could not be loaded: it is not text in {stated} (work.py, line {line}); "
        "save it as UTF-8, and state no other encoding in it"
    )
    assert f"它不是 {stated} 编码的文本（work.py 第 {line} 行）" in in_words(run, "zh")


def test_a_file_beside_the_first_is_named_before_anything_runs(row_sums, sandbox):
    files = {"work.py": b"from other import row_sums\n", "other.py": TEXT.encode("gbk")}
    run = grade(row_sums, read_files(row_sums, files), sandbox, seed=1)
    assert "(other.py, line 1)" in in_words(run)


@pytest.mark.parametrize("name", ["klingon", "hex", "undefined"])
def test_an_encoding_that_python_does_not_know_is_named(name, row_sums, graded):
    told = in_words(graded(row_sums, f"# coding: {name}\nx = 'é'\n".encode()))
    assert told.startswith("your file could not be loaded: SyntaxError: ")


# Characters

SIGNS = [
    ("def row_sums(x，y=0):\n    return x", "，", "U+FF0C", 1, ","),
    ("def row_sums（x):\n    return x", "（", "U+FF08", 1, "("),
    ("def row_sums(x）:\n    return x", "）", "U+FF09", 1, ")"),
    ("def row_sums(x)：\n    return x", "：", "U+FF1A", 1, ":"),
    ("def row_sums(x):\n    return x。sum(-1)", "。", "U+3002", 2, "."),
    ("def row_sums(x):\n    return x[【0】]", "【", "U+3010", 2, "["),
    ("def row_sums(x):\n    print(“rows”)", "“", "U+201C", 2, '"'),
    ("def row_sums(x):\n    print(‘rows’)", "‘", "U+2018", 2, "'"),
    ("def row_sums(x):\n    return x.sum(−1)", "−", "U+2212", 2, "-"),
    ("def row_sums(x):\n    return x × 2", "×", "U+00D7", 2, "*"),
    ("def row_sums(x):\n    return x ≤ 2", "≤", "U+2264", 2, "<="),
    ("def row_sums(x):\n    return x * ２", "２", "U+FF12", 2, "2"),
]


@pytest.mark.parametrize(("code", "sign", "code_point", "line", "meant"), SIGNS)
def test_a_sign_typed_by_mistake_is_named_with_the_one_to_type(
    code, sign, code_point, line, meant, row_sums, graded
):
    run = graded(row_sums, code.encode())
    assert in_words(run) == (
        f"your file could not be loaded: {sign} ({code_point}) cannot stand in Python code "
        f"(work.py, line {line}); type {meant} instead"
    )
    assert in_words(run, "zh").endswith(f"；请用半角的 {meant} 代替")


def test_a_sign_that_means_nothing_is_named_alone(row_sums, graded):
    told = in_words(graded(row_sums, "def row_sums(x): return x ☃ 2".encode()))
    assert told.endswith("☃ (U+2603) cannot stand in Python code (work.py, line 1)")


@pytest.mark.parametrize(
    ("code", "code_point"),
    [
        ("def row_sums(x):\n    return\u200b x", "U+200B"),
        ("def row_sums(x):\n\u00a0   return x", "U+00A0"),
        ("def row_sums(x):\n\u3000\u3000return x", "U+3000"),
        ("def row_sums(x):\n    return x\u202e", "U+202E"),
    ],
)
def test_an_invisible_character_is_told_by_its_number_and_line(code, code_point, row_sums, graded):
    told = in_words(graded(row_sums, code.encode()))
    assert f"an invisible character ({code_point}) stands in the code (work.py, line 2)" in told
    assert told.isascii()


@pytest.mark.parametrize(
    "code",
    [
        "def row_sums(x):\n    总和 = x.sum(-1)  # （注释），“引号”\n    return 总和",
        "def row_sums(ｘ):\n    return x.sum(-1)",  # full-width letters are the same names
        "def 行和(x): return x.sum(-1)\nrow_sums = 行和",
        "def row_sums(x):\n    print('，（）：“”', f'{x.shape}：\u200b')\n    return x.sum(-1)",
    ],
)
def test_chinese_is_welcome_in_names_comments_and_texts(code, row_sums, graded):
    assert graded(row_sums, code.encode()).score == 2


def test_mixed_tabs_and_spaces_are_told_with_their_line(row_sums, graded):
    run = graded(row_sums, b"def row_sums(x):\n        s = x.sum(-1)\n\treturn s\n")
    assert in_words(run) == (
        "your file could not be loaded: tabs and spaces are mixed in front of a line "
        "(work.py, line 3); use spaces alone"
    )
    assert in_words(run, "zh").endswith("行首混用了 tab 与空格（work.py 第 3 行）；请只用空格")


# What runs when the file is loaded

LOADED = {
    "main guard": """
        def row_sums(x):
            return x.sum(-1)

        if __name__ == "__main__":
            n = int(input("rows: "))
            print(row_sums(n))
    """,
    "optional package": """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            plt = None

        def row_sums(x):
            return x.sum(-1)
    """,
    "defined twice": """
        def row_sums(x):
            raise NotImplementedError("first try")

        def row_sums(x):
            return x.sum(-1)
    """,
    "example at the end": """
        import numpy as np

        def row_sums(x):
            return x.sum(-1)

        print(row_sums(np.ones((2, 3))))
        assert row_sums(np.ones((2, 3))).tolist() == [3, 3]
    """,
    "warnings as errors": """
        import warnings
        import numpy as np
        warnings.simplefilter("error")

        def row_sums(x):
            return np.einsum("ij->i", x)
    """,
    "torch defaults": """
        import torch
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(0)

        def row_sums(x):
            return torch.tensor(x).sum(-1)
    """,
}


@pytest.mark.parametrize("habit", LOADED)
def test_what_stands_around_the_function_does_no_harm(habit, row_sums, graded):
    assert graded(row_sums, LOADED[habit]).score == 2


def test_a_package_that_is_not_installed_is_named_beside_those_that_are(row_sums, graded):
    code = "import numpy as np\nimport matplotlib.pyplot as plt\n\ndef row_sums(x): ...\n"
    run = graded(row_sums, code)
    assert in_words(run) == (
        "your file could not be loaded: ModuleNotFoundError: No module named 'matplotlib' "
        "(work.py, line 2); numpy and torch are installed here, and files of your own must be "
        "sent along"
    )


# Forms of a function

FORMS = {
    "lambda": "row_sums = lambda x: x.sum(-1)",
    "partial": """
        import functools
        import numpy as np
        row_sums = functools.partial(np.sum, axis=-1)
    """,
    "partial with the first argument": """
        import functools
        def scaled(scale, x):
            return scale * x.sum(-1)
        row_sums = functools.partial(scaled, 1.0)
    """,
    "callable object": """
        class Sums:
            def __call__(self, x):
                return x.sum(-1)
        row_sums = Sums()
    """,
    "bound method": """
        class Model:
            axis = -1
            def sums(self, x):
                return x.sum(self.axis)
        row_sums = Model().sums
    """,
    "static method": """
        class Model:
            @staticmethod
            def sums(x):
                return x.sum(-1)
        row_sums = Model.sums
    """,
    "decorated": """
        import functools
        def logged(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                print(f.__name__)
                return f(*args, **kwargs)
            return inner

        @logged
        def row_sums(x):
            return x.sum(-1)
    """,
    "cached by identity": """
        known = {}
        def row_sums(x):
            return known.setdefault(id(x), x.sum(-1))
    """,
    "ufunc method": "import numpy\ndef row_sums(x): return numpy.add.reduce(x, axis=-1)",
    "module": """
        import torch
        class Sums(torch.nn.Module):
            def forward(self, x):
                return torch.as_tensor(x).sum(-1)
        row_sums = Sums()
    """,
    "other name": "def row_sums(matrix_of_numbers): return matrix_of_numbers.sum(-1)",
    "more parameters with defaults": "def row_sums(x, axis=-1, *, keep=False): return x.sum(axis)",
    "star": "def row_sums(*args): return args[0].sum(-1)",
    "stars": "def row_sums(x, *args, **kwargs): return x.sum(-1)",
    "nested functions": """
        def row_sums(x):
            def one(row):
                return sum(row)
            return [one(row) for row in x]
    """,
    "annotated": """
        from __future__ import annotations
        def row_sums(x: Matrix) -> Vector:
            return x.sum(-1)
    """,
}


@pytest.mark.parametrize("form", FORMS)
def test_whatever_can_be_called_is_called(form, row_sums, graded):
    assert graded(row_sums, FORMS[form]).score == 2


@pytest.mark.parametrize(
    ("code", "outcome", "words"),
    [
        (
            "class row_sums:\n    def __init__(self, x): self.s = x.sum(-1)",
            "wrong_type",
            "the function returned row_sums, expected arrays or numbers",
        ),
        ("class row_sums: pass", "raised", "TypeError: row_sums() takes no arguments"),
        ("row_sums = 7", "raised", "TypeError: 'int' object is not callable"),
        (
            "def row_sums(*, x): return x.sum(-1)",
            "raised",
            "takes 0 positional arguments but 1 was given",
        ),
        (
            "def row_sums(x, axis): return x.sum(axis)",
            "raised",
            "missing 1 required positional argument: 'axis'",
        ),
        ("async def row_sums(x): return x.sum(-1)", "wrong_type", "returned coroutine"),
        ("def row_sums(x): yield x.sum(-1)", "wrong_type", "the function returned generator"),
        ("def row_sums(x): print(x.sum(-1))", "wrong_type", "the function returned NoneType"),
        ("def Row_Sums(x): return x.sum(-1)", "not_defined", "your file does not define row_sums"),
    ],
)
def test_what_is_no_such_function_is_told_in_one_sentence(code, outcome, words, row_sums, graded):
    run = graded(row_sums, code)
    assert {check.outcome for check in run.checks} == {outcome}
    assert words in sentence(run.checks[0].finding, "en")


# Forms of a result

RESULTS = [
    "x.sum(-1)",
    "x.sum(-1).tolist()",
    "tuple(x.sum(-1).tolist())",
    "tuple(x.sum(-1))",
    "[row.sum() for row in x]",
    "[np.float32(row.sum()) for row in x]",
    "(x.sum(-1),)",
    "[x.sum(-1)]",
    "{'s': x.sum(-1)}",
    "x.sum(-1).astype(np.float32)",
    "np.asfortranarray(x).sum(-1)",
    "np.matrix(x).sum(-1).A1",
    "np.ma.masked_array(x).sum(-1)",
    "x.sum(-1)[::-1][::-1]",
    "torch.tensor(x).sum(-1)",
    "torch.tensor(x, requires_grad=True).sum(-1)",
    "torch.tensor(x, dtype=torch.float32, device='cpu').sum(-1)",
    "torch.nn.Parameter(torch.tensor(x).sum(-1))",
    "list(torch.tensor(x).sum(-1))",
    "{'s': torch.tensor(x).sum(-1), 'unasked': x}",
]


@pytest.mark.parametrize("result", RESULTS)
def test_right_numbers_count_in_every_usual_container(result, row_sums, graded):
    code = f"import numpy as np\nimport torch\n\ndef row_sums(x):\n    return {result}\n"
    assert graded(row_sums, code).score == 2


SINGLE = {
    "{}": ["x.sum(), x.size", "(x.sum(),)"],
    "{shape: [m]}": ["tuple(x.sum(0))", "(x.sum(0), x.mean(0))", "(x.sum(0), 3.0)"],
    "{shape: [n, m]}": ["tuple(x)", "[torch.tensor(row) for row in x]", "x, x", "(x, x[0])"],
}
"""By what is asked for: what the function returns."""


@pytest.mark.parametrize(
    ("asked", "result"), [(asked, result) for asked, forms in SINGLE.items() for result in forms]
)
def test_a_tuple_is_one_array_only_where_its_members_are_too_small_to_be_it(
    asked, result, problem_of, graded
):
    text = PROBLEM.replace("s: {shape: [n]}", f"s: {asked}")
    right = {"{}": "x.sum()", "{shape: [m]}": "x.sum(axis=0)", "{shape: [n, m]}": "x"}[asked]
    text = text.replace("x.sum(axis=-1)", right)
    code = f"import torch\n\ndef row_sums(x):\n    return {result}\n"
    assert graded(problem_of(text, "row-sums"), code).score == 2


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("torch.tensor(x.sum(-1)).to_sparse()", "Tensor of layout torch.sparse_coo"),
        ("torch.tensor(x.sum(-1)).to('meta')", "on meta"),
        ("map(sum, x)", "the function returned map"),
        ("str(x.sum(-1))", "the function returned str"),
        ("np.array(x.sum(-1), dtype=object)", "ndarray of dtype object"),
    ],
)
def test_what_holds_no_plain_numbers_is_named(result, words, row_sums, graded):
    code = f"import numpy as np\nimport torch\n\ndef row_sums(x):\n    return {result}\n"
    run = graded(row_sums, code)
    assert {check.outcome for check in run.checks} == {Outcome.WRONG_TYPE}
    assert words in sentence(run.checks[0].finding, "en")


# What ends one case alone


@pytest.mark.parametrize(
    ("statement", "outcome", "words"),
    [
        ("sys.exit()", "crashed", "the process ended without an answer (exit code 0)"),
        ("quit()", "crashed", "the process ended without an answer"),
        ("input('rows: ')", "raised", "EOFError: EOF when reading a line (work.py, line 5)"),
        ("while True: pass", "timed_out", "the time limit of 1 s was reached"),
        (
            "raise ValueError('七列')",
            "raised",
            "七列 (work.py, line 5), given x [7, 11]",
        ),
        ("1 / 0", "raised", "ZeroDivisionError"),
        ("return deep(0)", "raised", "RecursionError: maximum recursion depth exceeded"),
        ("return np.ones(1 << 30)", "out_of_memory", "the memory limit of 256 MB was reached"),
        ("return torch.ones(1 << 30)", "out_of_memory", "the memory limit of 256 MB was reached"),
        ("open('rows.txt')", "raised", "FileNotFoundError"),
        ("import pandas", "raised", "No module named 'pandas'"),
    ],
)
def test_what_goes_wrong_in_one_case_costs_that_case(
    statement, outcome, words, row_sums, graded, outcomes
):
    code = (
        "import sys, torch\nimport numpy as np\ndef deep(n): return deep(n + 1)\ndef row_sums(x):\n"
        f"    if len(x) == 7: {statement}\n"
        if not statement.startswith("while")
        else "def row_sums(x):\n    while len(x) == 7: pass\n"
    )
    run = graded(row_sums, code + "    return x.sum(-1)\n")
    assert outcomes(run) == {"narrow": "passed", "wide": outcome}
    assert words in sentence(run.checks[1].finding, "en")


# Prints


def test_what_is_printed_is_shown_and_cut_at_64_kb(row_sums, graded):
    code = """
        def row_sums(x):
            for _ in range(100):
                print("行" * 1000)
            return x.sum(-1)
    """
    run = graded(row_sums, code)
    assert run.score == 2
    assert run.printed.endswith("\n[output cut at 64 kB]\n")
    assert 63_000 < len(run.printed.encode()) < 64_100
    assert "\ufffd" not in run.printed


def test_a_short_print_is_shown_whole_and_in_order(row_sums, graded):
    code = """
        import sys
        print("loaded")
        def row_sums(x):
            print("形状", x.shape)
            print("to stderr", file=sys.stderr)
            return x.sum(-1)
    """
    lines = ["形状 (3, 5)", "to stderr", "形状 (7, 11)", "to stderr"]
    assert graded(row_sums, code).printed.splitlines() == ["loaded", *lines]
