"""3.6 The feed-forward network: two Linear layers and a ReLU."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from reference.modules.tensors import Linear, real


class FeedForward(nn.Module):
    """ReLU(x W1 + b1) W2 + b2 for each token."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        super().__init__()
        self.inner = Linear(weights["W1"], weights["b1"])
        self.outer = Linear(weights["W2"], weights["b2"])

    def forward(self, x: Tensor) -> Tensor:  # (…, T, D) -> (…, T, D)
        y: Tensor = self.outer(torch.relu(self.inner(x)))
        return y


def ffn(X: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Tensor:  # (…, T, D)
    """``FeedForward`` as a function."""
    y: Tensor = FeedForward({"W1": W1, "b1": b1, "W2": W2, "b2": b2})(real(X))
    return y
