"""3.3 Masks as torch builds them: a lower triangle, and padding in torch's own convention."""

from typing import Any

import torch
from torch import Tensor

from reference.modules.tensors import boolean


def causal_visible(T_q: int, T_k: int | None = None, offset: int | None = None) -> Tensor:
    """The triangle j ≤ offset + i; without ``offset`` the last query stands at the last key."""
    T_k = T_q if T_k is None else T_k
    diagonal = T_k - T_q if offset is None else offset
    return torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal)


def visible_from_padding(
    key_hidden: Any,  # (…, T) bool, True = padding
    causal: bool,
) -> Tensor:  # (…, T, T) bool, True = may attend
    """A key is readable if it is no padding and, when causal, not in the future."""
    hidden = boolean("key_hidden", key_hidden)
    T = hidden.shape[-1]
    allowed = causal_visible(T) if causal else torch.ones(T, T, dtype=torch.bool)
    return torch.logical_and(allowed, hidden.logical_not().unsqueeze(-2))
