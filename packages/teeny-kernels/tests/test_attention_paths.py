"""Attention where the suite of all kernels does not lead: descriptors, masks, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels import testing
from teeny_kernels.attention import blocks, plan, reference, run
from teeny_kernels.calls import Plans
from teeny_kernels.codes import KernelError
from teeny_kernels.registry import specs
from teeny_kernels.spec import Case

RNG = np.random.default_rng(11)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def dense(heads: int, shared: int, sq: int, sk: int, depth: int, **options: Any) -> Case:
    q, k = (1, heads, sq, depth), (1, shared, sk, depth)
    return Case((q, k, k), options)


@pytest.fixture(autouse=True)
def no_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests choose otherwise is planned by them alone."""
    monkeypatch.setattr(run, "_plans", Plans())


@pytest.mark.parametrize(
    "case",
    [
        dense(2, 1, 300, 330, 24, causal=True),
        dense(2, 2, 70, 100, 64, window=(40, 3)),
    ],
)
def test_tiles_by_descriptors_and_factors_in_registers_give_the_same(
    monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    """What is chosen on sm_90 for f16, run by the CPU target."""
    described: list[Any] = []
    make = plan.describer

    def noted(*arguments: Any) -> Any:
        described.append(make(*arguments))
        return described[-1]

    for module in (blocks, plan):
        monkeypatch.setattr(module, "is_hopper", lambda _device: True)
    monkeypatch.setattr(run, "DESCRIBED_WORK", dict.fromkeys(("forward", "q", "kv"), 0))
    monkeypatch.setattr(run, "describer", noted)
    spec = specs()["flash_attention"]
    wrong = testing.check_forward(spec, case, "f16") + testing.check_backward(spec, case, "f16")
    assert not wrong, "\n".join(wrong)
    assert described
    assert None not in described


def _to_gpu(array: Any) -> Any:
    import torch

    if array.dtype.name == "bfloat16":
        bits = torch.from_numpy(np.array(array.view(np.int16), order="C"))
        return bits.view(torch.bfloat16).cuda()
    return torch.from_numpy(np.array(array, order="C")).cuda()


@pytest.mark.gpu
@pytest.mark.parametrize(
    "case",
    [
        dense(4, 2, 700, 700, 128, causal=True),
        dense(2, 2, 300, 513, 64, window=(90, 20), sink_tokens=70),
        dense(2, 1, 400, 380, 80, causal=True, soft_cap=5.0),
        dense(2, 2, 300, 330, 256, causal=True),
        dense(2, 1, 700, 650, 16, dropout=0.3, seed=3),
    ],
)
def test_tiles_by_descriptors_on_a_gpu(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    monkeypatch.setattr(run, "DESCRIBED_WORK", dict.fromkeys(("forward", "q", "kv"), 0))
    spec = specs()["flash_attention"]
    for dtype in ("bf16", "f16"):
        wrong = testing.check_forward(spec, case, dtype, _to_gpu)
        wrong += testing.check_backward(spec, case, dtype, _to_gpu)
        assert not wrong, "\n".join(wrong)


def test_a_view_that_no_descriptor_describes_is_read_by_pointers() -> None:
    array = normal(1, 1, 8, 20, dtype=np.float16)
    rows = plan.Rows(array, array.shape, (160, 160, 20))
    assert plan.described(rows, "cpu", "f16", 8, 32) is None


def test_dropout_drops_its_share_and_another_seed_drops_others() -> None:
    q, k = normal(1, 2, 64, 16), normal(1, 2, 64, 16)
    identity = np.broadcast_to(np.eye(64, dtype=np.float32), (1, 2, 64, 64)).copy()
    kept = {seed: tk.flash_attention(q, k, identity, dropout=0.25, seed=seed)[0] for seed in (1, 2)}
    whole, lse = tk.flash_attention(q, k, identity)
    for found in kept.values():
        share = np.mean(found != 0)
        assert 0.72 < share < 0.78
        assert np.allclose(found[found != 0], whole[found != 0] / 0.75, rtol=1e-5)
    assert np.mean((kept[1] != 0) == (kept[2] != 0)) < 0.7
    again, same = tk.flash_attention(q, k, identity, dropout=0.25, seed=1)
    assert testing.same_bits(again, kept[1])
    assert testing.same_bits(same, lse)


def test_the_mask_of_dropout_does_not_depend_on_how_sequences_are_packed() -> None:
    q, k, v = (normal(2, 2, 40, 16) for _ in range(3))
    wanted, _ = tk.flash_attention(q, k, v, dropout=0.5, seed=9)
    starts = np.array([0, 40, 80], np.int32)
    a, b, c = (np.ascontiguousarray(x.swapaxes(1, 2).reshape(80, 2, 16)) for x in (q, k, v))
    found, _ = tk.flash_attention_varlen(a, b, c, starts, starts, 40, 40, dropout=0.5, seed=9)
    assert np.array_equal(found.reshape(2, 40, 2, 16).swapaxes(1, 2), wanted)


def test_a_row_that_sees_nothing_is_zero_with_every_option() -> None:
    q, k = normal(1, 2, 9, 16), normal(1, 2, 4, 16)
    slopes, sink = np.array([0.5, 0.25], np.float32), normal(2)
    options: dict[str, Any] = {
        "causal": True, "window": 3, "soft_cap": 2.0, "alibi_slopes": slopes, "dropout": 0.2,
    }  # fmt: skip
    for own in (None, sink):
        out, lse = tk.flash_attention(q, k, k, sink=own, **options)
        assert np.array_equal(out[:, :, :5], np.zeros((1, 2, 5, 16), np.float32))
        seen = np.full(2, -np.inf, np.float32) if own is None else sink
        assert np.allclose(lse[0, :, :5], seen[:, None], atol=1e-6)
        found = tk.flash_attention_backward(out + 1, q, k, k, out, lse, sink=own, **options)
        assert all(np.isfinite(gradient).all() for gradient in found)
        assert np.array_equal(found[0][:, :, :5], np.zeros((1, 2, 5, 16), np.float32))


def test_parts_of_a_cache_give_the_bits_of_one_order() -> None:
    q, cache = normal(2, 4, 1, 16), normal(40, 8, 2, 16)
    table = RNG.permutation(40).astype(np.int32).reshape(2, 20)
    lengths = np.array([160, 77], np.int32)
    for splits in (1, 3, 8):
        runs = [
            tk.paged_attention(q, cache, cache, table, lengths, splits=splits) for _ in range(3)
        ]
        assert all(testing.same_bits(a, b) for a, b in zip(runs[0], runs[1], strict=True))
        assert all(testing.same_bits(a, b) for a, b in zip(runs[0], runs[2], strict=True))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"window": 0}, "E1204"),
        ({"window": (-2, 3)}, "E1204"),
        ({"soft_cap": -1.0}, "E1204"),
        ({"dropout": 1.0}, "E1204"),
        ({"sink_tokens": -1}, "E1204"),
        ({"alibi_slopes": np.ones(3, np.float32)}, "E1202"),
        ({"alibi_slopes": np.ones(2, np.float64)}, "E1203"),
        ({"sink": np.ones(3, np.float32)}, "E1202"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], code: str) -> None:
    q = normal(1, 2, 4, 16)
    with pytest.raises(KernelError) as caught:
        tk.flash_attention(q, q, q, **options)
    assert caught.value.code == code


def test_starts_of_another_shape_or_dtype_are_refused() -> None:
    q, starts = normal(4, 2, 16), np.array([0, 4], np.int32)
    for wrong, code in ((np.array([0, 2, 4], np.int32), "E1202"), (starts.astype("i8"), "E1203")):
        with pytest.raises(KernelError) as caught:
            tk.flash_attention_varlen(q, q, q, starts, wrong, 4, 4)
        assert caught.value.code == code
    with pytest.raises(KernelError) as caught:
        tk.paged_attention(q[None], q[None], q[None], np.zeros((1, 1), np.int32), starts, splits=0)
    assert caught.value.code == "E1204"


@pytest.mark.parametrize(
    ("starts", "longest", "named"),
    [
        ([0, 9], 9, "`cu_seqlens_q` cannot be [0, 9]"),
        ([-1, 4], 5, "`cu_seqlens_q` cannot be [-1, 4]"),
        ([0, 3, 2, 4], 4, "`cu_seqlens_q` cannot be [0, 3, 2, 4]"),
        ([0, 4], 3, "`max_seqlen_q` cannot be 3"),
    ],
)
def test_starts_beyond_the_rows_are_refused_on_the_host(
    starts: list[int], longest: int, named: str
) -> None:
    q, whole = normal(4, 2, 16), np.array(starts, np.int32)
    with pytest.raises(KernelError) as caught:
        tk.flash_attention_varlen(q, q, q, whole, whole, longest, longest)
    assert caught.value.code == "E1204"
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("pages", "length", "named"),
    [
        ([7], 5, "`block_table` cannot be [7]"),
        ([-1], 5, "`block_table` cannot be [-1]"),
        ([1], 17, "`context_lens` cannot be [17]"),
        ([1], -1, "`context_lens` cannot be [-1]"),
    ],
)
def test_pages_beyond_the_cache_are_refused_on_the_host(
    pages: list[int], length: int, named: str
) -> None:
    q, cache = normal(1, 1, 1, 16), normal(2, 16, 1, 16)
    table, lengths = np.array([pages], np.int32), np.array([length], np.int32)
    with pytest.raises(KernelError) as caught:
        tk.paged_attention(q, cache, cache, table, lengths)
    assert caught.value.code == "E1204"
    assert named in str(caught.value)


def test_more_heads_than_a_grid_has_in_y_and_z_are_right_triton_3299() -> None:
    q, k, v = (normal(1, 65538, 1, 16) for _ in range(3))
    out, _ = tk.flash_attention(q, k, v)
    assert np.allclose(out, v, rtol=1e-6, atol=0)  # each row sees one column


@pytest.mark.parametrize("columns", [50, 300])
def test_nan_in_a_row_of_q_stays_in_it(columns: int) -> None:
    q, k = normal(1, 2, 12, 16), normal(1, 2, columns, 16)
    clean, _ = tk.flash_attention(q, k, k)
    q[0, 1, 7, 3] = np.nan
    out, lse = tk.flash_attention(q, k, k)
    assert np.isnan(out[0, 1, 7]).all()
    assert np.isnan(lse[0, 1, 7])
    out[0, 1, 7] = clean[0, 1, 7]
    assert testing.same_bits(out, clean)


@pytest.mark.torch
def test_calls_alike_are_planned_once_and_others_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    plans: list[Any] = []

    def noted(*args: Any) -> Any:
        plans.append(args)
        return plan.dense_of(*args)

    monkeypatch.setattr(run, "dense_of", noted)

    def call(*arrays: Any, **options: Any) -> None:
        found, lse = tk.flash_attention(*map(torch.from_numpy, arrays), **options)
        wanted, sums = reference.attention(*arrays, **options)
        assert np.allclose(found, wanted, atol=1e-5)
        assert np.allclose(lse, sums, atol=1e-5)

    q, k, v = (normal(1, 2, 40, 16) for _ in range(3))
    call(q, k, v)
    for other in (normal(1, 2, 40, 16), q + 1):
        call(other, k, q)
    assert len(plans) == 1
    turned = np.ascontiguousarray(k.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    others: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((q, turned, v), {}),
        ((q[:, :1], k[:, :1], v[:, :1]), {}),
        ((q, k, v[..., :8]), {}),
        ((q, k, v), {"causal": True}),
        ((q, k, v), {"scale": 0.5}),
        ((q, k, v), {"window": 7}),
        ((q, k, v), {"window": (3, 4)}),
    ]
    for count, (arrays, options) in enumerate(others, 2):
        call(*arrays, **options)
        call(*arrays, **options)
        assert len(plans) == count, options
    before = len(plans)
    call(q, k, v, scale=np.float32(0.5))  # the plain number is the option
    assert len(plans) == before
    # Rows that have to be copied are looked at each time.
    strided = np.repeat(v, 2, axis=-1)[..., ::2]
    call(q, k, strided)
    call(q, k, strided)
    assert len(plans) == before + 2
    with pytest.raises(KernelError):
        tk.flash_attention(*map(torch.from_numpy, (q, k[:, :, :30], v)))
    with pytest.raises(KernelError):
        tk.flash_attention(*map(torch.from_numpy, (q, k, v.astype(np.float64))))
