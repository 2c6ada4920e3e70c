"""Single facts of the chapter, on inputs whose answers a reader can check in the head."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from reference.ops import encoder_decoder, layers
from reference.ops.assignment1 import K, Q, V
from reference.ops.attention import attention, cross_attention, masked_attention
from reference.ops.bias import biased_weights, weights_with_bias_before_scaling
from reference.ops.cache import step
from reference.ops.decoder_only import forward
from reference.ops.ffn import ffn
from reference.ops.generation import generate, sample
from reference.ops.layer_backward import linear_backward
from reference.ops.layernorm import layernorm
from reference.ops.leak import largest_leaks, leaks
from reference.ops.loss import masked_loss
from reference.ops.multihead import mha
from reference.ops.online_softmax import blockwise_attention
from reference.ops.positions import sinusoidal
from reference.ops.prefixes import is_causal, prefix_gap
from reference.ops.projection import linear, project
from reference.ops.residual import post_norm, pre_norm, residual, residual_jacobian
from reference.ops.softmax import softmax
from reference.ops.teacher_forcing import lm_loss, shift
from reference.ops.variance import divided_dot_variance, dot_products, saturation
from reference.ops.visibility import causal_visible, padding_visible, visible_from_padding
from reference.shapes import trace_shapes
from tests.reference import models

Rng = np.random.Generator

# 3.1


def test_equal_scores_give_equal_weights_and_huge_ones_stay_finite() -> None:
    npt.assert_array_equal(softmax([[5.0, 5.0], [1000.0, 1000.0]]), np.full((2, 2), 0.5))
    npt.assert_array_equal(softmax([[1000.0, 0.0], [-5000.0, -9000.0]]), [[1, 0], [1, 0]])


def test_softmax_runs_over_keys_even_where_there_is_one_query() -> None:
    assert softmax([[0.0, np.log(3.0)]]) == pytest.approx(np.array([[0.25, 0.75]]))


def test_weights_are_not_symmetric_even_where_scores_are() -> None:
    A = softmax([[0.0, 1.0], [1.0, 5.0]])
    assert abs(A[0, 1] - A[1, 0]) > 0.1


def test_a_symmetric_score_matrix_can_give_symmetric_weights() -> None:
    A = softmax([[0.0, 1.0], [1.0, 0.0]])
    npt.assert_array_equal(A, A.T)


def test_attention_without_keys_gives_nothing() -> None:
    A, Z = attention(np.ones((3, 5)), np.ones((0, 5)), np.ones((0, 2)))
    assert A.shape == (3, 0)
    npt.assert_array_equal(Z, np.zeros((3, 2)))
    npt.assert_array_equal(blockwise_attention(np.ones((3, 5)), *np.ones((2, 0, 5)), 2), 0)


def test_integers_and_float32_are_computed_in_float64() -> None:
    whole = attention([[2, 1]], [[1, 2], [1, 1]], [[2, -1], [1, 0]])
    single = attention(*(np.asarray(array, np.float32) for array in (Q[:1], K, V)))
    for one, two in zip(whole, single, strict=True):
        assert one.dtype == two.dtype == np.float64
        npt.assert_array_equal(one, two)


def test_weights_always_have_the_leading_axes_of_the_output() -> None:
    A, Z = attention(np.ones((3, 5)), np.ones((7, 5)), np.ones((2, 7, 11)))
    assert (A.shape, Z.shape) == ((2, 3, 7), (2, 3, 11))


def test_no_input_is_changed(rng: Rng) -> None:
    arrays = [rng.standard_normal(shape) for shape in ((3, 5), (7, 5), (7, 2))]
    visible = rng.random((3, 7)) < 0.5
    copies = [array.copy() for array in (*arrays, visible)]
    masked_attention(*arrays, visible)
    blockwise_attention(*arrays, 2, visible)
    for array, copy in zip((*arrays, visible), copies, strict=True):
        npt.assert_array_equal(array, copy)


def test_cross_attention_ignores_what_stands_in_a_padding_row(rng: Rng) -> None:
    shapes = ((3, 5), (7, 11), (5, 2), (11, 2), (11, 13))
    Xq, Xkv, *weights = (rng.standard_normal(shape) for shape in shapes)
    valid = np.arange(7) != 4
    before = cross_attention(Xq, Xkv, *weights, valid)
    Xkv[4] = 1000.0
    after = cross_attention(Xq, Xkv, *weights, valid)
    for one, two in zip(before, after, strict=True):
        npt.assert_array_equal(one, two)
    npt.assert_array_equal(after[0][:, 4], 0)


# 3.2


def test_dividing_by_c_divides_the_variance_by_its_square(rng: Rng) -> None:
    assert divided_dot_variance(64, 8.0) == 1.0
    assert divided_dot_variance(64, 64.0) == 1 / 64
    sampled = (dot_products(64, 20000, rng) / 8.0).var(ddof=1)
    assert abs(sampled - 1) < 5 * np.sqrt(2 / 20000)


def test_differences_saturate_softmax_and_size_alone_does_not() -> None:
    assert saturation(np.full((3, 4), 1000.0)) == (0.25, 0.75)
    largest, trace = saturation(np.array([[1000.0, 0.0, 0.0, 0.0]]))
    assert (largest, trace) == (1.0, 0.0)


# 3.3


def test_a_causal_mask_lets_each_position_read_itself_and_its_past() -> None:
    npt.assert_array_equal(causal_visible(3), np.tril(np.ones((3, 3), bool)))
    for T_q, T_k, offset in np.ndindex(5, 5, 5):
        expected = [[j <= offset + i for j in range(T_k)] for i in range(T_q)]
        actual = causal_visible(T_q, T_k, offset)
        assert actual.dtype == np.bool_
        npt.assert_array_equal(actual, np.array(expected, bool).reshape(T_q, T_k))


def test_without_an_offset_the_last_query_stands_at_the_last_key() -> None:
    npt.assert_array_equal(causal_visible(1, 4), np.ones((1, 4), bool))
    npt.assert_array_equal(causal_visible(2, 3), [[True, True, False], [True, True, True]])


def test_padding_hides_columns_and_keeps_the_rows_of_padding_queries() -> None:
    visible = visible_from_padding([[False, True], [False, False]], causal=False)
    npt.assert_array_equal(visible, [[[True, False]] * 2, [[True, True]] * 2])
    npt.assert_array_equal(padding_visible([True, False], T_q=3), [[True, False]] * 3)


def test_left_padding_under_a_causal_mask_leaves_rows_that_see_nothing() -> None:
    visible = visible_from_padding([True, False, False], causal=True)
    npt.assert_array_equal(visible.any(axis=-1), [False, True, True])


def test_a_hidden_key_with_an_enormous_score_does_not_disturb_the_rest() -> None:
    A, Z = masked_attention([[1.0]], [[1000.0], [0.0]], [[3.0], [7.0]], [[False, True]])
    npt.assert_array_equal(A, [[0, 1]])
    npt.assert_array_equal(Z, [[7]])


def test_both_orders_of_bias_and_scaling_agree_where_the_chapter_says_and_beyond(rng: Rng) -> None:
    def gap(d_k: int, M: Any) -> float:
        Q, K = rng.standard_normal((3, d_k)), rng.standard_normal((7, d_k))
        A, early = biased_weights(Q, K, M), weights_with_bias_before_scaling(Q, K, M)
        return float(np.abs(A - early).max())

    hard = np.where(causal_visible(3, 7), 0.0, -np.inf)
    finite = rng.standard_normal((3, 7))
    assert gap(5, finite) > 1e-2
    assert gap(5, hard) < 1e-15
    assert gap(1, finite) < 1e-15
    assert gap(5, finite[:, :1]) < 1e-14
    assert gap(5, np.where(causal_visible(3, 7), 0.0, -1e9)) < 1e-15


def test_a_row_of_minus_infinity_alone_gives_weights_zero() -> None:
    npt.assert_array_equal(biased_weights([[1.0]], [[1.0], [2.0]], [[-np.inf, -np.inf]]), [[0, 0]])


def test_targets_that_do_not_count_have_no_influence(rng: Rng) -> None:
    logits, labels = rng.standard_normal((2, 3, 5)), rng.integers(0, 5, (2, 3))
    keep = np.array([[True, True, False], [True, False, False]])
    before = masked_loss(logits, labels, keep)
    logits[~keep], labels[~keep] = 1000.0, -100
    assert masked_loss(logits, labels, keep) == before
    assert masked_loss(logits, labels, np.zeros((2, 3), bool)) == 0.0


def test_the_mean_runs_over_all_kept_tokens_not_over_sequences() -> None:
    logits = np.zeros((2, 2, 2))
    logits[1, 0, 0] = np.log(3.0)
    keep = np.array([[True, True], [True, False]])
    expected = (2 * np.log(2.0) + np.log(4 / 3)) / 3
    assert masked_loss(logits, np.zeros((2, 2), int), keep) == pytest.approx(expected)


# 3.4

Attn = Callable[[Any], Any]


def panel(rng: Rng) -> dict[str, tuple[Attn, bool]]:
    """Implementations of one head over 5 tokens, and whether they leak."""
    weights = [rng.standard_normal((3, d)) for d in (2, 2, 7)]
    causal = causal_visible(5)

    def masked_by(visible: Any) -> Attn:
        return lambda X: attention(*project(X, *weights), visible)[1]

    def scores(X: Any) -> Any:
        q, k, _ = project(X, *weights)
        return q @ k.T / np.sqrt(2)

    def mixed(weigh: Callable[[Any], Any]) -> Attn:
        return lambda X: weigh(scores(X)) @ X @ weights[2]

    only_next = np.arange(5)[None, :] != np.arange(5)[:, None] + 1
    only_last = np.ones((5, 5), bool)
    only_last[:-1, -1] = False
    at_three = causal.copy()
    at_three[3, 4] = True
    correct = masked_by(causal)
    return {
        "causal": (correct, False),
        "causal in float32": (lambda X: correct(X.astype(np.float32)).astype(np.float32), False),
        "strict": (masked_by(causal_visible(5, offset=-1)), False),
        "not finite for other reasons": (lambda X: np.where(X[:, :1] > 1e9, 0.0, np.nan), False),
        "no mask": (masked_by(None), True),
        "flipped": (masked_by(causal.T), True),
        "hides only the next key": (masked_by(only_next), True),
        "hides only the last key": (masked_by(only_last), True),
        "leaks at position 3": (masked_by(at_three), True),
        "mask after softmax": (mixed(lambda S: softmax(S) * causal), True),
        "adds -1": (mixed(lambda S: softmax(S - ~causal)), True),
        "over the query axis": (mixed(lambda S: softmax(np.where(causal, S, -np.inf).T).T), True),
        "leaks negative inputs": (lambda X: correct(X) + np.minimum(X, 0)[::-1][:, :1], True),
        "turns the future into NaN": (
            lambda X: np.where(X[::-1][:, :1] > 50, np.nan, correct(X)),
            True,
        ),
    }


@pytest.mark.parametrize("name", panel(np.random.default_rng(0)))
def test_the_leak_probe_judges_each_implementation_rightly(name: str, rng: Rng) -> None:
    attn, expected = panel(rng)[name]
    assert leaks(attn, rng.standard_normal((5, 3))) is expected


def test_the_leak_probe_says_from_where_and_stays_within_its_calls(rng: Rng) -> None:
    at_three, _ = panel(rng)["leaks at position 3"]
    calls = []

    def counted(X: Any) -> Any:
        calls.append(X)
        return at_three(X)

    found = largest_leaks(counted, rng.standard_normal((5, 3)))
    npt.assert_array_equal(found > 1e-6, [False, False, False, True])
    assert len(calls) == 1 + 10 * 4


def test_one_token_cannot_leak(rng: Rng) -> None:
    assert leaks(lambda X: X, rng.standard_normal((1, 3))) is False


# 3.5


def test_every_step_of_multi_head_attention_has_the_traced_shape(rng: Rng) -> None:
    shapes = trace_shapes(B=2, T_q=3, T_k=5, D=7, H=11, d_k=13, d_v=17)
    inputs = [rng.standard_normal(shapes[n]) for n in ("X", "X_kv", "WQ", "WK", "WV", "WO")]
    result = mha(*inputs, 11)
    assert result["A"].shape == shapes["A"]
    assert result["out"].shape == shapes["output"]


def test_samples_of_a_batch_do_not_meet(rng: Rng) -> None:
    weights = models.mha_weights(rng, 7, 3, 5).values()
    x = rng.standard_normal((2, 5, 7))
    before = mha(x, x, *weights, 3)["out"][0]
    x[1] = 9.0
    npt.assert_array_equal(mha(x, x, *weights, 3)["out"][0], before)


# 3.6


def test_a_closed_ffn_returns_its_second_bias() -> None:
    closed = ffn(np.ones((3, 2)), np.ones((2, 5)), np.full(5, -9.0), np.ones((5, 2)), [3.0, 4.0])
    npt.assert_array_equal(closed, [[3, 4]] * 3)


def test_a_constant_token_normalises_to_beta() -> None:
    y = layernorm([[4.0, 4.0, 4.0]], [2.0, 3.0, 5.0], [7.0, 8.0, 9.0])
    npt.assert_array_equal(y, [[7, 8, 9]])


def test_a_residual_over_different_widths_needs_a_projection(rng: Rng) -> None:
    x, branch = rng.standard_normal((3, 5)), rng.standard_normal((3, 7))
    P = rng.standard_normal((5, 7))
    npt.assert_array_equal(residual(x, branch, P), x @ P + branch)


def test_a_branch_that_gives_nothing_leaves_the_norm_or_the_input(rng: Rng) -> None:
    x = rng.standard_normal((3, 5))

    def norm(x: Any) -> Any:
        return layernorm(x, np.ones(5), np.zeros(5))

    npt.assert_array_equal(post_norm(x, np.zeros_like, norm), norm(x))
    npt.assert_array_equal(pre_norm(x, np.zeros_like, norm), x)


def test_a_residual_does_not_rule_out_a_gradient_of_zero() -> None:
    minus_x = np.hstack([np.eye(2), -np.eye(2)])  # ReLU(x) and ReLU(-x)
    J = residual_jacobian([0.7, -0.3], minus_x, np.zeros(4), -minus_x.T)
    npt.assert_array_equal(J, np.zeros((2, 2)))
    closed = residual_jacobian([0.7, -0.3], minus_x, np.full(4, -9.0), minus_x.T)
    npt.assert_array_equal(closed, np.eye(2))


def test_positions_pair_a_sine_with_a_cosine_of_the_same_frequency() -> None:
    P = sinusoidal(7, 5)
    npt.assert_array_equal(P[0], [0, 1, 0, 1, 0])
    npt.assert_allclose(P[:, 0] ** 2 + P[:, 1] ** 2, 1)
    assert P[3, 2] == pytest.approx(np.sin(3 / 10000 ** (2 / 5)))


def test_a_layer_without_mask_does_not_see_order_and_positions_repair_that(rng: Rng) -> None:
    weights = models.encoder_layer_weights(rng, 15, 3, 13)
    x, order = rng.standard_normal((5, 15)), np.array([3, 0, 4, 1, 2])

    def moved(x: Any, positions: Any) -> float:
        y = layers.encoder_layer(x + positions, weights, 3)
        return float(
            np.abs(layers.encoder_layer(x[order] + positions, weights, 3) - y[order]).max()
        )

    assert moved(x, np.zeros((5, 15))) < 1e-12
    assert moved(x, sinusoidal(5, 15)) > 1e-3


def test_the_source_reaches_every_target_row_and_its_padding_none(rng: Rng) -> None:
    weights, config = models.encoder_decoder(rng)
    valid = np.array([[True, True, True, False, False]])
    tgt = np.array([[1, 2, 3]])

    def run(src: list[int], tgt: Any = tgt) -> Any:
        return encoder_decoder.forward([src], valid, tgt, weights, config)

    before = run([1, 2, 3, 0, 0])
    npt.assert_array_equal(run([1, 2, 3, 4, 5]), before)
    assert np.abs(run([1, 2, 6, 0, 0]) - before)[0, 0].max() > 1e-3
    changed = run([1, 2, 3, 0, 0], np.array([[1, 2, 9]]))
    npt.assert_array_equal(changed[:, :2], before[:, :2])


def test_layers_take_their_norms_by_number(rng: Rng) -> None:
    weights = models.norm_weights(rng, 5, "ln2")
    x = rng.standard_normal((3, 5))
    expected = layernorm(x, weights["ln2_g"], weights["ln2_b"], 1e-3)
    npt.assert_array_equal(layers.norm(weights, 2, 1e-3)(x), expected)


# 3.7


def test_inputs_are_all_but_the_last_and_labels_all_but_the_first() -> None:
    inputs, labels = shift([7, 8, 9])
    assert (inputs.tolist(), labels.tolist()) == ([7, 8], [8, 9])
    padding, counts = shift([[True, True, False]])
    assert (padding.tolist(), counts.tolist()) == ([[True, True]], [[True, False]])


def test_one_forward_pass_gives_the_loss_of_all_positions() -> None:
    seen = []

    def uniform(tokens: Any) -> Any:
        seen.append(tokens.tolist())
        return np.zeros((len(tokens), 5))

    assert lm_loss(uniform, [1, 2, 3, 4]) == pytest.approx(np.log(5.0))
    assert seen == [[1, 2, 3]]


def test_a_model_that_sees_the_future_has_a_gap_in_some_row(rng: Rng) -> None:
    table = rng.standard_normal((5, 3))

    def causal(tokens: Any) -> Any:
        return np.cumsum(table[tokens], axis=0)

    def peeking(tokens: Any) -> Any:  # row 0 alone reads the last token
        return causal(tokens) + (np.arange(len(tokens)) == 0)[:, None] * table[tokens[-1]]

    assert is_causal(causal, [1, 2, 3, 4])
    assert not is_causal(peeking, [1, 2, 3, 4])
    gap = np.abs(table[4] - table[1]).max()
    assert prefix_gap(peeking, [1, 2, 3, 4]) == pytest.approx(gap)
    assert prefix_gap(peeking, [1]) == 0


def test_generation_takes_the_last_position_and_appends() -> None:
    seen = []

    def successor(tokens: Any) -> Any:
        seen.append(tokens.tolist())
        return np.eye(7)[(tokens + 1) % 7]

    assert generate(successor, [2, 3], 3) == [2, 3, 4, 5, 6]
    assert seen == [[2, 3], [2, 3, 4], [2, 3, 4, 5]]
    assert generate(successor, [2], 0) == [2]


def test_ties_go_to_the_smallest_id() -> None:
    assert generate(lambda t: np.zeros((len(t), 3)), [2], 2) == [2, 0, 0]


def test_sampling_repeats_with_its_seed_and_follows_the_probabilities() -> None:
    def forward(tokens: Any) -> Any:
        return np.tile(np.log([0.2, 0.3, 0.5]), (len(tokens), 1))

    drawn = sample(forward, [0], 2000, seed=5)
    assert drawn == sample(forward, [0], 2000, seed=5)
    assert drawn != sample(forward, [0], 2000, seed=6)
    shares = np.bincount(drawn[1:], minlength=3) / 2000
    npt.assert_allclose(shares, [0.2, 0.3, 0.5], atol=5 * np.sqrt(0.25 / 2000))
    assert sample(forward, [0], 50, seed=1, temperature=1e-3) == [0] + [2] * 50


def test_two_caches_do_not_mix_and_a_step_leaves_the_old_cache_alone(rng: Rng) -> None:
    model = models.decoder_only(rng)
    _, one = step([1, 2], *model)
    _, two = step([3, 4], *model)
    after_one, longer = step([5], *model, one)
    after_two, _ = step([5], *model, two)
    npt.assert_allclose(after_one[0], forward([1, 2, 5], *model)[-1], atol=1e-12)
    npt.assert_allclose(after_two[0], forward([3, 4, 5], *model)[-1], atol=1e-12)
    assert one[0][0].shape == (3, 2, 5)
    assert longer[0][0].shape == (3, 3, 5)


# 3.8


def test_a_linear_layer_gives_its_input_and_weights_their_gradients() -> None:
    gradients = linear_backward([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [[1.0, 10.0]])
    npt.assert_array_equal(gradients["dx"], [[43, 65]])
    npt.assert_array_equal(gradients["dW"], [[1, 10], [2, 20]])
    npt.assert_array_equal(gradients["db"], [1, 10])
    npt.assert_array_equal(linear([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [7.0, 8.0]), [[20, 24]])


def test_rising_scores_make_online_softmax_rescale_what_it_has() -> None:
    Z = blockwise_attention([[1.0]], [[0.0], [1.0], [800.0]], [[3.0], [5.0], [7.0]], 1)
    npt.assert_array_equal(Z, [[7]])


def test_online_softmax_forms_no_array_of_all_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    exp = np.exp

    def watched(x: Any) -> Any:
        sizes.append(np.size(x))
        return exp(x)

    monkeypatch.setattr(np, "exp", watched)
    blockwise_attention(np.ones((11, 2)), np.ones((13, 2)), np.ones((13, 3)), 5)
    assert max(sizes) == 11 * 5
