"""3.3 A real-valued bias, added to the scores after scaling."""

from typing import Any

import torch
from torch import Tensor

from reference.errors import ShapeError
from reference.modules.attention import common_axes, masked_softmax
from reference.modules.tensors import real


def biased_weights(
    Q: Any,  # (…, T_q, d_k)
    K: Any,  # (…, T_k, d_k)
    M: Any,  # broadcasts to (…, T_q, T_k), -inf = hidden
) -> Tensor:  # (…, T_q, T_k)
    """softmax(Q Kᵀ / √d_k + M), 0 in a row of -inf alone. Raises ShapeError."""
    Q, K, M = real(Q), real(K), real(M)
    common_axes(Q, K, K)
    scores = torch.matmul(Q, K.mT) / Q.shape[-1] ** 0.5
    try:
        M = M.expand(scores.shape)
    except RuntimeError:
        rule = "M must broadcast to the scores"
        raise ShapeError(rule, M=M.shape, scores=scores.shape) from None
    hidden = torch.isneginf(M)
    return masked_softmax(scores + M.masked_fill(hidden, 0.0), ~hidden)
