"""What comes in: real arrays become float64, masks must be boolean."""

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from reference.errors import ShapeError

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Tokens = npt.NDArray[np.int64]


def real(values: ArrayLike) -> Array:
    """The same numbers as float64; an array that is float64 already is not copied."""
    return np.asarray(values, dtype=np.float64)


def boolean(
    name: str, mask: ArrayLike, beside: tuple[int, ...], beside_name: str = "scores"
) -> Mask:
    """``mask`` as a boolean array; 0 and 1, or 0 and -inf, are refused.

    An additive mask read as a boolean one says the opposite of what it means, so nothing is
    converted. Raises ShapeError with the mask's shape and that of the array it belongs to.
    """
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        shapes = {name: array.shape, beside_name: beside}
        raise ShapeError(f"{name} must be boolean, not {array.dtype}", **shapes)
    return array
