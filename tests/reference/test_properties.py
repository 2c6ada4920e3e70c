"""What must hold for any input. Sizes are distinct primes, so no axis fits in another's place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.testing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.ops.attention import attention
from reference.ops.attention_backward import (
    attention_backward,
    cross_projection_backward,
    projection_backward,
)
from reference.ops.cache import step
from reference.ops.decoder_only import forward
from reference.ops.ffn import ffn
from reference.ops.heads import merge_heads, split_heads
from reference.ops.jacobian import softmax_jacobian
from reference.ops.layer_backward import ffn_backward, layernorm_backward
from reference.ops.layernorm import layernorm
from reference.ops.leak import leaks
from reference.ops.multihead import mha
from reference.ops.multihead_backward import mha_backward
from reference.ops.online_softmax import blockwise_attention
from reference.ops.prefixes import prefix_gap
from reference.ops.projection import project
from reference.ops.residual import residual_jacobian
from reference.ops.softmax import softmax
from reference.ops.visibility import causal_visible
from tests.reference import models

Arrays = dict[str, Any]

# The same examples on every run: a rounding error must not come and go.
any_input = settings(deadline=None, max_examples=40, derandomize=True, database=None)

seeds = st.integers(0, 2**32 - 1)
sizes = st.permutations([2, 3, 5, 7, 11])


@st.composite
def attentions(draw: st.DrawFn, *, masked: bool = True, scale: float = 2.0) -> Arrays:
    """q (B, T_q, d_k), k (B, T_k, d_k), v (B, T_k, d_v), visible (B, T_q, T_k) with empty rows."""
    rng = np.random.default_rng(draw(seeds))
    B, T_q, T_k, d_k, d_v = draw(sizes)
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    return {
        "q": scale * rng.standard_normal((B, T_q, d_k)),
        "k": scale * rng.standard_normal((B, T_k, d_k)),
        "v": rng.standard_normal((B, T_k, d_v)),
        "visible": rng.random((B, T_q, T_k)) < share if masked else None,
    }


def close(actual: Any, expected: Any, tolerance: float = 1e-12) -> None:
    npt.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, strict=True)


# weights


@given(attentions())
@any_input
def test_a_row_of_weights_sums_to_one_or_sees_nothing_and_sums_to_zero(x: Arrays) -> None:
    A, Z = attention(**x)
    sees = x["visible"].any(axis=-1)
    close(A.sum(axis=-1), sees.astype(float))
    assert (A >= 0).all()
    assert not A[~x["visible"]].any()
    assert not Z[~sees].any()


@given(attentions(), st.floats(-1e3, 1e3))
@any_input
def test_raising_all_scores_of_a_row_alike_changes_nothing(x: Arrays, shift: float) -> None:
    scores = x["q"] @ x["k"].swapaxes(-1, -2)
    raised = scores + shift * np.arange(scores.shape[1])[:, None]
    close(softmax(raised, x["visible"]), softmax(scores, x["visible"]), 1e-9)


@given(attentions())
@any_input
def test_an_output_stays_between_the_smallest_and_the_largest_visible_value(x: Arrays) -> None:
    _, Z = attention(**x)
    seen = x["visible"][..., None]
    low = np.where(seen, x["v"][:, None], np.inf).min(axis=2)
    high = np.where(seen, x["v"][:, None], -np.inf).max(axis=2)
    some = x["visible"].any(axis=-1)
    assert (Z[some] >= low[some] - 1e-12).all()
    assert (Z[some] <= high[some] + 1e-12).all()


@given(attentions(), seeds)
@any_input
def test_what_is_hidden_has_no_influence(x: Arrays, seed: int) -> None:
    hidden = ~x["visible"].any(axis=1)  # keys that no query of the sample may read
    noise = 1e3 * np.random.default_rng(seed).standard_normal((*hidden.shape, 1))
    changed = {
        **x,
        "k": x["k"] + hidden[..., None] * noise,
        "v": x["v"] - hidden[..., None] * noise,
    }
    for before, after in zip(attention(**x), attention(**changed), strict=True):
        npt.assert_array_equal(before, after)


@given(attentions(), seeds)
@any_input
def test_keys_may_come_in_any_order_and_queries_keep_their_rows(x: Arrays, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = (rng.permutation(x["visible"].shape[axis]) for axis in (1, 2))
    A, Z = attention(**x)
    moved = {
        "q": x["q"][:, rows],
        "k": x["k"][:, columns],
        "v": x["v"][:, columns],
        "visible": x["visible"][:, rows][:, :, columns],
    }
    A2, Z2 = attention(**moved)
    close(A2, A[:, rows][:, :, columns])
    close(Z2, Z[:, rows])


@given(attentions(masked=False))
@any_input
def test_a_mask_that_hides_nothing_is_no_mask(x: Arrays) -> None:
    everything = np.ones((1, x["k"].shape[1]), dtype=bool)  # T_q axis of 1
    for one, two in zip(attention(**{**x, "visible": everything}), attention(**x), strict=True):
        npt.assert_array_equal(one, two)


@given(attentions(masked=False), st.integers(1, 7))
@any_input
def test_causal_attention_of_a_prefix_is_the_prefix_of_causal_attention(
    x: Arrays, length: int
) -> None:
    T = min(x["q"].shape[1], x["k"].shape[1])
    q, k, v = (x[name][:, :T] for name in "qkv")
    _, full = attention(q, k, v, causal_visible(T))
    n = min(length, T)
    _, prefix = attention(q[:, :n], k[:, :n], v[:, :n], causal_visible(n))
    close(prefix, full[:, :n])


@given(attentions(scale=30.0), st.integers(1, 13))
@any_input
def test_the_block_size_of_online_softmax_is_irrelevant(x: Arrays, block: int) -> None:
    close(blockwise_attention(x["q"], x["k"], x["v"], block, x["visible"]), attention(**x)[1])


# heads


@given(seeds, sizes)
@any_input
def test_one_head_is_plain_attention(seed: int, dims: list[int]) -> None:
    rng = np.random.default_rng(seed)
    B, T_q, T_k, D, d = dims
    w = models.mha_weights(rng, D, 1, d)
    xq, xkv = rng.standard_normal((B, T_q, D)), rng.standard_normal((B, T_k, D))
    visible = rng.random((B, T_q, T_k)) < 0.7
    A, Z = attention(xq @ w["WQ"], xkv @ w["WK"], xkv @ w["WV"], visible)
    heads = mha(xq, xkv, *w.values(), 1, visible)
    close(heads["A"], A[:, None])
    close(heads["out"], Z @ w["WO"])


@given(seeds, sizes)
@any_input
def test_heads_are_attentions_with_their_own_columns(seed: int, dims: list[int]) -> None:
    rng = np.random.default_rng(seed)
    B, T, D, H, d = dims
    w = models.mha_weights(rng, D, H, d)
    x = rng.standard_normal((B, T, D))
    total = np.zeros((B, T, D))
    for h in range(H):
        own = slice(h * d, (h + 1) * d)
        _, Z = attention(*project(x, w["WQ"][:, own], w["WK"][:, own], w["WV"][:, own]))
        total += Z @ w["WO"][own]
    close(mha(x, x, *w.values(), H)["out"], total, 1e-11)


@given(sizes)
@any_input
def test_splitting_gives_each_head_its_block_of_columns_and_merging_undoes_it(
    dims: list[int],
) -> None:
    B, T, H, d, _ = dims
    Y = np.arange(B * T * H * d, dtype=float).reshape(B, T, H * d)
    heads = split_heads(Y, H)
    b, h, t, c = np.indices((B, H, T, d))
    npt.assert_array_equal(heads, Y[b, t, h * d + c])
    npt.assert_array_equal(merge_heads(heads), Y)


# whole models


@given(seeds)
@settings(any_input, max_examples=10)
def test_the_decoder_only_model_does_not_see_the_future(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, config = models.decoder_only(rng)
    tokens = rng.integers(0, 11, 7)
    assert prefix_gap(lambda t: forward(t, weights, config), tokens) < 1e-11


@given(seeds, st.lists(st.integers(1, 6), unique=True, max_size=3))
@settings(any_input, max_examples=10)
def test_any_cut_into_chunks_gives_the_full_pass(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    weights, config = models.decoder_only(rng)
    tokens = rng.integers(0, 11, (3, 7))
    rows, cache = [], None
    for chunk in np.split(tokens, sorted(cuts), axis=1):
        logits, cache = step(chunk, weights, config, cache)
        rows.append(logits)
    close(np.concatenate(rows, axis=1), forward(tokens, weights, config), 1e-11)


@given(seeds, st.booleans())
@any_input
def test_the_leak_probe_tells_causal_attention_from_free_attention(seed: int, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal(shape) for shape in ((5, 3), (5, 3), (5, 7))]
    X = rng.standard_normal((4, 5))
    visible = causal_visible(4) if masked else None
    assert leaks(lambda x: attention(*project(x, *weights), visible)[1], X) is not masked


# gradients against finite differences


def check_gradient(
    loss: Callable[[Any], Any], x: Any, gradient: Any, rng: np.random.Generator
) -> None:
    """The slope of the loss along a random direction, central differences, error about h²."""
    direction = rng.standard_normal(np.shape(x))
    h = 1e-5
    slope = (loss(x + h * direction) - loss(x - h * direction)) / (2 * h)
    exact = (gradient * direction).sum()
    assert gradient.shape == np.shape(x)
    assert abs(slope - exact) <= 1e-6 * max(1.0, abs(exact))


@given(attentions(), seeds)
@any_input
def test_the_gradients_of_attention_are_slopes(x: Arrays, seed: int) -> None:
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((*x["q"].shape[:2], x["v"].shape[2]))
    gradients = attention_backward(x["q"], x["k"], x["v"], G, x["visible"])
    for name in "qkv":

        def loss(value: Any, name: str = name) -> Any:
            return (attention(**{**x, name: value})[1] * G).sum()

        check_gradient(loss, x[name], gradients["d" + name.upper()], rng)
    assert not gradients["dS"][~x["visible"]].any()
    close(gradients["dS"].sum(axis=-1), np.zeros(x["q"].shape[:2]))


@given(seeds)
@any_input
def test_the_gradients_of_shared_keys_sum_over_the_axes_they_were_spread_along(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal(s) for s in ((2, 3, 5, 7), (3, 11, 7), (1, 11, 13)))
    G = rng.standard_normal((2, 3, 5, 13))
    gradients = attention_backward(q, k, v, G)
    check_gradient(lambda t: (attention(t, k, v)[1] * G).sum(), q, gradients["dQ"], rng)
    check_gradient(lambda t: (attention(q, t, v)[1] * G).sum(), k, gradients["dK"], rng)
    check_gradient(lambda t: (attention(q, k, t)[1] * G).sum(), v, gradients["dV"], rng)


@given(seeds, sizes, st.booleans())
@any_input
def test_the_gradients_of_the_projections_are_slopes(
    seed: int, dims: list[int], masked: bool
) -> None:
    rng = np.random.default_rng(seed)
    B, T, D, d_k, d_v = dims
    values = [rng.standard_normal(s) for s in ((B, T, D), (D, d_k), (D, d_k), (D, d_v))]
    G = rng.standard_normal((B, T, d_v))
    visible = causal_visible(T) if masked else None
    gradients = projection_backward(*values, G, visible)
    for position, name in enumerate(("dX", "dWQ", "dWK", "dWV")):

        def loss(value: Any, position: int = position) -> Any:
            changed = [*values[:position], value, *values[position + 1 :]]
            return (attention(*project(*changed), visible)[1] * G).sum()

        check_gradient(loss, values[position], gradients[name], rng)


@given(seeds)
@any_input
def test_one_token_alone_gives_no_gradient_to_queries_and_keys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [rng.standard_normal(s) for s in ((1, 5), (5, 3), (5, 3), (5, 7), (1, 7))]
    gradients = projection_backward(*values)
    npt.assert_allclose(gradients["dWQ"], np.zeros((5, 3)), atol=1e-14)
    npt.assert_allclose(gradients["dWK"], np.zeros((5, 3)), atol=1e-14)
    assert np.abs(gradients["dWV"]).max() > 1e-3


@given(seeds, sizes)
@any_input
def test_the_gradients_of_cross_attention_reach_both_sequences(seed: int, dims: list[int]) -> None:
    rng = np.random.default_rng(seed)
    T_q, T_k, D1, D2, d = dims
    shapes = ((T_q, D1), (T_k, D2), (D1, d), (D2, d), (D2, d))
    values = [rng.standard_normal(shape) for shape in shapes]
    G = rng.standard_normal((T_q, d))
    gradients = cross_projection_backward(*values, G)
    for position, name in enumerate(("dXq", "dXkv", "dWQ", "dWK", "dWV")):

        def loss(value: Any, position: int = position) -> Any:
            xq, xkv, wq, wk, wv = [*values[:position], value, *values[position + 1 :]]
            return (attention(xq @ wq, xkv @ wk, xkv @ wv)[1] * G).sum()

        check_gradient(loss, values[position], gradients[name], rng)


@given(seeds, sizes)
@settings(any_input, max_examples=15)
def test_the_gradients_of_multi_head_attention_are_slopes(seed: int, dims: list[int]) -> None:
    rng = np.random.default_rng(seed)
    T_q, T_k, D, H, d = dims
    weights = list(models.mha_weights(rng, D, H, d).values())
    values = [rng.standard_normal((T_q, D)), rng.standard_normal((T_k, D)), *weights]
    G = rng.standard_normal((T_q, D))
    visible = rng.random((T_q, T_k)) < 0.7
    gradients = mha_backward(*values, H, G, visible)
    for position, name in enumerate(("dXq", "dXkv", "dWQ", "dWK", "dWV", "dWO")):

        def loss(value: Any, position: int = position) -> Any:
            changed = [*values[:position], value, *values[position + 1 :]]
            return (mha(*changed, H, visible)["out"] * G).sum()

        check_gradient(loss, values[position], gradients[name], rng)


@given(seeds, sizes)
@any_input
def test_the_gradients_of_layernorm_are_slopes(seed: int, dims: list[int]) -> None:
    rng = np.random.default_rng(seed)
    B, T, _, D, _ = dims
    values = [rng.standard_normal(shape) for shape in ((B, T, D), (D,), (D,))]
    G = rng.standard_normal((B, T, D))
    gradients = layernorm_backward(*values, G, 0.1)
    for position, name in enumerate(("dX", "dgamma", "dbeta")):

        def loss(value: Any, position: int = position) -> Any:
            changed = [*values[:position], value, *values[position + 1 :]]
            return (layernorm(*changed, 0.1) * G).sum()

        check_gradient(loss, values[position], gradients[name], rng)
    close(gradients["dX"].sum(axis=-1), np.zeros((B, T)), 1e-11)


@given(seeds, sizes)
@any_input
def test_the_gradients_of_the_ffn_are_slopes(seed: int, dims: list[int]) -> None:
    rng = np.random.default_rng(seed)
    B, T, D, F, _ = dims
    weights = models.ffn_weights(rng, D, F)
    values = [rng.standard_normal((B, T, D)), *weights.values()]
    hidden = values[0] @ values[1] + values[2]
    values[2] = values[2] + 1e-2 * (np.abs(hidden) < 1e-3).any(axis=(0, 1))  # away from the kink
    G = rng.standard_normal((B, T, D))
    gradients = ffn_backward(*values, G)
    for position, name in enumerate(("dX", "dW1", "db1", "dW2", "db2")):

        def loss(value: Any, position: int = position) -> Any:
            changed = [*values[:position], value, *values[position + 1 :]]
            return (ffn(*changed) * G).sum()

        check_gradient(loss, values[position], gradients[name], rng)


@given(seeds, st.sampled_from([2, 3, 5, 7]))
@any_input
def test_the_softmax_jacobian_is_symmetric_with_rows_that_sum_to_zero(seed: int, n: int) -> None:
    s = 5 * np.random.default_rng(seed).standard_normal(n)
    J = softmax_jacobian(s)
    npt.assert_array_equal(J, J.T)
    npt.assert_allclose(J.sum(axis=-1), np.zeros(n), atol=1e-15)
    assert np.abs(J).max() <= 0.25


@given(seeds)
@any_input
def test_the_residual_jacobian_is_the_identity_plus_that_of_the_branch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal(5), models.ffn_weights(rng, 5, 7)
    J = residual_jacobian(x, w["W1"], w["b1"], w["W2"])
    columns = [ffn_backward(x[None], *w.values(), row[None])["dX"][0] for row in np.eye(5)]
    close(J, np.eye(5) + np.stack(columns))
