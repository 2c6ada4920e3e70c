"""A right answer to s33-masked-attention."""

import numpy as np


def masked_attention(Q, K, V, visible):
    scores = np.where(visible, Q @ K.T / np.sqrt(Q.shape[-1]), -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    A = e / np.where(total == 0, 1.0, total)
    return A, A @ V
