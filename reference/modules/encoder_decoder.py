"""3.6 The encoder-decoder of 2017."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from reference.errors import ShapeError
from reference.modules.layers import DecoderLayer, EncoderLayer
from reference.modules.tensors import Linear, boolean, real, token_ids
from reference.modules.visibility import causal_visible, visible_from_padding


class EncoderDecoder(nn.Module):
    """Post-norm layers over scaled embeddings and sinusoids; weights as in ``reference.ops``."""

    def __init__(self, weights: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        super().__init__()
        H, eps = config["H"], config["eps"]
        self.source = nn.Parameter(real(weights["src_tok"]))
        self.target = nn.Parameter(real(weights["tgt_tok"]))
        self.encoder = nn.ModuleList(EncoderLayer(w, H, eps=eps) for w in weights["enc"])
        self.decoder = nn.ModuleList(DecoderLayer(w, H, eps=eps) for w in weights["dec"])
        self.head = Linear(weights["head"])

    def forward(
        self,
        src: Any,  # (B, S) int
        src_valid: Any,  # (B, S) bool
        tgt: Any,  # (B, T) int
    ) -> Tensor:  # (B, T, V_tgt)
        memory, valid = self.encode(src, src_valid)
        y = embed("tgt", tgt, self.target)
        causal = causal_visible(y.shape[-2])
        for layer in self.decoder:
            y = layer(y, memory, causal, valid.unsqueeze(-2))
        logits: Tensor = self.head(y)
        return logits

    def encode(self, src: Any, src_valid: Any) -> tuple[Tensor, Tensor]:
        """The memory (B, S, D), and ``src_valid`` as a tensor. Raises ShapeError."""
        x = embed("src", src, self.source)
        valid = boolean("src_valid", src_valid, source=x.shape)
        if valid.shape != x.shape[:-1]:
            raise ShapeError("src_valid: (B, S)", src_valid=valid.shape, source=x.shape)
        for layer in self.encoder:
            x = layer(x, visible_from_padding(~valid, causal=False))
        return x, valid


def embed(name: str, tokens: Any, table: Tensor) -> Tensor:  # (B, T) -> (B, T, D)
    """√D times the embedding, plus the sinusoids."""
    ids = token_ids(name, tokens, len(table))
    D = table.shape[-1]
    scaled: Tensor = table[ids] * D**0.5
    return scaled + sinusoidal(ids.shape[-1], D)


def sinusoidal(T: int, D: int) -> Tensor:  # (T, D)
    """Sine and cosine of p · 10000^(-2i/D), interleaved; an odd D drops the last cosine."""
    frequency = torch.pow(10000.0, -torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = torch.outer(torch.arange(T, dtype=torch.float64), frequency)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)[:, :D]


def forward(
    src: Any, src_valid: Any, tgt: Any, weights: Mapping[str, Any], config: Mapping[str, Any]
) -> Tensor:
    """Logits (B, T, V_tgt)."""
    logits: Tensor = EncoderDecoder(weights, config)(src, src_valid, tgt)
    return logits
