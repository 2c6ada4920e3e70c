"""The report for terminals: at most 80 columns, whatever stands in it, and nothing to obey."""

import itertools
import random
import unicodedata

import pytest

from app.domain.outcome import Outcome
from app.domain.report import CheckReport, LimitsReport, MisconceptionReport, Report, Timing
from app.domain.report_text import points_text, printable, report_text
from app.domain.words import LANGUAGES


def check(name="fixed", outcome=Outcome.WRONG, points=0.0, message="", hidden=False, most=2.0):
    return CheckReport(
        id=name, outcome=outcome, points=points, max_points=most, message=message,
        misconception=None, hidden=hidden,
    )  # fmt: skip


def report(*checks, misconceptions=(), warnings=(), stdout="", score=10.0, status="graded"):
    return Report(
        id=None, problem="s33-masked-attention", problem_version="sha256:abc", seed=1,
        status=status, score=score, max_score=10.0, checks=list(checks),
        misconceptions=list(misconceptions), warnings=list(warnings),
        timing=Timing(queued_s=0, sandbox_s=0, total_s=0),
        limits=LimitsReport(wall_s=10, memory_mb=512), stdout=stdout, sandbox_level="full",
    )  # fmt: skip


def columns(line):
    """Columns on a terminal: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in line
    )


def assert_fits(text):
    for line in text.splitlines():
        assert columns(line) <= 80, line
        assert line == line.rstrip()


def test_the_first_line_is_the_problem_the_score_and_the_status():
    assert report_text(report(check()), "en").splitlines()[0] == "s33-masked-attention 10/10 graded"
    waiting = report(score=2.5, status="needs_review")
    assert report_text(waiting, "zh").splitlines()[0] == "s33-masked-attention 2.5/10 needs_review"
    queued = report(score=None, status="queued")
    assert report_text(queued, "en").splitlines()[0] == "s33-masked-attention -/10 queued"


@pytest.mark.parametrize(
    ("points", "text"), [(2.0, "2"), (2.5, "2.5"), (1 / 3, "0.3333"), (0.0, "0"), (None, "-")]
)
def test_points_have_no_needless_digits(points, text):
    assert points_text(points) == text


def test_a_whole_report_reads_like_this():
    shown = report(
        check(
            "fixed", message="case assignment1: A[0, 0] is 0.669762; 1 of 4 entries of A is wrong"
        ),
        check("random", hidden=True, most=3.0),
        check("zero", Outcome.PASSED, points=1.0, most=1.0),
        misconceptions=[
            MisconceptionReport(
                id="mask_after_softmax",
                checks=["fixed", "random"],
                feedback="Zeroing weights after.",
            )
        ],
        warnings=["A note."],
        stdout="(2, 2)\n",
        score=1.0,
    )
    assert report_text(shown, "en") == (
        "s33-masked-attention 1/10 graded\n"
        "\n"
        "  - fixed     0/2    wrong\n"
        "      case assignment1: A[0, 0] is 0.669762; 1 of 4 entries of A is wrong\n"
        "  - random    0/3    wrong (hidden check)\n"
        "  + zero      1/1    passed\n"
        "\n"
        "What this looks like (fixed, random): mask_after_softmax\n"
        "  Zeroing weights after.\n"
        "\n"
        "Note: A note.\n"
        "\n"
        "Printed by your code:\n"
        "  | (2, 2)\n"
    )
    chinese = report_text(shown, "zh").splitlines()
    assert "  - random    0/3    数值错误（隐藏检查）" in chinese
    assert "看起来是（fixed, random）：mask_after_softmax" in chinese
    assert "提示：A note." in chinese
    assert "你的代码打印的内容：" in chinese


def test_a_message_that_all_checks_share_is_told_once():
    same = [check(f"c{n}", Outcome.LOAD_ERROR, message="no such module") for n in range(5)]
    text = report_text(report(*same), "en")
    assert text.count("no such module") == 1
    assert text.count("load error") == 5


def test_a_hidden_check_between_does_not_make_a_shared_message_be_told_again():
    told, hidden = check(message="no such module"), check(hidden=True)
    assert report_text(report(told, hidden, told), "en").count("no such module") == 1


LONG = [
    "word " * 60,
    "x" * 500,
    "注意力的权重在被屏蔽的位置必须恰为零，" * 12,
    "mixed 中文 and English，" * 20,
    "\u0301" * 300,
    "a\u0301" * 200,
    "\U0001f600" * 100,
    "ｆｕｌｌ　ｗｉｄｔｈ　" * 20,
    "\t" * 50 + "x",
    " " * 200 + "x",
    "\x00\x07\x1b" * 60,
    "\ud800" * 60,
    "，" * 200,
    "（" * 200,
    "\u202e\u2066" * 40,
    "",
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_no_line_is_wider_than_80_columns(text, language):
    known = MisconceptionReport(id="m" * 48, checks=["c" * 48, "d" * 48], feedback=text)
    shown = report(
        check("c" * 48, Outcome.OUTPUT_TOO_LARGE, message=text, hidden=True),
        check("d"),
        misconceptions=[known],
        warnings=[text],
        stdout=f"{text}\n{text}",
    )
    assert_fits(report_text(shown, language))


@pytest.mark.parametrize("before", range(30, 42))
def test_in_chinese_no_line_begins_with_a_mark_that_closes_or_ends_with_one_that_opens(before):
    message = "字" * before + "（数）；" * 20 + "应为 1"
    lines = report_text(report(check(message=message)), "zh").splitlines()[3:]
    assert "".join(line.strip() for line in lines) == message
    for line in lines:
        assert line.strip()[0] not in "；）"
        assert line[-1] != "（"


def test_random_text_never_breaks_the_width():
    draw = random.Random(7)
    alphabet = "ab \t\n\r\x1b\u0301中。\u202e\ud800\U0001f600\u2028-=," + "x" * 5
    for _ in range(300):
        text = "".join(draw.choices(alphabet, k=draw.randrange(300)))
        shown = report(check(message=text), warnings=[printable(text)], stdout=text)
        assert_fits(report_text(shown, "en"))


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb", "a\\rb"),
        ("a\nb", "a\\nb"),
        ("\u202eevil\u202c", "\\u202eevil\\u202c"),
        ("\u2066\u2067\u2069\u200e\u061c", "\\u2066\\u2067\\u2069\\u200e\\u061c"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\ud800", "\\ud800"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("\ufeff\u200b", "\\ufeff\\u200b"),
        ("\U000e0041", "\\U000e0041"),
        ("∑ 中文 é 😀", "∑ 中文 é 😀"),
    ],
)  # fmt: skip
def test_what_a_terminal_would_obey_is_escaped_in_messages_and_in_printed_text(hostile, shown):
    assert printable(hostile) == shown
    text = report_text(report(check(message=f"<{hostile}>")), "en")
    assert f"<{shown}>" in text
    printed = report_text(report(check(), stdout="before " + hostile), "en")
    printed.encode()  # no lone surrogate is left
    kept = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    for character in itertools.chain(text, printed):
        assert character == "\n" or unicodedata.category(character) not in kept


def test_printed_lines_cannot_look_like_a_part_of_the_report():
    text = report_text(report(check(), stdout="s33-masked-attention 10/10 graded\n"), "en")
    assert text.splitlines()[-1] == "  | s33-masked-attention 10/10 graded"
    sneaky = report_text(report(check(), stdout="a\x0bs33-masked-attention 10/10 graded"), "en")
    assert not any(line.startswith("s33") for line in sneaky.splitlines()[1:])
