"""3.6 The encoder layer and the decoder layer, with the norm first or last.

Weights are the nested dictionaries of ``reference.ops``: ``self``, ``cross``, ``ffn``, and one
``ln1``, ``ln2``, ``ln3`` for each sublayer.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from reference.modules.ffn import FeedForward
from reference.modules.layernorm import Norm
from reference.modules.multihead import MultiHeadAttention

Weights = Mapping[str, Any]


class Sublayers(nn.Module):
    """What both layers share: one norm a sublayer, and where it stands."""

    def __init__(self, weights: Weights, count: int, norm_first: bool, eps: float) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.norms = nn.ModuleList(
            Norm(weights[f"ln{n}_g"], weights[f"ln{n}_b"], eps) for n in range(1, count + 1)
        )

    def wrap(self, number: int, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x + F(norm(x)) if the norm comes first, norm(x + F(x)) if it comes last."""
        norm = self.norms[number]
        result: Tensor = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return result


class EncoderLayer(Sublayers):
    """Self-attention and feed-forward."""

    def __init__(
        self, weights: Weights, H: int, *, norm_first: bool = False, eps: float = 1e-5
    ) -> None:
        super().__init__(weights, 2, norm_first, eps)
        self.attention = MultiHeadAttention(weights["self"], H)
        self.feed_forward = FeedForward(weights["ffn"])

    def forward(self, x: Tensor, visible: Any = None) -> Tensor:  # (…, T, D) -> (…, T, D)
        x = self.wrap(0, x, lambda h: self.attention(h, h, visible)[1])
        return self.wrap(1, x, self.feed_forward)


class DecoderLayer(Sublayers):
    """Masked self-attention, cross-attention and feed-forward."""

    def __init__(
        self, weights: Weights, H: int, *, norm_first: bool = False, eps: float = 1e-5
    ) -> None:
        super().__init__(weights, 3, norm_first, eps)
        self.attention = MultiHeadAttention(weights["self"], H)
        self.cross = MultiHeadAttention(weights["cross"], H)
        self.feed_forward = FeedForward(weights["ffn"])

    def forward(
        self,
        y: Tensor,  # (…, T_q, D)
        memory: Tensor,  # (…, T_k, D)
        visible: Any = None,  # (…, T_q, T_q) bool
        memory_visible: Any = None,  # (…, T_q, T_k) bool
    ) -> Tensor:  # (…, T_q, D)
        y = self.wrap(0, y, lambda h: self.attention(h, h, visible)[1])
        y = self.wrap(1, y, lambda h: self.cross(h, memory, memory_visible)[1])
        return self.wrap(2, y, self.feed_forward)
