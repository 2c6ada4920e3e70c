"""numpy and torch, written apart, agree forward and backward to 1e-12."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import torch

from reference.modules import attention as t_attention
from reference.modules import attention_backward as t_backward
from reference.modules import bias as t_bias
from reference.modules import cache as t_cache
from reference.modules import decoder_only as t_decoder_only
from reference.modules import encoder_decoder as t_encoder_decoder
from reference.modules import ffn as t_ffn
from reference.modules import layernorm as t_layernorm
from reference.modules import layers as t_layers
from reference.modules import loss as t_loss
from reference.modules import multihead as t_multihead
from reference.modules import projection as t_projection
from reference.modules import visibility as t_visibility
from reference.ops import attention as n_attention
from reference.ops import attention_backward as n_backward
from reference.ops import bias as n_bias
from reference.ops import cache as n_cache
from reference.ops import decoder_only as n_decoder_only
from reference.ops import encoder_decoder as n_encoder_decoder
from reference.ops import ffn as n_ffn
from reference.ops import layernorm as n_layernorm
from reference.ops import layers as n_layers
from reference.ops import loss as n_loss
from reference.ops import multihead as n_multihead
from reference.ops import projection as n_projection
from reference.ops import visibility as n_visibility
from reference.ops.layer_backward import ffn_backward, layernorm_backward
from reference.ops.multihead_backward import mha_backward
from reference.ops.positions import sinusoidal
from reference.ops.residual import post_norm, pre_norm
from tests.reference import models

Rng = np.random.Generator


def same(ours: Any, other: Any) -> None:
    """Equal in structure, shape, dtype, and to 1e-12 of the largest entry in value."""
    if isinstance(ours, dict):
        assert list(ours) == list(other)
        same(tuple(ours.values()), tuple(other.values()))
    elif isinstance(ours, tuple | list):
        assert len(ours) == len(other)
        for one, two in zip(ours, other, strict=True):
            same(one, two)
    else:
        values = other.detach().numpy()
        atol = 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0)))
        npt.assert_allclose(np.asarray(ours), values, rtol=0, atol=atol, strict=True)


def normal(rng: Rng, *shapes: tuple[int, ...]) -> list[Any]:
    return [rng.standard_normal(shape) for shape in shapes]


def mask(rng: Rng, *shape: int) -> Any:
    """Random, with the first row all hidden."""
    visible = rng.random(shape) < 0.6
    visible[..., 0, :] = False
    return visible


def qkv(rng: Rng) -> list[Any]:
    return normal(rng, (2, 3, 5), (2, 7, 5), (2, 7, 11))


def mha_arguments(rng: Rng, *, masked: bool) -> list[Any]:
    weights = models.mha_weights(rng, 13, 3, 5)
    x = normal(rng, (2, 5, 13), (2, 7, 13))
    return [*x, *weights.values(), 3, mask(rng, 2, 5, 7) if masked else None]


def hidden_keys(rng: Rng) -> Any:
    return rng.random((2, 7)) < 0.4


Pair = tuple[Callable[..., Any], Callable[..., Any], Callable[[Rng], list[Any]]]
PAIRS: dict[str, Pair] = {
    "project": (
        n_projection.project,
        t_projection.project,
        lambda r: normal(r, (2, 3, 5), (5, 7), (5, 7), (5, 11)),
    ),
    "attention": (n_attention.attention, t_attention.attention, qkv),
    "attention with broadcast axes": (
        n_attention.attention,
        t_attention.attention,
        lambda r: [*normal(r, (3, 5), (2, 1, 7, 5), (13, 7, 11)), mask(r, 13, 3, 7)],
    ),
    "masked_attention": (
        n_attention.masked_attention,
        t_attention.masked_attention,
        lambda r: [*qkv(r), mask(r, 2, 3, 7)],
    ),
    "cross_attention": (
        n_attention.cross_attention,
        t_attention.cross_attention,
        lambda r: normal(r, (2, 3, 5), (2, 7, 11), (5, 13), (11, 13), (11, 17)),
    ),
    "cross_attention with padding": (
        n_attention.cross_attention,
        t_attention.cross_attention,
        lambda r: [
            *normal(r, (2, 3, 5), (2, 7, 11), (5, 13), (11, 13), (11, 17)),
            hidden_keys(r),
        ],
    ),
    "causal_visible": (
        n_visibility.causal_visible,
        t_visibility.causal_visible,
        lambda _: [3, 7],
    ),
    "causal_visible with offset": (
        n_visibility.causal_visible,
        t_visibility.causal_visible,
        lambda _: [5, 7, 3],
    ),
    "visible_from_padding": (
        n_visibility.visible_from_padding,
        t_visibility.visible_from_padding,
        lambda r: [hidden_keys(r), True],
    ),
    "visible_from_padding, not causal": (
        n_visibility.visible_from_padding,
        t_visibility.visible_from_padding,
        lambda r: [hidden_keys(r), False],
    ),
    "biased_weights": (
        n_bias.biased_weights,
        t_bias.biased_weights,
        lambda r: normal(r, (2, 3, 5), (2, 7, 5), (3, 7)),
    ),
    "biased_weights with -inf": (
        n_bias.biased_weights,
        t_bias.biased_weights,
        lambda r: [*normal(r, (2, 3, 5), (2, 7, 5)), np.where(mask(r, 3, 7), 0.5, -np.inf)],
    ),
    "masked_loss": (
        n_loss.masked_loss,
        t_loss.masked_loss,
        lambda r: [*normal(r, (2, 3, 5)), r.integers(0, 5, (2, 3)), r.random((2, 3)) < 0.5],
    ),
    "masked_loss of nothing": (
        n_loss.masked_loss,
        t_loss.masked_loss,
        lambda r: [*normal(r, (2, 3, 5)), np.full((2, 3), -100), np.zeros((2, 3), bool)],
    ),
    "mha": (n_multihead.mha, t_multihead.mha, lambda r: mha_arguments(r, masked=False)),
    "mha with a mask": (n_multihead.mha, t_multihead.mha, lambda r: mha_arguments(r, masked=True)),
    "ffn": (
        n_ffn.ffn,
        t_ffn.ffn,
        lambda r: [*normal(r, (2, 3, 5)), *models.ffn_weights(r, 5, 7).values()],
    ),
    "layernorm": (
        n_layernorm.layernorm,
        t_layernorm.layernorm,
        lambda r: [*normal(r, (2, 3, 5), (5,), (5,)), 1e-3],
    ),
    "sinusoidal": (sinusoidal, t_encoder_decoder.sinusoidal, lambda _: [7, 10]),
    "sinusoidal of odd width": (sinusoidal, t_encoder_decoder.sinusoidal, lambda _: [7, 11]),
    "decoder-only forward": (
        n_decoder_only.forward,
        t_decoder_only.forward,
        lambda r: [r.integers(0, 11, (2, 5)), *models.decoder_only(r)],
    ),
    "cache step": (
        n_cache.step,
        t_cache.step,
        lambda r: [r.integers(0, 11, (2, 5)), *models.decoder_only(r)],
    ),
    "cache step on a cache": (
        n_cache.step,
        t_cache.step,
        lambda r: [
            r.integers(0, 11, (2, 3)),
            *models.decoder_only(r),
            r.standard_normal((2, 2, 2, 3, 4, 5)),  # L, K and V, B, H, p, d
        ],
    ),
    "cache in chunks": (
        n_cache.in_chunks,
        t_cache.in_chunks,
        lambda r: [r.integers(0, 11, 6), *models.decoder_only(r), np.array([3, 1, 2])],
    ),
    "cache resumed": (
        n_cache.resume,
        t_cache.resume,
        lambda r: [
            r.integers(0, 11, 3),
            *models.decoder_only(r),
            *normal(r, (2, 3, 4, 5), (2, 3, 4, 5)),  # L, H, p, d
        ],
    ),
    "encoder-decoder forward": (
        n_encoder_decoder.forward,
        t_encoder_decoder.forward,
        lambda r: [
            r.integers(0, 7, (2, 5)),
            np.arange(5) < np.array([[5], [3]]),
            r.integers(0, 11, (2, 3)),
            *models.encoder_decoder(r),
        ],
    ),
    "attention_backward": (
        n_backward.attention_backward,
        t_backward.attention_backward,
        lambda r: [*qkv(r), *normal(r, (2, 3, 11)), mask(r, 2, 3, 7)],
    ),
    "projection_backward": (
        n_backward.projection_backward,
        t_backward.projection_backward,
        lambda r: [
            *normal(r, (2, 3, 5), (5, 7), (5, 7), (5, 11), (2, 3, 11)),
            mask(r, 2, 3, 3),
        ],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_numpy_and_torch_give_the_same(name: str, rng: Rng) -> None:
    ours, other, arguments = PAIRS[name]
    inputs = arguments(rng)
    same(ours(*inputs), other(*inputs))


def test_a_mask_for_each_head_is_read_as_such_by_both(rng: Rng) -> None:
    *inputs, _ = mha_arguments(rng, masked=False)
    for visible in (mask(rng, 2, 3, 5, 7), mask(rng, 5, 7), np.arange(7) < 5):
        same(n_multihead.mha(*inputs, visible), t_multihead.mha(*inputs, visible))


def test_both_greedy_decoders_agree(rng: Rng) -> None:
    model = models.decoder_only(rng)
    for prompt in ([3], [3, 1, 10]):
        ours = n_cache.generate_with_cache(prompt, 4, *model)
        assert ours == t_cache.generate_with_cache(prompt, 4, *model)
        assert len(ours) == len(prompt) + 4


@pytest.mark.parametrize("norm_first", [False, True])
def test_both_pairs_of_layers_agree(rng: Rng, norm_first: bool) -> None:
    order = pre_norm if norm_first else post_norm
    memory, y = normal(rng, (2, 7, 15), (2, 5, 15))
    seen, read = mask(rng, 2, 7, 7), mask(rng, 2, 5, 7)
    causal = n_visibility.causal_visible(5)
    encoder = models.encoder_layer_weights(rng, 15, 3, 13, bias=True)
    same(
        n_layers.encoder_layer(memory, encoder, 3, seen, order),
        t_layers.EncoderLayer(encoder, 3, norm_first=norm_first)(torch.tensor(memory), seen),
    )
    decoder = models.decoder_layer_weights(rng, 15, 3, 13, bias=True)
    same(
        n_layers.decoder_layer(y, memory, decoder, 3, causal, read, order)[0],
        t_layers.DecoderLayer(decoder, 3, norm_first=norm_first)(
            torch.tensor(y), torch.tensor(memory), causal, read
        ),
    )


def test_the_gradients_of_multi_head_attention_are_those_of_autograd(rng: Rng) -> None:
    for masked in (False, True):
        *inputs, visible = mha_arguments(rng, masked=masked)
        (G,) = normal(rng, (2, 5, 13))
        xq, xkv = t_backward.leaves(*inputs[:2])
        module = t_multihead.MultiHeadAttention(
            dict(zip(("WQ", "WK", "WV", "WO"), inputs[2:6], strict=True)), 3
        )
        module(xq, xkv, visible)[1].backward(torch.tensor(G))
        layers = (module.q, module.k, module.v, module.out)
        weights = [layer.weight.grad.T for layer in layers if layer.weight.grad is not None]
        ours = mha_backward(*inputs, G, visible)
        same(list(ours.values()), [*weights, xq.grad, xkv.grad])


def test_the_gradients_of_layernorm_are_those_of_autograd(rng: Rng) -> None:
    X, gamma, beta, G = normal(rng, (2, 3, 5), (5,), (5,), (2, 3, 5))
    (x,) = t_backward.leaves(X)
    norm = t_layernorm.Norm(gamma, beta, 1e-3)
    norm(x).backward(torch.tensor(G))
    ours = layernorm_backward(X, gamma, beta, G, 1e-3)
    same(list(ours.values()), [x.grad, norm.gamma.grad, norm.beta.grad])


def test_the_gradients_of_the_ffn_are_those_of_autograd(rng: Rng) -> None:
    X, G = normal(rng, (2, 3, 5), (2, 3, 5))
    weights = models.ffn_weights(rng, 5, 7)
    (x,) = t_backward.leaves(X)
    module = t_ffn.FeedForward(weights)
    module(x).backward(torch.tensor(G))
    inner, outer = module.inner, module.outer
    assert inner.weight.grad is not None
    assert outer.weight.grad is not None
    ours = ffn_backward(X, *weights.values(), G)
    theirs = [x.grad, inner.weight.grad.T, inner.bias.grad, outer.weight.grad.T, outer.bias.grad]
    same(list(ours.values()), theirs)


def test_gradients_stay_finite_in_a_row_that_sees_nothing(rng: Rng) -> None:
    q, k, v = t_backward.leaves(*qkv(rng))
    nothing = np.zeros((3, 7), bool)
    weights, output = t_attention.attention(q, k, v, nothing)
    output.sum().backward()
    assert not weights.any()
    for leaf in (q, k, v):
        assert leaf.grad is not None
        assert not leaf.grad.any()
