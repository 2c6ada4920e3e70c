"""3.8 Backward through multi-head attention: undo each step of ``multihead`` in reverse.

out = merge(Z) WO:  dWO, then split the gradient as heads were merged → G per head
Z = attention:      dQ, dK, dV per head, from ``attention_backward``
Q = split(Xq WQ):   merge the gradients as heads were split → dWQ, dXq; K and V likewise
"""

from numpy.typing import ArrayLike

from reference.ops.arrays import Array
from reference.ops.attention import attention
from reference.ops.attention_backward import attention_backward
from reference.ops.heads import merge_heads, split_heads
from reference.ops.layer_backward import linear_backward
from reference.ops.multihead import visible_to_heads
from reference.ops.projection import linear


def mha_backward(
    Xq: ArrayLike,  # (…, T_q, D)
    Xkv: ArrayLike,  # (…, T_k, D)
    WQ: ArrayLike,  # (D, H·d_k)
    WK: ArrayLike,  # (D, H·d_k)
    WV: ArrayLike,  # (D, H·d_v)
    WO: ArrayLike,  # (H·d_v, D)
    H: int,
    G: ArrayLike,  # (…, T_q, D), ∂L/∂out
    visible: ArrayLike | None = None,  # as in ``mha``
) -> dict[str, Array]:
    """``dWQ dWK dWV dWO dXq dXkv`` without biases; in self-attention dX = dXq + dXkv.

    Raises ShapeError as ``mha`` does, and if G is not shaped like out.
    """
    q, k, v = (
        split_heads(linear(Xq, WQ), H),
        split_heads(linear(Xkv, WK), H),
        split_heads(linear(Xkv, WV), H),
    )
    mask = visible_to_heads(visible, q)
    merged = merge_heads(attention(q, k, v, mask)[1])
    out = linear_backward(merged, WO, G)
    core = attention_backward(q, k, v, split_heads(out["dx"], H), mask)
    to_q = linear_backward(Xq, WQ, merge_heads(core["dQ"]))
    to_k = linear_backward(Xkv, WK, merge_heads(core["dK"]))
    to_v = linear_backward(Xkv, WV, merge_heads(core["dV"]))
    return {
        "dWQ": to_q["dW"],
        "dWK": to_k["dW"],
        "dWV": to_v["dW"],
        "dWO": out["dW"],
        "dXq": to_q["dx"],
        "dXkv": to_k["dx"] + to_v["dx"],
    }
