"""3.1 Softmax over keys: each query gets one distribution over what it may read.

    a_ij = exp(s_ij) / Σ_j' exp(s_ij')        j' runs over the visible keys of query i

The sum runs along the last axis, the keys, never along the queries: a column normaliser would
hold scores of later queries, and so leak the future even under a correct causal mask; and a
single query, as in decoding, would always get weights 1.

Subtracting the row's largest visible score changes nothing on paper (numerator and denominator
shrink by the same factor) and keeps exp between 0 and 1, so no score is too large.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, Mask, boolean, real


def softmax(
    scores: ArrayLike,  # (…, T_q, T_k), -inf = hidden
    visible: ArrayLike | None = None,  # broadcasts to (…, T_q, T_k), bool, True = may attend
) -> Array:  # (…, T_q, T_k)
    """Weights over the last axis that sum to 1, or to 0 in a row where nothing is visible.

    Hidden entries are exactly 0. Raises ShapeError if ``visible`` is not boolean or does not
    broadcast to the shape of ``scores``.
    """
    scores = real(scores) if visible is None else hide(real(scores), visible)
    peak = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    # A row without a visible key has peak -inf, and -inf - (-inf) is NaN: subtract 0 there.
    weights = np.exp(scores - np.where(peak == -np.inf, 0.0, peak))
    total = weights.sum(axis=-1, keepdims=True)
    weights /= np.where(total == 0.0, 1.0, total)
    return weights


def hide(scores: Array, visible: ArrayLike) -> Array:
    """``scores`` with -inf where ``visible`` is False: exp(-inf) is exactly 0."""
    return np.where(fit(visible, scores.shape), scores, -np.inf)


def fit(visible: ArrayLike, shape: tuple[int, ...]) -> Mask:
    """``visible`` as a boolean array that broadcasts to ``shape`` without enlarging it."""
    mask = boolean("visible", visible, scores=shape)
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        rule = "visible must broadcast to (…, T_q, T_k)"
        raise ShapeError(rule, visible=mask.shape, scores=shape) from None


def log_softmax(logits: ArrayLike) -> Array:
    """log p along the last axis, without forming p: s - max - log Σ exp(s - max)."""
    logits = real(logits)
    shifted: Array = logits - logits.max(axis=-1, keepdims=True)
    total: Array = np.exp(shifted).sum(axis=-1, keepdims=True)
    return shifted - np.log(total)
