"""3.6, 3.7 The decoder-only model, whose forward pass may continue a cache."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from reference.errors import ShapeError
from reference.modules.ffn import FeedForward
from reference.modules.layernorm import Norm
from reference.modules.multihead import Heads, MultiHeadAttention
from reference.modules.tensors import Linear, real, token_ids
from reference.modules.visibility import causal_visible


class Block(nn.Module):
    """Pre-norm masked self-attention and feed-forward."""

    def __init__(self, weights: Mapping[str, Any], H: int, eps: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(weights, H)
        self.feed_forward = FeedForward(weights)
        self.ln1 = Norm(weights["ln1_g"], weights["ln1_b"], eps)
        self.ln2 = Norm(weights["ln2_g"], weights["ln2_b"], eps)

    def forward(self, x: Tensor, past: Heads | None) -> tuple[Tensor, Heads]:
        normed = self.ln1(x)
        keys, values = self.attention.keys_values(normed)
        if past is not None:
            old_keys, old_values = map(real, past)
            keys, values = torch.cat([old_keys, keys], -2), torch.cat([old_values, values], -2)
        visible = causal_visible(x.shape[-2], keys.shape[-2])
        _, read = self.attention.attend(normed, (keys, values), visible)
        x = x + read
        return x + self.feed_forward(self.ln2(x)), (keys, values)


class DecoderOnly(nn.Module):
    """Embeddings, L blocks, final norm, head; weights as in ``reference.ops.decoder_only``."""

    def __init__(self, weights: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        super().__init__()
        if len(weights["blocks"]) != config["L"]:
            found = len(weights["blocks"])
            raise ShapeError("weights for L blocks", blocks=(found,), L=(config["L"],))
        self.token = nn.Parameter(real(weights["tok"]))
        self.position = nn.Parameter(real(weights["pos"]))
        H, eps = config["H"], config["eps"]
        self.blocks = nn.ModuleList(Block(block, H, eps) for block in weights["blocks"])
        self.final_norm = Norm(weights["lnf_g"], weights["lnf_b"], eps)
        self.head = Linear(weights["head"])

    def forward(
        self,
        tokens: Any,  # (…, c) int
        cache: list[Heads] | None = None,
    ) -> tuple[Tensor, list[Heads]]:  # logits (…, c, V), cache with c more tokens
        """Logits of new tokens after those of the cache. Raises ShapeError."""
        ids = token_ids("tokens", tokens, len(self.token))
        past = 0 if cache is None else real(cache[0][0]).shape[-2]
        if past + ids.shape[-1] > len(self.position):
            rule = f"{past} tokens and these exceed the positions"
            raise ShapeError(rule, tokens=ids.shape, positions=self.position.shape)
        x = self.token[ids] + self.position[past : past + ids.shape[-1]]
        grown = []
        for number, block in enumerate(self.blocks):
            x, pair = block(x, None if cache is None else cache[number])
            grown.append(pair)
        return self.head(self.final_norm(x)), grown


def forward(tokens: Any, weights: Mapping[str, Any], config: Mapping[str, Any]) -> Tensor:
    """Logits (…, T, V) at every position, in one pass without a cache."""
    logits: Tensor = DecoderOnly(weights, config)(tokens)[0]
    return logits
