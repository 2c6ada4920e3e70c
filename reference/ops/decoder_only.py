"""3.6 A complete decoder-only language model.

    embedding + positions → L × (masked self-attention, FFN), pre-norm → final norm → LM head

Not the Transformer of 2017: no encoder, no cross-attention, other norms. The chapter leaves
positions open; here they are learned. No dropout, and the head shares nothing with the
embedding.

Weights: ``tok`` (V, D), ``pos`` (T_max, D), ``blocks`` (L dictionaries with WQ, WK, WV, WO, W1,
b1, W2, b2, ln1_g, ln1_b, ln2_g, ln2_b, and bQ, bK, bV, bO or none of these), ``lnf_g``, ``lnf_b``,
``head`` (D, V). Configuration: V, D, H, F, L, T_max, eps.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, Config, Weights, real, token_ids
from reference.ops.layers import encoder_layer, norm
from reference.ops.projection import linear
from reference.ops.residual import pre_norm
from reference.ops.visibility import causal_visible


def forward(
    tokens: ArrayLike,  # (…, T) int
    weights: Weights,
    config: Config,
) -> Array:  # (…, T, V)
    """Logits at every position: row t predicts token t + 1 from tokens 0 … t.

    Raises ShapeError for a token outside the vocabulary, a sequence longer than T_max, or another
    number of blocks than L.
    """
    x = embed(tokens, weights)
    for block in blocks(weights, config):
        parts = {**block, "self": block, "ffn": block}
        visible = causal_visible(x.shape[-2])
        x = encoder_layer(x, parts, config["H"], visible, order=pre_norm, eps=config["eps"])
    return predict(x, weights, config)


def embed(
    tokens: ArrayLike,  # (…, T) int
    weights: Weights,
    start: int = 0,
) -> Array:  # (…, T, D)
    """Token embedding plus the embedding of positions ``start`` … start + T - 1."""
    tok, pos = real(weights["tok"]), real(weights["pos"])
    tokens = token_ids("tokens", tokens, vocabulary=len(tok))
    T = tokens.shape[-1]
    if start + T > len(pos):
        rule = f"positions {start} to {start + T - 1} need as many position embeddings"
        raise ShapeError(rule, tokens=tokens.shape, pos=pos.shape)
    return tok[tokens] + pos[start : start + T]


def blocks(weights: Weights, config: Config) -> list[Weights]:
    """The weights of each block; ShapeError if there are not L of them."""
    layers: list[Weights] = weights["blocks"]
    if len(layers) != config["L"]:
        raise ShapeError("L blocks need L sets of weights", blocks=(len(layers),), L=(config["L"],))
    return layers


def predict(
    x: Array,  # (…, T, D)
    weights: Weights,
    config: Config,
) -> Array:  # (…, T, V)
    """Final norm, then the LM head."""
    return linear(norm(weights, "f", config["eps"])(x), weights["head"])


def parameter_count(weights: Any) -> int:
    """Number of numbers in nested weights: dictionaries, lists of dictionaries, arrays."""
    if isinstance(weights, dict):
        return sum(parameter_count(part) for part in weights.values())
    if isinstance(weights, list) and weights and isinstance(weights[0], dict):
        return sum(map(parameter_count, weights))
    return int(np.size(weights))
