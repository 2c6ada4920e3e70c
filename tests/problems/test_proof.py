"""A proof turns red as soon as a problem stops refusing wrong work or accepting right work."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest
import torch

from app.catalogue.problem_file import read_problem
from app.grading.proof import Proof
from app.grading.prove import prove
from app.sandbox.sandbox import Sandbox
from reference.modules import bias as torch_bias

PROBLEM = """\
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
  d_k: {}
returns: {scaled: {shape: [T_q, T_k]}}
starter: |
  def scale(scores, d_k):
      ...
solution: |
  def scale(scores, d_k):
      return scores / d_k ** 0.5
cases:
  one: {scores: [[1, 2, 3], [5, 7, 11]], d_k: 1}
  four: {scores: [[1, 2, 3], [5, 7, 11]], d_k: 4}
  drawn: {dims: {T_q: 2, T_k: 3}, d_k: 9}
checks:
  - {id: one, kind: values, cases: [one], points: 1}
  - {id: four, kind: values, cases: [four, drawn], points: 4, requires: [one]}
accepted:
  - id: by_power
    code: |
      def scale(scores, d_k):
          return scores * d_k ** -0.5
misconceptions:
  - id: no_root
    caught_by: four
    passes: [one]
    max_points: 1
    feedback: {en: Take the root., zh: 要开方。}
    code: |
      def scale(scores, d_k):
          return scores / d_k
  - id: sign
    caught_by: one
    feedback: {en: The sign stays., zh: 符号不变。}
    code: |
      def scale(scores, d_k):
          return -scores / d_k**0.5
"""

Prove = Callable[..., Proof]


@pytest.fixture
def proof(tmp_path: Path, sandbox: Sandbox) -> Prove:
    """The proof of the problem above, after edits of its text."""

    def edited(*edits: tuple[str, str]) -> Proof:
        text = PROBLEM
        for old, new in edits:
            assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the file"
            text = text.replace(old, new)
        path = tmp_path / "scale.yaml"
        path.write_text(text, encoding="utf-8")
        return prove(read_problem(path).problem, sandbox, seeds=1)

    return edited


def test_the_problem_itself_is_proven(proof):
    assert proof().ok


FLAWS = [
    (
        ("scores / d_k\n", "scores / d_k ** 0.5\n"),
        ("misconceptions", 0),
        "`no_root` is not caught by the check `four`: its outcome there is passed",
    ),
    (
        ("caught_by: four", "caught_by: one"),
        ("misconceptions", 0),
        "`no_root` is not caught by the check `one`",
    ),
    (
        ("passes: [one]", "passes: [four]"),
        ("misconceptions", 0),
        "`no_root` is right in the check `four` but fails it",
    ),
    (
        ("max_points: 1", "max_points: 0"),
        ("misconceptions", 0),
        "`no_root` earns 1 points; expected at most 0",
    ),
    (
        ("return scores / d_k\n", "raise ValueError('no')\n"),
        ("misconceptions", 0),
        "but fails it: `one`: raised in case one (no)",
    ),
    (
        ("scores * d_k ** -0.5", "scores * d_k ** -1"),
        ("accepted", 0),
        "`by_power` is right but fails `four`: wrong in case four",
    ),
    (
        ("      ...", "      return scores / d_k ** 0.5"),
        ("starter",),
        "the starter earns 5 points; expected 0",
    ),
]


@pytest.mark.parametrize(("edit", "location", "message"), FLAWS)
def test_a_flaw_is_told_where_it_stands(proof, edit, location, message):
    found = proof(edit)
    assert not found.ok
    assert location in [flaw.location for flaw in found.flaws]
    assert any(message in flaw.message for flaw in found.flaws), found.flaws


def test_a_wrong_answer_that_raises_can_be_known_by_that_outcome(proof):
    raising = ("          return scores / d_k\n", "          return scores / [d_k][int(d_k > 1)]\n")
    assert not proof(raising).ok
    told = ("    max_points: 1\n", "    max_points: 1\n    outcome: raised\n")
    assert proof(raising, told).ok


def test_two_wrong_answers_that_nothing_tells_apart_are_not_proven(proof):
    twin = indent(
        dedent("""\
        - id: no_root_either
          caught_by: four
          feedback: {en: Take the root., zh: 要开方。}
          code: |
            def scale(scores, d_k):
                return scores * (1 / d_k)
        """),
        "  ",
    )
    found = proof(("misconceptions:\n", "misconceptions:\n" + twin))
    assert [flaw.location for flaw in found.flaws] == [("misconceptions", 0), ("misconceptions", 1)]
    assert all("is not recognised as itself: none is named" in f.message for f in found.flaws)


def test_two_that_nothing_tells_apart_are_named_to_the_author(proof):
    twin = "  - id: twin\n    caught_by: four\n    feedback: {en: Take the root., zh: 要开方。}\n"
    twin += "    code: |\n      def scale(scores, d_k):\n          return scores * (1 / d_k)\n"
    messages = [
        flaw.message for flaw in proof(("misconceptions:\n", "misconceptions:\n" + twin)).flaws
    ]
    assert [message.partition("; ")[2] for message in messages] == [
        "no input tells it from `no_root`",
        "no input tells it from `twin`",
    ]


NEAR = [
    (
        "return scores * d_k ** -0.5",
        "return scores * d_k ** -0.5 + 0.5e-9",
        "right answer `by_power`",
    ),
    (
        "return scores / d_k\n",
        "return scores / d_k ** 0.5 + (d_k > 1) * 2e-9\n",
        "wrong answer `no_root`",
    ),
]


@pytest.mark.parametrize(("old", "new", "what"), NEAR)
def test_an_answer_near_a_tolerance_is_a_warning_until_a_note_says_why(proof, old, new, what):
    found = proof((old, new))
    assert found.ok
    assert what in found.warnings[0].message
    assert {warning.location[0] for warning in found.warnings} == {"checks"}
    told = [
        ("points: 1}", "points: 1, tolerance_note: It is so.}"),
        ("requires: [one]}", "requires: [one], tolerance_note: It is so.}"),
    ]
    assert proof((old, new), *told).warnings == ()


def test_answers_far_from_every_tolerance_give_no_warning(proof):
    assert proof().warnings == ()


BIAS = Path(__file__).resolve().parents[2] / "problems/masks/s33-bias-order.yaml"


def test_a_case_in_which_the_two_references_differ_is_a_flaw(sandbox, monkeypatch):
    problem = read_problem(BIAS).problem
    assert prove(problem, sandbox, seeds=1).ok

    def other_order(Q, K, M):
        scores = torch.as_tensor(Q) @ torch.as_tensor(K).T + torch.as_tensor(M)
        return torch.softmax(scores / Q.shape[-1] ** 0.5, dim=-1)

    monkeypatch.setattr(torch_bias, "biased_weights", other_order)
    (flaw,) = prove(problem, sandbox, seeds=1).flaws
    assert flaw.location == ("cases", "assignment1")
    assert "case assignment1: the two references differ in A" in flaw.message


def test_an_axis_that_only_a_left_out_argument_has_may_have_any_size(tmp_path, sandbox):
    text = PROBLEM.replace("(scores, d_k)", "(scores, d_k, past)")
    text = text.replace("  d_k: {}\n", "  d_k: {}\n  past: {shape: [P], optional: true}\n")
    text = text.replace("returns: {scaled: {shape: [T_q,", "returns: {scaled: {shape: [P,")
    path = tmp_path / "scale.yaml"
    path.write_text(text, encoding="utf-8")
    proof = prove(read_problem(path).problem, sandbox, seeds=1)
    assert [flaw.message for flaw in proof.flaws] == []
