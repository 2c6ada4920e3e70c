"""3.3 Cross-entropy over the targets that count.

    L = Σ keep · nll / Σ keep        nll = -log p(label)

The loss mask says which *labels* count, the padding mask which *keys* may be read. In a language
model labels stand one position later than inputs, so the two masks are shifted against each
other (``teacher_forcing.shift``).
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, boolean, real, token_ids
from reference.ops.softmax import log_softmax


def token_nll(
    logits: ArrayLike,  # (…, T, V)
    labels: ArrayLike,  # (…, T) int, 0 ≤ label < V
) -> Array:  # (…, T)
    """-log p(label) at each position, in nats.

    Raises ShapeError if labels and logits disagree in shape or a label is no token of V.
    """
    logits = real(logits)
    labels = token_ids("labels", labels, vocabulary=logits.shape[-1])
    if labels.shape != logits.shape[:-1]:
        raise ShapeError(
            "logits need one label a position", logits=logits.shape, labels=labels.shape
        )
    chosen = np.take_along_axis(log_softmax(logits), labels[..., None], axis=-1)
    return -chosen[..., 0]


def masked_loss(
    logits: ArrayLike,  # (B, T, V)
    labels: ArrayLike,  # (B, T) int; anything, such as -100, where dropped
    keep: ArrayLike,  # (B, T) bool, True = counts
) -> float:
    """Mean negative log-likelihood in nats over all kept targets of the batch together.

    Dropped targets have no influence, whatever their logits. Nothing kept gives 0.0. Raises
    ShapeError if ``keep`` is not boolean, shapes disagree, or a kept label is no token.
    """
    logits = real(logits)
    keep = boolean("keep", keep, logits=logits.shape)
    if keep.shape != logits.shape[:-1] or np.shape(labels) != keep.shape:
        rule = "logits (B, T, V) need labels and keep (B, T)"
        raise ShapeError(rule, logits=logits.shape, labels=np.shape(labels), keep=keep.shape)
    if not keep.any():
        return 0.0
    return float(token_nll(logits[keep], np.asarray(labels)[keep]).mean())
