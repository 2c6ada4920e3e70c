"""A report as text of at most 80 columns, for terminals and ``Accept: text/plain``."""

import unicodedata
from collections.abc import Iterator

from app.domain.report import CheckReport, Report
from app.domain.words import LANGUAGES, Language, outcome_word

COLUMNS = 80

CLOSING = "，。、；：！？）》」』】"
"""No line begins with these."""
OPENING = "（《「『【"
"""No line ends with these."""

LABELS = {
    "hidden": ("hidden check", "隐藏检查"),
    "means": ("What this looks like", "看起来是"),
    "note": ("Note", "提示"),
    "remarks": ("When your files were loaded", "加载文件时的说明"),
    "printed": ("Printed by your code", "你的代码打印的内容"),
}


def report_text(report: Report, language: Language) -> str:
    """The whole report; the first line is ``PROBLEM SCORE/MAX STATUS``."""
    return "\n".join(_lines(report, language)) + "\n"


def points_text(points: float | None) -> str:
    """Points without needless digits: 2, 2.5, and - for none yet."""
    return "-" if points is None else f"{points:.4g}"


def _lines(report: Report, language: Language) -> Iterator[str]:
    score = f"{points_text(report.score)}/{points_text(report.max_score)}"
    colon = "：" if language == "zh" else ": "
    yield f"{report.problem} {score} {report.status}"
    yield ""
    widest = max((_width(check.id) for check in report.checks), default=0)
    told = ""
    for check in report.checks:
        yield from _check(check, widest, language)
        if check.message and check.message != told:  # a load error is the same in all of them
            yield from _wrapped(printable(check.message), indent="      ")
        told = check.message or told
    for misconception in report.misconceptions:
        yield ""
        checks = ", ".join(misconception.checks)
        shown = _in_brackets(checks, language)
        yield from _wrapped(f"{_label('means', language)}{shown}{colon}{misconception.id}")
        yield from _wrapped(misconception.feedback, indent="  ")
    for warning in report.warnings:
        yield ""
        yield from _wrapped(f"{_label('note', language)}{colon}{warning}")
    if report.remarks:
        yield ""
        yield f"{_label('remarks', language)}{colon}".rstrip()
        for remark in report.remarks:
            yield from _wrapped(f"  {printable(remark.message)}", indent="    ", first="")
    if report.stdout:
        yield ""
        yield f"{_label('printed', language)}{colon}".rstrip()
        for line in report.stdout.splitlines():
            yield from _wrapped("  | " + printable(line), indent="  | ", first="")


def _check(check: CheckReport, widest: int, language: Language) -> Iterator[str]:
    mark = "+" if check.points == check.max_points else "-"
    padding = " " * (widest - _width(check.id))
    points = f"{points_text(check.points):>4}/{points_text(check.max_points):<4}"
    line = f"  {mark} {check.id}{padding} {points} {outcome_word(check.outcome, language)}"
    line += _in_brackets(_label("hidden", language), language) if check.hidden else ""
    yield from _wrapped(line, indent="      ", first="")


def _in_brackets(text: str, language: Language) -> str:
    return f"（{text}）" if language == "zh" else f" ({text})"


def _label(name: str, language: Language) -> str:
    return LABELS[name][LANGUAGES.index(language)]


def printable(text: str) -> str:
    """``text`` without what a terminal would obey or what could reorder it: control characters,
    bidirectional marks and lone surrogates stand as escapes."""
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character == "\t":
        return "    "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return character.encode("unicode_escape").decode()
    return character


def _width(text: str) -> int:
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _may_part(before: str, after: str) -> bool:
    """Whether a line may end between two characters."""
    if after in CLOSING or before in OPENING:
        return False
    return before == " " or _columns(before) == 2 or _columns(after) == 2


def _wrapped(text: str, indent: str = "", first: str | None = None) -> Iterator[str]:
    """Lines of at most 80 columns; breaks at spaces, and anywhere in text that has none."""
    line = indent if first is None else first
    for word in _words(text):
        if _width(line) + _width(word.rstrip()) > COLUMNS:
            if line.strip():
                yield line.rstrip()
            line = indent + word.lstrip()
        else:
            line += word
    if line.strip():
        yield line.rstrip()


def _words(text: str) -> Iterator[str]:
    """Pieces that may stand on one line: words with the space after them, wide characters alone,
    each with the mark that closes it."""
    piece = ""
    for character in text:
        long = len(piece) >= 60 or _width(piece) >= 60
        if piece and (long or _may_part(piece[-1], character)):
            yield piece
            piece = ""
        piece += character
    if piece:
        yield piece
