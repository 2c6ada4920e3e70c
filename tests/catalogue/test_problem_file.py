"""What is wrong with a problem file is told as file:line:column, with what was probably meant."""

import os
from pathlib import Path

import pytest

from app.catalogue.problem_file import ProblemVersion, read_problem
from app.domain.axes import can_differ
from app.domain.problem import AnswerProblem, CodeProblem, Draw
from app.errors import Place, ProblemFileError

CODE = """\
id: scale
kind: code
title: {en: Scale, zh: 缩放}
section: "3.2"
source: slide 7
points: 5
statement: {en: Divide., zh: 除。}
entry: scale
parameters:
  scores: {shape: [T_q, T_k]}
  visible: {shape: [T_q, T_k], dtype: bool, optional: true}
  d_k: {dtype: int64}
returns: {scaled: {shape: [T_q, T_k]}}
starter: |
  def scale(scores, visible, d_k):
      ...
solution: |
  def scale(scores, visible, d_k):
      return scores / d_k ** 0.5
cases:
  fixed: {scores: [[1, 2, 3], [4, 5, 7]], d_k: 4}
  random:
    {count: 3, dims: {T_q: [2, 5], T_k: 7}, distinct_dims: true, d_k: integers, visible: causal}
checks:
  - {id: fixed, kind: values, cases: [fixed], points: 2, atol: 1.0e-9}
  - {id: random, kind: values, of: [scaled], cases: [random], points: 3, requires: [fixed]}
accepted:
  - id: by_power
    except: [random]
    code: |
      def scale(s, v, d):
          return s * d ** -0.5
misconceptions:
  - id: no_root
    caught_by: fixed
    passes: [random]
    feedback: {en: Take the root., zh: 要开方。}
    code: |
      def scale(s, v, d):
          return s / d
limits: {wall_s: 5, case_s: 1, memory_mb: 256}
"""

ANSWER = """\
id: sheet
kind: answer
title: {en: Sheet, zh: 答卷}
section: "3.4"
source: slide 7
points: 5
statement: {en: Fill in., zh: 填写。}
fields:
  A: {type: matrix, shape: [1, 2]}
  row: {type: integer}
solution: {A: [[1, 0.5]], row: 2}
checks:
  - {id: A, kind: values, of: ["A[0]"], points: 3}
  - {id: row, kind: values, of: [row], points: 2}
misconceptions:
  - {id: other_row, caught_by: row, feedback: {en: No., zh: 不。}, answers: {row: 1}}
"""


def read(text: str | bytes, name: str = "scale.yaml") -> ProblemVersion:
    return read_problem(Path("course") / name, text.encode() if isinstance(text, str) else text)


def places(text: str | bytes, name: str = "scale.yaml") -> list[Place]:
    with pytest.raises(ProblemFileError) as refusal:
        read(text, name)
    assert str(refusal.value) == "\n".join(map(str, refusal.value.places))
    return refusal.value.places


def edited(old: str, new: str, text: str = CODE) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the file"
    return text.replace(old, new)


def position(text: str, needle: str) -> tuple[int, int]:
    """Line and column of a piece of text that stands there once."""
    assert text.count(needle) == 1, f"{needle!r} stands {text.count(needle)} times in the file"
    before = text[: text.index(needle)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def test_a_right_file_becomes_a_frozen_problem_with_the_hash_of_its_bytes():
    version = read(CODE)
    problem = version.problem
    assert isinstance(problem, CodeProblem)
    assert list(problem.parameters) == ["scores", "visible", "d_k"]
    assert problem.cases["random"].arguments == {"d_k": "integers", "visible": "causal"}
    assert problem.accepted[0].excused == ("random",)
    assert version.version == f"sha256:{version.sha256}"
    assert len(version.sha256) == 64
    assert read(CODE + "# more\n").sha256 != version.sha256
    assert isinstance(read(ANSWER, "sheet.yaml").problem, AnswerProblem)


def test_an_argument_can_be_drawn_with_sizes_of_its_own():
    version = read(edited("visible: causal}", "visible: {draw: random, sizes: {T_q: 1}}}"))
    assert isinstance(version.problem, CodeProblem)
    drawn = version.problem.cases["random"].arguments["visible"]
    assert drawn == Draw(draw="random", sizes={"T_q": 1})


MEANT = [
    ("entry: scale\n", "enty: scale\n", "enty", "unknown key `enty`; did you mean `entry`?"),
    ("atol: 1.0", "atoll: 1.0", "atoll", "unknown key `atoll`; did you mean `atol`?"),
    ("dtype: bool", "dtyp: bool", "dtyp:", "unknown key `dtyp`; did you mean `dtype`?"),
    ("distinct_dims", "distinct", "distinct:", "`distinct`; did you mean `distinct_dims`?"),
    ("except: [", "excused: [", "excused", "unknown key `excused`; did you mean `except`?"),
    ("wall_s: 5", "wal_s: 5", "wal_s", "unknown key `wal_s`; did you mean `wall_s`?"),
    ("zh: 缩放", "cn: 缩放", "cn:", "unknown key `cn`; expected one of en, zh"),
    ("cases: [fixed]", "cases: [fixt]", "fixt]", "no case is called `fixt`; did you mean `fixed`?"),
    (
        "caught_by: fixed",
        "caught_by: fix",
        "fix\n",
        "no check is called `fix`; did you mean `fixed`?",
    ),
    (
        "passes: [random]",
        "passes: [rndm]",
        "rndm",
        "no check is called `rndm`; did you mean `random`?",
    ),
    (
        "except: [random]",
        "except: [rand]",
        "rand]",
        "no check is called `rand`; did you mean `random`?",
    ),
    (
        "requires: [fixed]",
        "requires: [random]",
        "random]}\nacc",
        "no earlier check is called `random`",
    ),
    (
        "of: [scaled]",
        "of: [scale]",
        "scale],",
        "no result is called `scale`; did you mean `scaled`?",
    ),
    ("of: [scaled]", 'of: ["scaled[a]"]', '"scaled[a]"', "expected a name such as A, or A[0, 1]"),
    (
        "visible: causal",
        "visible: casual",
        "casual",
        "masks is called `casual`; did you mean `causal`?",
    ),
    ("visible: causal", "visible: zeros", "zeros", "no generator for masks is called `zeros`"),
    ("d_k: integers", "d_k: causal", "causal, v", "no generator for numbers is called `causal`"),
    ("visible: causal", "visibel: causal", "visibel", "called `visibel`; did you mean `visible`?"),
    ("T_k: 7}", "T_v: 7}", "T_v", "no axis is called `T_v`; did you mean `T_q`?"),
    (
        "causal}",
        "{draw: random, leadin: [2]}}",
        "leadin",
        "unknown key `leadin`; did you mean `leading`?",
    ),
    ("causal}", "{draw: random, sizes: {T: 2}}}", "T: 2", "no axis is called `T`"),
    ("causal}", "{draw: randm}}", "randm", "no generator for masks is called `randm`"),
    ("kind: values, of", "kind: value, of", "value, of", "kind is 'value'; did you mean `values`?"),
    ("kind: code", "kind: coed", "coed", "kind is 'coed'; did you mean `code`?"),
]


@pytest.mark.parametrize(("old", "new", "needle", "message"), MEANT)
def test_an_unknown_word_is_told_with_its_place_and_what_was_meant(old, new, needle, message):
    text = edited(old, new)
    place = {(place.line, place.column): place for place in places(text)}[position(text, needle)]
    assert message in place.message
    assert str(place) == f"course/scale.yaml:{place.line}:{place.column}: {place.message}"


CONTRADICTIONS = [
    ("points: 5\n", "points: 6\n", "6\nst", "points is 6, but the checks add up to 5"),
    ("points: 2, atol", "points: 2.5, atol", "5\nst", "points is 5, but the checks add up to 5.5"),
    ("points: 5\n", "points: .inf\n", ".inf", "points is inf"),
    ("points: 5\n", "points: five\n", "five", "points is 'five'"),
    ("1.0e-9", "-1", "-1}", "atol is -1"),
    ("1.0e-9", ".nan", ".nan", "expected a finite number from 0"),
    ("1.0e-9", ".inf", ".inf", "expected a finite number from 0"),
    (
        "id: random,",
        "id: fixed,",
        "fixed, kind: values, of",
        "the id `fixed` stands in checks twice",
    ),
    ("id: no_root", "id: no root", "no root", "expected up to 48 letters, digits, '-' and '_'"),
    ("entry: scale\n", "entry: 2scale\n", "2scale", "expected the name of a function"),
    ("count: 3", "count: 0", "0, dims", "count is 0; expected 1 to 1000"),
    ("T_q: [2, 5]", "T_q: [5, 2]", "[5, 2]", "T_q is [5, 2]; expected sizes from 1, lowest first"),
    ("T_q: [2, 5]", "T_q: [2, 3, 5]", "[2, 3, 5]", "T_q is [2, 3, 5]"),
    (
        "T_q: [2, 5]",
        "T_q: 7",
        "true, d_k: integers",
        "no pairwise different sizes in T_k 7 to 7, T_q 7 to 7",
    ),
    ("T_q: [2, 5]", "T_q: [2, 10000000]", "{count", "at most 10000000 are drawn"),
    ("7]], d_k", "7.5], [1]], d_k", "[[1, 2, 3]", "expected numbers in lists of equal length"),
    ("7]], d_k", "x]], d_k", "[[1, 2, 3]", "expected numbers in lists of equal length"),
    ("7]], d_k", ".nan]], d_k", "[[1, 2, 3]", "a fixed value is NaN, infinite or too large"),
    ("7]], d_k", "-.inf]], d_k", "[[1, 2, 3]", "a fixed value is NaN, infinite or too large"),
    ("7]], d_k", f"{10**400}]], d_k", "[[1, 2, 3]", "a fixed value is NaN, infinite or too large"),
    (
        "[[1, 2, 3], [4, 5, 7]]",
        "[1, 2, 3]",
        "[1, 2, 3]",
        "scores has shape [3]; expected the axes [T_q, T_k]",
    ),
    ("d_k: 4}", "d_k: [4]}", "[4]", "d_k has shape [1]; expected the axes []"),
    (
        "d_k: 4}",
        "d_k: 4, visible: [[true], [false]]}",
        "[[true]",
        "T_k has size 1 in visible, but 3 in scores",
    ),
    (
        "d_k: 4}",
        "d_k: 4, dims: {T_q: [3, 5]}}",
        "[[1, 2, 3]",
        "T_q has size 2 in scores, but 3 in `dims`",
    ),
    (
        "{shape: [T_q, T_k]}\n  v",
        "{shape: [T_q, ...]}\n  v",
        "[T_q, ...]",
        "leading axes (...) stand first",
    ),
    ('"3.2"', "3.2", "3.2", "section is 3.2; expected a text: put it in quotes"),
    ("wall_s: 5", "wall_s: 0", "0, case_s", "wall_s is 0; expected more than 0"),
    ("memory_mb: 256", "memory_mb: 10000000", "10000000", "at most 16384"),
    (
        "    return s / d\n",
        "    return (s / d\n",
        "code: |\n      def scale(s, v, d):\n          return (",
        "not Python in its line 2",
    ),
    (
        "  def scale(scores, visible, d_k):\n      ...",
        "  def scale(:",
        "starter",
        "this is not Python",
    ),
    ("...\n", "x = " + "-" * 100_000 + "1\n", "starter", "not Python: it is nested too deeply"),
    ("...\n", "x" + ".x" * 60_000 + "\n", "starter", "not Python: maximum recursion depth"),
    ("entry: scale", "entry: class", "class", "entry is 'class'; expected the name of a function"),
    ("scores / d_k ** 0.5", "scores / ", "solution", "this is not Python in its line 2"),
    (
        "kind: values, of",
        "kind: zeros, of",
        "{id: random",
        "needs `by`, the name of the mask parameter",
    ),
    ("kind: values, of", "kind: zeros, by: mask, of", "mask,", "no parameter is called `mask`"),
    ("cases: [fixed], ", "", "{id: fixed", "the check `fixed` names no cases"),
    (
        "kind: values, of",
        "kind: no_leak, by: visible, vary: [scores], replacements: [1, 2], of",
        "[1, 2],",
        "of both signs",
    ),
    (
        "kind: values, of",
        "kind: no_leak, by: visible, vary: [scores], replacements: [-1, .nan], of",
        "[-1, .nan]",
        "0·NaN is NaN",
    ),
]


@pytest.mark.parametrize(("old", "new", "needle", "message"), CONTRADICTIONS)
def test_a_file_that_contradicts_itself_is_refused_at_the_place(old, new, needle, message):
    text = edited(old, new)
    found = places(text)
    assert message in found[0].message
    assert (found[0].line, found[0].column) == position(text, needle)


@pytest.mark.parametrize(
    ("old", "new", "needle", "message"),
    [
        ("{A: [[1, 0.5]], row: 2}", "{A: [[1, 0.5]]}", "{A: [[1", "no value for the field `row`"),
        ("{A: [[1, 0.5]], row: 2}", "{A: [[1, 0.5]], row: two}", "two", "field row"),
        ("{A: [[1, 0.5]], row: 2}", "text", "text", "`reference.module:function`"),
        ("answers: {row: 1}", "answers: {roe: 1}", "roe", "`roe`; did you mean `row`?"),
        ("answers: {row: 1}", "answers: {row: 1.5}", "1.5", "not a whole number"),
        ("answers: {row: 1}", "code: x = 1", "{id: other_row", "expected `answers` alone"),
        ("type: integer", "type: integr", "integr", "did you mean `integer`?"),
        ("of: [row]", "of: [row], cases: [a]", "[a]", "a problem of kind answer has no cases"),
    ],
)
def test_an_answer_problem_that_contradicts_itself_is_refused(old, new, needle, message):
    text = edited(old, new, ANSWER)
    found = places(text, "sheet.yaml")
    assert message in found[0].message
    assert (found[0].line, found[0].column) == position(text, needle)


@pytest.mark.parametrize("key", ["source: slide 7\n", 'section: "3.2"\n', "kind: code\n"])
def test_a_missing_key_is_named(key):
    (place,) = places(edited(key, ""))
    assert (place.line, place.column) == (1, 1)
    assert f"the key `{key.partition(':')[0]}` is missing" in place.message


def test_infinite_points_are_refused_even_where_they_add_up():
    text = edited("points: 5\n", "points: .inf\n", edited("points: 3,", "points: .inf,"))
    assert [place.message for place in places(text)] == [
        "points is inf, but the checks add up to inf"
    ]


def test_every_finding_is_told_in_the_order_of_the_file():
    text = edited("caught_by: fixed", "caught_by: fix", edited("count: 3", "count: 0"))
    assert [place.line for place in places(text)] == [23, 35]


def test_the_id_is_the_name_of_the_file():
    (place,) = places(CODE, "other.yaml")
    assert (place.line, place.column) == (1, 5)
    assert place.message == "id is `scale` but the file is named `other.yaml`"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected a problem: a mapping of keys"),
        ("\n# nothing\n", 1, 1, "expected a problem: a mapping of keys"),
        ("- a\n- b\n", 1, 1, "expected a problem: a mapping of keys"),
        ("word", 1, 1, "expected a problem: a mapping of keys"),
        (b"id: a\n# \xe9\n", 2, 1, "the file is not UTF-8 text; save it as UTF-8"),
        (b"\xff\xfei\0d\0", 1, 1, "the file is not UTF-8 text; save it as UTF-8"),
        ("id: a\nb: \x07\n", 2, 1, "the character '\\x07' is not allowed in YAML"),
        ("id: a\nb: \0\n", 2, 1, "the character '\\x00' is not allowed in YAML"),
        ("id: a\nid: b\n", 2, 1, "the key `id` stands here twice"),
        ("a: {b: 1, b: 2}\n", 1, 11, "the key `b` stands here twice"),
        ("a: &x 1\n", 1, 4, "anchors and aliases (& and *) are not allowed"),
        ("a: &x [1]\nb: *x\n", 1, 4, "anchors and aliases (& and *) are not allowed"),
        ("a: *x\n", 1, 4, "anchors and aliases (& and *) are not allowed"),
        ("<<: {kind: code}\n", 1, 1, "merge keys (<<) are not allowed"),
        ("a: !!python/name:os.system x\n", 1, 4, "the tag tag:yaml.org,2002:python/name:os.system"),
        ("a: !mine {b: 1}\n", 1, 4, "the tag !mine is not allowed"),
        ("a: [1, 2\nb: 3\n", 2, 2, "this is not YAML"),
        ("a:\n\tb: 1\n", 2, 1, "any token, a tab; indent with spaces"),
        ("a: So: no\n", 1, 6, "; a text that holds a colon stands in quotes or below `|`"),
        ("a: 1\n---\nb: 2\n", 2, 1, "this is not YAML"),
        ("a: " + "[" * 100 + "]" * 100, 1, 41, "nested deeper than 40 levels"),
        ("a: " + "[" * 100_000, 1, 41, "nested deeper than 40 levels"),
        ("a: 1\n" + "#" * 256 * 1024, 1, 1, "the file has more than 262144 bytes"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_place(text, line, column, message):
    (place,) = places(text)
    assert (place.line, place.column) == (line, column)
    assert message in place.message


def test_a_byte_order_mark_and_windows_line_ends_are_read():
    assert read(b"\xef\xbb\xbf" + CODE.replace("\n", "\r\n").encode()).problem.id == "scale"


NO_FILES = {"folder": Path.mkdir, "device": lambda p: p.symlink_to("/dev/null"), "pipe": os.mkfifo}


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_file_is_not_waited_for(name, tmp_path):
    path = tmp_path / f"{name}.yaml"
    NO_FILES[name](path)
    with pytest.raises(ProblemFileError, match=rf"{name}\.yaml:1:1: this is no plain file"):
        read_problem(path)


def test_a_file_that_cannot_be_read_is_told_by_name(tmp_path):
    with pytest.raises(ProblemFileError, match=r"gone\.yaml:1:1: the file cannot be read: No such"):
        read_problem(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    ("ranges", "possible"),
    [
        ({}, True),
        ({"a": (2, 2)}, True),
        ({"a": (2, 3), "b": (2, 3)}, True),
        ({"a": (2, 3), "b": (2, 3), "c": (2, 3)}, False),
        ({"a": (1, 5), "b": (2, 2), "c": (1, 2), "d": (3, 3)}, True),
        ({"a": (1, 3), "b": (2, 2), "c": (1, 2), "d": (3, 3)}, False),
        ({"a": (1, 3), "b": (2, 3), "c": (2, 3)}, True),
    ],
)
def test_whether_sizes_can_differ_is_decided_exactly(ranges, possible):
    assert can_differ(ranges) is possible
