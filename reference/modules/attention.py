"""3.1, 3.3 Attention with torch's matmul and softmax, in a form whose gradients stay finite.

In a row that sees nothing softmax returns NaN. Where -inf was *added* to the scores, that NaN
reaches the gradients of everything the row touched, even if the row is replaced afterwards. So
hidden entries are *filled*, with -inf before softmax and with 0 after it: no gradient passes a
fill.
"""

from typing import Any

import torch
from torch import Tensor

from reference.errors import ShapeError
from reference.modules.tensors import Linear, boolean, real


def attention(
    q: Any,  # (…, T_q, d_k)
    k: Any,  # (…, T_k, d_k)
    v: Any,  # (…, T_k, d_v)
    visible: Any = None,  # broadcasts to (…, T_q, T_k), bool, True = may attend
) -> tuple[Tensor, Tensor]:  # weights (…, T_q, T_k), output (…, T_q, d_v)
    """softmax(q kᵀ / √d_k) v. Raises ShapeError if anything does not fit."""
    q, k, v = real(q), real(k), real(v)
    q = q.expand(*common_axes(q, k, v), -1, -1)
    scores = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    weights = masked_softmax(scores, visible)
    return weights, torch.matmul(weights, v)


def masked_attention(Q: Any, K: Any, V: Any, visible: Any) -> tuple[Tensor, Tensor]:
    """``attention`` where the mask must be given."""
    return attention(Q, K, V, visible)


def cross_attention(
    Xq: Any,  # (…, T_q, D1)
    Xkv: Any,  # (…, T_k, D2)
    WQ: Any,  # (D1, d_k)
    WK: Any,  # (D2, d_k)
    WV: Any,  # (D2, d_v)
    key_visible: Any = None,  # (…, T_k) bool, False = padding
) -> tuple[Tensor, Tensor]:  # A (…, T_q, T_k), Z (…, T_q, d_v)
    """Queries from one sequence, keys and values from another."""
    memory = real(Xkv)
    q, k, v = Linear(WQ)(real(Xq)), Linear(WK)(memory), Linear(WV)(memory)
    if key_visible is None:
        return attention(q, k, v)
    keys = boolean("key_visible", key_visible, keys=k.shape)
    if keys.shape[-1:] != k.shape[-2:-1]:
        raise ShapeError("one entry a key", key_visible=keys.shape, keys=k.shape)
    return attention(q, k, v, keys.unsqueeze(-2))


def masked_softmax(
    scores: Tensor,  # (…, T_q, T_k)
    visible: Any = None,  # broadcasts to (…, T_q, T_k), bool
) -> Tensor:  # (…, T_q, T_k)
    """Weights over the visible keys, 0 in a row without one."""
    if visible is None:
        return torch.softmax(scores, dim=-1)
    mask = boolean("visible", visible, scores=scores.shape)
    try:
        mask = mask.expand(scores.shape)
    except RuntimeError:
        rule = "visible must broadcast to the scores"
        raise ShapeError(rule, visible=mask.shape, scores=scores.shape) from None
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0.0)


def common_axes(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, ...]:
    """Leading axes that all three broadcast to. Raises ShapeError where nothing fits."""
    shapes = {"q": q.shape, "k": k.shape, "v": v.shape}
    if any(len(shape) < 2 for shape in shapes.values()):
        raise ShapeError("attention needs (…, positions, features)", **shapes)
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ShapeError("q and k share d_k, k and v share T_k", **shapes)
    try:
        lead = (q.shape[:-2], k.shape[:-2], v.shape[:-2])
        return tuple(torch.broadcast_shapes(*lead))  # type: ignore[no-untyped-call]
    except RuntimeError:
        raise ShapeError("the leading axes must broadcast", **shapes) from None
