"""A model that reads tokens: later ones must not matter, whatever they are replaced by."""

import pytest

MODEL = """
    id: tiny
    kind: code
    title: {en: Tiny model, zh: 小模型}
    section: "3.6"
    source: written for the tests
    points: 2
    statement: {en: Predict., zh: 预测。}
    entry: forward
    parameters:
      tokens: {shape: [..., T], dtype: int64, below: V}
      table: {shape: [V, D]}
    returns: {logits: {shape: [..., T, D]}}
    starter: "def forward(tokens, table): ..."
    solution: |
      import numpy as np

      def forward(tokens, table):
          return np.cumsum(table[tokens], axis=-2)
    cases:
      one: {dims: {T: 5, V: 7, D: 3}}
      batch: {leading: [2], dims: {T: 3, V: 5, D: 2}}
    checks:
      - {id: values, kind: values, cases: [one, batch], points: 1}
      - {id: leak, kind: no_leak, vary: [tokens], by: causality, replacements: [1, -1],
         cases: [one, batch], points: 1}
    accepted:
      - id: running_sum
        code: |
          import numpy as np

          def forward(tokens, table):
              x = table[tokens]
              return np.add.accumulate(x, axis=-2)
      - id: in_float64
        changes: {"x = table[tokens]": "x = table[tokens].astype(float)"}
    misconceptions:
      - id: whole_sum
        caught_by: leak
        feedback: {en: Only the past., zh: 只看过去。}
        changes: {"np.add.accumulate(x, axis=-2)": "x.sum(axis=-2, keepdims=True) + 0 * x"}
"""


@pytest.fixture(scope="module")
def tiny(problem_of):
    return problem_of(MODEL, "tiny")


def found(run):
    return {result.id: result for result in run.checks}


def test_a_variant_is_the_first_accepted_code_with_its_changes(tiny):
    first, second = tiny.accepted
    assert second.code == first.code.replace("x = table[tokens]", "x = table[tokens].astype(float)")
    assert "x.sum(axis=-2, keepdims=True) + 0 * x" in tiny.misconceptions[0].code
    assert "accumulate" not in tiny.misconceptions[0].code


def test_right_code_does_not_leak(tiny, graded):
    for variant in tiny.accepted:
        assert {r.outcome for r in graded(tiny, variant.code).checks} == {"passed"}


def test_a_later_token_that_matters_is_a_leak_and_is_named(tiny, graded):
    results = found(graded(tiny, tiny.misconceptions[0].code))
    leak = results["leak"]
    assert (leak.outcome, leak.misconception) == ("wrong", "whole_sum")
    assert leak.finding.key == "leak"


def test_a_leak_of_one_sample_is_seen_beside_one_that_does_not_leak(tiny, graded):
    code = """
        import numpy as np

        def forward(tokens, table):
            x = np.cumsum(table[tokens], axis=-2)
            if x.ndim == 3:
                x[1, 0] += table[tokens[1, 1]]
            return x
    """
    leak = found(graded(tiny, code))["leak"]
    assert leak.outcome == "wrong"
    assert (leak.finding.facts["case"], leak.finding.facts["index"][:2]) == ("batch", [1, 0])
