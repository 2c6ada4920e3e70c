"""3.1 Scaled dot-product attention: compare, normalise, mix.

    S = Q Kᵀ / √d_k        A = softmax(S) over the visible keys        Z = A V

The queries decide how many rows come out, the values how wide they are; the number of keys T_k
disappears in the sum. Q and K must share their width d_k, K and V their length T_k; nothing else
is tied. A is in general not symmetric: Q and K differ, and every row has its own normaliser.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, boolean, real
from reference.ops.projection import linear
from reference.ops.softmax import softmax


def attention(
    q: ArrayLike,  # (…, T_q, d_k)
    k: ArrayLike,  # (…, T_k, d_k)
    v: ArrayLike,  # (…, T_k, d_v)
    visible: ArrayLike | None = None,  # broadcasts to (…, T_q, T_k), bool, True = may attend
) -> tuple[Array, Array]:  # weights (…, T_q, T_k), output (…, T_q, d_v)
    """Attention weights A and output Z; leading axes broadcast.

    A query that sees nothing gets weights 0 and output 0. A hidden value must still be finite,
    since 0 · NaN is NaN. Raises ShapeError if d_k or T_k disagree, if the leading axes do not
    broadcast, or if ``visible`` is not boolean or does not broadcast to (…, T_q, T_k).
    """
    q, k, v = real(q), real(k), real(v)
    lead = leading_axes(q, k, v)
    q = np.broadcast_to(q, lead + q.shape[-2:])
    weights = softmax(scaled_scores(q, k), visible)
    return weights, weights @ v


def masked_attention(
    Q: ArrayLike,  # (…, T_q, d_k)
    K: ArrayLike,  # (…, T_k, d_k)
    V: ArrayLike,  # (…, T_k, d_v)
    visible: ArrayLike,  # broadcasts to (…, T_q, T_k), bool, True = may attend
) -> tuple[Array, Array]:  # A (…, T_q, T_k), Z (…, T_q, d_v)
    """3.3 ``attention`` where the mask must be given."""
    return attention(Q, K, V, visible)


def cross_attention(
    Xq: ArrayLike,  # (…, T_q, D1), states of the decoder
    Xkv: ArrayLike,  # (…, T_k, D2), memory of the encoder
    WQ: ArrayLike,  # (D1, d_k)
    WK: ArrayLike,  # (D2, d_k)
    WV: ArrayLike,  # (D2, d_v)
    key_visible: ArrayLike | None = None,  # (…, T_k) bool, False = padding
) -> tuple[Array, Array]:  # A (…, T_q, T_k), Z (…, T_q, d_v)
    """Queries from one sequence, keys and values from another; no causal rule.

    Raises ShapeError if widths do not fit or ``key_visible`` is not boolean of length T_k.
    """
    Q, K, V = linear(Xq, WQ), linear(Xkv, WK), linear(Xkv, WV)
    if key_visible is None:
        return attention(Q, K, V)
    keys = boolean("key_visible", key_visible, K=K.shape)
    if keys.ndim < 1 or keys.shape[-1] != K.shape[-2]:
        raise ShapeError("key_visible needs one entry per key", key_visible=keys.shape, K=K.shape)
    return attention(Q, K, V, keys[..., None, :])


def scaled_scores(
    q: Array,  # (…, T_q, d_k)
    k: Array,  # (…, T_k, d_k)
) -> Array:  # (…, T_q, T_k)
    """S = Q Kᵀ / √d_k, with the factor put on Q, which is the smaller array."""
    scaled: Array = q / np.sqrt(q.shape[-1])
    return scaled @ np.swapaxes(k, -1, -2)


def leading_axes(q: Array, k: Array, v: Array) -> tuple[int, ...]:
    """The common leading axes of three arrays that fit; ShapeError if they do not."""
    if min(q.ndim, k.ndim, v.ndim) < 2:
        rule = "q, k and v need a position and a feature axis"
        raise ShapeError(rule, q=q.shape, k=k.shape, v=v.shape)
    if q.shape[-1] != k.shape[-1]:
        raise ShapeError("q and k need the same last axis d_k", q=q.shape, k=k.shape)
    if k.shape[-2] != v.shape[-2]:
        raise ShapeError("k and v need the same number of positions T_k", k=k.shape, v=v.shape)
    try:
        return np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        rule = "the leading axes of q, k and v must broadcast"
        raise ShapeError(rule, q=q.shape, k=k.shape, v=v.shape) from None
