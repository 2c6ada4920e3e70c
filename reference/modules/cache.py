"""3.7 Decoding with the cache."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from reference.errors import ShapeError
from reference.modules.decoder_only import DecoderOnly
from reference.modules.multihead import Heads
from reference.modules.tensors import real, tensor


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


def in_chunks(
    tokens: Any,  # (T,) int
    weights: Mapping[str, Any],
    config: Mapping[str, Any],
    cuts: Any,  # (n,) int
) -> dict[str, Tensor]:
    """Logits, final cache and its length after each chunk."""
    model, cache = DecoderOnly(weights, config), None
    logits, lengths = [], []
    for chunk in torch.split(tensor(tokens), tensor(cuts).tolist()):
        rows, cache = model(chunk, cache)
        logits.append(rows)
        lengths.append(cache[0][0].shape[-2])
    return {"logits": torch.cat(logits), **_both(cache or []), "lengths": torch.tensor(lengths)}


def resume(
    tokens: Any,  # (c,) int
    weights: Mapping[str, Any],
    config: Mapping[str, Any],
    K: Any,  # (L, H, p, d)
    V: Any,  # (L, H, p, d)
) -> dict[str, Tensor]:
    """One step on a cache that is given as two arrays."""
    cache = [(keys, values) for keys, values in zip(real(K), real(V), strict=True)]
    logits, grown = DecoderOnly(weights, config)(tokens, cache)
    return {"logits": logits, **_both(grown)}


def _both(cache: list[Heads]) -> dict[str, Tensor]:
    keys, values = zip(*cache, strict=True)
    return {"K": torch.stack(keys), "V": torch.stack(values)}
