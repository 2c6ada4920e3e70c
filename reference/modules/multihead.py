"""3.5 Multi-head attention as a module, convertible to and from torch's own."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from reference.errors import ShapeError
from reference.modules.attention import attention
from reference.modules.tensors import Linear, boolean, real

Heads = tuple[Tensor, Tensor]  # keys and values, (…, H, T_k, d) each


class MultiHeadAttention(nn.Module):
    """H attentions side by side; WQ, WK, WV: (D, H·d), WO: (H·d, D), biases optional."""

    def __init__(self, weights: Mapping[str, Any], H: int) -> None:
        super().__init__()
        self.H = H
        self.q, self.k, self.v, self.out = (
            Linear(weights["W" + letter], weights.get("b" + letter)) for letter in "QKVO"
        )

    def forward(
        self,
        xq: Tensor,  # (…, T_q, D)
        xkv: Tensor,  # (…, T_k, D)
        visible: Any = None,  # (T_q, T_k), (…, T_q, T_k) or (…, H, T_q, T_k), bool
    ) -> tuple[Tensor, Tensor]:  # weights (…, H, T_q, T_k), output (…, T_q, D)
        return self.attend(xq, self.keys_values(xkv), visible)

    def keys_values(self, xkv: Tensor) -> Heads:
        """Keys and values of a sequence: what a cache keeps."""
        return self.split(self.k(xkv)), self.split(self.v(xkv))

    def attend(self, xq: Tensor, keys_values: Heads, visible: Any) -> tuple[Tensor, Tensor]:
        """Let queries read keys and values that exist already."""
        q = self.split(self.q(xq))
        if visible is not None:
            visible = boolean("visible", visible, q=q.shape)
            if 2 <= visible.ndim < q.ndim:
                visible = visible.unsqueeze(-3)
        weights, context = attention(q, *keys_values, visible)
        output: Tensor = self.out(context.transpose(-3, -2).flatten(-2))
        return weights, output

    def split(self, projected: Tensor) -> Tensor:  # (…, T, H·d) -> (…, H, T, d)
        if projected.shape[-1] % self.H:
            rule = "the projected width must split evenly into heads"
            raise ShapeError(rule, projected=projected.shape, heads=(self.H,))
        d = projected.shape[-1] // self.H
        return projected.reshape(*projected.shape[:-1], self.H, d).transpose(-3, -2)

    def torch_state(self) -> dict[str, Tensor]:
        """The state dictionary of ``torch.nn.MultiheadAttention(D, H)`` with these weights.

        Biases are included if this module has all four. Raises ShapeError if H·d differs from D,
        which torch's class cannot hold.
        """
        layers = (self.q, self.k, self.v)
        square = {layer.weight.shape for layer in (*layers, self.out)}
        if len(square) > 1 or self.q.in_features != self.q.out_features:
            raise ShapeError(
                "torch needs H·d = D", WQ=self.q.weight.T.shape, WO=self.out.weight.T.shape
            )
        state = {
            "in_proj_weight": torch.cat([layer.weight for layer in layers]),
            "out_proj.weight": self.out.weight,
        }
        if self.out.bias is not None:
            state["in_proj_bias"] = torch.cat([layer.bias for layer in layers])
            state["out_proj.bias"] = self.out.bias
        return {name: tensor.detach().clone() for name, tensor in state.items()}


def from_torch_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """WQ, WK, WV, WO, and bQ, bK, bV, bO where present, of a ``torch.nn.MultiheadAttention``."""
    stacked = state["in_proj_weight"].detach().chunk(3)
    weights = dict(zip(("WQ", "WK", "WV"), (part.T for part in stacked), strict=True))
    weights["WO"] = state["out_proj.weight"].detach().T
    if "in_proj_bias" in state:
        biases = (*state["in_proj_bias"].detach().chunk(3), state["out_proj.bias"].detach())
        weights |= zip(("bQ", "bK", "bV", "bO"), biases, strict=True)
    return weights


def mha(
    Xq: Any,  # (…, T_q, D)
    Xkv: Any,  # (…, T_k, D)
    WQ: Any,  # (D, H·d_k)
    WK: Any,  # (D, H·d_k)
    WV: Any,  # (D, H·d_v)
    WO: Any,  # (H·d_v, D)
    H: int,
    visible: Any = None,
) -> dict[str, Tensor]:
    """``{"A": (…, H, T_q, T_k), "out": (…, T_q, D)}``. Raises ShapeError."""
    module = MultiHeadAttention({"WQ": WQ, "WK": WK, "WV": WV, "WO": WO}, H)
    A, out = module(real(Xq), real(Xkv), visible)
    return {"A": A, "out": out}
