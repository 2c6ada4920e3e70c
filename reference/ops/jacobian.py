"""3.2 The derivative of softmax.

    ∂p_i/∂s_j = p_i (δ_ij - p_j)        J = diag(p) - p pᵀ

J is symmetric, its rows and columns sum to 0 (raising all scores alike changes nothing), no entry
exceeds 1/4 in size, and all of them tend to 0 as p tends to one-hot: the saturated softmax that
scaling is meant to avoid.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.ops.arrays import Array
from reference.ops.softmax import softmax


def softmax_jacobian(
    s: ArrayLike,  # (…, n), softmax inputs; -inf = hidden
) -> Array:  # (…, n, n), row i holds the derivatives of p_i
    """J_ij = p_i (δ_ij - p_j); a hidden entry has a row and a column of zeros."""
    p = softmax(s)
    return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
