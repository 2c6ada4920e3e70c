"""3.6 The position-wise feed-forward network.

    FFN(x) = ReLU(x W1 + b1) W2 + b2

for a row vector x. (The chapter writes column vectors, W2 ReLU(W1 x + b1) + b2: its matrices are
the transposes of these.) Every token passes through the same two layers alone: tokens meet
in attention only.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.ops.arrays import Array
from reference.ops.projection import linear


def ffn(
    X: ArrayLike,  # (…, T, D)
    W1: ArrayLike,  # (D, F)
    b1: ArrayLike,  # (F,)
    W2: ArrayLike,  # (F, D)
    b2: ArrayLike,  # (D,)
) -> Array:  # (…, T, D)
    """ReLU(X W1 + b1) W2 + b2. Raises ShapeError if widths do not fit."""
    return linear(np.maximum(linear(X, W1, b1), 0.0), W2, b2)
