"""Random inputs and whole sets of weights, in sizes that cannot be mistaken for each other."""

from typing import Any

import numpy as np

Weights = dict[str, Any]


def mha_weights(rng: np.random.Generator, D: int, H: int, d: int, *, bias: bool = False) -> Weights:
    weights: Weights = {name: rng.standard_normal((D, H * d)) for name in ("WQ", "WK", "WV")}
    weights["WO"] = rng.standard_normal((H * d, D))
    if bias:
        weights |= {name: rng.standard_normal(H * d) for name in ("bQ", "bK", "bV")}
        weights["bO"] = rng.standard_normal(D)
    return weights


def ffn_weights(rng: np.random.Generator, D: int, F: int) -> Weights:
    return {
        "W1": rng.standard_normal((D, F)),
        "b1": rng.standard_normal(F),
        "W2": rng.standard_normal((F, D)),
        "b2": rng.standard_normal(D),
    }


def norm_weights(rng: np.random.Generator, D: int, *names: str) -> Weights:
    return {f"{name}_{part}": rng.standard_normal(D) for name in names for part in "gb"}


def encoder_layer_weights(
    rng: np.random.Generator, D: int, H: int, F: int, *, bias: bool = False
) -> Weights:
    return {
        "self": mha_weights(rng, D, H, D // H, bias=bias),
        "ffn": ffn_weights(rng, D, F),
        **norm_weights(rng, D, "ln1", "ln2"),
    }


def decoder_layer_weights(
    rng: np.random.Generator, D: int, H: int, F: int, *, bias: bool = False
) -> Weights:
    return {
        **encoder_layer_weights(rng, D, H, F, bias=bias),
        "cross": mha_weights(rng, D, H, D // H, bias=bias),
        **norm_weights(rng, D, "ln3"),
    }


def decoder_only(rng: np.random.Generator) -> tuple[Weights, Weights]:
    """Weights and configuration: V 11, D 15, H 3, F 13, two blocks, 7 positions."""
    config = {"V": 11, "D": 15, "H": 3, "F": 13, "L": 2, "T_max": 7, "eps": 1e-5}
    blocks = [
        {**mha_weights(rng, 15, 3, 5), **ffn_weights(rng, 15, 13), **norm_weights(rng, 15, *lns)}
        for lns in [("ln1", "ln2")] * 2
    ]
    weights = {
        "tok": rng.standard_normal((11, 15)),
        "pos": rng.standard_normal((7, 15)),
        "blocks": blocks,
        **norm_weights(rng, 15, "lnf"),
        "head": rng.standard_normal((15, 11)),
    }
    return weights, config


def encoder_decoder(rng: np.random.Generator) -> tuple[Weights, Weights]:
    """Weights and configuration: 7 source and 11 target tokens, D 15, H 3, F 13, 2 + 2 layers."""
    weights = {
        "src_tok": rng.standard_normal((7, 15)),
        "tgt_tok": rng.standard_normal((11, 15)),
        "enc": [encoder_layer_weights(rng, 15, 3, 13) for _ in range(2)],
        "dec": [decoder_layer_weights(rng, 15, 3, 13) for _ in range(2)],
        "head": rng.standard_normal((15, 11)),
    }
    return weights, {"D": 15, "H": 3, "eps": 1e-5}
