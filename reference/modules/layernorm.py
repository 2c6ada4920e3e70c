"""3.6 LayerNorm with torch's mean and var."""

from typing import Any

import torch
from torch import Tensor, nn

from reference.errors import ShapeError
from reference.modules.tensors import real


class Norm(nn.Module):
    """γ ⊙ (x - mean) / √(var + ε) + β over the last axis, biased variance."""

    def __init__(self, gamma: Any, beta: Any, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(real(gamma).detach().clone())
        self.beta = nn.Parameter(real(beta).detach().clone())
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:  # (…, D) -> (…, D)
        if not self.gamma.shape == self.beta.shape == x.shape[-1:]:
            shapes = {"x": x.shape, "gamma": self.gamma.shape, "beta": self.beta.shape}
            raise ShapeError("gamma and beta are as wide as x", **shapes)
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.gamma + self.beta


def layernorm(X: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Tensor:  # (…, D)
    """``Norm`` as a function."""
    normed: Tensor = Norm(gamma, beta, eps)(real(X))
    return normed
