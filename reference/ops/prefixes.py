"""3.7 One masked pass equals all prefix passes.

If the model is causal, row t of the full pass is the last row of the pass over tokens 0 … t.
That equality is why training runs in parallel: not because the model knows the future.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reference.ops.arrays import Tokens, real

Forward = Callable[[Tokens], ArrayLike]  # (n,) int -> (n, V)


def prefix_gap(
    forward: Forward,
    tokens: ArrayLike,  # (T,) int
) -> float:
    """Largest |full[t] - prefix_t[-1]| over all t; 0 for T = 1, which proves nothing.

    A causal model in float64 stays near 1e-15: sums may run in another order.
    """
    tokens = np.asarray(tokens, dtype=np.int64)
    full = real(forward(tokens))
    prefixes = np.stack([real(forward(tokens[: t + 1]))[-1] for t in range(len(tokens))])
    return float(np.abs(full - prefixes).max())


def is_causal(forward: Forward, tokens: ArrayLike, atol: float = 1e-6) -> bool:
    """True when no row of the full pass used a token after it, to within ``atol``."""
    return prefix_gap(forward, tokens) < atol
