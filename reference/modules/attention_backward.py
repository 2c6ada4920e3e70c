"""3.8 The gradients of attention, by autograd."""

from typing import Any

import torch
from torch import Tensor

from reference.modules.attention import masked_softmax
from reference.modules.tensors import real


def attention_backward(
    Q: Any,  # (…, T_q, d_k)
    K: Any,  # (…, T_k, d_k)
    V: Any,  # (…, T_k, d_v)
    G: Any,  # (…, T_q, d_v)
    visible: Any = None,
) -> dict[str, Tensor]:
    """``dV dA dS dQ dK`` of L = Σ G ⊙ Z, with S the scaled scores."""
    q, k, v = leaves(Q, K, V)
    S = torch.matmul(q, k.mT) / q.shape[-1] ** 0.5
    A = masked_softmax(S, visible)
    L = (torch.matmul(A, v) * real(G)).sum()
    gradients = torch.autograd.grad(L, (v, A, S, q, k))
    return dict(zip(("dV", "dA", "dS", "dQ", "dK"), gradients, strict=True))


def projection_backward(
    X: Any,  # (…, T, D)
    WQ: Any,  # (D, d_k)
    WK: Any,  # (D, d_k)
    WV: Any,  # (D, d_v)
    G: Any,  # (…, T, d_v)
    visible: Any = None,
) -> dict[str, Tensor]:
    """``dWQ dWK dWV dX`` of L = Σ G ⊙ Z, self-attention on X."""
    x, wq, wk, wv = leaves(X, WQ, WK, WV)
    S = torch.matmul(x @ wq, (x @ wk).mT) / wq.shape[-1] ** 0.5
    L = (torch.matmul(masked_softmax(S, visible), x @ wv) * real(G)).sum()
    gradients = torch.autograd.grad(L, (wq, wk, wv, x))
    return dict(zip(("dWQ", "dWK", "dWV", "dX"), gradients, strict=True))


def leaves(*arrays: Any) -> tuple[Tensor, ...]:
    """Fresh tensors that autograd follows."""
    return tuple(real(array).detach().clone().requires_grad_() for array in arrays)
