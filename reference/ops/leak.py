"""3.4 Does an output row depend on a later input row?

Change only what lies after position t, compare the outputs up to t before and after, for every t.

One replacement is not enough: an unmasked row can come out unchanged by chance. Hence several
sizes, both signs, equal and unequal features. The replacements are finite, since 0 · NaN is NaN
and would accuse correct code. That nothing leaks does not make values right: a strict mask
(j < i) does not leak either.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reference.ops.arrays import Array, real

SIZES = (10.0, -10.0, 1.0, 1000.0, -3.0)


def leaks(
    attn: Callable[[Array], ArrayLike],  # (T, D) -> (T, d_v), deterministic
    X: ArrayLike,  # (T, D)
    rtol: float = 1e-6,
) -> bool:
    """True when some output row of ``attn`` depends on a later row of X.

    Calls ``attn`` 1 + 10 (T - 1) times. A change counts above ``rtol`` times the larger of 1 and
    the output's size, which forgives float32.
    """
    return bool(largest_leaks(attn, X).max(initial=0.0) > rtol)


def largest_leaks(
    attn: Callable[[Array], ArrayLike],  # (T, D) -> (T, d_v)
    X: ArrayLike,  # (T, D)
) -> Array:  # (T - 1,)
    """For each t the largest change of rows 0..t when the rows after t are replaced.

    A change is divided by max(1, |output before|). NaN equals NaN; NaN against a number is inf.
    """
    X = real(X)
    before = real(attn(X.copy()))
    futures = replacements(X.shape[-1])
    return np.array(
        [
            max(change(before[: t + 1], real(attn(replaced(X, t, f)))[: t + 1]) for f in futures)
            for t in range(len(X) - 1)
        ]
    )


def replacements(D: int) -> Array:  # (10, D)
    """Five sizes, each once with equal features and once with rising ones."""
    shapes = np.stack([np.ones(D), np.arange(1, D + 1) / D])
    return np.concatenate([size * shapes for size in SIZES])


def replaced(X: Array, t: int, token: Array) -> Array:  # (T, D)
    """X with every row after t set to ``token``."""
    changed = X.copy()
    changed[t + 1 :] = token
    return changed


def change(before: Array, after: Array) -> float:
    """Largest difference, relative to max(1, |before|)."""
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(after - before) / np.maximum(1.0, np.abs(before)))
    return float(np.nan_to_num(gap, nan=np.inf).max())
