"""Objects: for which machines, with which symbols, how large, and what is written beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny_macros.diagnostics import CompileError, TeenyError
from teenyc.backend.cpu import features, symbols
from teenyc.backend.cpu.compile import compile_module

SOFTMAX = """\
row = tl.program_id(0)
cols = tl.arange(0, {block})
mask = cols < n
x = tl.load(x_ptr + row * n + cols, mask=mask, other=-float("inf"))
y = tl.exp(x - tl.max(x, axis=0))
tl.store(out_ptr + row * n + cols, y / tl.sum(y, axis=0), mask=mask)"""
PARAMS = "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
ARCHS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")
EVERYTHING = """\
o = tl.arange(0, 64)
h = tl.load(h_ptr + o, mask=o < n)
b = tl.load(b_ptr + o, mask=o < n)
f = h.to(f32) + b.to(f32)
s = tl.cumsum(f, axis=0)
q = tl.load(i_ptr + o)
tl.store(h_ptr + q, (s * 2.0 + tl.sum(f)).to(f16), mask=q < n)
tl.store(b_ptr + o, tl.sqrt(tl.abs(f)).to(bf16), mask=o < n)
tl.store(i_ptr + o, (f * 3.0).to(i32) // 3 % 5)"""
MIXED = "h_ptr: Ptr[f16], b_ptr: Ptr[bf16], i_ptr: Ptr[i32], n: i32"


@pytest.mark.parametrize("arch", ARCHS)
def test_every_target_is_compiled_from_any_host(arch: str, module_of: Any) -> None:
    for params, body in ((PARAMS, SOFTMAX.format(block=256)), (MIXED, EVERYTHING)):
        made = compile_module(module_of(params, body), arch, ("obj",), fusion=True)
        assert symbols.undefined_symbols(made.data) <= symbols.ALLOWED
        machine = int.from_bytes(made.data[18:20], "little")
        assert machine == {"aarch64": 183}.get(arch, 62)


@pytest.mark.parametrize("arch", [a for a in ARCHS if a != "aarch64"])
def test_what_runs_here_gives_the_same_bits(arch: str, both: Any, runs_here: Any) -> None:
    if not runs_here(arch):
        pytest.skip(f"this machine has not all of {arch}")
    rng = np.random.default_rng(3)
    import ml_dtypes

    h, b = rng.standard_normal((2, 64)).astype(np.float16)
    index = rng.permutation(64).astype(np.int32)

    def make() -> list[Any]:
        return [h.copy(), b.astype(ml_dtypes.bfloat16), index.copy(), 50]

    both(MIXED, EVERYTHING, make, arch=arch)


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(TeenyError) as caught:
        features.resolve("z80")
    assert caught.value.code == "E1040"


def test_an_object_with_a_foreign_symbol_is_refused() -> None:
    from teenyc.backend.cpu import llvm

    text = (
        "declare float @expf(float)\ndefine float @f(float %x) {\n"
        "  %y = call float @expf(float %x)\n  ret float %y\n}\n"
    )
    made = llvm.compile_text(text, features.resolve("host"), want_ir=False, want_asm=False)
    with pytest.raises(CompileError) as caught:
        symbols.check_symbols(made.data)
    assert caught.value.code == "E0802"
    assert "expf" in str(caught.value)


def test_the_same_kernel_gives_the_same_bytes(compiled: Any) -> None:
    first, second = (compiled(PARAMS, SOFTMAX.format(block=512)).made for _ in range(2))
    assert first.data == second.data


def test_code_does_not_grow_with_the_tile_and_the_arena_does(compiled: Any) -> None:
    small, large = (compiled(PARAMS, SOFTMAX.format(block=b)).made for b in (256, 16384))
    assert len(large.data) <= len(small.data) + 64
    assert small.arena_bytes == 2 * 4 * 256
    assert large.arena_bytes == 2 * 4 * 16384


def test_buffers_whose_lives_do_not_meet_share_their_memory(compiled: Any) -> None:
    chain = "x = tl.load(x_ptr + tl.arange(0, 1024))\n" + "x = x - tl.sum(x)\n" * 6
    made = compiled(PARAMS, chain + "tl.store(out_ptr + tl.arange(0, 1024), x)").made
    assert made.arena_bytes == 2 * 4 * 1024


def test_fusion_joins_products_and_sums_only_where_it_is_on(compiled: Any) -> None:
    body = "o = tl.arange(0, 64)\nx = tl.load(x_ptr + o)\ntl.store(out_ptr + o, x * x + 1.0)"
    x = np.full(64, 1 + 2.0**-12, np.float32)
    plain = np.float32(np.float32(x[0] * x[0]) + np.float32(1.0))
    fused = np.float32(np.float64(x[0]) * np.float64(x[0]) + 1.0)
    for fusion, wanted in ((False, plain), (True, fused)):
        out = np.zeros(64, np.float32)
        assert compiled(PARAMS, body, fusion=fusion).launch([x, out, 0])[0] == 0
        if not fusion or features.resolve("host").has("fma"):
            assert (out == wanted).all()


def test_the_dump_names_nests_roots_and_lines(compiled: Any) -> None:
    dump = compiled(PARAMS, SOFTMAX.format(block=256)).made.texts["clusters"]
    assert dump.startswith("k_entry_point: arena 2048 bytes")
    assert dump.count("nest 256: axis 0 by 32; 32 lanes along axis 0") == 3
    assert "reduce x : tensor<256xf32> along axis 0 (k.py:8:" in dump


def test_an_operation_without_code_is_refused_at_its_place(compiled: Any) -> None:
    asm = "tl.inline_asm_elementwise('add.u32 $0, $1, $1;', '=r,r', [o], i32, True, 1)"
    with pytest.raises(CompileError) as caught:
        compiled(PARAMS, f"o = tl.arange(0, 64)\ntl.store(out_ptr + o, {asm})")
    assert caught.value.code == "E0803"
    assert caught.value.diagnostics[0].labels[0].span.line == 5
