"""3.6 The encoder-decoder of 2017.

    source → √D · embedding + sinusoids → encoder layers (every token reads every real token)
    target → √D · embedding + sinusoids → decoder layers (causal, then cross-attention) → head

Post-norm throughout, so there is no final norm. Source padding is hidden wherever the source is
read: in the encoder's self-attention and in cross-attention. Target padding at the right needs no
mask: causality hides it from every real token, and its loss is dropped.

Weights: ``src_tok`` (V_src, D), ``tgt_tok`` (V_tgt, D), ``enc`` and ``dec`` (lists of layers as
in ``layers``), ``head`` (D, V_tgt). Configuration: D, H, eps.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, Config, Mask, Weights, boolean, real, token_ids
from reference.ops.layers import decoder_layer, encoder_layer
from reference.ops.positions import sinusoidal
from reference.ops.projection import linear
from reference.ops.visibility import causal_visible, padding_visible


def forward(
    src: ArrayLike,  # (B, S) int
    src_valid: ArrayLike,  # (B, S) bool, True = real token
    tgt: ArrayLike,  # (B, T) int
    weights: Weights,
    config: Config,
) -> Array:  # (B, T, V_tgt)
    """Logits: row t predicts target t + 1 from the whole source and targets 0 … t.

    Raises ShapeError for unknown tokens or a ``src_valid`` that is not boolean of src's shape.
    """
    memory = encode(src, src_valid, weights, config)
    return decode(tgt, memory, src_valid, weights, config)


def encode(
    src: ArrayLike,  # (B, S) int
    src_valid: ArrayLike,  # (B, S) bool
    weights: Weights,
    config: Config,
) -> Array:  # (B, S, D), the memory
    """Bidirectional: every source position reads every real one, before and after."""
    x = embed("src", src, weights["src_tok"])
    visible = source_visible(src_valid, x, T_q=x.shape[-2])
    for layer in weights["enc"]:
        x = encoder_layer(x, layer, config["H"], visible, eps=config["eps"])
    return x


def decode(
    tgt: ArrayLike,  # (B, T) int
    memory: Array,  # (B, S, D)
    src_valid: ArrayLike,  # (B, S) bool
    weights: Weights,
    config: Config,
) -> Array:  # (B, T, V_tgt)
    """Causal over the target, free over the source: its last token reaches the first row."""
    y = embed("tgt", tgt, weights["tgt_tok"])
    T = y.shape[-2]
    causal, source = causal_visible(T), source_visible(src_valid, memory, T_q=T)
    for layer in weights["dec"]:
        y, _ = decoder_layer(y, memory, layer, config["H"], causal, source, eps=config["eps"])
    return linear(y, weights["head"])


def embed(
    name: str,
    tokens: ArrayLike,  # (B, T) int
    table: ArrayLike,  # (V, D)
) -> Array:  # (B, T, D)
    """√D · embedding + sinusoids: the factor keeps the token from drowning in its position."""
    table = real(table)
    tokens = token_ids(name, tokens, vocabulary=len(table))
    D = table.shape[-1]
    scaled: Array = np.sqrt(D) * table[tokens]
    return scaled + sinusoidal(tokens.shape[-1], D)


def source_visible(src_valid: ArrayLike, x: Array, T_q: int) -> Mask:  # (B, T_q, S)
    """Real source tokens, readable by every query. Raises ShapeError unless src_valid fits x."""
    valid = boolean("src_valid", src_valid, source=x.shape)
    if valid.shape != x.shape[:-1]:
        rule = "src_valid needs one entry per source token"
        raise ShapeError(rule, src_valid=valid.shape, source=x.shape)
    return padding_visible(valid, T_q)
