"""torch's own attention, Transformer layers and LayerNorm as a third opinion, in float64.

On a row that sees nothing torch is no oracle: its layers return NaN or 0 depending on flags. Such
rows are left out here and fixed by ground truth instead.
"""

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from reference.errors import ShapeError
from reference.modules.multihead import MultiHeadAttention, from_torch_state
from reference.ops import layers
from reference.ops.attention import attention
from reference.ops.cache import step
from reference.ops.decoder_only import forward
from reference.ops.jacobian import softmax_jacobian
from reference.ops.layer_backward import layernorm_backward
from reference.ops.layernorm import layernorm
from reference.ops.loss import masked_loss, token_nll
from reference.ops.multihead import attend
from reference.ops.online_softmax import blockwise_attention
from reference.ops.residual import post_norm, pre_norm, residual_jacobian
from reference.ops.softmax import log_softmax, softmax
from reference.ops.visibility import causal_visible
from tests.reference import models

Rng = np.random.Generator
f64 = torch.float64


def close(ours: Any, theirs: Tensor) -> None:
    npt.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-12, atol=1e-12, strict=True)


def visible_somewhere(rng: Rng, *shape: int) -> Any:
    visible = rng.random(shape) < 0.5
    visible[..., 0] |= ~visible.any(axis=-1)
    return visible


# attention, softmax, LayerNorm, losses


@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_torchs_scaled_dot_product(rng: Rng, masked: bool) -> None:
    q, k, v = (rng.standard_normal(s) for s in ((2, 3, 5, 11), (2, 3, 7, 11), (2, 3, 7, 13)))
    visible = visible_somewhere(rng, 2, 3, 5, 7) if masked else None
    theirs = functional.scaled_dot_product_attention(
        *map(torch.tensor, (q, k, v)),
        attn_mask=None if visible is None else torch.tensor(visible),
    )
    close(attention(q, k, v, visible)[1], theirs)
    close(blockwise_attention(q, k, v, 3, visible), theirs)


def test_a_square_causal_mask_is_torchs_is_causal(rng: Rng) -> None:
    q, k, v = (rng.standard_normal((2, 5, 7)) for _ in range(3))
    theirs = functional.scaled_dot_product_attention(*map(torch.tensor, (q, k, v)), is_causal=True)
    close(attention(q, k, v, causal_visible(5))[1], theirs)


def test_softmax_its_logarithm_and_its_jacobian_are_torchs(rng: Rng) -> None:
    s = 3 * rng.standard_normal((2, 7))
    close(softmax(s), torch.softmax(torch.tensor(s), -1))
    close(log_softmax(s), torch.log_softmax(torch.tensor(s), -1))
    jacobian = torch.func.jacrev(lambda row: torch.softmax(row, -1))
    close(softmax_jacobian(s[1]), jacobian(torch.tensor(s[1])))


def test_layernorm_and_its_gradients_are_torchs(rng: Rng) -> None:
    x, gamma, beta, G = (rng.standard_normal(s) for s in ((2, 3, 7), (7,), (7,), (2, 3, 7)))
    leaves = [torch.tensor(array, requires_grad=True) for array in (x, gamma, beta)]
    theirs = functional.layer_norm(leaves[0], (7,), leaves[1], leaves[2], 1e-5)
    close(layernorm(x, gamma, beta), theirs)
    theirs.backward(torch.tensor(G))
    for ours, leaf in zip(layernorm_backward(x, gamma, beta, G).values(), leaves, strict=True):
        assert leaf.grad is not None
        close(ours, leaf.grad)


def test_the_losses_are_torchs_cross_entropy(rng: Rng) -> None:
    logits, labels = rng.standard_normal((2, 3, 5)), rng.integers(0, 5, (2, 3))
    keep = np.array([[True, False, True], [True, True, False]])
    flat = torch.tensor(logits).reshape(-1, 5), torch.tensor(labels).reshape(-1)
    nll = functional.cross_entropy(*flat, reduction="none").reshape(2, 3)
    close(token_nll(logits, labels), nll)
    ignored = torch.tensor(np.where(keep, labels, -100)).reshape(-1)
    theirs = functional.cross_entropy(flat[0], ignored)
    assert masked_loss(logits, labels, keep) == pytest.approx(float(theirs), abs=1e-12)


def test_the_residual_jacobian_is_that_of_autograd(rng: Rng) -> None:
    x, w = rng.standard_normal(5), models.ffn_weights(rng, 5, 7)
    W1, b1, W2 = (torch.tensor(w[name]) for name in ("W1", "b1", "W2"))
    jacobian = torch.func.jacrev(lambda t: t + torch.relu(t @ W1 + b1) @ W2)(torch.tensor(x))
    close(residual_jacobian(x, w["W1"], w["b1"], w["W2"]), jacobian)


# multi-head attention and whole layers


@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_attention_is_torchs_with_the_weights_carried_over(rng: Rng, bias: bool) -> None:
    weights = models.mha_weights(rng, 15, 3, 5, bias=bias)
    theirs = nn.MultiheadAttention(15, 3, bias=bias, batch_first=True, dtype=f64)
    theirs.load_state_dict(MultiHeadAttention(weights, 3).torch_state())
    xq, xkv = rng.standard_normal((2, 5, 15)), rng.standard_normal((2, 7, 15))
    visible = visible_somewhere(rng, 5, 7)
    tensors = torch.tensor(xq), torch.tensor(xkv), torch.tensor(xkv)
    out, A = theirs(*tensors, attn_mask=torch.tensor(~visible), average_attn_weights=False)
    ours = attend(xq, xkv, weights, 3, visible)
    close(ours["A"], A)
    close(ours["out"], out)


@pytest.mark.parametrize("bias", [False, True])
def test_weights_survive_the_way_from_torch_and_back(bias: bool) -> None:
    theirs = nn.MultiheadAttention(15, 3, bias=bias, dtype=f64)
    there = from_torch_state(theirs.state_dict())
    back = MultiHeadAttention(there, 3).torch_state()
    assert back.keys() == theirs.state_dict().keys()
    for name, tensor in theirs.state_dict().items():
        npt.assert_array_equal(back[name], tensor)


def test_heads_wider_than_the_model_have_no_place_in_torchs_class(rng: Rng) -> None:
    module = MultiHeadAttention(models.mha_weights(rng, 13, 3, 5), 3)
    with pytest.raises(ShapeError, match=r"H·d = D.*\(13, 15\).*\(15, 13\)"):
        module.torch_state()


def from_torch_layer(layer: nn.Module) -> models.Weights:
    """The weights of an encoder or decoder layer of torch, by our names."""
    state = layer.state_dict()

    def inside(prefix: str) -> dict[str, Tensor]:
        return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}

    def arrays(weights: dict[str, Tensor]) -> models.Weights:
        return {name: tensor.numpy() for name, tensor in weights.items()}

    weights: models.Weights = {"self": arrays(from_torch_state(inside("self_attn.")))}
    if "norm3.weight" in state:
        weights["cross"] = arrays(from_torch_state(inside("multihead_attn.")))
    weights["ffn"] = {
        "W1": state["linear1.weight"].T.numpy(),
        "b1": state["linear1.bias"].numpy(),
        "W2": state["linear2.weight"].T.numpy(),
        "b2": state["linear2.bias"].numpy(),
    }
    for number in (1, 2, 3):
        norm = inside(f"norm{number}.")
        if norm:
            weights[f"ln{number}_g"] = norm["weight"].numpy()
            weights[f"ln{number}_b"] = norm["bias"].numpy()
    return weights


def shaken(layer: nn.Module, rng: Rng) -> nn.Module:
    """The layer with every parameter random: biases not 0, norms not 1."""
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.tensor(rng.standard_normal(parameter.shape)))
    return layer


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_the_encoder_layer_is_torchs(rng: Rng, norm_first: bool) -> None:
    theirs = shaken(
        nn.TransformerEncoderLayer(
            15, 3, 13, 0.0, norm_first=norm_first, batch_first=True, dtype=f64
        ),
        rng,
    )
    x = rng.standard_normal((2, 7, 15))
    valid = np.arange(7) < np.array([[7], [5]])
    expected = theirs(torch.tensor(x), src_key_padding_mask=torch.tensor(~valid))
    visible = np.repeat(valid[:, None, :], 7, axis=1)
    order = pre_norm if norm_first else post_norm
    close(layers.encoder_layer(x, from_torch_layer(theirs), 3, visible, order), expected)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_the_decoder_layer_is_torchs(rng: Rng, norm_first: bool) -> None:
    theirs = shaken(
        nn.TransformerDecoderLayer(
            15, 3, 13, 0.0, norm_first=norm_first, batch_first=True, dtype=f64
        ),
        rng,
    )
    y, memory = rng.standard_normal((2, 5, 15)), rng.standard_normal((2, 7, 15))
    valid = np.arange(7) < np.array([[7], [3]])
    expected = theirs(
        torch.tensor(y),
        torch.tensor(memory),
        tgt_mask=torch.tensor(~causal_visible(5)),
        memory_key_padding_mask=torch.tensor(~valid),
    )
    order = pre_norm if norm_first else post_norm
    weights = from_torch_layer(theirs)
    reads = np.repeat(valid[:, None, :], 5, axis=1)
    ours, _ = layers.decoder_layer(y, memory, weights, 3, causal_visible(5), reads, order)
    close(ours, expected)


def test_the_decoder_only_model_is_a_stack_of_torchs_pre_norm_layers(rng: Rng) -> None:
    weights, config = models.decoder_only(rng)
    tokens = rng.integers(0, 11, (2, 5))
    x = torch.tensor(weights["tok"][tokens] + weights["pos"][:5])
    for number in range(config["L"]):
        layer = shaken(
            nn.TransformerEncoderLayer(
                15, 3, 13, 0.0, norm_first=True, batch_first=True, dtype=f64
            ),
            rng,
        )
        x = layer(x, src_mask=torch.tensor(~causal_visible(5)))
        ours = from_torch_layer(layer)
        weights["blocks"][number] = {**ours.pop("self"), **ours.pop("ffn"), **ours}
    gamma, beta, head = (torch.tensor(weights[n]) for n in ("lnf_g", "lnf_b", "head"))
    theirs = functional.layer_norm(x, (15,), gamma, beta, 1e-5) @ head
    close(forward(tokens, weights, config), theirs)
    close(step(tokens, weights, config)[0], theirs)
