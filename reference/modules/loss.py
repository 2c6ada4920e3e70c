"""3.3 Cross-entropy over kept targets, with torch's log_softmax and gather."""

from typing import Any

import torch
from torch import Tensor

from reference.errors import ShapeError
from reference.modules.tensors import boolean, real, tensor


def masked_loss(
    logits: Any,  # (B, T, V)
    labels: Any,  # (B, T) int
    keep: Any,  # (B, T) bool, True = counts
) -> Tensor:  # ()
    """Mean -log p(label) over kept targets, 0 if there are none. Raises ShapeError."""
    logits, labels = real(logits), tensor(labels)
    keep = boolean("keep", keep, logits=logits.shape)
    if not labels.shape == keep.shape == logits.shape[:-1]:
        rule = "logits (B, T, V), labels (B, T), keep (B, T)"
        raise ShapeError(rule, logits=logits.shape, labels=labels.shape, keep=keep.shape)
    log_p = torch.log_softmax(logits[keep], dim=-1)
    nll = -log_p.gather(-1, labels[keep].unsqueeze(-1).to(torch.int64))
    return nll.sum() / max(1, nll.numel())
