"""3.8 Backward through attention, by hand.

With G = ∂L/∂Z, and S the *scaled* scores, the input of softmax:

    dV = Aᵀ G        dA = G Vᵀ        ds = a ⊙ (da - Σ a ⊙ da) for each row
    dQ = dS K / √d_k        dK = dSᵀ Q / √d_k

    dWQ = Xᵀ dQ, and so on        dX = dQ WQᵀ + dK WKᵀ + dV WVᵀ: X is used three times

Where a key is hidden a = 0, so dS = 0 there. dA is not: it says what a weight would have been
worth. And a hidden key still gets a gradient from the queries that may read it.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real
from reference.ops.attention import attention
from reference.ops.projection import linear, project


def attention_backward(
    Q: ArrayLike,  # (…, T_q, d_k)
    K: ArrayLike,  # (…, T_k, d_k)
    V: ArrayLike,  # (…, T_k, d_v)
    G: ArrayLike,  # (…, T_q, d_v), ∂L/∂Z
    visible: ArrayLike | None = None,  # broadcasts to (…, T_q, T_k), bool
) -> dict[str, Array]:
    """``dV dA dS dQ dK``; dA and dS are (…, T_q, T_k), the others shaped like their array.

    A query that sees nothing gets and gives no gradient. Raises ShapeError as ``attention`` does,
    and if G is not shaped like Z.
    """
    Q, K, V, G = real(Q), real(K), real(V), real(G)
    A, Z = attention(Q, K, V, visible)
    if G.shape != Z.shape:
        raise ShapeError("G = dL/dZ needs the shape of Z", G=G.shape, Z=Z.shape)
    dA = G @ np.swapaxes(V, -1, -2)
    dS = softmax_backward(A, dA)
    scale = 1.0 / np.sqrt(Q.shape[-1])
    return {
        "dV": sum_to(np.swapaxes(A, -1, -2) @ G, V.shape),
        "dA": dA,
        "dS": dS,
        "dQ": sum_to(dS @ K * scale, Q.shape),
        "dK": sum_to(np.swapaxes(dS, -1, -2) @ Q * scale, K.shape),
    }


def softmax_backward(
    A: Array,  # (…, T_k), what softmax returned
    dA: Array,  # (…, T_k)
) -> Array:  # (…, T_k)
    """ds = a ⊙ (da - Σ a ⊙ da): the Jacobian of ``jacobian`` times da, without forming it."""
    weighted_mean: Array = (A * dA).sum(axis=-1, keepdims=True)
    return A * (dA - weighted_mean)


def projection_backward(
    X: ArrayLike,  # (…, T, D)
    WQ: ArrayLike,  # (D, d_k)
    WK: ArrayLike,  # (D, d_k)
    WV: ArrayLike,  # (D, d_v)
    G: ArrayLike,  # (…, T, d_v), ∂L/∂Z
    visible: ArrayLike | None = None,  # broadcasts to (…, T, T), bool
) -> dict[str, Array]:
    """``dWQ dWK dWV dX`` of self-attention on X, each shaped like its array.

    With T = 1 the only weight is always 1, so dWQ = dWK = 0. Raises ShapeError as the forward pass.
    """
    project(X, WQ, WK, WV)
    parts = cross_projection_backward(X, X, WQ, WK, WV, G, visible)
    dX = parts.pop("dXq") + parts.pop("dXkv")
    return {**parts, "dX": dX}


def cross_projection_backward(
    Xq: ArrayLike,  # (…, T_q, D1)
    Xkv: ArrayLike,  # (…, T_k, D2)
    WQ: ArrayLike,  # (D1, d_k)
    WK: ArrayLike,  # (D2, d_k)
    WV: ArrayLike,  # (D2, d_v)
    G: ArrayLike,  # (…, T_q, d_v), ∂L/∂Z
    visible: ArrayLike | None = None,  # broadcasts to (…, T_q, T_k), bool
) -> dict[str, Array]:
    """``dWQ dWK dWV dXq dXkv`` of cross-attention: the memory is reached through K and V."""
    WQ, WK, WV = real(WQ), real(WK), real(WV)
    core = attention_backward(linear(Xq, WQ), linear(Xkv, WK), linear(Xkv, WV), G, visible)
    return {
        "dWQ": weight_gradient(Xq, core["dQ"]),
        "dWK": weight_gradient(Xkv, core["dK"]),
        "dWV": weight_gradient(Xkv, core["dV"]),
        "dXq": core["dQ"] @ WQ.T,
        "dXkv": core["dK"] @ WK.T + core["dV"] @ WV.T,
    }


def weight_gradient(
    x: ArrayLike,  # (…, T, D_in)
    dy: Array,  # (…, T, D_out)
) -> Array:  # (D_in, D_out)
    """Xᵀ dY, summed over all tokens of the batch: one weight served them all."""
    x = real(x)
    return x.reshape(-1, x.shape[-1]).T @ dy.reshape(-1, dy.shape[-1])


def sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Sum a gradient over the leading axes along which an array of ``shape`` was broadcast."""
    extra = gradient.ndim - len(shape)
    stretched = [
        axis
        for axis, size in enumerate(gradient.shape)
        if axis < extra or shape[axis - extra] != size
    ]
    summed: Array = gradient.sum(axis=tuple(stretched), keepdims=True)
    return summed.reshape(shape)
