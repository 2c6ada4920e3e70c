"""3.5 Multi-head attention: H attentions in parallel subspaces, mixed by WO.

    head_h = attention(Xq WQ_h, Xkv WK_h, Xkv WV_h)        out = [head_1 … head_H] WO

Heads are no copies of one A: each has its own projections, hence its own H × T_q × T_k weights.
With D fixed and d = D/H more heads cost no parameters (4D²), only more scores.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from reference.ops.arrays import Array, boolean, real
from reference.ops.attention import attention
from reference.ops.heads import merge_heads, split_heads
from reference.ops.projection import linear


def mha(
    Xq: ArrayLike,  # (…, T_q, D)
    Xkv: ArrayLike,  # (…, T_k, D), the same as Xq in self-attention
    WQ: ArrayLike,  # (D, H·d_k)
    WK: ArrayLike,  # (D, H·d_k)
    WV: ArrayLike,  # (D, H·d_v)
    WO: ArrayLike,  # (H·d_v, D)
    H: int,
    visible: ArrayLike | None = None,  # (T_q, T_k), (…, T_q, T_k) or (…, H, T_q, T_k), bool
    *,
    biases: Mapping[str, ArrayLike] | None = None,  # bQ, bK (H·d_k,), bV (H·d_v,), bO (D,)
) -> dict[str, Array]:
    """``{"A": (…, H, T_q, T_k), "out": (…, T_q, D)}``; a mask without a head axis serves all heads.

    H·d may differ from D. Raises ShapeError if widths do not fit, H does not divide them, or
    ``visible`` is not boolean or does not broadcast.
    """
    b = biases or {}
    q = split_heads(linear(Xq, WQ, b.get("bQ")), H)
    k = split_heads(linear(Xkv, WK, b.get("bK")), H)
    v = split_heads(linear(Xkv, WV, b.get("bV")), H)
    A, context = attention(q, k, v, visible_to_heads(visible, q))
    return {"A": A, "out": linear(merge_heads(context), WO, b.get("bO"))}


def visible_to_heads(visible: ArrayLike | None, q: Array) -> ArrayLike | None:
    """``visible`` with a head axis of 1 before (T_q, T_k), unless it has one already.

    It has one when it has as many axes as the queries q: (…, H, T_q, d).
    """
    if visible is None:
        return None
    mask = boolean("visible", visible, q=q.shape)
    return mask if mask.ndim in (0, 1, q.ndim) else np.expand_dims(mask, -3)


def self_attention(
    x: ArrayLike,  # (…, T, D)
    weights: Mapping[str, ArrayLike],  # WQ, WK, WV, WO, and bQ, bK, bV, bO or none
    H: int,
    visible: ArrayLike | None = None,
) -> Array:  # (…, T, D)
    """``mha`` of a sequence with itself, weights by name."""
    return attend(x, x, weights, H, visible)["out"]


def attend(
    Xq: ArrayLike,  # (…, T_q, D)
    Xkv: ArrayLike,  # (…, T_k, D)
    weights: Mapping[str, ArrayLike],
    H: int,
    visible: ArrayLike | None = None,
) -> dict[str, Array]:
    """``mha`` with its weights by name."""
    WQ, WK, WV, WO = (real(weights[name]) for name in ("WQ", "WK", "WV", "WO"))
    return mha(Xq, Xkv, WQ, WK, WV, WO, H, visible, biases=weights)
