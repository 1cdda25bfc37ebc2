"""Every operation on more than 2^31 elements: a row of `LARGE` says how its arrays become large."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_kernels as tk
import teeny_triton as tl
from teeny_kernels.philox import philox, uniform
from teeny_kernels.registry import specs
from teeny_kernels.spec import Case
from teeny_kernels.stretched import Stretched, check_stretched
from teeny_macros import kernel
from teeny_triton import Axis, Const, Ptr, f16, i64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny_kernels.spec import KernelSpec

SPECS = specs()
INF = float("inf")
LINE = 1009  # a prime
UNITS = 1000  # whole units of eight, as rows are read (see rows.unit_of)
FLAT = {"activation", "elementwise", "optimizer"}
LOSSES = {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div",
          "hinge_embedding_loss", "margin_ranking_loss", "binary_cross_entropy",
          "binary_cross_entropy_with_logits", "poisson_nll_loss", "gaussian_nll_loss"}  # fmt: skip


def of(
    *shapes: tuple[int, ...], values: str = "normal", o: Mapping[str, Any] | None = None, **how: Any
) -> Stretched:
    return Stretched(Case(shapes, o or {}, values), **how)


def rows(*more: tuple[int, ...], **how: Any) -> Stretched:
    return of((37, 100), *more, **how)


def reduction(background: float, values: str = "normal", rest: Any = None) -> tuple[Stretched, ...]:
    """Many rows; one long row; few long columns."""
    return (
        rows(o={"axis": 1}, values=values),
        of((LINE,), background=background, values=values),
        of((LINE, 5), o={"axis": 0}, background=background, values=values),
    )


BYTES: dict[str, Any] = {"o": {"dtype": "f16"}, "values": "i8 i8", "dtype": "f32"}
LARGE: dict[str, tuple[Stretched, ...]] = {
    "prelu": (of((LINE, 7), (7,)),),
    "softmax": (
        rows(),
        of((3, LINE), axis=1, background=-INF, rest=0.0),
        of((1, UNITS), axis=1, background=-INF, rest=0.0),
    ),
    "log_softmax": (
        rows(),
        of((3, LINE), axis=1, background=-INF),
        of((1, UNITS), axis=1, background=-INF),
    ),
    "add": (of((LINE,), (LINE,)), of((37, 100), (100,)), of((37, 100), (37, 1))),
    "mul": (of((LINE,), (LINE,)), of((37, 100), (100,)), of((37, 100), (37, 1))),
    "muon_step": (
        of(*((8, 37),) * 3, o={"lr": 0.5, "momentum": 0.8, "weight_decay": 0.0}, axis=1,
           background=0.0),
    ),
    "cross_entropy": (
        rows((37,), o={"reduction": "none"}),
        rows((37,), mean=True, dtype="bf16"),
        of((5, 6, 7), (5, 7), o={"reduction": "none"}),
        of((3, LINE), (3,), o={"reduction": "none"}, axis=1, background=-INF, places=(1,)),
        of((1, UNITS), (1,), o={"reduction": "none"}, axis=1, background=-INF, places=(1,)),
    ),
    "nll_loss": (
        rows((37,), o={"reduction": "none"}),
        rows((37,), mean=True, dtype="bf16"),
        of((5, 6, 7), (5, 7), o={"reduction": "none"}),
        of((3, LINE), (3,), o={"reduction": "none"}, axis=1, background=0.0, places=(1,)),
    ),
    "cosine_embedding_loss": (
        rows((37, 100), (37,), o={"reduction": "none"}),
        rows((37, 100), (37,), mean=True, dtype="bf16"),
    ),
    "triplet_margin_loss": (
        rows((37, 100), (37, 100), o={"reduction": "none"}),
        rows((37, 100), (37, 100), mean=True, dtype="bf16"),
    ),
    "multi_margin_loss": (rows((37,), o={"reduction": "none"}),),
    "multilabel_soft_margin_loss": (rows((37, 100), o={"reduction": "none"}),),
    "linear_cross_entropy": (of((37, 64), (100, 64), (37,), o={"reduction": "none"}),),
    "flash_attention": (
        of(*((5, 2, 16, 16),) * 3, o={"causal": True}),
        of((5, 4, 48, 64), (5, 2, 48, 64), (5, 2, 48, 64)),
    ),
    "flash_attention_varlen": (
        of((1003, 2, 64), (1003, 1, 64), (1003, 1, 64),
           o={"lengths_q": (1000, 3), "lengths_k": (1000, 3), "causal": True},
           options=lambda times: {"lengths_q": (1000, 3) * times, "lengths_k": (1000, 3) * times,
                                  "causal": True}, whole=True),
    ),
    "conv1d": (
        of((5, 8, 31), (10, 4, 3), (10,), o={"stride": 2, "padding": 2, "groups": 2}),
        of((5, 32, 100), (32, 32, 3), o={"padding": 1}),
        of((5, 7, 40), (7, 1, 3), o={"padding": 1, "groups": 7}),
    ),
    "conv2d": (
        of((5, 3, 9, 7), (8, 3, 3, 2), (8,), o={"padding": 1}),
        of((5, 32, 20, 20), (32, 32, 3, 3), (32,), o={"padding": 1}),
        of((5, 64, 9, 8), (64, 64, 3, 3), o={"padding": 1, "stride": 2}),
        of((5, 7, 10, 9), (7, 1, 3, 3), o={"groups": 7, "padding": 1, "stride": (2, 1)}),
    ),
    "conv3d": (
        of((5, 4, 5, 4, 6), (6, 2, 2, 3, 2), (6,), o={"groups": 2, "stride": (2, 1, 2)}),
        of((5, 32, 4, 8, 8), (32, 32, 3, 3, 3), o={"padding": 1}),
    ),
    "conv2d_batch_norm_silu": (
        of((5, 3, 9, 7), (19, 3, 3, 2), o={"padding": (1, 0)}),
        of((5, 32, 20, 20), (32, 32, 3, 3), o={"padding": 1}),
    ),
    "conv_transpose1d": (
        of((5, 8, 15), (8, 3, 3), (6,), o={"stride": 2, "padding": 3, "groups": 2}),
        of((5, 32, 50), (32, 32, 3), o={"padding": 1}),
    ),
    "conv_transpose2d": (
        of((5, 6, 4, 3), (6, 4, 2, 3), (4,), o={"stride": (1, 2), "padding": (1, 1)}),
        of((5, 32, 20, 20), (32, 32, 3, 3), o={"padding": 1}),
        of((5, 64, 9, 8), (64, 64, 3, 3), o={"padding": 1, "stride": 2}),
    ),
    "conv_transpose3d": (
        of((5, 4, 3, 2, 3), (4, 3, 2, 3, 2), (6,), o={"groups": 2, "stride": (2, 1, 2)}),
        of((5, 32, 4, 8, 8), (32, 32, 3, 3, 3), o={"padding": 1}),
    ),
    "add_rms_norm": (
        of((37, 128), (37, 128), (128,), o={"normalized_shape": 128, "eps": 1e-6}),
        of((37, 1000), (37, 1000), (1000,), o={"normalized_shape": 1000, "eps": 1e-6}),
    ),
    "batch_norm": (
        of((5, 8, 30), o={"training": True}, whole=True, dtype="bf16"),
        of((5, 8, 30), o={"training": False}),
        of((2, 3, LINE), o={"training": True}, axis=2, whole=True, dtype="bf16"),
        of((1, 1, UNITS), o={"training": False}, axis=2),
    ),
    "group_norm": (
        of((5, 6, 30), o={"num_groups": 2}),
        of((1, 4, LINE), o={"num_groups": 2}, axis=2, whole=True, dtype="bf16"),
    ),
    "instance_norm": (
        of((5, 6, 30)),
        of((1, 3, LINE), axis=2, whole=True, dtype="bf16"),
        of((1, 1, UNITS), axis=2, whole=True, dtype="bf16"),
    ),
    "layer_norm": (
        of((37, 128), (128,), (128,), o={"normalized_shape": 128}),
        of((37, 1000), (1000,), (1000,), o={"normalized_shape": 1000}),
    ),
    "rms_norm": (of((37, 100), (100,), o={"normalized_shape": 100, "eps": 1e-6}),),
    "constant_pad": (of((5, 3, 17), o={"pad": (3, 2)}), of((5, 9, 8), o={"pad": (2, 1, 3, 0)})),
    "reflection_pad": (of((5, 3, 17), o={"pad": (3, 2)}), of((5, 9, 8), o={"pad": (2, 1, 3, 0)})),
    "replication_pad": (of((5, 3, 17), o={"pad": (3, 2)}), of((5, 9, 8), o={"pad": (2, 1, 3, 0)})),
    "circular_pad": (of((5, 3, 17), o={"pad": (3, 2)}), of((5, 9, 8), o={"pad": (2, 1, 3, 0)})),
    "avg_pool": (
        of((5, 3, 9, 8), o={"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)}),
        of((1, 2 * LINE, 6), o={"kernel_size": (2, 3), "stride": (2, 1)}, axis=1),
    ),
    "max_pool": (
        of((5, 3, 9, 8), o={"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)}),
        of((1, 2 * LINE, 6), o={"kernel_size": (2, 3), "stride": (2, 1)}, axis=1),
    ),
    "lp_pool": (
        of((5, 3, 9, 8), o={"norm_type": 2, "kernel_size": (3, 2), "stride": (1, 2)}),
        of((1, 2 * LINE, 6), o={"norm_type": 2, "kernel_size": (2, 3), "stride": (2, 1)}, axis=1),
    ),
    "global_avg_pool": (
        of((37, 5, 17)),
        of((1, 3, LINE), axis=2, mean=True, dtype="bf16"),
        of((1, 1, UNITS), axis=2, mean=True, dtype="bf16"),
    ),
    "global_max_pool": (
        of((37, 5, 17)),
        of((1, 3, LINE), axis=2, background=-6e4),
        of((1, 1, UNITS), axis=2, background=-6e4),
    ),
    "adaptive_avg_pool1d": (of((37, 3, 17), o={"output_size": 5}),),
    "adaptive_avg_pool2d": (of((5, 3, 9, 8), o={"output_size": (4, 3)}),),
    "adaptive_avg_pool3d": (of((5, 3, 4, 5, 6), o={"output_size": (2, 3, 4)}),),
    "adaptive_max_pool1d": (of((37, 3, 17), o={"output_size": 5}),),
    "adaptive_max_pool2d": (of((5, 3, 9, 8), o={"output_size": (4, 3)}),),
    "adaptive_max_pool3d": (of((5, 3, 4, 5, 6), o={"output_size": (2, 3, 4)}),),
    "linear": (of((37, 64), (48, 64), (48,)),),
    "linear_activation": (
        of((37, 32), (64, 32), (64,), (37, 64), o={"activation": "gelu_tanh"}),
    ),
    "matmul": (
        of((37, 64), (64, 48)),
        of((5, 64), (64, 37), along=(None, 1)),
        of((5, LINE), (LINE, 7), along=(1, 0), background=0.0),
    ),
    "bmm": (of((37, 16, 16), (37, 16, 16)), of((5, 40, 24), (5, 24, 56))),
    "addmm": (of((37, 48), (37, 64), (64, 48)),),
    "scaled_matmul": (
        of((37, 80), (80, 24), (37,), (1,), (24,), **BYTES),
        of((37, 256), (256, 128), (37, 1), (1, 128), **BYTES),
    ),
    "quantized_linear": (of((37, 40), (9, 40), (1,), (9,), values="i8"),),
    "reduce_max": reduction(-6e4),
    "reduce_min": reduction(6e4),
    "reduce_prod": reduction(1.0, "ties"),
    "reduce_log_sum_exp": reduction(-INF),
    "reduce_l1": reduction(0.0),
    "reduce_l2": reduction(0.0),
    "reduce_sum_square": reduction(0.0),
    "reduce_sum": reduction(0.0),
    "reduce_log_sum": reduction(0.0, "positive"),
    "any": reduction(0.0),
    "all": reduction(1.0),
    "reduce_mean": (
        rows(o={"axis": 1}),
        of((LINE,), mean=True, dtype="bf16"),
        of((LINE, 5), o={"axis": 0}, mean=True, dtype="bf16"),
    ),
    "sum_to": (
        rows(o={"shape": (37, 1)}, options=lambda times: {"shape": (37 * times, 1)}),
        of((LINE, 5), o={"shape": (1, 5)}, background=0.0)),
    "cumsum": (
        rows(o={"axis": 1}),
        of((LINE,), o={"axis": 0}, background=0.0),
        of((LINE, 5), o={"axis": 0}, background=0.0),
    ),
    "cumprod": (
        rows(o={"axis": 1}),
        of((LINE,), o={"axis": 0}, background=1.0),
        of((LINE, 5), o={"axis": 0}, background=1.0),
    ),
    "channel_bias_add": (of((37, 64), (64,)),),
    "nchw_bias_add": (of((37, 5, 6, 6), (5,)),),
    "embedding": (of((LINE,), (300, 64)),),
    "channel_cat": (of((37, 3, 5), (37, 2, 5), o={"axis": 1}),),
    "channel_chunk": (of((37, 6, 5), o={"chunks": 2, "axis": 1}),),
    "flatten": (of((37, 3, 5), o={"start_dim": 1}),),
    "rope": (of((5, 3, 7, 16), (7, 8), (7, 8), o={"axis": 2}),),
    "sample": (rows(o={"seed": 1, "temperature": 0.0}),),
    "topk": (
        rows(o={"k": 3}),
        of((3, LINE), o={"k": 3}, axis=1, background=-6e4, found=(1,)),
    ),
    "upsample_nearest2d": (
        of((5, 3, 7, 9), o={"scale_factor": (3, 2)}),
        of((1, 3, 37, 6), o={"scale_factor": (2, 1)}, axis=2),
        of((1, 1, LINE), o={"scale_factor": (1, 2)}, axis=2),
    ),
}  # fmt: skip
# In tests of their own below.
APART = {"dropout", "adam_8bit_step", "paged_attention", "grouped_mm"}


def large_cases(spec: KernelSpec) -> tuple[Stretched, ...]:
    """The rows of an operation, or one long line where every element is computed alone."""
    if spec.name in LARGE:
        return LARGE[spec.name]
    if spec.name in LOSSES:
        like = next(case for case in spec.cases if all(case.shapes) and case.values == "normal")
        shapes = ((LINE,),) * len(like.shapes)
        options = {**like.options, "reduction": "none"}
        mean = Case(shapes, {**like.options, "reduction": "mean"})
        return (Stretched(Case(shapes, options)), Stretched(mean, mean=True, dtype="bf16"))
    like = next(case for case in spec.cases if case.shapes and case.shapes[0] == (1000,))
    return (Stretched(like._replace(shapes=((LINE,),) * len(like.shapes))),)


ROWS = [
    pytest.param(name, at, id=f"{name}-{at}")
    for name, spec in SPECS.items()
    if name not in APART
    for at in range(len(large_cases(spec)))
]


def test_every_operation_has_a_large_case() -> None:
    named = {*LARGE, *LOSSES, *APART}
    assert named <= set(SPECS)
    assert all(spec.family in FLAT for name, spec in SPECS.items() if name not in named)


@pytest.mark.gpu
@pytest.mark.large
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "at"), ROWS)
def test_more_than_two_to_the_31_elements(name: str, at: int, turn: Any) -> None:
    import torch

    spec = SPECS[name]
    how = large_cases(spec)[at]
    assert not check_stretched(spec, how, torch, "cuda", 20_000)  # compiles, without its turn
    with turn():
        wrong = check_stretched(spec, how, torch, "cuda")
    assert not wrong, "\n".join(wrong)


@pytest.mark.gpu
@pytest.mark.large
def test_a_place_of_31_bits_would_be_seen(turn: Any) -> None:
    @kernel
    def twice(out_ptr: Ptr[f16], x_ptr: Ptr[f16], n: i64 | int, BLOCK_SIZE: Const[int]) -> None:
        at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        short = at & 0x7FFFFFFF
        x = tl.load(x_ptr + short, mask=at < n)
        tl.store(out_ptr + at, x + x, mask=at < n)

    def call(x: Any) -> Any:
        found = x * 0
        twice[-(-x.numel() // 1024)](found, x, x.numel(), BLOCK_SIZE=1024)
        return found

    spec = SPECS["relu"]
    wrong = dataclasses.replace(spec, name="twice", call=call, backward=None)
    with turn() as torch:
        assert not check_stretched(wrong, of((LINE,)), torch, "cuda", 20_000)
        (fault,) = check_stretched(wrong, of((LINE,)), torch, "cuda")
    assert "first at 21474836" in fault


@pytest.mark.gpu
@pytest.mark.large
def test_dropout_counts_beyond_two_to_the_31(turn: Any) -> None:
    with turn() as torch:
        x = torch.ones(2**31 + 4097, device="cuda", dtype=torch.float16)
        found = tk.dropout(x, 0.5, seed=3)
        for start in (0, 2**31 - 2048, x.numel() // 4 * 4 - 4096):
            words = philox(3, np.arange(start // 4, start // 4 + 1024)).reshape(-1)
            kept = 2.0 * (uniform(words) >= np.float32(0.5))
            assert np.array_equal(found[start : start + 4096].cpu().numpy(), kept)
        assert torch.equal(tk.dropout_backward(x, 0.5, seed=3), found)


@pytest.mark.gpu
@pytest.mark.large
def test_samples_of_more_than_two_to_the_32_logits(turn: Any) -> None:
    rows, columns = 42_959, 100_003
    with turn() as torch:
        x = torch.randn(37, columns, device="cuda").half().repeat(rows // 37, 1)
        found = tk.sample(x, seed=5)
        for row in (0, 2**31 // columns, 2**32 // columns, x.shape[0] - 1):
            words = philox(5, row * columns + np.arange(columns))[:, 0]
            noise = -np.log(-np.log(uniform(words).astype(np.float64)))
            score = x[row].double().cpu().numpy() + noise
            assert score[int(found[row])] >= score.max() - 1e-4


@pytest.mark.gpu
@pytest.mark.large
def test_adam_of_8_bits_steps_more_than_two_to_the_31_elements(turn: Any) -> None:
    side = 37 * 256
    with turn() as torch:
        generator = torch.Generator("cuda").manual_seed(1)
        made = {"device": "cuda", "generator": generator}
        small = [
            torch.randn(side, **made).half(),
            torch.randn(side, **made).half(),
            torch.randint(-127, 128, (side,), **made, dtype=torch.int8),
            torch.rand(37, **made),
            torch.randint(64, 256, (side,), **made, dtype=torch.uint8),
            torch.rand(37, **made),
        ]
        large = [own.repeat(2**31 // side + 2) for own in small]
        tk.adam_8bit_step(*small, step=3, lr=0.1)
        tk.adam_8bit_step(*large, step=3, lr=0.1)
        for own, exact in zip(large, small, strict=True):
            assert torch.equal(
                own.view(-1, exact.numel()), exact.expand(own.numel() // len(exact), -1)
            )


@pytest.mark.gpu
@pytest.mark.large
def test_pages_beyond_two_to_the_31_elements_are_read(turn: Any) -> None:
    pages = 2**31 // 512 + 100
    chosen = [[0, pages - 1, 2**31 // 512], [2**30 // 512, 5, pages - 2]]
    with turn() as torch:
        generator = torch.Generator("cuda").manual_seed(1)
        q = torch.randn(2, 4, 1, 16, device="cuda", generator=generator).half()
        table = torch.tensor(chosen, device="cuda", dtype=torch.int32)
        lengths = torch.tensor([48, 41], device="cuda", dtype=torch.int32)
        small: list[Any] = []
        large: list[Any] = []
        for _ in "kv":
            own = torch.randn(6, 16, 2, 16, device="cuda", generator=generator).half()
            wide = torch.full((pages, 16, 2, 16), torch.nan, device="cuda", dtype=torch.float16)
            for page, filled in zip(table.flatten().tolist(), own, strict=True):
                wide[page] = filled
            small.append(own)
            large.append(wide)
        near = torch.arange(6, device="cuda", dtype=torch.int32).view(2, 3)
        wanted = tk.paged_attention(q, small[0], small[1], near, lengths, splits=2)
        found = tk.paged_attention(q, large[0], large[1], table, lengths, splits=2)
        assert all(map(torch.equal, found, wanted))


@pytest.mark.gpu
@pytest.mark.large
def test_groups_of_more_than_two_to_the_31_elements(turn: Any) -> None:
    rows = 2**31 // 64 + 300
    ends = [rows // 3, rows - 200, rows]
    with turn() as torch:
        x = torch.randn(1009, 64, device="cuda").half().repeat(rows // 1009 + 1, 1)[:rows]
        y = torch.randn(3, 64, 48, device="cuda").half()
        offs = torch.tensor(ends, device="cuda", dtype=torch.int32)
        found = tk.grouped_mm(x, y, offs)
        for group, end in enumerate(ends):
            part = slice(end - 100, end)
            assert torch.allclose(found[part], x[part] @ y[group], rtol=2e-3, atol=2e-2)
        grad = torch.zeros_like(found)
        grad[-300:] = 1.0
        dx, dy = tk.grouped_mm_backward(grad, x, y, offs)
        assert torch.allclose(dx[-200:], grad[-200:] @ y[2].T, rtol=2e-3, atol=2e-2)
        assert torch.allclose(dy[2], x[-200:].T @ grad[-200:], rtol=2e-3, atol=5e-2)
        assert torch.allclose(dy[1], x[-300:-200].T @ grad[-300:-200], rtol=2e-3, atol=5e-2)
        assert not dy[0].any()


@pytest.mark.gpu
@pytest.mark.large
def test_a_table_of_more_than_two_to_the_31_elements(turn: Any) -> None:
    rows = 2**31 // 64 + 37
    with turn() as torch:
        table = torch.randn(1009, 64, device="cuda").half().repeat(rows // 1009 + 1, 1)[:rows]
        places = torch.tensor([0, 2**31 // 64 - 1, 2**31 // 64, rows - 1, 0], device="cuda")
        wanted = torch.stack([table[place] for place in places.tolist()])
        assert torch.equal(tk.embedding(places, table), wanted)
        grad = torch.randn(5, 64, device="cuda").half()
        found = tk.embedding_backward(grad, places, table)
        for place, own in zip(places.tolist()[1:4], grad[1:4], strict=True):
            assert torch.equal(found[place], own)
            found[place] = 0
        assert torch.allclose(found[0], grad[0] + grad[4])
        found[0] = 0
        assert not found.view(-1).view(torch.int16).any()


@pytest.mark.gpu
@pytest.mark.large
@pytest.mark.parametrize("name", ["constant", "reflection", "replication", "circular"])
def test_a_plane_of_more_than_two_to_the_31_elements_is_padded(name: str, turn: Any) -> None:
    pad, backward = (getattr(tk, f"{name}_pad{end}") for end in ("", "_backward"))
    rows, columns = 2**31 // 49 + 3, 49
    shows = {"reflection": (2, -3), "replication": (1, -2), "circular": (-2, 1)}
    with turn() as torch:
        x = torch.randn(1009, columns, device="cuda").half().repeat(rows // 1009 + 1, 1)[:rows]
        found = pad(x, (1, 1, 1, 1))
        assert found.shape == (rows + 2, columns + 2)
        assert torch.equal(found[1:-1, 1:-1], x)
        for row, other in zip((0, -1), shows.get(name, (0, 0)), strict=True):
            assert torch.equal(found[row], found[other] if name in shows else found[0] * 0)
        grad = torch.zeros_like(found)
        grad[-1, 5] = 1.0
        grad[2**31 // 51 + 3, 7] = 2.0
        dx = backward(grad, (1, 1, 1, 1))
        assert float(dx[2**31 // 51 + 2, 6]) == 2.0
        if name in shows:
            assert float(dx[{"reflection": -2, "replication": -1, "circular": 0}[name], 4]) == 1.0
        assert int(dx.count_nonzero()) == 1 + (name in shows)
