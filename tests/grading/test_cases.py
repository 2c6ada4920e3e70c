"""The inputs of a run: drawn from its seed alone, of the sizes and kinds that the file states."""

import numpy as np
import pytest

from app.grading.cases import GENERATORS, draw_cases

DRAWN = """
    id: drawn
    kind: code
    title: {en: Drawn, zh: 抽取}
    section: "3.1"
    source: written for the tests
    points: 1
    statement: {en: Any., zh: 任意。}
    entry: f
    parameters:
      q: {shape: [..., T_q, d]}
      k: {shape: [..., T_k, d]}
      visible: {shape: [..., T_q, T_k], dtype: bool, optional: true}
      n: {dtype: int64}
    returns: {y: {shape: [..., T_q, T_k]}}
    starter: "def f(q, k, visible, n): ..."
    solution: "def f(q, k, visible, n): return q @ k.swapaxes(-1, -2) * n"
    cases:
CASES
    checks:
      - {id: y, kind: values, cases: [a], points: 1}
"""


@pytest.fixture
def drawn(problem_of):
    """The cases of one set called ``a`` (and of others), for a seed."""

    def cases(text, seed=1, extra=0):
        indented = "\n".join(f"      {line}" for line in text.strip().splitlines())
        return draw_cases(problem_of(DRAWN.replace("CASES", indented), "drawn"), seed, extra)

    return cases


def same(one, other):
    assert [case.name for case in one] == [case.name for case in other]
    for left, right in zip(one, other, strict=True):
        for name, value in left.arguments.items():
            np.testing.assert_array_equal(value, right.arguments[name])


RANDOM = "a: {count: 5, dims: {T_q: [2, 7], T_k: [2, 7], d: [2, 7]}, distinct_dims: true}"


def test_the_same_seed_gives_the_same_cases_and_another_one_others(drawn):
    same(drawn(RANDOM, 7), drawn(RANDOM, 7))
    with pytest.raises(AssertionError):
        same(drawn(RANDOM, 7), drawn(RANDOM, 8))
    with pytest.raises(AssertionError, match=r"a\+1"):
        same(drawn(RANDOM, 7), drawn(RANDOM, 7, extra=1))


def test_another_case_set_changes_no_numbers_of_this_one(drawn):
    before = drawn(RANDOM)
    more = drawn("first: {count: 2}\n" + RANDOM + "\nlast: {entries: normals}")
    same(before, [case for case in more if case.case_set == "a"])
    assert {case.case_set for case in more} == {"first", "a", "last"}


def test_two_sets_that_say_the_same_draw_different_numbers(drawn):
    one, other = drawn("a: {dims: {T_q: 7, T_k: 5, d: 3}}\nb: {dims: {T_q: 7, T_k: 5, d: 3}}")
    assert not np.array_equal(one.arguments["q"], other.arguments["q"])


def test_names_are_unique_and_say_the_set(drawn):
    names = [case.name for case in drawn(RANDOM + "\nb: {}")]
    assert names == ["a[0]", "a[1]", "a[2]", "a[3]", "a[4]", "b"]


def test_distinct_sizes_differ_and_stay_in_range_for_every_seed(drawn):
    for seed in range(50):
        for case in drawn(RANDOM, seed):
            (t_q, d), (t_k, _) = case.arguments["q"].shape, case.arguments["k"].shape
            assert len({t_q, t_k, d}) == 3
            assert {t_q, t_k, d} <= set(range(2, 8))


def test_every_size_in_range_comes_up(drawn):
    sizes = {c.arguments["q"].shape[0] for seed in range(30) for c in drawn(RANDOM, seed)}
    assert sizes == {2, 3, 4, 5, 6, 7}


def test_tight_ranges_still_give_distinct_sizes(drawn):
    tight = "a: {dims: {T_q: [2, 3], T_k: [2, 4], d: 2}, distinct_dims: true}"
    for seed in range(20):
        (case,) = drawn(tight, seed)
        assert (case.arguments["q"].shape, case.arguments["k"].shape) == ((3, 2), (4, 2))


def test_quarters_are_exact_and_small(drawn):
    (case,) = drawn("a: {dims: {T_q: 97, T_k: 5, d: 7}}")
    q = case.arguments["q"]
    assert q.dtype == np.float64
    assert np.array_equal(q * 4, np.round(q * 4))
    assert np.abs(q).max() == 2


def test_fixed_numbers_are_float64_unless_said_otherwise_and_fix_their_axes(drawn):
    (case,) = drawn("a: {q: [[1, 2, 3], [5, 7, 11]], visible: all, n: 13}")
    assert case.arguments["q"].dtype == np.float64
    assert case.arguments["k"].shape[1] == 3
    assert case.arguments["visible"].shape[0] == 2
    assert case.arguments["n"] == 13
    assert type(case.arguments["n"]) is int


def test_a_dtype_of_the_case_is_that_of_its_real_numbers_not_of_masks_and_indices(drawn):
    (case,) = drawn("a: {dtype: float32, visible: random, n: 3}")
    assert type(case.arguments["n"]) is int
    dtypes = [case.arguments[name].dtype for name in ("q", "k", "visible")]
    assert dtypes == [np.float32, np.float32, np.bool_]
    (case,) = drawn("a: {dtype: int64, entries: integers, q: [[1, 2]]}")
    assert case.arguments["q"].dtype == case.arguments["k"].dtype == np.int64


def test_leading_axes_are_those_of_the_case_or_of_the_argument(drawn):
    text = "a: {leading: [3, 2], dims: {T_q: 5, T_k: 7, d: 11}, visible: VISIBLE}"
    (case,) = drawn(text.replace("VISIBLE", "causal"))
    assert case.arguments["q"].shape == (3, 2, 5, 11)
    assert case.arguments["visible"].shape == (3, 2, 5, 7)
    own = "{draw: random_with_one, leading: [3, 1], sizes: {T_q: 1}}"
    (case,) = drawn(text.replace("VISIBLE", own))
    assert case.arguments["visible"].shape == (3, 1, 1, 7)
    (case,) = drawn(text.replace("VISIBLE", "{draw: all, leading: []}"))
    assert case.arguments["visible"].shape == (5, 7)
    (case,) = drawn(text.replace("VISIBLE", "{draw: all}"))
    assert case.arguments["visible"].shape == (3, 2, 5, 7)


def test_what_is_optional_and_not_given_is_none(drawn):
    (case,) = drawn("a: {}")
    assert case.arguments["visible"] is None


def test_a_causal_mask_that_is_not_square_is_aligned_at_the_bottom_right(drawn):
    (case,) = drawn("a: {dims: {T_q: 2, T_k: 5}, visible: causal}")
    assert case.arguments["visible"].tolist() == [[True] * 4 + [False], [True] * 5]
    (case,) = drawn("a: {dims: {T_q: 3, T_k: 2}, visible: causal}")
    assert case.arguments["visible"].tolist() == [[False, False], [True, False], [True, True]]


def test_a_random_mask_with_one_leaves_no_row_blind(drawn):
    for seed in range(30):
        (case,) = drawn("a: {dims: {T_q: 7, T_k: 2}, visible: random_with_one}", seed)
        assert case.arguments["visible"].any(axis=-1).all()


def test_only_sets_that_draw_something_give_further_cases(drawn):
    text = "a: {}\nfixed: {q: [[1, 2]], k: [[3, 5]], n: 7}"
    assert [case.case_set for case in drawn(text)] == ["a", "fixed"]
    assert [case.case_set for case in drawn(text, extra=1)] == ["a"]


def test_every_generator_that_a_file_may_name_exists():
    from app.domain.problem import GENERATORS as NAMES

    assert set(GENERATORS) == set(NAMES)
