"""3.3 A real-valued bias, added to the scores after scaling."""

from typing import Any

import torch
from torch import Tensor

from reference.modules.tensors import real


def biased_weights(
    Q: Any,  # (…, T_q, d_k)
    K: Any,  # (…, T_k, d_k)
    M: Any,  # broadcasts to (…, T_q, T_k), no row all -inf
) -> Tensor:  # (…, T_q, T_k)
    """softmax(Q Kᵀ / √d_k + M)."""
    Q, K, M = real(Q), real(K), real(M)
    return torch.softmax(torch.matmul(Q, K.mT) / Q.shape[-1] ** 0.5 + M, dim=-1)
