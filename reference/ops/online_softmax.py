"""3.8 Online softmax: the same attention, block by block, without ever storing A.

For each query a running maximum m, a running sum l and an unnormalised output o. A new block of
scores s with values v changes them to

    m' = max(m, max s)        l' = l e^(m-m') + Σ e^(s-m')        o' = o e^(m-m') + e^(s-m') v

and the output is o / l, divided once at the end. When the maximum rises, everything gathered so
far is rescaled. FlashAttention does this to move less memory; the function stays the same, to
rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Array, real
from reference.ops.attention import leading_axes, scaled_scores
from reference.ops.softmax import fit


@dataclass(frozen=True)
class Running:
    """What is known of each query after some blocks of keys."""

    peak: Array  # m (…, T_q), -inf before any visible key
    total: Array  # l (…, T_q)
    output: Array  # o (…, T_q, d_v), not yet divided by l

    def absorb(
        self,
        scores: Array,  # (…, T_q, block), -inf = hidden
        v: Array,  # (…, block, d_v)
    ) -> "Running":
        """The state after one more block."""
        peak = np.maximum(self.peak, scores.max(axis=-1))
        # Before the first visible key the peak is -inf; 0 keeps -inf - (-inf) out of exp.
        safe = np.where(peak == -np.inf, 0.0, peak)
        shrink = np.exp(self.peak - safe)
        weights = np.exp(scores - safe[..., None])
        total: Array = self.total * shrink + weights.sum(axis=-1)
        return Running(peak, total, self.output * shrink[..., None] + weights @ v)

    def result(self) -> Array:  # Z (…, T_q, d_v)
        """o / l, or 0 for a query that saw nothing."""
        return self.output / np.where(self.total == 0.0, 1.0, self.total)[..., None]

    def logsumexp(self) -> Array:  # (…, T_q)
        """log Σ e^s = m + log l, -inf for a query that saw nothing."""
        with np.errstate(divide="ignore"):
            return self.peak + np.log(self.total)


def blockwise_attention(
    Q: ArrayLike,  # (…, T_q, d_k)
    K: ArrayLike,  # (…, T_k, d_k)
    V: ArrayLike,  # (…, T_k, d_v)
    block: int,
    visible: ArrayLike | None = None,  # broadcasts to (…, T_q, T_k), bool
) -> Array:  # Z (…, T_q, d_v)
    """The output of ``attention`` with no array of T_q · T_k numbers; every block gives the same.

    Raises ShapeError as ``attention`` does, and for a block below 1.
    """
    *_, last = running_states(Q, K, V, block, visible)
    return last.result()


def running_states(
    Q: ArrayLike,  # (…, T_q, d_k)
    K: ArrayLike,  # (…, T_k, d_k)
    V: ArrayLike,  # (…, T_k, d_v)
    block: int,
    visible: ArrayLike | None = None,
) -> Iterator[Running]:
    """The state before any key, then after each block of keys; the last may be shorter."""
    Q, K, V = real(Q), real(K), real(V)
    if block < 1:
        raise ShapeError("a block needs at least one key", block=(block,), K=K.shape)
    rows = (*leading_axes(Q, K, V), Q.shape[-2])
    T_k = K.shape[-2]
    mask = None if visible is None else fit(visible, (*rows, T_k))
    state = Running(np.full(rows, -np.inf), np.zeros(rows), np.zeros((*rows, V.shape[-1])))
    yield state
    for start in range(0, T_k, block):
        keys = slice(start, start + block)
        scores = scaled_scores(Q, K[..., keys, :])
        if mask is not None:
            scores = np.where(mask[..., keys], scores, -np.inf)
        state = state.absorb(scores, V[..., keys, :])
        yield state
