"""Every sentence of a report can be said in both languages with the facts that grading gives."""

import re
from dataclasses import replace

import pytest

from app.domain.outcome import Outcome
from app.domain.report import report_of
from app.domain.report_text import report_text
from app.domain.run import Finding
from app.domain.submission import Submission
from app.domain.words import LANGUAGES, OUTCOMES, SENTENCES, outcome_word, sentence
from app.grading.grade import grade, grade_without_code

SDPA = "import numpy as np\ndef scaled_dot_product_attention(q, k, v, mask=None):\n    "
MASKED = "import numpy as np\ndef masked_attention(Q, K, V, visible):\n    "
SUM = "import os, sys\nimport numpy as np\ndef f(x):\n    "

SUBMISSIONS = {
    "sdpa": [
        f"{SDPA}return np.zeros(3) > 0",
        f"{SDPA}q += 1; return np.random.default_rng().normal(size=q.shape), 1",
    ],
    "masked": [
        f"{MASKED}A = np.ones((len(Q), len(K))) + K.sum(); return A, A @ V",
        f"{MASKED}S = np.where(visible, Q @ K.T / np.sqrt(Q.shape[-1]), -1e9)\n    "
        "e = np.exp(S - S.max(-1, keepdims=True)); A = e / e.sum(-1, keepdims=True)\n    "
        "return np.float32(A), np.float32(A @ V)",
    ],
    "sums": [
        f"{SUM}return x",
        f"{SUM}return x * np.nan",
        f"{SUM}return x[0]",
        f"{SUM}return np.full((2, 3), 1 / 3, np.float32)",
        f"{SUM}return ()",
        f"{SUM}return x > 0",
        f"{SUM}return 'text'",
        f"{SUM}raise ValueError('{{braces}} %s')",
        f"{SUM}raise KeyError",
        f"{SUM}while True: pass",
        f"{SUM}os._exit(3)",
        f"{SUM}os.abort()",
        f"{SUM}sys.exit(3)",
        f"{SUM}return (1.0,) * 200",
        f"{SUM}raise MemoryError",
        "def other(): pass",
        "def f(:",
        "import sys; sys.exit()",
        "import os; os._exit(1)",
        "import matplotlib",
        "def f(x)：",
        "def f(x) -> ☃:",
        "def f(x):\u200b",
        "if 1:\n        x = 1\n\ty = 2",
        "x = 1\0",
        "",
    ],
}


@pytest.fixture(scope="module")
def findings(masked, sdpa, sheet, shapes, problem_of, graded, sandbox):
    """Real findings of every kind, by key."""
    problems = {"sdpa": sdpa, "masked": masked, "sums": problem_of(SUMS, "sums")}
    runs = [graded(problems[p], code, seed=3) for p, codes in SUBMISSIONS.items() for code in codes]
    answers = [
        (sheet, {"A": [[1, 0], [0, 1]], "unchanged_row": 1}),
        (sheet, {"A": [[float("nan"), 0], [0, 1]], "Z": [[1, 2]]}),
        (shapes, {"WQ": [24, 24, 1], "Q": [2, 5, 3, 8], "A": "[B, H, T, d]"}),
        (problem_of(FORMULA, "formula"), {"flops": "B*T", "axis": "queries", "right": True}),
    ]
    runs += [grade_without_code(p, Submission(answers=raw), 1) for p, raw in answers]
    runs.append(
        graded(problem_of(YES_OR_NO, "yes-or-no"), "def is_even(n): return str(n % 2 == 0)")
    )
    elsewhere = replace(problems["sums"], file="sums.py")
    runs.append(graded(elsewhere, "def f(x): return x"))
    pair = Submission(answers={"a": 5, "b": 7})
    essay = problem_of(ESSAY, "essay")
    runs.append(grade_without_code(essay, Submission(answers={}), 1))
    runs.append(grade(problem_of(PAIR, "pair"), pair, sandbox, 1))
    found = {}
    for run in runs:
        for check in run.checks:
            if check.finding:
                found.setdefault(check.finding.key, []).append(check.finding)
    return found


FORMULA = """
    id: formula
    kind: answer
    title: {en: Formula, zh: 公式}
    section: "3.8"
    source: written for the tests
    points: 3
    statement: {en: Say., zh: 说。}
    fields:
      flops: {type: expression, names: [B, T]}
      axis: {type: choice, choices: [keys, queries]}
      right: {type: boolean}
    solution: {flops: 2*B*T, axis: keys, right: false}
    checks:
      - {id: flops, kind: values, of: [flops], points: 1}
      - {id: axis, kind: values, of: [axis], points: 1}
      - {id: right, kind: values, of: [right], points: 1}
"""

ESSAY = """
    id: essay
    kind: text
    title: {en: Essay, zh: 文章}
    section: "3.1"
    source: written for the tests
    points: 1
    statement: {en: Write., zh: 写。}
    max_chars: 100
    rubric: [{id: clear, points: 1, says: {en: It is clear., zh: 清楚。}}]
"""

YES_OR_NO = """
    id: yes-or-no
    kind: code
    title: {en: Yes or no, zh: 是否}
    section: "3.1"
    source: written for the tests
    points: 1
    statement: {en: Say., zh: 说。}
    entry: is_even
    parameters: {n: {dtype: int64}}
    returns: {even: {dtype: bool}}
    starter: "def is_even(n): ..."
    solution: "def is_even(n): return n % 2 == 0"
    cases: {three: {n: 3}}
    checks:
      - {id: even, kind: values, cases: [three], points: 1}
"""

PAIR = """
    id: pair
    kind: answer
    title: {en: Pair, zh: 一对}
    section: "3.1"
    source: written for the tests
    points: 1
    statement: {en: Give., zh: 写。}
    fields: {a: {type: integer}, b: {type: integer}}
    solution: {a: 3, b: 3}
    checks:
      - id: equal
        kind: property
        points: 1
        says: {en: both are the same, zh: 两者相等}
        holds: "def holds(a, b): return a == b"
"""

SUMS = """
    id: sums
    kind: code
    title: {en: Sums, zh: 和}
    section: "3.1"
    source: written for the tests
    points: 4
    statement: {en: Rows., zh: 行。}
    entry: f
    parameters: {x: {shape: [n, m]}}
    returns: {A: {shape: [n, m]}}
    starter: "def f(x): ..."
    solution: "def f(x): return x * 0 + 1 / x.shape[1]"
    cases: {a: {x: [[1, 2, 3], [5, 7, 11]]}}
    checks:
      - {id: sums, kind: row_sums, cases: [a], points: 1}
      - {id: late, kind: values, cases: [a], points: 1, requires: [sums]}
      - {id: own, kind: static, forbid_imports: [sys], points: 1}
      - {id: same, kind: invariant, change: {x: add_row_constants}, cases: [a], points: 1}
    limits: {wall_s: 5, case_s: 1}
"""

NOT_OF_GRADING = {"errored"}


def test_every_sentence_is_said_by_a_real_finding(findings):
    assert set(findings) == set(SENTENCES) - NOT_OF_GRADING


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_finding_makes_one_whole_sentence(findings, language):
    for finding in (finding for group in findings.values() for finding in group):
        for show in (False, True):
            text = sentence(finding, language, show_expected=show)
            assert text
            assert text == text.strip(" ：:")
            assert "None" not in text.replace("NoneType", "")
            assert not re.search(r"\{(?!braces)", text), text


def test_every_sentence_exists_in_chinese_and_differs_from_the_english_one():
    for key, (english, chinese) in SENTENCES.items():
        fields = [set(re.findall(r"{(\w+)}", text)) for text in (english, chinese)]
        assert fields[0] == fields[1], key
        if key != "raised":
            assert re.search("[\u4e00-\u9fff]", chinese), key


def test_every_outcome_has_a_word_in_both_languages():
    assert set(OUTCOMES) == set(Outcome)
    for outcome in Outcome:
        assert outcome_word(outcome, "en") != outcome_word(outcome, "zh")


def test_what_is_expected_is_told_only_where_it_may_be(findings):
    for key in ("value", "single_precision", "axis", "axes", "formula", "choice"):
        finding = findings[key][0]
        assert "expected" not in sentence(finding, "en")
        assert "expected" in sentence(finding, "en", show_expected=True)
    hidden = findings["hidden_weight"][0]
    assert sentence(hidden, "en") == sentence(hidden, "en", show_expected=True)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("axes", "WQ is [24, 24, 1]: 3 is not the right number of axes; expected [24, 24]"),
        ("formula", "flops is B*T, which is not right; expected 2*B*T"),
        ("choice", "axis is queries, which is not right; expected keys"),
        ("row_sum", "case a: row A[0] sums to 6, expected 1"),
        ("not_run", "not judged, since this did not pass: sums"),
        ("no_answer", "there is no answer for Z"),
        ("no_file", "no file is called sums.py; you sent work.py"),
        ("not_true_or_false", "case three: the function returned str, expected True or False"),
    ],
)
def test_sentences_read_like_this(findings, key, told):
    assert told in [sentence(f, "en", show_expected=True) for f in findings[key]]


def value(got, expected, wrong=1, total=6, index=(1, 2)):
    facts = {"case": "a", "name": "A", "index": list(index), "got": got, "expected": expected}
    return Finding(key="value", facts={**facts, "wrong": wrong, "total": total})


@pytest.mark.parametrize(
    ("got", "expected", "english", "chinese"),
    [
        (0.25, 0.5, "A[1, 2] is 0.25; 1 of 6 entries of A is wrong; expected 0.5", "；应为 0.5"),
        (
            0.99999998,
            1.0,
            "A[1, 2] is 0.99999998; 1 of 6 entries of A is wrong; expected 1",
            "A[1, 2] 为 0.99999998；A 的 6 个元素中有 1 个不对；应为 1",
        ),
        (0.1 + 0.2, 0.3, "A[1, 2] is 0.30000000000000004; 1 of 6", "；应为 0.29999999999999999"),
        (-0.25, -0.0, "A[1, 2] is -0.25; 1 of 6 entries of A is wrong; expected 0", "；应为 0"),
        (-0.0, 1e-7, "A[1, 2] is 0; 1 of 6 entries of A is wrong; expected 1e-07", "为 0；"),
        ("nan", 1.0, "A[1, 2] is nan; ", "为 nan；"),
    ],
)
def test_numbers_have_as_many_digits_as_tell_them_apart_and_zero_has_no_sign(
    got, expected, english, chinese
):
    finding = value(got, expected)
    assert english in sentence(finding, "en", show_expected=True)
    assert chinese in sentence(finding, "zh", show_expected=True)


def test_of_one_number_there_is_nothing_to_count():
    scalar = value(3.0, 5.0, total=1, index=())
    assert (
        sentence(scalar, "en", show_expected=True)
        == "case a: A is 3, which is not right; expected 5"
    )
    assert sentence(scalar, "zh", show_expected=True) == "用例 a：A 为 3，不对；应为 5"
    endless = replace(scalar, key="not_finite", facts={**scalar.facts, "got": "inf"})
    assert sentence(endless, "en") == "case a: A is inf, which is not right"
    assert sentence(endless, "zh") == "用例 a：A 为 inf，不对"


def test_what_is_right_but_for_the_width_of_float32_is_told_so(findings):
    values = sentence(findings["single_precision"][0], "en")
    begins = "A is float32, and this problem compares in float64: compute in float64; A[1, 0] is "
    assert values.startswith(f"case assignment1: {begins}")
    sums = sentence(findings["single_precision_sum"][0], "en")
    assert sums == (
        "case a: A is float32, and this problem compares in float64: compute in float64; "
        "row A[0] sums to 1.00000003, expected 1"
    )
    assert "float32" not in sentence(findings["row_sum"][0], "en")
    assert not any("float32" in sentence(f, "en") for f in findings["value"])


def test_a_property_that_an_answer_lacks_is_said_in_the_words_of_the_problem(problem_of, sandbox):
    for text, english, chinese in (
        (PAIR, ": both are the same", "：两者相等"),
        (PAIR.replace("says: {en: both are the same, zh: 两者相等}", ""), "", ""),
    ):
        problem = problem_of(text, "pair")
        run = grade(problem, Submission(answers={"a": 5, "b": 7}), sandbox, 1)
        told = [
            report_of(problem, "v", run, language=language, viewer="student").checks[0].message
            for language in LANGUAGES
        ]
        assert told == [
            f"what was asked for is not true of a, b{english}",
            f"a, b 不具有题目要求的性质{chinese}",
        ]


def test_hidden_cases_leave_no_trace_in_what_a_student_reads(masked, graded):
    code = f"{MASKED}print(Q)\n    raise ValueError(str(Q.tolist()) + str(visible.tolist()))\n"
    run = graded(masked, code, seed=11)
    student = report_of(masked, "v", run, language="en", viewer="student")
    shown = report_text(student, "en") + student.model_dump_json()
    for result in run.checks:
        if result.id in ("random", "zero", "leak"):
            case = result.finding.facts["case"]
            assert f"case {case}" not in shown
            if not case.startswith("causal"):
                assert result.finding.facts["detail"][:40] not in shown
    assert "case assignment1: ValueError: [[2.0, 1.0], [1.0, 2.0]]" in shown
