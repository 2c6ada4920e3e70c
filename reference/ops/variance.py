"""3.2 Why divide by √d_k: the variance of a dot product.

    q·k = Σ_r q_r k_r        Var(q·k) = d_k        Var(q·k / √d_k) = 1

Each product q_r k_r has mean 0 and variance 1, and variances of uncorrelated terms add. That
needs q independent of k, zero means, unit variances, and uncorrelated components in q or in k
(the chapter asks for full independence, which is more than enough). The other closed forms show
what happens when a condition fails. This is a motive for the design, no theorem about trained
networks: hidden states are not independent, and no scaling keeps gradients from vanishing.
"""

import numpy as np

from reference.ops.arrays import Array, real
from reference.ops.softmax import softmax


def dot_variance(d: int, mu: float = 0.0, sigma2: float = 1.0) -> float:
    """Var(q·k) = d ((σ² + μ²)² - μ⁴) for independent components of mean μ and variance σ².

    With μ = 0, σ² = 1 it is d; with σ² = 1 it is d (1 + 2μ²).
    """
    return d * ((sigma2 + mu**2) ** 2 - mu**4)


def divided_dot_variance(d: int, divisor: float) -> float:
    """Var(q·k / c) = d / c² under the chapter's assumptions: 1 for c = √d, 1/d for c = d."""
    return dot_variance(d) / divisor**2


def self_dot_variance(d: int) -> float:
    """Var(q·q) = 2d for standard normal q: k = q breaks the independence."""
    return 2.0 * d


def equal_components_dot_variance(d: int) -> float:
    """Var(q·k) = d² when all components of q are equal, and all of k: q·k = d q_1 k_1."""
    return float(d) ** 2


def dot_products(d: int, samples: int, rng: np.random.Generator) -> Array:  # (samples,)
    """q·k for standard normal q and k, drawn from ``rng``, q first."""
    q, k = rng.standard_normal((samples, d)), rng.standard_normal((samples, d))
    dots: Array = (q * k).sum(axis=-1)
    return dots


def saturation(scores: Array) -> tuple[float, float]:  # scores (…, T_k)
    """How one-hot softmax is: mean largest weight, and mean trace of its Jacobian Σ p_i(1-p_i).

    Near one-hot the first tends to 1 and the second to 0. What counts are the differences within
    a row, not the size of its scores: equal scores of 1000 still give uniform weights.
    """
    p = softmax(real(scores))
    return float(p.max(axis=-1).mean()), float((p * (1.0 - p)).sum(axis=-1).mean())
