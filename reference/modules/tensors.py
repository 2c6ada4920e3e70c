"""What comes in, as tensors: float64 numbers, boolean masks, token ids, weights of a layer."""

from typing import Any

import torch
from torch import Tensor, nn

from reference.errors import ShapeError


def real(values: Any) -> Tensor:
    """float64, still part of the autograd graph if ``values`` is a tensor."""
    if isinstance(values, Tensor):
        return values.to(torch.float64)
    return torch.tensor(values, dtype=torch.float64)


def tensor(values: Any) -> Tensor:
    """The values as they are, copied unless they are a tensor."""
    if isinstance(values, Tensor):
        return values
    copied: Tensor = torch.tensor(values)
    return copied


def boolean(name: str, mask: Any, **beside: torch.Size) -> Tensor:
    """``mask`` as a boolean tensor; ShapeError if it is made of anything but True and False."""
    flags = tensor(mask)
    if flags.dtype != torch.bool:
        rule = f"{name} must be boolean, not {flags.dtype}"
        raise ShapeError(rule, **{name: flags.shape}, **beside)
    return flags


def token_ids(name: str, tokens: Any, vocabulary: int) -> Tensor:
    """``tokens`` as int64; ShapeError for one outside 0 … vocabulary - 1."""
    ids = tensor(tokens)
    if ids.is_floating_point() or bool(((ids < 0) | (ids >= vocabulary)).any()):
        rule = f"{name} must be integers below {vocabulary}"
        raise ShapeError(rule, **{name: ids.shape}, vocabulary=(vocabulary,))
    return ids.long()


class Linear(nn.Linear):
    """x W + b with W: (in, out) as the chapter writes it; torch stores the transpose."""

    def __init__(self, W: Any, b: Any = None) -> None:
        W = real(W)
        if W.ndim != 2:
            raise ShapeError("a weight is W: (in, out)", W=W.shape)
        if b is not None and real(b).shape != W.shape[1:]:
            raise ShapeError("W: (in, out) needs b: (out,)", W=W.shape, b=real(b).shape)
        width_in, width_out = W.shape
        super().__init__(width_in, width_out, b is not None, device="meta", dtype=torch.float64)
        self.weight = nn.Parameter(W.detach().T.clone())
        if b is not None:
            self.bias = nn.Parameter(real(b).detach().clone())

    def forward(self, x: Tensor) -> Tensor:  # (…, in) -> (…, out)
        if x.ndim < 1 or x.shape[-1] != self.in_features:
            raise ShapeError("x @ W needs W: (width of x, out)", x=x.shape, W=self.weight.T.shape)
        return super().forward(x)
