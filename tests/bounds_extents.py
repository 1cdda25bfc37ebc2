"""Extents of the arrays of the kernels in `tests/public_style`, which declare none themselves."""

from __future__ import annotations

ROWS = "num_programs(0)"


def rows(stride: str, columns: str) -> str:
    """One row for each program of the first axis."""
    return f"({ROWS} - 1) * {stride} + {columns}"


_TILES = "cdiv(M, {}) * cdiv(N, {})"
# Whole blocks along the inner side: rows are no shorter than that.
_DEPTH = "cdiv(K, BLOCK_SIZE_K) * BLOCK_SIZE_K"
_HEADS = "num_programs(1) * n_ctx"

EXTENTS: dict[str, dict[str, str]] = {
    # elementwise.py
    "add_kernel": dict.fromkeys(("x_ptr", "y_ptr", "output_ptr"), "n_elements"),
    "seeded_dropout_kernel": dict.fromkeys(("x_ptr", "output_ptr"), "n_elements"),
    "swiglu_forward_kernel": dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), rows("stride", "n_cols")),
    "rope_kernel": {
        "x_ptr": f"{ROWS} * n_heads * (2 * HALF)",
        "cos_ptr": "seq_len * HALF",
        "sin_ptr": "seq_len * HALF",
        "num_programs(1)": "n_heads",
    },
    "quantize_rowwise_kernel": {
        "x_ptr": f"{ROWS} * n_cols",
        "output_ptr": f"{ROWS} * n_cols",
        "scale_ptr": ROWS,
    },
    "dequantize_rowwise_kernel": {
        "q_ptr": f"{ROWS} * n_cols",
        "output_ptr": f"{ROWS} * n_cols",
        "scale_ptr": ROWS,
    },
    "adamw_kernel": dict.fromkeys(("p_ptr", "g_ptr", "m_ptr", "v_ptr"), "n_elements"),
    # rows.py
    "softmax_kernel": {
        "output_ptr": "(n_rows - 1) * output_row_stride + n_cols",
        "input_ptr": "(n_rows - 1) * input_row_stride + n_cols",
    },
    "layer_norm_fwd_fused": {
        "X": rows("stride", "N"),
        "Y": rows("stride", "N"),
        "W": "N",
        "B": "N",
        "Mean": ROWS,
        "Rstd": ROWS,
    },
    "layer_norm_bwd_dx_fused": {
        "DX": rows("stride", "N"),
        "DY": rows("stride", "N"),
        "X": rows("stride", "N"),
        "DW": "GROUP_SIZE_M * N",
        "DB": "GROUP_SIZE_M * N",
        "W": "N",
        "Mean": ROWS,
        "Rstd": ROWS,
        "Lock": "2 * GROUP_SIZE_M",
    },
    "rms_norm_kernel": {"X": rows("stride", "N"), "Y": rows("stride", "N"), "W": "N"},
    "cross_entropy_kernel": {
        "X_ptr": rows("X_stride", "n_cols"),
        "Y_ptr": ROWS,
        "loss_ptr": ROWS,
    },
    "topk_kernel": {"x_ptr": f"{ROWS} * n_cols", "out_ptr": f"{ROWS} * K"},
    "segmented_scan_kernel": dict.fromkeys(("x_ptr", "start_ptr", "out_ptr"), f"{ROWS} * n_cols"),
    "argmax_cumsum_kernel": {
        "x_ptr": f"{ROWS} * n_cols",
        "index_ptr": ROWS,
        "scan_ptr": f"{ROWS} * n_cols",
    },
    # indexing.py
    "embedding_forward_kernel": {
        "index_ptr": "n_elements",
        "out_ptr": "n_elements * width",
    },
    "embedding_backward_kernel": {
        "index_ptr": "n_elements",
        "grad_ptr": "n_elements * width",
    },
    "histogram_kernel": {"x_ptr": "n_elements", "out_ptr": "BINS"},
    "transpose_kernel": {"x_ptr": "M * N", "y_ptr": "M * N"},
    "causal_conv1d_kernel": {
        "x_ptr": f"{ROWS} * length",
        "y_ptr": f"{ROWS} * length",
        "w_ptr": f"{ROWS} * WIDTH",
    },
    "max_pool_kernel": {"x_ptr": f"{ROWS} * H * W", "y_ptr": f"{ROWS} * OH * OW"},
    "collatz_kernel": {"x_ptr": ROWS, "steps_ptr": ROWS},
    # products.py
    "matmul_kernel": {
        "a_ptr": "(M - 1) * stride_am + (K - 1) * stride_ak + 1",
        "b_ptr": "(K - 1) * stride_bk + (N - 1) * stride_bn + 1",
        "c_ptr": "(M - 1) * stride_cm + (N - 1) * stride_cn + 1",
        ROWS: _TILES.format("BLOCK_SIZE_M", "BLOCK_SIZE_N"),
    },
    "split_k_kernel": {"a_ptr": "M * K", "b_ptr": "K * N", "c_ptr": "M * N"},
    "int8_matmul_kernel": {
        "a_ptr": "M * K",
        "b_ptr": "K * N",
        "c_ptr": "M * N",
        "scale_a_ptr": "M",
        "scale_b_ptr": "N",
    },
    "persistent_descriptor_kernel": {"a_ptr": "M * K", "b_ptr": "N * K", "c_ptr": "M * N"},
    "attention_forward_kernel": {
        **dict.fromkeys(("Q", "K", "V", "Out"), f"{_HEADS} * HEAD"),
        "Lse": _HEADS,
    },
    "attention_dkdv_kernel": {
        **dict.fromkeys(("Q", "K", "V", "DO", "DK", "DV"), f"{_HEADS} * HEAD"),
        "Lse": _HEADS,
        "Delta": _HEADS,
    },
    # groups.py
    "grouped_matmul_kernel": {
        "group_sizes_ptr": "3 * group_count",
        "group_offsets_ptr": "3 * group_count",
    },
    "fp8_matmul_kernel": {
        "a_ptr": "M * K",
        "b_ptr": "N * K",
        "c_ptr": "M * N",
        "scale_a_ptr": "M",
        "scale_b_ptr": "N",
    },
    "block_scaled_matmul_kernel": {
        "a_ptr": f"({ROWS} * BLOCK_SIZE_M - 1) * K + {_DEPTH}",
        "b_ptr": f"({_DEPTH} - 1) * N + num_programs(1) * BLOCK_SIZE_N",
        "a_scale_ptr": f"({ROWS} * BLOCK_SIZE_M - 1) * (K // 32) + {_DEPTH} // 32",
        "b_scale_ptr": f"(num_programs(1) * BLOCK_SIZE_N - 1) * (K // 32) + {_DEPTH} // 32",
        "c_ptr": f"({ROWS} * BLOCK_SIZE_M - 1) * N + num_programs(1) * BLOCK_SIZE_N",
    },
    "attention_dq_kernel": {
        **dict.fromkeys(("Q", "K", "V", "DO", "DQ"), f"{_HEADS} * HEAD"),
        "Lse": _HEADS,
        "Delta": _HEADS,
    },
}
