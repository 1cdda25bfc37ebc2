"""A golden for each function and operator of the language: its kernel, and the MLIR it becomes.

Kernels of functions of `x`, or of `x` and `y`, follow from the signature in the DSL's text; the
others are written here. Each golden goes through libtriton as well.
"""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teeny_macros.diagnostics import CompileError
from teeny_macros.target import Target
from teeny_triton.triton_lang import TRITON
from teenyc.backend.gpu.ptx import find_ptxas, parse_ptx
from teenyc.backend.gpu.versions import ARCH_FLOOR, arch_number
from teenyc.driver import compile_text
from teenyc.ir.opdef import HANDLERS
from teenyc.ops.descriptor import REDUCES
from teenyc.ops.libdevice import TABLE
from teenyc.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit

FOLDER = Path(__file__).parents[1] / "golden" / "ops"
# The iterables of `for` loops: their goldens are those of the syntax.
ITERABLES = {"range", "static_range"}
ELEMENTWISE = "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32]"
X = "x_ptr: Ptr[f32], out_ptr: Ptr[f32]"
INTS = "x_ptr: Ptr[i32], y_ptr: Ptr[i32], out_ptr: Ptr[i32]"
MATRIX = """\
rows = tl.arange(0, 16)
columns = tl.arange(0, 32)
x = tl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
"""


def _body(expression: str) -> str:
    place = "o[:, None] * 16 + o[None, :]" if "None" in expression else "o"
    return (
        "o = tl.arange(0, 16)\nx = tl.load(x_ptr + o)\ny = tl.load(y_ptr + o)\n"
        f"tl.store(out_ptr + {place}, {expression})"
    )


WRITTEN: dict[str, tuple[str, str]] = {
    "program_id": (X, "tl.store(out_ptr + tl.program_id(0), tl.program_id(2))"),
    "num_programs": (X, "tl.store(out_ptr, tl.num_programs(tl.Axis.Y))"),
    "arange": (X, "tl.store(out_ptr + tl.arange(0, 16), tl.arange(16, 32))"),
    "full": (X, "tl.store(out_ptr + tl.arange(0, 16), tl.full((16,), 0.1, f16))"),
    "zeros": (X, "tl.store(out_ptr + tl.arange(0, 16), tl.zeros((16,), f32))"),
    "zeros_like": (X, "o = tl.arange(0, 16)\ntl.store(out_ptr + o, tl.zeros_like(o))"),
    "cast": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[i8]",
        """\
o = tl.arange(0, 16)
x = tl.load(x_ptr + o)
tl.store(out_ptr + o, x.to(bf16).to(i1).to(u8).to(f64).to(f16))
tl.store(out_ptr + o, x.to(f32).to(f16, fp_downcast_rounding="rtz"))
tl.store(out_ptr + o, tl.cast(x, i16, bitcast=True))""",
    ),
    **{
        f"atomic_{name}": (
            "x_ptr: Ptr[f32], i_ptr: Ptr[i32], n: i32",
            f"""\
o = tl.arange(0, 16)
old = tl.atomic_{name}(x_ptr + o, 1, mask=o < n)
tl.atomic_{name}(i_ptr + o, old, sem="relaxed", scope="sys")
tl.atomic_{name}(i_ptr, n)""",
        )
        for name in ("add", "max", "min", "xchg")
    },
    **{
        f"atomic_{name}": (
            "i_ptr: Ptr[u32], l_ptr: Ptr[i64], n: i32",
            f"""\
o = tl.arange(0, 16)
old = tl.atomic_{name}(i_ptr + o, 1, mask=o < n, sem="release", scope="cta")
tl.atomic_{name}(l_ptr + o, old)""",
        )
        for name in ("and", "or", "xor")
    },
    "atomic_cas": (
        "i_ptr: Ptr[i32], x_ptr: Ptr[f32], n: i32",
        """\
o = tl.arange(0, 16)
tl.atomic_cas(i_ptr + o, 0, o, sem="acquire")
while tl.atomic_cas(i_ptr, 0, 1) == 1:
    pass""",
    ),
    "atomic_load": (
        "i_ptr: Ptr[i32], x_ptr: Ptr[f32], n: i32",
        """\
o = tl.arange(0, 16)
x = tl.atomic_load(x_ptr + o, mask=o < n)
tl.store(x_ptr + o, x + tl.atomic_load(i_ptr, sem="relaxed"))""",
    ),
    "atomic_store": (
        "i_ptr: Ptr[i32], x_ptr: Ptr[f32], n: i32",
        """\
o = tl.arange(0, 16)
tl.atomic_store(x_ptr + o, 1.0, mask=o < n)
tl.atomic_store(i_ptr, n, sem="relaxed", scope="sys")""",
    ),
    **{
        name: (
            "out_ptr: Ptr[u32], seed: i64",
            f"o = tl.arange(0, 16)\ntl.store(out_ptr + o, tl.{name}(seed, o){part})",
        )
        for name, part in {
            "randint": "",
            "randint4x": "[3]",
            "rand": "",
            "rand4x": "[1]",
            "randn": "",
            "randn4x": "[2]",
        }.items()
    },
    "philox": (
        "out_ptr: Ptr[u64], seed: i32",
        (
            "z = tl.zeros((4,), i64)\n"
            "tl.store(out_ptr + tl.arange(0, 4), tl.philox(seed, z, z, z, z, n_rounds=2)[0])"
        ),
    ),
    "philox_impl": (
        "out_ptr: Ptr[u32], key: u32",
        (
            "z = tl.zeros((4,), u32)\n"
            "tl.store(out_ptr + tl.arange(0, 4), tl.philox_impl(z, z, z, z, key, key, 1)[1])"
        ),
    ),
    "uint_to_uniform_float": (X, "tl.store(out_ptr, tl.uint_to_uniform_float(tl.program_id(0)))"),
    "pair_uniform_to_normal": (
        X,
        (
            "a, b = tl.pair_uniform_to_normal(tl.load(x_ptr), tl.load(x_ptr + 1))\n"
            "tl.store(out_ptr, a)\ntl.store(out_ptr + 1, b)"
        ),
    ),
    "multiple_of": (
        "x_ptr: Ptr[f32], n: i32",
        """\
o = tl.multiple_of(tl.arange(0, 16) * n, 8)
p = tl.multiple_of(x_ptr, 16)
tl.store(tl.multiple_of(p + o, 4), 1.0)
tl.store(x_ptr + tl.multiple_of(o[:, None] + o[None, :], (8, 4)), 2.0)""",
    ),
    "max_contiguous": (
        "x_ptr: Ptr[f32], n: i32",
        """\
o = tl.max_contiguous(tl.multiple_of(tl.arange(0, 16) % n, 16), 16)
tl.store(x_ptr + tl.max_contiguous(tl.load(x_ptr).to(i64) + o, [16]), 1.0)""",
    ),
    "max_constancy": (
        "x_ptr: Ptr[f32], n: i32",
        "o = tl.max_constancy(tl.arange(0, 16) // n, 4)\ntl.store(x_ptr + o, 1.0)",
    ),
    "assume": (X, "tl.assume(tl.program_id(0) < 8)\ntl.store(out_ptr, 1.0)"),
    "gdc_wait": (X, "tl.gdc_wait()\ntl.store(out_ptr, 1.0)\ntl.extra.cuda.gdc_launch_dependents()"),
    "gdc_launch_dependents": (X, "tl.gdc_launch_dependents()\ntl.store(out_ptr, 1.0)"),
    "atomic_poll": (
        "i_ptr: Ptr[i32], n: i32",
        """\
o = tl.arange(0, 16)
found = tl.atomic_poll(i_ptr + o, n, sem="relaxed", scope="sys", timeout_ns=1000)
tl.store(i_ptr + o, found)
tl.store(i_ptr, tl.atomic_poll(i_ptr, 1))""",
    ),
    "condition": (
        INTS,
        """\
n = tl.load(x_ptr)
while tl.condition(n > 0, disable_licm=True):
    n -= tl.load(y_ptr)
for i in tl.range(0, n, disable_licm=True):
    tl.store(out_ptr + i, n)""",
    ),
    "is_cuda": (X, "tl.store(out_ptr, 1.0 if tl.target_info.is_cuda() else 2.0)"),
    "cuda_capability_geq": (
        X,
        """\
if tl.target_info.cuda_capability_geq(9):
    tl.gdc_wait()
tl.store(out_ptr, 1.0)""",
    ),
    **{
        name: (X, f"tl.store(out_ptr, 1.0 if tl.target_info.{name}() else 2.0)")
        for name in ("is_hip", "is_hip_cdna3", "is_hip_cdna4", "is_hip_gfx1250")
    },
    "logical_and": (ELEMENTWISE, _body("tl.where(x.logical_and(y), 1.0, 2.0)")),
    "logical_or": (ELEMENTWISE, _body("tl.where(tl.logical_or(x, y), 1.0, 2.0)")),
    "debug_barrier": (X, "tl.store(out_ptr, 1.0)\ntl.debug_barrier()\ntl.store(out_ptr, 2.0)"),
    "inline_asm_elementwise": (
        "x_ptr: Ptr[i32], n: i32",
        """\
o = tl.arange(0, 16)
x = tl.inline_asm_elementwise("add.u32 $0, $1, $2;", "=r,r,r", [o, n], i32, True, 1)
y, z = tl.inline_asm_elementwise(
    asm="mov.u32 $0, $2;\\n\\tmov.u32 $1, $2;", constraints="=r,=f,r", args=[x],
    dtype=(i32, f32), is_pure=False, pack=1)
clock = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r", [], i32, False, 1)
tl.store(x_ptr + o, y + z + clock)""",
    ),
    "swizzle2d": (
        INTS,
        """\
i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), 8, 4)
tl.store(out_ptr, i + j)""",
    ),
    "static_print": (X, 'tl.static_print("x", 1, sep="=")\ntl.store(out_ptr, 1.0)'),
    "device_print": (
        INTS,
        """\
o = tl.arange(0, 16)
tl.device_print("at", o, tl.program_id(0).to(u32), hex=True)
tl.device_print("here")
tl.store(out_ptr, 1)""",
    ),
    "device_assert": (
        INTS,
        """\
o = tl.arange(0, 16)
tl.device_assert(o < 16, "in \\"range\\"")
tl.device_assert(tl.load(x_ptr + o) > 0, mask=o < 8)
tl.store(out_ptr, 1)""",
    ),
    "expect_zero": (X, "x = tl.load(x_ptr)\ntl.store(out_ptr, tl.expect_zero(x, x < 1.0))"),
    "make_tensor_descriptor": (
        "x_ptr: Ptr[f16], m: i32, n: i32",
        """\
d = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [8, 16], padding_option="nan")
for i in range(0, m):
    d.store([0, 16], d.load([8, i]))
    d = tl.make_tensor_descriptor(x_ptr + i * 8, [m, n], [n, 1], [8, 16])
if m > n:
    d = tl.make_tensor_descriptor(x_ptr, [n, m], [m, 1], [8, 16])
d.store([0, 0], tl.zeros((8, 16), f16))""",
    ),
    "load_tensor_descriptor": (
        "x_ptr: Ptr[f32], n: i32, s: i64",
        """\
d = tl.make_tensor_descriptor(x_ptr, (n, 64, 64), (s, 64, 1), (2, 8, 16))
x = tl.load_tensor_descriptor(d, (n, 0, 16))
e = tl.make_tensor_descriptor(x_ptr, (n, 64), (64, 1), (1, 32))
e.scatter(e.gather(tl.arange(0, 8), n), tl.arange(8, 16), 0)
tl.store(x_ptr, tl.sum(x))""",
    ),
    "store_tensor_descriptor": (
        "x_ptr: Ptr[f32], i_ptr: Ptr[i32], n: i32",
        """\
d = tl.make_tensor_descriptor(x_ptr, (n,), (1,), (64,))
tl.store_tensor_descriptor(d, [n], tl.zeros((64,), f16))
d.atomic_add([0], tl.full((64,), 1, f32))
e = tl.make_tensor_descriptor(i_ptr, (n, n), (n, 1), (8, 8))
tl.static_assert(e.block_shape[1] == 8 and e.dtype == i32)
e.atomic_max([0, 8], tl.full((8, 8), e.shape[0], i32))
e.atomic_xor([0, 8], tl.full((8, 8), e.strides[0], i32))""",
    ),
    "pointer_type": (
        "x_ptr: Ptr[i64]",
        "p = tl.load(x_ptr).to(tl.pointer_type(f32))\ntl.store(p + tl.arange(0, 4), 1.0)",
    ),
    "make_block_ptr": (
        "x_ptr: Ptr[f16], m: i32, n: i32, stride: i64",
        """\
p = tl.make_block_ptr(x_ptr, (m, n), (stride, 1), (m, 0), (8, 16), order=(1, 0))
x = tl.load(p, boundary_check=(0, 1), padding_option="zero")
tl.store(p, x, boundary_check=(1,))""",
    ),
    "advance": (
        "x_ptr: Ptr[f32], n: i32",
        """\
p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,))
total = tl.zeros((16,), f32)
for i in range(0, n):
    total += tl.load(p, boundary_check=(0,))
    p = p.advance((16,))
tl.store(tl.advance(p, (-16,)), total)""",
    ),
    "fma": (ELEMENTWISE, _body("tl.fma(x, y, 2.0)")),
    "fdiv": (
        ELEMENTWISE,
        _body("tl.fdiv(x, y) + tl.fdiv(x, y, ieee_rounding=True) + tl.fdiv(x, 3.0, approx=True)"),
    ),
    "clamp": (
        "x_ptr: Ptr[f16], y_ptr: Ptr[f16], out_ptr: Ptr[f16], n: i32",
        """\
o = tl.arange(0, 16)
x, y = tl.load(x_ptr + o), tl.load(y_ptr + o)
x = tl.clamp(x, -1.0, y) + tl.clamp(x, y, 1.0, propagate_nan=tl.PropagateNan.ALL)
tl.store(out_ptr + o, x * tl.clamp(n, 0, 7))""",
    ),
    "umulhi": (INTS, _body("tl.umulhi(x, y)")),
    "add": (INTS, _body("tl.add(x, y, sanitize_overflow=False)")),
    "sub": (INTS, _body("tl.sub(x, 1, sanitize_overflow=False)")),
    "mul": (INTS, _body("tl.mul(x, y)")),
    "to_tensor": (X, "tl.store(out_ptr, tl.to_tensor(2.5) + tl.to_tensor(1))"),
    "elem": (
        "x_ptr: Ptr[f32], out_ptr: Ptr[f16]",
        "tl.store(out_ptr, tl.load(x_ptr).to(tl.elem(out_ptr)))",
    ),
    "where": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16]",
        (
            "o = tl.arange(0, 16)\nx = tl.load(x_ptr + o)\n"
            "tl.store(out_ptr + o, tl.where(x > 0, x, 0.5))"
        ),
    ),
    "maximum": (
        "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        """\
x, y = tl.load(x_ptr), tl.load(y_ptr)
tl.store(out_ptr, tl.maximum(x, y))
tl.store(out_ptr, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))""",
    ),
    "minimum": (
        "x_ptr: Ptr[f32], n: i32, m: u32",
        """\
x = tl.load(x_ptr)
tl.store(x_ptr, tl.minimum(x, 6.0, propagate_nan=tl.PropagateNan.ALL))
tl.store(x_ptr, tl.minimum(n, 3))
tl.store(x_ptr, tl.minimum(m, 3))""",
    ),
    "cdiv": ("out_ptr: Ptr[i32], n: i32", "tl.store(out_ptr, tl.cdiv(n, 16))"),
    "load": (
        "x_ptr: Ptr[f16], b_ptr: Ptr[i1], out_ptr: Ptr[f16], n: i32",
        """\
o = tl.arange(0, 16)
x = tl.load(x_ptr + o, mask=o < n, other=0.0, cache_modifier=".cg")
x += tl.load(x_ptr + o, mask=o < n, other=0.0, eviction_policy="evict_last")
y = tl.load(x_ptr + o, mask=tl.load(b_ptr + o), volatile=True)
z = tl.load(x_ptr, mask=n > 1, other=1)
tl.store(out_ptr + o, x + y + z)""",
    ),
    "store": (
        "x_ptr: Ptr[f16], b_ptr: Ptr[i1], n: i32",
        """\
o = tl.arange(0, 16)
tl.store(x_ptr + o, 1.0, mask=o < n, cache_modifier=".cs")
tl.store(x_ptr + o, 2.0, mask=o < n, eviction_policy="evict_first")
tl.store(b_ptr + o, o < n)
tl.store(x_ptr, n, mask=n > 1)""",
    ),
    "broadcast": (
        X,
        (
            "o = tl.arange(0, 16)\na, b = tl.broadcast(o[:, None], o[None, :])\n"
            "tl.store(out_ptr + a * 16 + b, 0.0)"
        ),
    ),
    "argmax": (
        "x_ptr: Ptr[f32], out_ptr: Ptr[i32]",
        MATRIX + "tl.store(out_ptr + rows, tl.argmax(x, 1))\n"
        "tl.store(out_ptr + columns, x.argmax(0, tie_break_left=False))",
    ),
    "argmin": (
        "x_ptr: Ptr[i32], out_ptr: Ptr[i32]",
        MATRIX + "tl.store(out_ptr + rows, tl.argmin(x, -1))",
    ),
    "xor_sum": (INTS, MATRIX + "tl.store(out_ptr, tl.xor_sum(x))"),
    "reduce_or": (INTS, MATRIX + "tl.store(out_ptr + rows, tl.reduce_or(x, 1))"),
    "reduce": (
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        MATRIX + "total, product = tl.reduce((x, x * 2), 1, lambda a, b, c, d: (a + c, b * d))\n"
        "tl.store(out_ptr + rows, total + product)\n"
        "tl.store(out_ptr + columns, tl.reduce(x, 0, tl.maximum, keep_dims=True).reshape(32))",
    ),
    "associative_scan": (
        X,
        MATRIX
        + "a, b = tl.associative_scan((x, x), 1, lambda a, b, c, d: (a * c, b * c + d), True)\n"
        + "tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], a + b)",
    ),
    "cumsum": (
        "x_ptr: Ptr[i8], out_ptr: Ptr[i32]",
        MATRIX + "tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], tl.cumsum(x, 1))",
    ),
    "cumprod": (
        "x_ptr: Ptr[bf16], out_ptr: Ptr[f32]",
        MATRIX + "tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], tl.cumprod(x))",
    ),
    "sort": (X, "o = tl.arange(0, 4)\ntl.store(out_ptr + o, tl.sort(tl.load(x_ptr + o)))"),
    "topk": (
        "x_ptr: Ptr[i16], out_ptr: Ptr[i16]",
        "x = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(out_ptr + tl.arange(0, 2), tl.topk(x, 2))",
    ),
    "bitonic_merge": (
        INTS,
        "o = tl.arange(0, 4)\ntl.store(out_ptr + o, tl.bitonic_merge(tl.load(x_ptr + o)))",
    ),
    "flip": (X, "o = tl.arange(0, 4)\ntl.store(out_ptr + o, tl.flip(tl.load(x_ptr + o)))"),
    "gather": (
        "x_ptr: Ptr[f32], i_ptr: Ptr[i32], out_ptr: Ptr[f32]",
        MATRIX + "index = tl.load(i_ptr + rows[:, None] * 16 + rows[None, :])\n"
        "tl.store(out_ptr + rows[:, None] * 16 + rows[None, :], tl.gather(x, index, 1))",
    ),
    "histogram": (
        "x_ptr: Ptr[i32], b_ptr: Ptr[u8], out_ptr: Ptr[i32], n: i32",
        (
            "o = tl.arange(0, 256)\n"
            "bins = tl.histogram(tl.load(x_ptr + o), 256, mask=o < n)\n"
            "tl.store(out_ptr + o, bins + tl.histogram(tl.load(b_ptr + o), 256))"
        ),
    ),
    "map_elementwise": (
        X,
        MATRIX + "y = tl.map_elementwise(lambda a, b: a if a > b else b - a, x, 1.0)\n"
        "tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], y)",
    ),
    "reshape": (
        X,
        MATRIX + "tl.store(out_ptr + tl.arange(0, 512), x.reshape(512))\n"
        "tl.store(out_ptr, tl.reshape(tl.sum(x, keep_dims=True), ()))",
    ),
    "view": (X, MATRIX + "tl.store(out_ptr + tl.arange(0, 512), tl.view(x, (512,)))"),
    "ravel": (X, MATRIX + "tl.store(out_ptr + tl.arange(0, 512), tl.ravel(x))"),
    "permute": (X, MATRIX + "tl.store(out_ptr + columns[:, None] * 16 + rows, x.permute(1, 0))"),
    "unsqueeze": (X, "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.unsqueeze(o, 1), 0.0)"),
    "squeeze": (X, "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.squeeze(o[:, None], -1), 0.0)"),
    "join": (
        INTS,
        (
            "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.join(o, o + 16), 1)\n"
            "tl.store(out_ptr + tl.join(3, 4), 2)"
        ),
    ),
    "split": (
        X,
        MATRIX + "low, high = tl.split(x.reshape(16, 16, 2))\n"
        "first, last = tl.split(tl.sum(low + high, 1).reshape(8, 2).sum(0))\n"
        "tl.store(out_ptr, first + last)",
    ),
    "interleave": (
        INTS,
        "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.interleave(o, o + 16), 1)",
    ),
    "cat": (
        INTS,
        (
            "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.cat(o, o + 16), 1)\n"
            "tl.store(out_ptr + tl.cat(o, o, can_reorder=True), 1)"
        ),
    ),
    "broadcast_to": (
        X,
        "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.broadcast_to(o[:, None], 16, 16), 0.0)",
    ),
    "expand_dims": (X, "o = tl.arange(0, 16)\ntl.store(out_ptr + tl.expand_dims(o, (0, -1)), 0.0)"),
    "trans": (X, MATRIX + "tl.store(out_ptr + columns[:, None] * 16 + rows[None, :], x.T)"),
    "sum": (
        "x_ptr: Ptr[i8], out_ptr: Ptr[i32]",
        MATRIX + "tl.store(out_ptr, tl.sum(x))\n"
        "tl.store(out_ptr + rows[:, None], tl.sum(x, axis=-1, keep_dims=True))",
    ),
    "max": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16]",
        MATRIX + "tl.store(out_ptr + columns, tl.max(x, axis=0))",
    ),
    "min": (
        "x_ptr: Ptr[u32], out_ptr: Ptr[u32]",
        MATRIX + "tl.store(out_ptr + rows, x.min(axis=1))\n"
        "least, place = tl.min(x, 1, return_indices=True)\n"
        "tl.store(out_ptr + rows, least + place)",
    ),
    "softmax": (
        X,
        MATRIX + "tl.store(out_ptr + rows[:, None] * 32 + columns[None, :], tl.softmax(x, 1))",
    ),
    "dot": (
        "x_ptr: Ptr[f16], out_ptr: Ptr[f32]",
        MATRIX + "acc = tl.dot(x, x.T)\n"
        'acc = tl.dot(x, x.T, acc, input_precision="ieee")\n'
        "tiles = x.to(f32).to(f8e5m2).reshape(2, 2, 4, 32)\n"
        "more = tl.dot(tiles, tiles.permute(0, 1, 3, 2), max_num_imprecise_acc=32)\n"
        "acc += tl.sum(more)\n"
        "tl.store(out_ptr + rows[:, None] * 16 + rows[None, :], acc)",
    ),
    "dot_scaled": (
        "x_ptr: Ptr[u8], s_ptr: Ptr[u8], y_ptr: Ptr[bf16], out_ptr: Ptr[f32]",
        MATRIX + "s = tl.load(s_ptr + rows[:, None] * 2 + tl.arange(0, 2)[None, :])\n"
        "y = tl.load(y_ptr + tl.arange(0, 64)[:, None] * 16 + rows[None, :])\n"
        'acc = tl.dot_scaled(x, s, "e2m1", y, None, "bf16")\n'
        'acc = tl.dot_scaled(x, s, "e2m1", x.T, s, "e2m1", acc, fast_math=True)\n'
        "tl.store(out_ptr + rows[:, None] * 16 + rows[None, :], acc)",
    ),
    "static_assert": (X, 'tl.static_assert(2 > 1, "numbers")\ntl.store(out_ptr, 1.0)'),
}
OPERATORS: dict[str, tuple[str, str]] = {
    **{
        f"operator.{name}": (INTS, f"x {symbol} y")
        for name, symbol in {
            "floordiv": "//",
            "mod": "%",
            "and": "&",
            "or": "|",
            "xor": "^",
            "lshift": "<<",
            "rshift": ">>",
        }.items()
    },
    **{
        f"operator.{name}": (ELEMENTWISE, f"x {symbol} y")
        for name, symbol in {
            "add": "+",
            "sub": "-",
            "mul": "*",
            "truediv": "/",
            "lt": "<",
            "le": "<=",
            "gt": ">",
            "ge": ">=",
            "eq": "==",
            "ne": "!=",
        }.items()
    },
    "operator.neg": (ELEMENTWISE, "-x"),
    "operator.pos": (ELEMENTWISE, "+x"),
    "operator.invert": (INTS, "~x"),
    "operator.getitem": (ELEMENTWISE, "x[:, None] + y[None, :]"),
}


def signatures(text: str) -> dict[str, ast.arguments]:
    """The functions of a DSL text, without those it keeps to itself."""
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: node.args for node in nodes if not node.name.startswith("_")}


def libdevice_kernel(name: str) -> tuple[str, str]:
    """A kernel that calls every form of a function of libdevice."""
    params, body = [], ["o = tl.arange(0, 16)"]
    for form, row in enumerate(TABLE[name]):
        given = []
        for i, dtype in enumerate(row.operands):
            params.append(f"x{form}{i}_ptr: Ptr[{dtype}]")
            given.append(f"tl.load(x{form}{i}_ptr + o)")
        params.append(f"out{form}_ptr: Ptr[{row.result}]")
        body.append(f"tl.store(out{form}_ptr + o, tl.math.{name}({', '.join(given)}))")
    return ", ".join(params), "\n".join(body)


def kernel_of(name: str, args: ast.arguments | None) -> tuple[str, str] | None:
    """Parameters and body of a kernel; None where it must be written by hand."""
    if name in WRITTEN:
        return WRITTEN[name]
    if name in OPERATORS:
        params, expression = OPERATORS[name]
        return params, _body(expression)
    if args is None:
        return None
    if name in TABLE:
        return libdevice_kernel(name)
    required = [arg.arg for arg in args.args][: len(args.args) - len(args.defaults)]
    if required not in (["x"], ["x", "y"]):
        return None
    return ELEMENTWISE, _body(f"tl.{name}({', '.join(required)})")


FUNCTIONS = signatures(TRITON)
# Those that not every architecture has, and the first one that does.
NEEDED = {"gdc_wait": 90, "gdc_launch_dependents": 90, "dot": 80}
CASES = {
    name: found
    for name in (*sorted(set(FUNCTIONS) - ITERABLES), *sorted(OPERATORS))
    if (found := kernel_of(name, FUNCTIONS.get(name))) is not None
}


def test_every_function_and_operator_has_a_golden_kernel() -> None:
    operators = {name for name in HANDLERS if name.startswith("operator.")}
    missing = ((set(FUNCTIONS) - ITERABLES) | operators) - set(CASES)
    assert not missing, f"write a kernel in WRITTEN for: {', '.join(sorted(missing))}"
    stale = {path.stem for path in FOLDER.glob("*.mlir")} - set(CASES)
    assert not stale, f"no such function: {', '.join(sorted(stale))}"


def test_a_function_of_x_gets_its_kernel_from_its_signature() -> None:
    (args,) = signatures("def gudermann(x):\n    ...\n").values()
    found = kernel_of("gudermann", args)
    assert found is not None
    assert "tl.gudermann(x)" in found[1]
    (args,) = signatures("def scan(input, axis):\n    ...\n").values()
    assert kernel_of("scan", args) is None


@pytest.mark.parametrize("name", CASES)
def test_a_function_becomes_the_mlir_of_its_golden(
    name: str, kernel: Callable[..., Any], *, update_golden: bool
) -> None:
    params, body = CASES[name]
    found = kernel(params, body, name.replace(".", "_"))
    head = [f"({params})", *body.splitlines()]
    text = "".join(f"// {line}".rstrip() + "\n" for line in head) + found.mlir()
    path = FOLDER / f"{name}.mlir"
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), "accept it with `nox -s golden`"
    assert path.read_text(encoding="utf-8") == text


def assemble(unit: Unit, arch: str, folder: Path) -> bool:
    """Take a unit to SASS; whether the architecture has what it asks for. Raises on any fault."""
    try:
        result = compile_text(
            unit.render(), Options(Target.cuda(arch), ("ptx",)), folder=str(folder)
        )
    except CompileError as error:
        if [found.code for found in error.diagnostics] == ["E0713"]:
            return False
        raise
    ptx = result.texts["ptx"]
    header = parse_ptx(ptx)
    assert header is not None
    assert header.target.startswith(arch)
    ptxas = find_ptxas(header.version)
    assert ptxas is not None, "ptxas is neither on PATH nor in the Triton wheel"
    file = folder / "kernel.ptx"
    file.write_text(ptx, encoding="utf-8")
    command = [str(ptxas), f"-arch={header.target}", str(file), "-o", str(folder / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return True


@pytest.mark.accept
@pytest.mark.parametrize("name", CASES)
def test_the_kernel_of_a_golden_assembles(
    name: str, kernel: Callable[..., Any], archs: tuple[str, ...], tmp_path: Path
) -> None:
    params, body = CASES[name]
    unit = kernel(params, body, name.replace(".", "_")).unit
    # Functions of libdevice are calls of one library: one architecture stands for the others.
    chosen = archs[: 1 if name in TABLE else None]
    found = {arch: assemble(unit, arch, tmp_path) for arch in chosen}
    newest = max(chosen, key=arch_number)
    assert found[newest] or arch_number(newest) < NEEDED.get(name, 0)


@pytest.mark.accept
@pytest.mark.large
@pytest.mark.parametrize("name", CASES)
def test_the_kernel_of_a_golden_assembles_for_every_architecture_that_has_it(
    name: str, kernel: Callable[..., Any], tmp_path: Path
) -> None:
    params, body = CASES[name]
    unit = kernel(params, body, name.replace(".", "_")).unit
    found = {arch: assemble(unit, arch, tmp_path) for arch in ARCH_FLOOR}
    assert found == {arch: arch_number(arch) >= NEEDED.get(name, 0) for arch in ARCH_FLOOR}


@pytest.mark.accept
@pytest.mark.parametrize("dtype", sorted({d.name for row in REDUCES.values() for d in row}))
def test_every_atomic_of_a_descriptor_assembles(
    dtype: str, kernel: Callable[..., Any], archs: tuple[str, ...], tmp_path: Path
) -> None:
    kinds = [kind for kind, row in REDUCES.items() if dtype in {d.name for d in row}]
    head = "d = tl.make_tensor_descriptor(x_ptr, (n, 64), (64, 1), (8, 16))\n"
    tile = f"tl.full((8, 16), 1, {dtype})"
    body = head + "".join(f"d.atomic_{kind}((0, n), {tile})\n" for kind in kinds)
    unit = kernel(f"x_ptr: Ptr[{dtype}], n: i32", body).unit
    narrow = dtype in ("f16", "bf16")
    for arch in archs:
        assert assemble(unit, arch, tmp_path) == (not narrow or arch_number(arch) >= 90)
