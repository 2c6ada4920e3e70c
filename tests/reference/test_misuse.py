"""Whatever does not fit is a ShapeError that gives the shapes, in both implementations."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reference.errors import ShapeError
from reference.modules import attention as t_attention
from reference.modules import bias as t_bias
from reference.modules import cache as t_cache
from reference.modules import decoder_only as t_decoder_only
from reference.modules import encoder_decoder as t_encoder_decoder
from reference.modules import ffn as t_ffn
from reference.modules import layernorm as t_layernorm
from reference.modules import loss as t_loss
from reference.modules import multihead as t_multihead
from reference.modules import projection as t_projection
from reference.modules import visibility as t_visibility
from reference.ops import attention as n_attention
from reference.ops import bias as n_bias
from reference.ops import cache as n_cache
from reference.ops import decoder_only as n_decoder_only
from reference.ops import encoder_decoder as n_encoder_decoder
from reference.ops import ffn as n_ffn
from reference.ops import layernorm as n_layernorm
from reference.ops import loss as n_loss
from reference.ops import multihead as n_multihead
from reference.ops import projection as n_projection
from reference.ops import visibility as n_visibility
from reference.ops.attention_backward import attention_backward
from reference.ops.generation import generate
from reference.ops.heads import merge_heads, split_heads
from reference.ops.layer_backward import layernorm_backward
from reference.ops.online_softmax import blockwise_attention
from reference.ops.residual import residual
from reference.ops.softmax import softmax
from reference.ops.teacher_forcing import shift
from tests.reference import models

RNG = np.random.default_rng(5)
DECODER = models.decoder_only(RNG)
TRANSLATOR = models.encoder_decoder(RNG)
NO_MASK = np.zeros((3, 7))  # additive, as floats


def zeros(*shapes: tuple[int, ...]) -> list[Any]:
    return [np.zeros(shape) for shape in shapes]


QKV = zeros((2, 3, 5), (2, 7, 5), (2, 7, 11))
MHA = [*zeros((2, 3, 13), (2, 7, 13)), *models.mha_weights(RNG, 13, 3, 5).values()]
LOGITS = np.zeros((2, 3, 5))
LABELS, KEEP = np.zeros((2, 3), int), np.ones((2, 3), bool)

Calls = tuple[Callable[..., Any], Callable[..., Any]]
ATTENTION: Calls = n_attention.attention, t_attention.attention
CROSS: Calls = n_attention.cross_attention, t_attention.cross_attention
PROJECT: Calls = n_projection.project, t_projection.project
MANY: Calls = n_multihead.mha, t_multihead.mha
LOSS: Calls = n_loss.masked_loss, t_loss.masked_loss
NORM: Calls = n_layernorm.layernorm, t_layernorm.layernorm
FFN: Calls = n_ffn.ffn, t_ffn.ffn
MODEL: Calls = n_decoder_only.forward, t_decoder_only.forward
STEP: Calls = n_cache.step, t_cache.step
DECODE: Calls = n_cache.generate_with_cache, t_cache.generate_with_cache
TRANSLATE: Calls = n_encoder_decoder.forward, t_encoder_decoder.forward
PADDING: Calls = n_visibility.visible_from_padding, t_visibility.visible_from_padding
BIAS: Calls = n_bias.biased_weights, t_bias.biased_weights

# What is wrong → the two functions, their arguments, and shapes that the message must give.
BOTH: dict[str, tuple[Calls, list[Any], list[tuple[int, ...]]]] = {
    "d_k differs": (ATTENTION, zeros((3, 5), (7, 2), (7, 11)), [(3, 5), (7, 2)]),
    "T_k differs": (ATTENTION, zeros((3, 5), (7, 5), (2, 11)), [(7, 5), (2, 11)]),
    "no position axis": (ATTENTION, zeros((5,), (7, 5), (7, 11)), [(5,), (7, 5)]),
    "batches differ": (ATTENTION, zeros((2, 3, 5), (11, 7, 5), (7, 13)), [(2, 3, 5), (11, 7, 5)]),
    "a mask of floats": (ATTENTION, [*QKV, NO_MASK], [(3, 7), (2, 3, 7)]),
    "a mask of 0 and 1": (ATTENTION, [*QKV, NO_MASK.astype(int)], [(3, 7), (2, 3, 7)]),
    "a transposed mask": (ATTENTION, [*QKV, NO_MASK.T == 0], [(7, 3), (2, 3, 7)]),
    "a mask with a larger batch": (ATTENTION, [*QKV, np.ones((5, 2, 3, 7), bool)], [(5, 2, 3, 7)]),
    "padding of floats": (
        CROSS,
        [*zeros((3, 5), (7, 11), (5, 2), (11, 2), (11, 13)), np.ones(7)],
        [(7,), (7, 2)],
    ),
    "padding of the wrong length": (
        CROSS,
        [*zeros((3, 5), (7, 11), (5, 2), (11, 2), (11, 13)), np.ones(3, bool)],
        [(3,), (7, 2)],
    ),
    "a weight of the wrong width": (
        PROJECT,
        zeros((3, 5), (7, 2), (5, 2), (5, 2)),
        [(3, 5), (7, 2)],
    ),
    "a weight that is a vector": (PROJECT, zeros((3, 5), (5,), (5, 2), (5, 2)), [(5,)]),
    "WQ and WK of different width": (
        PROJECT,
        zeros((3, 5), (5, 2), (5, 7), (5, 2)),
        [(3, 2), (3, 7)],
    ),
    "heads that do not divide": (MANY, [*MHA, 7], [(7,)]),
    "a head mask that does not fit": (MANY, [*MHA, 3, np.ones((2, 7, 3), bool)], [(2, 3, 3, 7)]),
    "a head mask of floats": (MANY, [*MHA, 3, NO_MASK], [(3, 7)]),
    "a loss mask of numbers": (LOSS, [LOGITS, LABELS, KEEP.astype(int)], [(2, 3), (2, 3, 5)]),
    "labels of another shape": (LOSS, [LOGITS, LABELS[:, :2], KEEP], [(2, 2), (2, 3, 5)]),
    "a gamma of the wrong width": (NORM, zeros((3, 5), (7,), (5,)), [(3, 5), (7,)]),
    "a bias of the wrong width": (FFN, zeros((3, 5), (5, 7), (2,), (7, 5), (5,)), [(5, 7), (2,)]),
    "an unknown token": (MODEL, [np.array([3, 11]), *DECODER], [(2,), (11,)]),
    "a negative token": (MODEL, [np.array([3, -1]), *DECODER], [(2,), (11,)]),
    "tokens of floats": (MODEL, [np.array([3.0, 1.0]), *DECODER], [(2,), (11,)]),
    "too long a sequence": (MODEL, [np.zeros(13, int), *DECODER], [(13,), (7, 15)]),
    "a block too few": (
        STEP,
        [np.zeros(3, int), DECODER[0], {**DECODER[1], "L": 3}],
        [(2,), (3,)],
    ),
    "an empty prompt": (DECODE, [[], 3, *DECODER], [(0,)]),
    "a source mask of the wrong length": (
        TRANSLATE,
        [np.zeros((2, 5), int), np.ones((2, 3), bool), np.zeros((2, 3), int), *TRANSLATOR],
        [(2, 3), (2, 5, 15)],
    ),
    "padding given as numbers": (PADDING, [np.zeros((2, 3)), True], [(2, 3)]),
    "a bias matrix that does not fit": (BIAS, zeros((3, 5), (7, 5), (7, 3)), [(7, 3), (3, 7)]),
    "a bias over different d_k": (BIAS, zeros((3, 5), (7, 2), (3, 7)), [(3, 5), (7, 2)]),
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("side", [0, 1], ids=["ops", "modules"])
def test_both_refuse_with_the_shapes(name: str, side: int) -> None:
    functions, arguments, shapes = BOTH[name]
    with pytest.raises(ShapeError) as caught:
        functions[side](*arguments)
    for shape in shapes:
        assert str(shape) in str(caught.value)


OPS: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
    "softmax with a wide mask": (softmax, [*zeros((3, 5)), np.ones((7, 3, 5), bool)], "(7, 3, 5)"),
    "a vector to split": (split_heads, [np.zeros(6), 3], "(6,)"),
    "no heads": (split_heads, [np.zeros((2, 6)), 0], "(0,)"),
    "nothing to merge": (merge_heads, zeros((3, 5)), "(3, 5)"),
    "a residual that would broadcast": (residual, zeros((3, 5), (1, 5)), "(1, 5)"),
    "a block of no keys": (blockwise_attention, [*zeros((3, 5), (7, 5), (7, 2)), 0], "(0,)"),
    "a gradient of another shape": (attention_backward, [*QKV, np.zeros((2, 3, 7))], "(2, 3, 7)"),
    "a layer gradient of another shape": (
        layernorm_backward,
        zeros((3, 5), (5,), (5,), (5, 3)),
        "(5, 3)",
    ),
    "one token to shift": (shift, [np.zeros((2, 1), int)], "(2, 1)"),
    "an empty prompt": (generate, [lambda t: t, [], 3], "(0,)"),
    "a prompt of rows": (generate, [lambda t: t, [[1, 2]], 3], "(1, 2)"),
    "labels without a position": (n_loss.token_nll, [LOGITS, LABELS[0]], "(3,)"),
    "a negative number of positions": (n_visibility.causal_visible, [-1, 3], "(-1,)"),
}


@pytest.mark.parametrize("name", OPS)
def test_the_definition_refuses_with_the_shape(name: str) -> None:
    function, arguments, shape = OPS[name]
    with pytest.raises(ShapeError, match=re.escape(shape)):
        function(*arguments)


def test_a_shape_error_names_the_rule_and_every_array() -> None:
    with pytest.raises(ShapeError) as caught:
        n_attention.attention(*zeros((3, 5), (7, 2), (7, 11)))
    expected = "q and k need the same last axis d_k: q has shape (3, 5), k has shape (7, 2)"
    assert str(caught.value) == expected


def test_a_shape_error_is_a_value_error() -> None:
    assert issubclass(ShapeError, ValueError)
