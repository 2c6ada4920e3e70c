"""Every sentence that a report says, in English and Simplified Chinese.

A finding's key picks a template and its facts fill it. Facts can hold a student's own text; who
shows a sentence escapes it for where it is shown.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from app.domain.outcome import Outcome
from app.domain.run import Finding, Json, Remark

Language = Literal["en", "zh"]

LANGUAGES: tuple[Language, ...] = ("en", "zh")

OUTCOMES: dict[Outcome, tuple[str, str]] = {
    Outcome.PASSED: ("passed", "通过"),
    Outcome.WRONG: ("wrong", "数值错误"),
    Outcome.WRONG_SHAPE: ("wrong shape", "形状错误"),
    Outcome.WRONG_DTYPE: ("wrong dtype", "数据类型错误"),
    Outcome.WRONG_TYPE: ("wrong type", "返回类型错误"),
    Outcome.NOT_FINITE: ("not finite", "含 NaN 或无穷"),
    Outcome.RAISED: ("raised", "抛出异常"),
    Outcome.TIMED_OUT: ("timed out", "超时"),
    Outcome.OUT_OF_MEMORY: ("out of memory", "内存不足"),
    Outcome.OUTPUT_TOO_LARGE: ("output too large", "输出过大"),
    Outcome.CRASHED: ("crashed", "进程中断"),
    Outcome.NOT_DEFINED: ("not defined", "未定义"),
    Outcome.LOAD_ERROR: ("load error", "无法加载"),
    Outcome.FORBIDDEN: ("forbidden", "不允许"),
    Outcome.NOT_RUN: ("not run", "未运行"),
    Outcome.PENDING: ("pending", "待人工评分"),
}

SENTENCES: dict[str, tuple[str, str]] = {
    "value": (
        "{in_case}{entry_name} is {got}{how_many}",
        "{in_case}{entry_name} 为 {got}{how_many}",
    ),
    "not_finite": (
        "{in_case}{entry_name} is {got}{how_many}",
        "{in_case}{entry_name} 为 {got}{how_many}",
    ),
    "single_precision": (
        "{in_case}{name} is float32, and this problem compares in float64: compute in float64; "
        "{entry_name} is {got}",
        "{in_case}{name} 是 float32，而本题按 float64 比较：请用 float64 计算；"
        "{entry_name} 为 {got}",
    ),
    "single_precision_sum": (
        "{in_case}{name} is float32, and this problem compares in float64: compute in float64; "
        "row {entry_name} sums to {got}, expected {expected}",
        "{in_case}{name} 是 float32，而本题按 float64 比较：请用 float64 计算；第 {entry_name} 行"
        "之和为 {got}，应为 {expected}",
    ),
    "shape": (
        "{in_case}{name} has shape {got}, expected {expected}",
        "{in_case}{name} 的形状为 {got}，应为 {expected}",
    ),
    "dtype": (
        "{in_case}{name} holds {got} numbers, expected {expected}",
        "{in_case}{name} 的元素类型为 {got}，应为 {expected}",
    ),
    "missing_result": (
        "{in_case}{name} is missing: the function returned {count} result(s), expected ({listed})",
        "{in_case}缺少 {name}：函数返回了 {count} 个结果，应返回 ({listed})",
    ),
    "hidden_weight": (
        "{in_case}{entry_name} is {got}, but belongs to a hidden key: it must be exactly 0",
        "{in_case}{entry_name} 为 {got}，但它属于已被屏蔽的 key，应恰为 0",
    ),
    "row_sum": (
        "{in_case}row {entry_name} sums to {got}, expected {expected}",
        "{in_case}第 {entry_name} 行之和为 {got}，应为 {expected}",
    ),
    "leak": (
        "{in_case}{entry_name} went from {before} to {after} when keys that query {row} must "
        "not see were replaced by {replacement}",
        "{in_case}把 query {row} 不可见的 key 换成 {replacement} 后，{entry_name} 从 {before} "
        "变成 {after}",
    ),
    "not_invariant": (
        "{in_case}{entry_name} went from {before} to {after} when {listed} changed in a way that "
        "must not matter to it",
        "{in_case}{listed} 做了不应有影响的改动，{entry_name} 却从 {before} 变成 {after}",
    ),
    "property": (
        "what was asked for is not true of {listed}{in_words}",
        "{listed} 不具有题目要求的性质{in_words}",
    ),
    "changed_input": (
        "{in_case}the function changed its argument {name}; work on a copy",
        "{in_case}函数修改了传入的 {name}；请在副本上计算",
    ),
    "not_repeatable": (
        "{in_case}the same call gave another {name} the second time",
        "{in_case}同样的调用第二次得到的 {name} 不同",
    ),
    "raised": ("{in_case}{error}{at_line}{given}", "{in_case}{error}{at_line}{given}"),
    "timed_out": (
        "{in_case}the time limit of {limit} was reached",
        "{in_case}超过时间限制 {limit}",
    ),
    "out_of_memory": (
        "{in_case}the memory limit of {limit} was reached{at_line}",
        "{in_case}超过内存限制 {limit}{at_line}",
    ),
    "output_too_large": (
        "{in_case}the result is larger than {limit}",
        "{in_case}返回结果超过 {limit}",
    ),
    "crashed": (
        "{in_case}the process ended without an answer{how}",
        "{in_case}进程未给出结果就结束了{how}",
    ),
    "no_file": (
        "no file is called {file}; you sent {listed}",
        "没有名为 {file} 的文件；你提交了 {listed}",
    ),
    "not_defined": ("your file does not define {entry}", "你的文件没有定义 {entry}"),
    "load_error": (
        "your file could not be loaded: {error}{at_line}{how}",
        "你的文件无法加载：{error}{at_line}{how}",
    ),
    "exits": (
        'your file calls sys.exit() when it is loaded{at_line}; below if __name__ == "__main__" '
        "it would not run here",
        '你的文件在加载时调用了 sys.exit(){at_line}；放在 if __name__ == "__main__" 之下则不会运行',
    ),
    "not_text": (
        "your file could not be loaded: it is not text in {detail}{at_line}; save it as UTF-8, and "
        "state no other encoding in it",
        "你的文件无法加载：它不是 {detail} 编码的文本{at_line}；请另存为 UTF-8，且不要在文件中"
        "声明其他编码",
    ),
    "tabs": (
        "your file could not be loaded: tabs and spaces are mixed in front of a line{at_line}; use "
        "spaces alone",
        "你的文件无法加载：行首混用了 tab 与空格{at_line}；请只用空格",
    ),
    "character": (
        "your file could not be loaded: {character} ({code}) cannot stand in Python code{at_line}"
        "{instead}",
        "你的文件无法加载：Python 代码中不能出现 {character}（{code}）{at_line}{instead}",
    ),
    "invisible_character": (
        "your file could not be loaded: an invisible character ({code}) stands in the code"
        "{at_line}; delete it, or type that line anew",
        "你的文件无法加载：代码中有一个不可见字符（{code}）{at_line}；请删除它，或重新输入这一行",
    ),
    "not_installed": (
        "your file could not be loaded: {error}{at_line}; numpy and torch are installed here, and "
        "files of your own must be sent along",
        "你的文件无法加载：{error}{at_line}；此处安装了 numpy 与 torch，自己的其他文件要一并提交",
    ),
    "empty": ("{file} is empty", "{file} 是空文件"),
    "wrong_type": (
        "{in_case}the function returned {detail}, expected arrays or numbers",
        "{in_case}函数返回了 {detail}，应返回数组或数字",
    ),
    "not_true_or_false": (
        "{in_case}the function returned {detail}, expected True or False",
        "{in_case}函数返回了 {detail}，应返回 True 或 False",
    ),
    "forbidden": ("{name} is not allowed here{at_line}", "此处不允许使用 {name}{at_line}"),
    "errored": (
        "grading failed by our fault and costs no attempt{how}",
        "评分因我们的故障而失败，不计入提交次数{how}",
    ),
    "not_run": (
        "not judged, since this did not pass: {listed}",
        "未评判，因为以下检查未通过：{listed}",
    ),
    "no_text": ("there is no text", "没有填写文字"),
    "no_answer": ("there is no answer for {name}", "没有填写 {name}"),
    "axis": (
        "{name} is {got}: axis {axis} (counted from 0) is wrong",
        "{name} 为 {got}：第 {axis} 轴（从 0 数起）不对",
    ),
    "axes": (
        "{name} is {got}: {got_count} is not the right number of axes",
        "{name} 为 {got}：轴的个数不应为 {got_count}",
    ),
    "formula": ("{name} is {got}, which is not right", "{name} 为 {got}，不对"),
    "choice": ("{name} is {got}, which is not right", "{name} 为 {got}，不对"),
}

REMARKS: dict[str, tuple[str, str]] = {
    "left_out": (
        "{place}: {text} is a command of Jupyter and was left out",
        "{place}：{text} 是 Jupyter 命令，已略过",
    ),
    "cell_left_out": (
        "{place}: the cell of {text} is not Python and was left out",
        "{place}：{text} 单元格不是 Python 代码，已略过",
    ),
    "statement_failed": (
        "{place}: this statement failed and was skipped: {text}",
        "{place}：此语句出错，已跳过：{text}",
    ),
    "cell_failed": (
        "{place}: this cell is not Python and was skipped: {text}",
        "{place}：此单元格不是有效的 Python，已跳过：{text}",
    ),
    "only_tagged": (
        "{place}: only the cells tagged “grade” were run",
        "{place}：只运行了带 “grade” 标签的单元格",
    ),
    "more": ("there are {text} more remarks like these", "另有 {text} 条类似的说明"),
}

DIGITS = 6
"""Of a number in a sentence, where no more are needed."""
FULL_DIGITS = 17
"""These tell any two float64 apart."""
COMPARED = (("got", "expected"), ("before", "after"))
"""Facts that a reader compares."""

EXPECTED = ("; expected {expected}", "；应为 {expected}")
NAMES_EXPECTED = frozenset({"shape", "dtype", "row_sum", "single_precision_sum", "hidden_weight"})
"""Sentences that name what was expected by themselves: it gives no answer away."""


def outcome_word(outcome: Outcome, language: Language) -> str:
    """The outcome in words."""
    return OUTCOMES[outcome][LANGUAGES.index(language)]


def sentence(finding: Finding, language: Language, *, show_expected: bool = False) -> str:
    """The finding as one sentence; with the expected value only where ``show_expected``."""
    which = LANGUAGES.index(language)
    template = SENTENCES[finding.key][which]
    if show_expected and "expected" in finding.facts and finding.key not in NAMES_EXPECTED:
        template += EXPECTED[which]
    return template.format_map(_Facts(finding.facts, which))


def remark_sentence(remark: Remark, language: Language) -> str:
    """The remark as one sentence that begins with its place."""
    which = LANGUAGES.index(language)
    place = _place(remark.file, remark.cell, remark.line)[which]
    return REMARKS[remark.kind][which].format(place=place, text=remark.text)


class _Facts(dict[str, str]):
    """The facts as text, with the phrases that are built from several of them."""

    def __init__(self, facts: Mapping[str, Json], which: int) -> None:
        super().__init__({name: _text(value) for name, value in facts.items()})
        for pair in COMPARED:
            if all(name in facts for name in pair):
                self.update(zip(pair, _told_apart(*(facts[name] for name in pair)), strict=True))
        self.facts = facts
        self.which = which

    def __missing__(self, phrase: str) -> str:
        return PHRASES[phrase](self.facts)[self.which]


def _in_case(facts: Mapping[str, Json]) -> tuple[str, str]:
    case = facts.get("case")
    return (f"case {case}: ", f"用例 {case}：") if case else ("", "")


def _entry_name(facts: Mapping[str, Json]) -> tuple[str, str]:
    index = facts.get("index") or []
    name = str(facts["name"])
    if isinstance(index, list) and index:
        name += f"[{', '.join(str(step) for step in index)}]"
    return name, name


def _how_many(facts: Mapping[str, Json]) -> tuple[str, str]:
    """How many entries are wrong; of one alone there is nothing to count."""
    name, wrong, total = facts["name"], facts["wrong"], facts["total"]
    if total == 1:
        return ", which is not right", "，不对"
    are = "is" if wrong == 1 else "are"
    return (
        f"; {wrong} of {total} entries of {name} {are} wrong",
        f"；{name} 的 {total} 个元素中有 {wrong} 个不对",
    )


def _at_line(facts: Mapping[str, Json]) -> tuple[str, str]:
    if facts.get("in_given"):
        return " (in the problem's own code, which calls yours)", "（在题目调用你的代码的程序中）"
    if not facts.get("line"):
        return "", ""
    english, chinese = _place(facts["file"], facts.get("cell"), facts["line"])
    return f" ({english})", f"（{chinese}）"


def _place(file: Json, cell: Json, line: Json) -> tuple[str, str]:
    english, chinese = [f"{file}"], [f"{file} "]
    if cell:
        english.append(f"cell {cell}")
        chinese.append(f"第 {cell} 个单元格")
    if line:
        english.append(f"line {line}")
        chinese.append(f"第 {line} 行")
    return ", ".join(filter(None, english)), "".join(chinese).strip()


def _how(facts: Mapping[str, Json]) -> tuple[str, str]:
    if facts.get("signal"):
        return f" (signal {facts['signal']})", f"（信号 {facts['signal']}）"
    if facts.get("exit_code") is not None:
        return f" (exit code {facts['exit_code']})", f"（退出码 {facts['exit_code']}）"
    detail = facts.get("detail")
    return (f" ({detail})", f"（{detail}）") if detail and not facts.get("error_type") else ("", "")


def _given(facts: Mapping[str, Json]) -> tuple[str, str]:
    """The shapes of what the function was given: mostly they are why it raised."""
    shapes = facts.get("shapes")
    if not isinstance(shapes, dict) or not shapes:
        return "", ""
    listed = ", ".join(f"{name} {_text(shape)}" for name, shape in shapes.items())
    return f", given {listed}", f"，输入形状：{listed}"


def _in_words(facts: Mapping[str, Json]) -> tuple[str, str]:
    """The property in the problem's own words, in the language of the reader."""
    says = facts.get("says")
    return (f": {says}", f"：{says}") if says else ("", "")


def _instead(facts: Mapping[str, Json]) -> tuple[str, str]:
    meant = facts.get("meant")
    return (f"; type {meant} instead", f"；请用半角的 {meant} 代替") if meant else ("", "")


def _error(facts: Mapping[str, Json]) -> tuple[str, str]:
    parts = [str(facts[name]) for name in ("error_type", "detail") if facts.get(name)]
    text = ": ".join(parts) or "the process ended"
    return text, "：".join(parts) or "进程结束"


PHRASES: dict[str, Callable[[Mapping[str, Json]], tuple[str, str]]] = {
    "in_case": _in_case,
    "entry_name": _entry_name,
    "how_many": _how_many,
    "at_line": _at_line,
    "how": _how,
    "error": _error,
    "given": _given,
    "instead": _instead,
    "in_words": _in_words,
    "listed": lambda facts: (_listed(facts["names"]),) * 2,
    "got_count": lambda facts: (_length(facts["got"]),) * 2,
}


def _listed(value: Json) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _length(value: Json) -> str:
    return str(len(value)) if isinstance(value, list) else "1"


def _text(value: Json) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return _digits(value, DIGITS)
    if isinstance(value, list):
        return f"[{', '.join(_text(member) for member in value)}]"
    return str(value)


def _digits(value: float, digits: int) -> str:
    return f"{value + 0.0:.{digits}g}"  # adding 0 takes the sign of -0.0


def _told_apart(a: Json, b: Json) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart: "1" beside "1" says nothing."""
    texts = _text(a), _text(b)
    if not (isinstance(a, float) and isinstance(b, float)) or a == b:
        return texts
    several = ((_digits(a, n), _digits(b, n)) for n in range(DIGITS, FULL_DIGITS + 1))
    return next((pair for pair in several if pair[0] != pair[1]), texts)
