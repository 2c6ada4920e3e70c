"""What comes in: real arrays become float64, masks must be boolean, tokens must be known."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from reference.errors import ShapeError

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Tokens = npt.NDArray[np.int64]
Weights = Mapping[str, Any]  # nested: a name leads to an array, a mapping, or a list of mappings
Config = Mapping[str, Any]  # sizes by name


def real(values: ArrayLike) -> Array:
    """The same numbers as float64; an array that is float64 already is not copied."""
    return np.asarray(values, dtype=np.float64)


def boolean(name: str, mask: ArrayLike, **beside: tuple[int, ...]) -> Mask:
    """``mask`` as a boolean array; 0 and 1, or 0 and -inf, are refused.

    An additive mask read as a boolean one says the opposite of what it means, so nothing is
    converted. Raises ShapeError with the mask's shape and those of the arrays ``beside`` it.
    """
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        rule = f"{name} must be boolean, not {array.dtype}"
        raise ShapeError(rule, **{name: array.shape}, **beside)
    return array


def token_ids(name: str, tokens: ArrayLike, vocabulary: int) -> Tokens:
    """``tokens`` as integers from 0 to vocabulary - 1.

    A negative id would silently count from the end of the table, so it is refused like any other
    unknown token. Raises ShapeError with the shape of the tokens and the vocabulary's size.
    """
    ids = np.asarray(tokens)
    if ids.size and (ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= vocabulary):
        rule = f"{name} must be integers from 0 to {vocabulary - 1}"
        raise ShapeError(rule, **{name: ids.shape}, vocabulary=(vocabulary,))
    return ids.astype(np.int64)
