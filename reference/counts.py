"""3.5, 3.6, 3.8 What it costs: parameters, floating-point operations, memory.

One multiply-add counts as 2 FLOPs, so [m, k] @ [k, n] costs 2 m k n. (Exactly, it is m k n
multiplications and m n (k - 1) additions.) Softmax, norms, biases and activations are left out.
The functions take sizes and return integers; none needs numpy.
"""


def mha_parameters(D: int, H: int, d: int | None = None, *, bias: bool = False) -> int:
    """Numbers in WQ, WK, WV and WO, with ``bias`` also in their four biases.

    Without ``d`` a head is D/H wide: 4D² (+ 4D), whatever H is. "Fixed head width" has two
    readings: D kept, 4 D H d (+ 3 H d + D), which this gives for any d; and D = H·d, 4 (H·d)²,
    which is ``mha_parameters(H * d, H)``.
    """
    inner = D if d is None else H * d
    return 4 * D * inner + (3 * inner + D if bias else 0)


def ffn_parameters(D: int, F: int, *, bias: bool = True) -> int:
    """2 D F (+ F + D)."""
    return 2 * D * F + (F + D if bias else 0)


def layernorm_parameters(D: int) -> int:
    """γ and β: 2D."""
    return 2 * D


def block_parameters(D: int, H: int, F: int, *, attention_bias: bool = False) -> int:
    """Attention, FFN with biases and two LayerNorms."""
    attention = mha_parameters(D, H, bias=attention_bias)
    return attention + ffn_parameters(D, F) + 2 * layernorm_parameters(D)


def decoder_only_parameters(
    V: int,
    D: int,
    H: int,
    F: int,
    L: int,
    T_max: int,
    *,
    attention_bias: bool = False,
    tied: bool = False,
) -> int:
    """Embeddings, L blocks, final norm and head; a ``tied`` head is the token embedding again."""
    blocks = L * block_parameters(D, H, F, attention_bias=attention_bias)
    head = 0 if tied else D * V
    return V * D + T_max * D + blocks + layernorm_parameters(D) + head


def matmul_flops(m: int, k: int, n: int) -> int:
    """2 m k n for [m, k] @ [k, n]."""
    return 2 * m * k * n


def projection_flops(B: int, T_q: int, T_k: int, D: int) -> int:
    """WQ and WO on the queries, WK and WV on the keys: 4 B (T_q + T_k) D², that is 8 B T D²."""
    return 2 * matmul_flops(B * T_q, D, D) + 2 * matmul_flops(B * T_k, D, D)


def score_flops(B: int, T_q: int, T_k: int, D: int) -> int:
    """Q Kᵀ and A V over all heads: 4 B T_q T_k D, that is 4 B T² D; H drops out since H·d = D."""
    return matmul_flops(B * T_q, D, T_k) + matmul_flops(B * T_q, T_k, D)


def causal_score_flops(B: int, T: int, D: int) -> int:
    """2 B T (T + 1) D: only if hidden entries are skipped. The plain product computes them all."""
    return 4 * B * D * (T * (T + 1) // 2)


def ffn_flops(B: int, T: int, D: int, F: int) -> int:
    """4 B T D F."""
    return 2 * matmul_flops(B * T, D, F)


def attention_multiplications(B: int, T_q: int, T_k: int, D: int) -> int:
    """Exactly half of the FLOPs of projections and scores."""
    return (projection_flops(B, T_q, T_k, D) + score_flops(B, T_q, T_k, D)) // 2


def attention_additions(B: int, T_q: int, T_k: int, D: int, H: int) -> int:
    """One fewer than multiplications for each number that a product puts out."""
    outputs = 2 * B * (T_q + T_k) * D + B * H * T_q * T_k + B * T_q * D
    return attention_multiplications(B, T_q, T_k, D) - outputs


def score_elements(B: int, H: int, T_q: int, T_k: int) -> int:
    """B H T_q T_k numbers in A of one layer: one T×T matrix for each head and sample."""
    return B * H * T_q * T_k


def online_softmax_elements(B: int, H: int, T_q: int) -> int:
    """2 B H T_q: a running maximum and a running sum for each query, instead of A."""
    return 2 * B * H * T_q


def kv_cache_elements(L: int, B: int, T: int, D: int) -> int:
    """2 L B T D numbers in the keys and values of T tokens."""
    return 2 * L * B * T * D
