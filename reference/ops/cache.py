"""3.7 The KV cache: keys and values of the past are computed once.

A past token's key and value never change, because it cannot see what comes after it. So a step
computes q, k, v of its new tokens only, appends k and v to the cache, and lets the new queries
read all of it. With p cached tokens, new token i stands at position p + i and reads j ≤ p + i.
The cache holds the past and knows nothing of the future.

A cache has one pair (K, V), each (…, H, p, d), for each block of the model of ``decoder_only``.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.ops.arrays import Array, Config, Weights, real
from reference.ops.attention import attention
from reference.ops.decoder_only import blocks, embed, predict
from reference.ops.generation import greedy, prompt_tokens
from reference.ops.heads import merge_heads, split_heads
from reference.ops.layers import feed_forward, norm
from reference.ops.projection import linear
from reference.ops.visibility import causal_visible

Pair = tuple[Array, Array]  # K and V of one block, (…, H, p, d) each
Cache = list[Pair]


def step(
    tokens: ArrayLike,  # (…, c) int, the new tokens
    weights: Weights,
    config: Config,
    cache: Cache | None = None,  # None = nothing read yet
) -> tuple[Array, Cache]:  # logits (…, c, V), the cache of p + c tokens
    """Logits of the new tokens on top of the cache; any cut into chunks gives the full pass.

    A new cache is returned and the old one left alone. Raises ShapeError as ``forward`` does.
    """
    x = embed(tokens, weights, start=cached_length(cache))
    grown: Cache = []
    for number, block in enumerate(blocks(weights, config)):
        x, pair = block_step(x, block, None if cache is None else cache[number], config)
        grown.append(pair)
    return predict(x, weights, config), grown


def cached_length(cache: Cache | None) -> int:
    """p, the number of tokens that the cache holds."""
    return 0 if cache is None else np.shape(cache[0][0])[-2]


def block_step(
    x: Array,  # (…, c, D)
    block: Weights,
    past: Pair | None,
    config: Config,
) -> tuple[Array, Pair]:  # (…, c, D), K and V of p + c tokens
    """One pre-norm block over the new tokens: the queries are new, the keys old and new."""
    normed = real(norm(block, 1, config["eps"])(x))
    q, k, v = (
        split_heads(linear(normed, block["W" + letter], block.get("b" + letter)), config["H"])
        for letter in "QKV"
    )
    if past is not None:
        k, v = np.concatenate([past[0], k], axis=-2), np.concatenate([past[1], v], axis=-2)
    _, context = attention(q, k, v, causal_visible(q.shape[-2], k.shape[-2]))
    x = x + linear(merge_heads(context), block["WO"], block.get("bO"))
    x = x + real(feed_forward(block)(real(norm(block, 2, config["eps"])(x))))
    return x, (k, v)


def generate_with_cache(
    prompt: ArrayLike,  # (m,) int, m ≥ 1
    n: int,
    weights: Weights,
    config: Config,
) -> list[int]:
    """Greedy generation: the prompt in one pass (prefill), then one token a step (decode)."""
    tokens = prompt_tokens(prompt)
    unread, cache = tokens, None
    for _ in range(n):
        logits, cache = step(unread, weights, config, cache)
        unread = [greedy(logits[-1])]
        tokens = tokens + unread
    return tokens


def in_chunks(
    tokens: ArrayLike,  # (T,) int
    weights: Weights,
    config: Config,
    cuts: ArrayLike,  # (n,) int, the lengths of the chunks, T together
) -> dict[str, Array]:
    """``logits`` (T, V), ``K`` and ``V`` (L, H, T, d), and ``lengths`` (n,), the tokens that the
    cache holds after each chunk. Raises ShapeError as ``step`` does."""
    cache: Cache | None = None
    logits, lengths = [], []
    for chunk in np.split(np.asarray(tokens), np.cumsum(cuts)[:-1]):
        rows, cache = step(chunk, weights, config, cache)
        logits.append(rows)
        lengths.append(cached_length(cache))
    return {"logits": np.concatenate(logits), **stacked(cache or []), "lengths": np.array(lengths)}


def resume(
    tokens: ArrayLike,  # (c,) int, the new tokens
    weights: Weights,
    config: Config,
    K: ArrayLike,  # (L, H, p, d), what the cache holds for each block
    V: ArrayLike,  # (L, H, p, d)
) -> dict[str, Array]:
    """``logits`` (c, V), ``K`` and ``V`` (L, H, p + c, d) of one step on a cache of any content."""
    logits, grown = step(tokens, weights, config, list(zip(real(K), real(V), strict=True)))
    return {"logits": logits, **stacked(grown)}


def stacked(cache: Cache) -> dict[str, Array]:
    """The keys and the values of all blocks, (L, …, H, p, d) each."""
    return {"K": np.stack([k for k, _ in cache]), "V": np.stack([v for _, v in cache])}
