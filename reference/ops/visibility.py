"""3.3 Who may read whom, as boolean matrices: True = may attend.

The chapter writes an additive mask, M_ij = 0 for j ≤ i and -∞ otherwise. Both say the same
(visible = (M == 0)), but a boolean matrix can be combined with ``&`` and inverted by no accident.
"""

import numpy as np
from numpy.typing import ArrayLike

from reference.errors import ShapeError
from reference.ops.arrays import Mask, boolean


def causal_visible(T_q: int, T_k: int | None = None, offset: int | None = None) -> Mask:
    """j ≤ offset + i as a (T_q, T_k) matrix: a position reads itself and its past.

    Query row i stands at position offset + i, key column j at position j. Without ``offset`` the
    last query stands at the last key (bottom right): offset = T_k - T_q, which is 0 for a square
    matrix and the number of cached keys in decoding. Without ``T_k`` the matrix is square.
    Raises ShapeError for a negative size.
    """
    T_k = T_q if T_k is None else T_k
    if min(T_q, T_k) < 0:
        raise ShapeError("positions cannot be negative in number", q=(T_q,), k=(T_k,))
    offset = T_k - T_q if offset is None else offset
    return np.arange(T_k) <= offset + np.arange(T_q)[:, None]


def padding_visible(
    key_valid: ArrayLike,  # (…, T_k) bool, True = real token
    T_q: int,
) -> Mask:  # (…, T_q, T_k)
    """Every query may read every real key; padding hides keys (columns), never queries.

    Raises ShapeError if ``key_valid`` is not boolean.
    """
    keys = boolean("key_valid", key_valid, queries=(T_q,))[..., None, :]
    return np.repeat(keys, T_q, axis=-2)


def visible_from_padding(
    key_hidden: ArrayLike,  # (…, T) bool, True = padding, as in torch's key_padding_mask
    causal: bool,
) -> Mask:  # (…, T, T) bool, True = may attend
    """Padding ∧ causal: key j is readable if it is real and, when causal, not later than i.

    A padding query keeps its row: what it computes is dropped by the loss mask, not here. Left
    padding under a causal mask leaves rows that see nothing. Raises ShapeError if ``key_hidden``
    is not boolean.
    """
    hidden = boolean("key_hidden", key_hidden)
    T = hidden.shape[-1]
    visible = padding_visible(~hidden, T)
    return visible & causal_visible(T) if causal else visible
