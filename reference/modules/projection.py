"""3.1 Three linear layers without bias."""

from typing import Any

from torch import Tensor

from reference.errors import ShapeError
from reference.modules.tensors import Linear, real


def project(
    X: Any,  # (…, T, D)
    WQ: Any,  # (D, d_k)
    WK: Any,  # (D, d_k)
    WV: Any,  # (D, d_v)
) -> tuple[Tensor, Tensor, Tensor]:  # Q (…, T, d_k), K (…, T, d_k), V (…, T, d_v)
    """Q, K and V of one sequence. Raises ShapeError if widths do not fit."""
    X = real(X)
    Q, K, V = (Linear(W)(X) for W in (WQ, WK, WV))
    if Q.shape[-1] != K.shape[-1]:
        raise ShapeError("WQ and WK need the same width", Q=Q.shape, K=K.shape)
    return Q, K, V
