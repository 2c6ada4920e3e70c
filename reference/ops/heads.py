"""3.5 One wide projection is H narrow ones: split it, attend, merge.

    [B, T, H·d] → reshape [B, T, H, d] → transpose [B, H, T, d], and back

Head h owns the contiguous columns h·d … (h+1)·d - 1. A direct reshape to [B, H, T, d] has the
right shape and mixes tokens with heads.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real


def split_heads(
    Y: ArrayLike,  # (…, T, H·d)
    H: int,
) -> Array:  # (…, H, T, d)
    """out[…, h, t, c] = Y[…, t, h·d + c]. Raises ShapeError if H does not divide the width."""
    Y = real(Y)
    if Y.ndim < 2 or H < 1 or Y.shape[-1] % H:
        raise ShapeError("the last axis of Y must split evenly into heads", Y=Y.shape, heads=(H,))
    return np.swapaxes(Y.reshape(*Y.shape[:-1], H, Y.shape[-1] // H), -2, -3)


def merge_heads(
    C: ArrayLike,  # (…, H, T, d)
) -> Array:  # (…, T, H·d)
    """out[…, t, h·d + c] = C[…, h, t, c]. Raises ShapeError for fewer than three axes."""
    C = real(C)
    if C.ndim < 3:
        raise ShapeError("C needs the axes (…, H, T, d)", C=C.shape)
    *lead, H, T, d = C.shape
    return np.swapaxes(C, -2, -3).reshape(*lead, T, H * d)
