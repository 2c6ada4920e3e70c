"""3.6 Attention and FFN sublayers put together: one encoder layer, one decoder layer.

A layer's weights are a dictionary: ``self`` (and ``cross``) with WQ, WK, WV, WO; ``ffn`` with W1,
b1, W2, b2; ``ln1_g``, ``ln1_b`` and so on, one norm a sublayer. ``order`` is ``post_norm``, as in
2017, or ``pre_norm``.
"""

from numpy.typing import ArrayLike

from reference.ops.arrays import Array, Weights, real
from reference.ops.ffn import ffn
from reference.ops.layernorm import layernorm
from reference.ops.multihead import attend, self_attention
from reference.ops.residual import NormOrder, Sublayer, post_norm


def encoder_layer(
    x: ArrayLike,  # (…, T, D)
    weights: Weights,
    H: int,
    visible: ArrayLike | None = None,  # (…, T, T) bool
    order: NormOrder = post_norm,
    eps: float = 1e-5,
) -> Array:  # (…, T, D)
    """Self-attention, then FFN, each with its residual and norm."""
    x = order(x, lambda h: self_attention(h, weights["self"], H, visible), norm(weights, 1, eps))
    return order(x, feed_forward(weights["ffn"]), norm(weights, 2, eps))


def decoder_layer(
    y: ArrayLike,  # (…, T_q, D)
    memory: ArrayLike,  # (…, T_k, D), the encoder's output
    weights: Weights,
    H: int,
    visible: ArrayLike | None = None,  # (…, T_q, T_q) bool, causal
    memory_visible: ArrayLike | None = None,  # (…, T_q, T_k) bool, source padding
    order: NormOrder = post_norm,
    eps: float = 1e-5,
) -> tuple[Array, Array]:  # (…, T_q, D), weights over the source (…, H, T_q, T_k)
    """Masked self-attention, cross-attention into the memory, then FFN."""
    y = order(y, lambda h: self_attention(h, weights["self"], H, visible), norm(weights, 1, eps))
    cross: list[Array] = []

    def read_memory(h: Array) -> Array:
        read = attend(h, memory, weights["cross"], H, memory_visible)
        cross.append(read["A"])
        return read["out"]

    y = order(y, read_memory, norm(weights, 2, eps))
    return order(y, feed_forward(weights["ffn"]), norm(weights, 3, eps)), cross[0]


def feed_forward(weights: Weights) -> Sublayer:
    """``ffn`` with these weights, as a function of x."""
    return lambda x: ffn(x, weights["W1"], weights["b1"], weights["W2"], weights["b2"])


def norm(weights: Weights, number: int | str, eps: float) -> Sublayer:
    """The LayerNorm ``ln1``, ``ln2`` … or ``lnf`` of these weights, as a function of x."""
    gamma, beta = real(weights[f"ln{number}_g"]), real(weights[f"ln{number}_b"])
    return lambda x: layernorm(x, gamma, beta, eps)
