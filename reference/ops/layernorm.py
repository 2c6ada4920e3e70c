"""3.6 LayerNorm: each token over its own features.

    y = γ ⊙ (x - mean) / √(var + ε) + β        mean and var over the D features of one token

The chapter leaves two choices open. Here, as in torch: the biased variance (divide by D), and ε
inside the root, 1e-5. So the output of a token has variance var/(var + ε), slightly below 1, and
a constant token gives β.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real


def layernorm(
    X: ArrayLike,  # (…, D)
    gamma: ArrayLike,  # (D,)
    beta: ArrayLike,  # (D,)
    eps: float = 1e-5,
) -> Array:  # (…, D)
    """Normalise over the last axis, then scale and shift. Raises ShapeError if widths differ."""
    X, gamma, beta = real(X), real(gamma), real(beta)
    if gamma.shape != X.shape[-1:] or beta.shape != X.shape[-1:]:
        rule = "gamma and beta need the width of X"
        raise ShapeError(rule, X=X.shape, gamma=gamma.shape, beta=beta.shape)
    return gamma * standardized(X, eps)[0] + beta


def standardized(X: Array, eps: float) -> tuple[Array, Array]:  # (…, D), (…, 1)
    """((x - mean) · r, r) with r = 1/√(var + ε)."""
    centred: Array = X - X.mean(axis=-1, keepdims=True)
    inverse_std: Array = 1.0 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    return centred * inverse_std, inverse_std
