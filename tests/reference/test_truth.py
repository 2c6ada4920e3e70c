"""Every number that was computed without this project, one test or more for each file.

``close`` is 1e-12, absolute and relative: the stored values are 60-digit results rounded to the
nearest double, and float64 stays within 6e-14 of them.
"""

import itertools
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from reference import counts
from reference.ops import assignment1, encoder_decoder, layers
from reference.ops.assignment1 import WK, WQ, WV, K, Q, V, X
from reference.ops.attention import attention, cross_attention, masked_attention, scaled_scores
from reference.ops.attention_backward import (
    attention_backward,
    cross_projection_backward,
    projection_backward,
)
from reference.ops.bias import biased_weights, weights_with_bias_before_scaling
from reference.ops.cache import generate_with_cache, step
from reference.ops.decoder_only import forward, parameter_count
from reference.ops.ffn import ffn
from reference.ops.generation import generate
from reference.ops.heads import merge_heads
from reference.ops.jacobian import softmax_jacobian
from reference.ops.layernorm import layernorm
from reference.ops.leak import leaks
from reference.ops.loss import masked_loss, token_nll
from reference.ops.multihead import mha, self_attention
from reference.ops.online_softmax import blockwise_attention, running_states
from reference.ops.positions import sinusoidal
from reference.ops.prefixes import prefix_gap
from reference.ops.projection import linear, project
from reference.ops.residual import post_norm, pre_norm, residual_jacobian
from reference.ops.softmax import log_softmax, softmax
from reference.ops.teacher_forcing import lm_loss, shift
from reference.ops.variance import (
    dot_products,
    dot_variance,
    equal_components_dot_variance,
    saturation,
    self_dot_variance,
)
from reference.ops.visibility import causal_visible, visible_from_padding
from reference.shapes import trace_shapes
from tests.reference.conftest import Truth


def close(actual: Any, expected: Any, atol: float = 1e-12) -> None:
    npt.assert_allclose(actual, expected, rtol=1e-12, atol=atol, strict=np.ndim(actual) > 0)


# 01 to 04: Assignment1


@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
def test_assignment1_gives_the_weights_and_outputs_of_file_01(truth: Truth, masked: bool) -> None:
    file = truth("01")
    expected = file["masked_causal" if masked else "unmasked"]
    A, Z = assignment1.causal() if masked else assignment1.unmasked()
    close(scaled_scores(Q, K), expected["scaled_scores"])
    close(A, expected["A"])
    close(Z, expected["Z"])
    printed = file["document_values"]["masked" if masked else "unmasked"]
    assert np.abs(A - printed["A"]).max() < 5e-5
    assert np.abs(Z - printed["Z"]).max() < 5e-5


def test_the_first_masked_row_of_assignment1_is_exact() -> None:
    A, Z = assignment1.causal()
    npt.assert_array_equal(A[0], [1, 0])
    npt.assert_array_equal(Z[0], [2, -1])


def test_the_reconstruction_is_the_canonical_one_of_file_02(truth: Truth) -> None:
    canonical = truth("02")["canonical"]
    for ours, name in ((X, "X"), (WQ, "WQ"), (WK, "WK"), (WV, "WV")):
        npt.assert_array_equal(ours, canonical[name])
    for ours, given in zip(project(X, WQ, WK, WV), (Q, K, V), strict=True):
        npt.assert_array_equal(ours, given)


def test_every_reconstruction_of_file_02_keeps_the_masked_row_and_moves_the_other(
    truth: Truth,
) -> None:
    for one in truth("02")["family_{0,1}_24_members"]:
        weights = one["WQ"], one["WK"], one["WV"]
        for ours, given in zip(project(one["X"], *weights), (Q, K, V), strict=True):
            npt.assert_array_equal(ours, given)
        after = project(np.stack([one["X"][0], [10, 10, 10]]), *weights)
        _, free = attention(*after)
        _, masked = attention(*after, causal_visible(2))
        close(free[0], one["leak_unmasked_Z_row1"])
        close(masked[0], one["leak_masked_Z_row1"])
        close(masked[1], one["leak_masked_Z_row2"])


def test_the_blind_weights_of_file_02_show_why_before_must_be_compared_with_after(
    truth: Truth,
) -> None:
    blind = truth("02")["blind_counterexample"]["WK"]

    def unmasked(X: Any) -> Any:
        return attention(*project(X, WQ, blind, WV))[1]

    npt.assert_array_equal(unmasked([X[0], [10, 10, 10]])[0], [2, -1])
    assert leaks(unmasked, X)


@pytest.mark.parametrize("run", ["before", "after", "after_minus10", "after_small"])
def test_the_leak_experiment_gives_the_values_of_file_03(truth: Truth, run: str) -> None:
    expected = truth("03")[run]
    projected = project(expected["X"], WQ, WK, WV)
    for ours, name in zip(projected, "QKV", strict=True):
        npt.assert_array_equal(ours, expected[name])
    for name, visible in (("unmasked", None), ("masked", causal_visible(2))):
        A, Z = attention(*projected, visible)
        close(A, expected[name]["A"])
        close(Z, expected[name]["Z"])
        close(assignment1.with_second_token(expected["X"][1], masked=name == "masked"), Z)
    flipped = attention(*projected, causal_visible(2).T)
    close(flipped[0], expected["wrong"]["mask_flipped"]["A"])
    strict = attention(*projected, causal_visible(2, offset=-1))
    close(strict[1], expected["wrong"]["strict_causal_zero_policy"]["Z"])


def test_our_answers_are_the_correct_ones_among_the_variants_of_file_04(truth: Truth) -> None:
    file = truth("04")
    for variants, (A, Z) in (
        (file["unmasked"], assignment1.unmasked()),
        (file["masked"], assignment1.causal()),
    ):
        for name, wrong in variants.items():
            seen = max(np.abs(A - wrong["A"]).max(), np.abs(Z - wrong["Z"]).max())
            distance = max(wrong["max_abs_dA_vs_correct"], wrong["max_abs_dZ_vs_correct"])
            assert seen == pytest.approx(distance, abs=1e-12), name


# 05 to 09: bias, Jacobian, backward, padding, cross-attention


def test_finite_biases_give_the_weights_of_file_05_in_both_orders(truth: Truth) -> None:
    for name, case in truth("05")["cases"].items():
        after, before = case["QKt_over_sqrt_plus_M"], case["(QKt+M)_over_sqrt"]
        M = case["M"]
        if name.startswith("alibi"):  # stored under a causal mask, which the file does not repeat
            M = np.where(causal_visible(3), M, -np.inf)
        A = biased_weights(case["Q"], case["K"], M)
        close(A, after["A"])
        close(A @ case["V"], after["Z"])
        early = weights_with_bias_before_scaling(case["Q"], case["K"], M)
        close(early, before["A"])
        close(early @ case["V"], before["Z"])
        assert np.abs(A - early).max() == pytest.approx(case["max_abs_dA"], abs=1e-12), name


def test_softmax_and_its_jacobian_give_the_values_of_file_06(truth: Truth) -> None:
    for case in truth("06")["cases"].values():
        s = np.array(case["s"], dtype=float)
        if case["visible"] is not None:
            s = np.where(case["visible"], s, -np.inf)
        close(softmax(s), case["p"])
        close(softmax_jacobian(s), case["J"])
        assert np.abs(softmax_jacobian(s)).max() <= 0.25


def test_backward_through_attention_gives_the_gradients_of_file_07(truth: Truth) -> None:
    for case in truth("07")["cases"].values():
        source = case["Xq"] if case["Xkv"] is None else case["Xkv"]
        weights, G, visible = (case["WQ"], case["WK"], case["WV"]), case["G"], case["visible"]
        q, k, v = (linear(x, w) for x, w in zip((case["Xq"], source, source), weights, strict=True))
        A, Z = attention(q, k, v, visible)
        close(A, case["A"])
        close(Z, case["Z"])
        core = attention_backward(q, k, v, G, visible)
        if case["Xkv"] is None:
            outer = projection_backward(source, *weights, G, visible)
        else:
            outer = cross_projection_backward(case["Xq"], source, *weights, G, visible)
        gradients = {**core, **outer}
        compared = [name for name in gradients if name in case]
        assert len(compared) >= 9
        for name in compared:
            close(gradients[name], case[name])


def test_padding_and_causality_together_give_the_rows_of_file_08(truth: Truth) -> None:
    file = truth("08")
    q, k, v = (file["inputs"][name] for name in "QKV")
    for case in file["cases"].values():
        visible = visible_from_padding(~case["valid_key"], causal=True)
        npt.assert_array_equal(visible, case["visible"])
        A, Z = masked_attention(q, k, v, visible)
        close(A, case["A"])
        close(Z, case["Z"])
        npt.assert_array_equal(A.sum(axis=-1) > 0.5, visible.any(axis=-1))
        close(attention(q, k, v, causal_visible(3))[0], case["causal_only"])
        only = visible_from_padding(~case["valid_key"], causal=False)
        close(attention(q, k, v, only)[0], case["padding_only"])


def test_cross_attention_gives_the_values_of_file_09(truth: Truth) -> None:
    file = truth("09")
    inputs = [file["inputs"][name] for name in ("Xq", "Xkv", "WQ", "WK", "WV")]
    hidden = np.array([True, True, False, True])
    for key_visible, name in ((None, "all_keys"), (hidden, "key_padding_hides_key_2")):
        A, Z = cross_attention(*inputs, key_visible)
        close(A, file[name]["A"])
        close(Z, file[name]["Z"])


# 10 to 13: heads, counts, LayerNorm, norm order


def test_multi_head_attention_gives_the_values_of_file_10a(truth: Truth) -> None:
    file = truth("10a")
    inputs = file["inputs"]
    for visible, name in ((None, "unmasked"), (causal_visible(3), "causal")):
        weights = [inputs[w] for w in ("WQ", "WK", "WV", "WO")]
        result = mha(inputs["X"], inputs["X"], *weights, 2, visible)
        close(result["A"], file[name]["A"])
        close(result["out"], file[name]["out"])
        merged = mha(inputs["X"], inputs["X"], *weights[:3], np.eye(4), 2, visible)["out"]
        close(merged, file[name]["merged"])


def test_the_closed_book_numbers_are_those_of_file_10b(truth: Truth) -> None:
    file = truth("10b")
    x = file["inputs"]["X"]
    weights = {name: file["inputs"][name] for name in ("WQ", "WK", "WV", "WO")}
    result = mha(x, x, *weights.values(), 3)
    close(result["A"], file["unmasked"]["A"])
    close(result["out"], file["unmasked"]["out"])
    close(self_attention(x, weights, 3, causal_visible(5)), file["causal_out"])


def test_the_closed_book_shapes_are_those_of_file_10b(truth: Truth) -> None:
    ours = trace_shapes(B=2, T=5, D=24, H=3)
    names = {
        "W_per_head_alternative": "WQ_per_head",
        "XWQ": "Q_projected",
        "Q_split": "Q",
        "K_split": "K",
        "V_split": "V",
        "scores": "S",
        "Z_merged": "Z",
        "output_after_WO": "output",
    }
    for name, shape in truth("10b")["shapes"].items():
        assert ours[names.get(name, name)] == tuple(shape), name


def test_parameters_are_those_of_file_11(truth: Truth) -> None:
    file = truth("11")
    for row in file["mha_parameters_fixed_D_24"]:
        assert counts.mha_parameters(24, row["H"]) == row["no_bias"] == row["brute_force"]
        assert counts.mha_parameters(24, row["H"], bias=True) == row["with_bias"]
    for row in file["mha_parameters_fixed_d_8"]:
        H, d = row["H"], row["d"]
        assert counts.mha_parameters(24, H, d) == row["no_bias_D_kept_24"]
        assert counts.mha_parameters(24, H, d, bias=True) == row["with_bias_D_kept_24"]
        assert counts.mha_parameters(H * d, H) == row["no_bias_D_equals_Hd"]


def test_whole_model_parameters_are_those_of_file_11(truth: Truth) -> None:
    for row in truth("11")["block_and_model_parameters"]:
        D, F = row["D"], row["F"]
        assert counts.ffn_parameters(D, F) == row["ffn_with_bias"]
        assert counts.ffn_parameters(D, F, bias=False) == row["ffn_no_bias"]
        assert counts.layernorm_parameters(D) == row["layernorm"]
        assert counts.block_parameters(D, 1, F) == row["block_no_attn_bias"]
        assert counts.block_parameters(D, 1, F, attention_bias=True) == row["block_all_bias"]
        if row["V"]:
            sizes = row["V"], D, 1, F, row["layers"], row["T_max"]
            plain = counts.decoder_only_parameters(*sizes)
            assert plain == row["decoder_only_total_no_attn_bias_untied"]
            tied = counts.decoder_only_parameters(*sizes, attention_bias=True, tied=True)
            assert tied == row["decoder_only_total_all_bias_tied"]


def test_flops_are_those_of_file_11(truth: Truth) -> None:
    for row in truth("11")["flops"]:
        B, T_q, T_k, D = row["B"], row["Tq"], row["Tk"], row["D"]
        sizes = B, T_q, T_k, D
        assert counts.projection_flops(*sizes) == row["projections"]
        assert counts.score_flops(*sizes) == row["attention"]
        assert counts.attention_multiplications(*sizes) == row["exact_multiplications"]
        assert counts.attention_additions(*sizes, row["H"]) == row["exact_additions"]
        assert counts.ffn_flops(B, T_q, D, row["F"]) == row["ffn"]
        if T_q == T_k:
            skipped = counts.causal_score_flops(B, T_q, D)
            assert skipped == row["attention_if_causal_half_is_skipped"]


def test_memory_is_that_of_file_11(truth: Truth) -> None:
    for row in truth("11")["memory"]:
        B, T, D, H, L = (row[name] for name in ("B", "T", "D", "H", "layers"))
        width = row["bytes_per_element"]
        assert counts.score_elements(B, H, T, T) == row["A_elements_per_layer"]
        assert counts.score_elements(B, H, T, T) * width == row["A_bytes_per_layer"]
        statistics = row["flash_statistics_elements_per_layer(m,l)"]
        assert counts.online_softmax_elements(B, H, T) == statistics
        assert counts.kv_cache_elements(L, B, T, D) == row["kv_cache_elements"]
        assert counts.kv_cache_elements(L, B, T, D) * width == row["kv_cache_bytes"]


def test_layernorm_gives_the_values_of_file_12(truth: Truth) -> None:
    file = truth("12")
    for case in file["one_vector_no_affine"].values():
        x = np.array(case["x"], dtype=float)
        one, zero = np.ones(len(x)), np.zeros(len(x))
        for eps in ("1e-05", "1e-06", "1e-12"):
            close(layernorm(x, one, zero, float(eps)), case[f"biased_eps_inside_{eps}"])
    matrix = file["matrix_T2_D3_affine"]
    y = layernorm(matrix["x"], matrix["gamma"], matrix["beta"], matrix["eps"])
    close(y, matrix["y"])


def test_ffn_and_norm_orders_give_the_values_of_file_13(truth: Truth) -> None:
    file = truth("13")
    x, w, heads = (file["inputs"][name] for name in ("X", "ffn_and_ln", "mha"))
    expected = file["expected"]
    weights = {**w, "ln1_g": w["ln_g"], "ln1_b": w["ln_b"]}
    F, norm = layers.feed_forward(weights), layers.norm(weights, 1, 1e-5)
    close(ffn(x, w["W1"], w["b1"], w["W2"], w["b2"]), expected["ffn_alone"])
    close(norm(x), expected["layernorm_alone"])
    close(post_norm(x, F, norm), expected["post_norm_ffn"])
    close(pre_norm(x, F, norm), expected["pre_norm_ffn"])

    def attend(h: Any) -> Any:
        return self_attention(h, heads, 2, causal_visible(3))

    close(post_norm(x, attend, norm), expected["post_norm_attention_causal"])
    close(pre_norm(x, attend, norm), expected["pre_norm_attention_causal"])
    block = pre_norm(pre_norm(x, attend, norm), F, norm)
    close(block, expected["pre_norm_block_attention_then_ffn_shared_ln"])
    J = residual_jacobian(x[0], w["W1"], w["b1"], w["W2"])
    close(J, file["residual_jacobian_dy_o/dx_i_row0"])


# 14 to 19: models, cache, loss, online softmax, variance


def test_the_decoder_only_model_gives_the_logits_of_file_14(truth: Truth) -> None:
    file = truth("14")
    weights, config = file["weights"], file["config"]
    logits = forward(file["tokens"], weights, config)
    close(logits, file["logits"])
    close(log_softmax(logits), file["log_probs"])
    other = forward(file["leak_check"]["tokens"], weights, config)
    close(other[:2], file["leak_check"]["logits_first_two_rows_unchanged"])
    assert parameter_count(weights) == file["parameter_count"] == 1192
    sizes = (config[name] for name in ("V", "D", "H", "F", "L", "T_max"))
    assert counts.decoder_only_parameters(*sizes) == 1192


def test_greedy_generation_gives_the_tokens_of_file_14(truth: Truth) -> None:
    file = truth("14")
    weights, config = file["weights"], file["config"]
    for run in file["greedy"]:
        expected, n = list(run["generated_with_prompt"]), run["new_tokens"]
        assert generate(lambda t: forward(t, weights, config), run["prompt"], n) == expected
        assert generate_with_cache(run["prompt"], n, weights, config) == expected


def test_the_encoder_decoder_gives_the_memory_and_logits_of_file_15(truth: Truth) -> None:
    file = truth("15")
    w, config, tgt = file["weights"], file["config"], file["target_input"]
    src, valid = file["source"], file["source_valid"]
    close(sinusoidal(4, 8), file["sinusoidal_positions_T4_D8"])
    memory = encoder_decoder.encode(src, valid, w, config)
    close(memory, file["memory"])
    close(encoder_decoder.forward(src, valid, tgt, w, config), file["logits"])
    y = encoder_decoder.embed("tgt", tgt, w["tgt_tok"])
    source = encoder_decoder.source_visible(valid, memory, T_q=3)
    _, cross = layers.decoder_layer(y, memory, w["dec"][0], 2, causal_visible(3), source)
    close(cross, file["cross_A"])
    assert parameter_count(w) == file["parameter_count"] == 1432


@pytest.mark.parametrize("cuts", [[3, 1, 1], [1, 1, 1, 1, 1], [2, 3], [5]])
def test_any_chunks_through_the_cache_give_the_full_pass_of_file_16(
    truth: Truth, cuts: list[int]
) -> None:
    model, file = truth("14"), truth("16")
    rows, cache = [], None
    for chunk in np.split(np.array(file["tokens"]), np.cumsum(cuts)[:-1]):
        logits, cache = step(chunk, model["weights"], model["config"], cache)
        rows.append(logits)
    close(np.concatenate(rows), file["full_forward_logits"])
    assert cache is not None
    for pair in cache:
        for array, name in zip(pair, "KV", strict=True):
            assert array.shape == tuple(file["cache_shape_after_5_tokens"][name])


def test_teacher_forcing_gives_the_losses_of_file_17(truth: Truth) -> None:
    file, model = truth("17"), truth("14")
    case = file["model_case"]

    def run(tokens: Any) -> Any:
        return forward(tokens, model["weights"], model["config"])

    inputs, labels = shift(case["sequence"])
    npt.assert_array_equal(inputs, case["inputs"])
    npt.assert_array_equal(labels, case["labels"])
    close(token_nll(run(inputs), labels), case["nll_per_position"])
    assert lm_loss(run, case["sequence"]) == pytest.approx(case["mean_all"], abs=1e-12)
    kept = masked_loss(run(inputs), labels, case["loss_mask"])
    assert kept == pytest.approx(case["mean_masked"], abs=1e-12)
    assert prefix_gap(run, inputs) < 1e-13


def test_the_loss_mask_gives_the_means_of_file_17(truth: Truth) -> None:
    case = truth("17")["explicit_logits_case"]
    keep = case["loss_mask"].astype(bool)
    close(token_nll(case["logits"], case["labels"]), case["nll"])
    for labels in (case["labels"], case["labels_with_ignore_index_minus_100"]):
        loss = masked_loss(case["logits"], labels, keep)
        assert loss == pytest.approx(case["masked_mean_over_valid_tokens"], abs=1e-12)


def test_online_softmax_gives_the_running_values_of_file_18(truth: Truth) -> None:
    file = truth("18")
    K18, V18 = file["inputs"]["K"], file["inputs"]["V"]
    for case in file["cases"].values():
        Q18 = file["inputs"]["Q"] * case["q_scale"]
        for block, stored in case["blocks"].items():
            arguments = Q18, K18, V18, int(block), case["visible"]
            close(blockwise_attention(*arguments), case["Z"])
            _, *states = running_states(*arguments)
            close(np.stack([s.peak for s in states]), stored["running_m"])
            close(np.stack([s.total for s in states]), stored["running_l"])
            close(states[-1].logsumexp(), case["logsumexp"])


def test_the_variance_of_plus_minus_one_vectors_is_the_enumeration_of_file_19(truth: Truth) -> None:
    for row in truth("19")["exact_enumeration_plus_minus_one"]:
        d = row["d_k"]
        vectors = np.array(list(itertools.product((-1, 1), repeat=d)))
        variance = (vectors @ vectors.T).var()
        assert variance == pytest.approx(row["variance"]) == pytest.approx(dot_variance(d))


def test_the_seeded_simulation_repeats_file_19(truth: Truth) -> None:
    file = truth("19")
    rng = np.random.default_rng(32)
    for row in file["gaussian_monte_carlo_seed_32"]:
        d, n = row["d_k"], row["samples"]
        variance = dot_products(d, n, rng).var(ddof=1)
        assert variance == pytest.approx(row["sample_variance"], rel=1e-12)
        assert abs(variance / dot_variance(d) - 1) < 5 * np.sqrt(2 / n) + 3 / d / np.sqrt(n)
    for row in file["saturation_seed_32"]:
        d, keys = row["d_k"], row["keys"]
        q, k = rng.standard_normal((400, d)), rng.standard_normal((400, keys, d))
        scores = (k * q[:, None]).sum(axis=-1)
        for factor, name in ((1.0, "unscaled"), (np.sqrt(d), "scaled")):
            stored = row[name]["mean_max_weight"], row[name]["mean_trace_of_jacobian"]
            assert saturation(scores / factor) == pytest.approx(stored, rel=1e-12)


def test_the_closed_forms_are_those_of_file_19() -> None:
    assert dot_variance(5, mu=1) == 3 * 5
    assert self_dot_variance(5) == 2 * 5
    assert equal_components_dot_variance(5) == 5**2


# 20: the wrong implementations


def test_the_leak_table_of_file_20_starts_from_our_rows(truth: Truth) -> None:
    rows = truth("20")["leak_experiment_by_implementation"]
    by_name = {row["implementation"]: row for row in rows}
    for name, masked in (("correct", True), ("mask_ignored", False)):
        before = assignment1.with_second_token(X[1], masked=masked)[0]
        tokens = [key for key in by_name[name] if key != "implementation"]
        assert len(tokens) == 4
        for token in tokens:
            stored = by_name[name][token]
            second = [float(number) for number in token.strip("[]").split(",")]
            after = assignment1.with_second_token(second, masked=masked)[0]
            close(after, stored["row1"])
            change = np.abs(after - before).max()
            assert change == pytest.approx(stored["change_before_after"], abs=1e-12)


def test_our_merge_undoes_what_file_10b_calls_context_transposed(truth: Truth) -> None:
    shapes = truth("10b")["shapes"]
    context = np.arange(np.prod(shapes["context"]), dtype=float).reshape(shapes["context"])
    npt.assert_array_equal(
        merge_heads(context),
        context.swapaxes(1, 2).reshape(shapes["Z_merged"]),
    )
