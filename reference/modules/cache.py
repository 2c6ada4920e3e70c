"""3.7 Decoding with the cache."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from reference.errors import ShapeError
from reference.modules.decoder_only import DecoderOnly
from reference.modules.multihead import Heads


def step(
    tokens: Any,  # (…, c) int
    weights: Mapping[str, Any],
    config: Mapping[str, Any],
    cache: list[Heads] | None = None,
) -> tuple[Tensor, list[Heads]]:  # logits (…, c, V), cache of p + c tokens
    """Logits of the new tokens, and the cache with them."""
    logits, grown = DecoderOnly(weights, config)(tokens, cache)
    return logits, grown


@torch.no_grad()
def generate_with_cache(
    prompt: list[int],  # at least one token
    n: int,
    weights: Mapping[str, Any],
    config: Mapping[str, Any],
) -> list[int]:
    """Prompt and n greedy tokens: prefill in one pass, then a token a step."""
    if not prompt:
        raise ShapeError("a prompt needs a token", prompt=(0,), least=(1,))
    model = DecoderOnly(weights, config)
    generated, unread, cache = list(prompt), list(prompt), None
    for _ in range(n):
        logits, cache = model(unread, cache)
        unread = [int(torch.argmax(logits[-1]))]
        generated += unread
    return generated
