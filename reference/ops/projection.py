"""3.1 Three projections: what a position asks for (Q), can be found by (K) and passes on (V)."""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real


def linear(
    x: ArrayLike,  # (…, T, D_in)
    weight: ArrayLike,  # (D_in, D_out)
    bias: ArrayLike | None = None,  # (D_out,)
) -> Array:  # (…, T, D_out)
    """x W + b for every token alone. Raises ShapeError if the widths do not fit."""
    x, weight = real(x), real(weight)
    if x.ndim < 1 or weight.ndim != 2 or x.shape[-1] != weight.shape[0]:
        raise ShapeError("x @ W needs W: (width of x, out)", x=x.shape, W=weight.shape)
    if bias is None:
        return x @ weight
    bias = real(bias)
    if bias.shape != weight.shape[1:]:
        raise ShapeError("W: (in, out) needs b: (out,)", W=weight.shape, b=bias.shape)
    return np.add(x @ weight, bias)


def project(
    X: ArrayLike,  # (…, T, D)
    WQ: ArrayLike,  # (D, d_k)
    WK: ArrayLike,  # (D, d_k)
    WV: ArrayLike,  # (D, d_v)
) -> tuple[Array, Array, Array]:  # Q (…, T, d_k), K (…, T, d_k), V (…, T, d_v)
    """Q = X WQ, K = X WK, V = X WV: no scaling, no bias; d_v is free.

    Raises ShapeError if a weight does not fit X, or WQ and WK differ in width.
    """
    Q, K, V = linear(X, WQ), linear(X, WK), linear(X, WV)
    if Q.shape[-1] != K.shape[-1]:
        raise ShapeError("Q and K need the same width d_k", Q=Q.shape, K=K.shape)
    return Q, K, V
