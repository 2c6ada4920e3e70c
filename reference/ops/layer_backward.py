"""3.8 Backward through the sublayers beside attention: linear, FFN and LayerNorm.

    y = x W + b:      dx = dy Wᵀ        dW = xᵀ dy        db = Σ dy over tokens
    ReLU:             open units pass the gradient, closed ones do not
    y = γ ⊙ n + β:    dn = γ ⊙ dy       dx = r (dn - mean(dn) - n ⊙ mean(n ⊙ dn))

with n = (x - mean) r and r = 1/√(var + ε). The two means are what the mean and the variance of a
token, which depend on x, take away: dx has no component along the constant vector, and almost
none along n.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real
from reference.ops.attention_backward import weight_gradient
from reference.ops.ffn import ffn
from reference.ops.layernorm import layernorm, standardized
from reference.ops.projection import linear


def linear_backward(
    x: ArrayLike,  # (…, T, D_in)
    W: ArrayLike,  # (D_in, D_out)
    G: ArrayLike,  # (…, T, D_out), ∂L/∂y
) -> dict[str, Array]:
    """``dx dW db`` of y = x W + b. Raises ShapeError if G is not shaped like y."""
    W, G = real(W), fitting(G, linear(x, W))
    return {"dx": G @ W.T, "dW": weight_gradient(x, G), "db": over_tokens(G)}


def ffn_backward(
    X: ArrayLike,  # (…, T, D)
    W1: ArrayLike,  # (D, F)
    b1: ArrayLike,  # (F,)
    W2: ArrayLike,  # (F, D)
    b2: ArrayLike,  # (D,)
    G: ArrayLike,  # (…, T, D), ∂L/∂FFN(X)
) -> dict[str, Array]:
    """``dX dW1 db1 dW2 db2``; a unit at exactly 0 counts as closed.

    Raises ShapeError if G is not shaped like the output.
    """
    G = fitting(G, ffn(X, W1, b1, W2, b2))
    hidden = linear(X, W1, b1)
    second = linear_backward(np.maximum(hidden, 0.0), W2, G)
    first = linear_backward(X, W1, second["dx"] * (hidden > 0.0))
    return {
        "dX": first["dx"],
        "dW1": first["dW"],
        "db1": first["db"],
        "dW2": second["dW"],
        "db2": second["db"],
    }


def layernorm_backward(
    X: ArrayLike,  # (…, D)
    gamma: ArrayLike,  # (D,)
    beta: ArrayLike,  # (D,)
    G: ArrayLike,  # (…, D), ∂L/∂y
    eps: float = 1e-5,
) -> dict[str, Array]:
    """``dX dgamma dbeta``. Raises ShapeError if G is not shaped like X."""
    G = fitting(G, layernorm(X, gamma, beta, eps))
    n, inverse_std = standardized(real(X), eps)
    dn = real(gamma) * G
    mean: Array = dn.mean(axis=-1, keepdims=True)
    along_n: Array = (n * dn).mean(axis=-1, keepdims=True)
    dX = inverse_std * (dn - mean - n * along_n)
    return {"dX": dX, "dgamma": over_tokens(G * n), "dbeta": over_tokens(G)}


def fitting(G: ArrayLike, y: Array) -> Array:
    """G as float64; ShapeError unless it is shaped like the output y."""
    G = real(G)
    if G.shape != y.shape:
        raise ShapeError("the upstream gradient needs the shape of y", G=G.shape, y=y.shape)
    return G


def over_tokens(per_token: Array) -> Array:  # (…, D) -> (D,)
    """The sum over all tokens: one bias served them all."""
    total: Array = per_token.reshape(-1, per_token.shape[-1]).sum(axis=0)
    return total
