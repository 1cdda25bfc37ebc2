"""Three kernels fused by hand in LLVM IR, as a yardstick for what the compiler makes of the DSL.

Straight loops over strips of 32 lanes with the same vector maths and in the same order over memory;
no masks, nothing of the back end's planning. LLVM turns them into code just as it does the
compiler's text. Sizes must be multiples of the blocks and tiles.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

from teeny_cpu import jit
from teenyc.backend.cpu import features, llvm, maths

LANES = 32
STRIP = f"<{LANES} x float>"


def splat(value: float) -> str:
    """A constant in all lanes."""
    from teenyc.backend.cpu.text import float_text

    return f"splat (float {float_text(value, 'float')})"


def counted(name: str, end: str, step: int, body: str, carried: str = "") -> str:
    """A loop over `%name` from 0 to `end`; phis in `carried` name its ends `ENTRY` and `LATCH`."""
    phis = carried.replace("ENTRY", f"{name}.pre").replace("LATCH", f"{name}.latch")
    return f"""  br label %{name}.pre
{name}.pre:
  br label %{name}.loop
{name}.loop:
  %{name} = phi i64 [0, %{name}.pre], [%{name}.n, %{name}.latch]
{phis}{body}  br label %{name}.latch
{name}.latch:
  %{name}.n = add nuw nsw i64 %{name}, {step}
  %{name}.more = icmp ult i64 %{name}.n, {end}
  br i1 %{name}.more, label %{name}.loop, label %{name}.out
{name}.out:
"""


def at(name: str, base: str, row: str, width: str, column: str) -> str:
    """A pointer to an element of a matrix."""
    return f"""  %{name}.row = mul i64 {row}, {width}
  %{name}.at = add i64 %{name}.row, {column}
  %{name} = getelementptr float, ptr {base}, i64 %{name}.at
"""


def strip(name: str, pointer: str) -> str:
    """A strip read at a pointer."""
    return f"  %{name} = load {STRIP}, ptr {pointer}, align 4\n"


def exp(name: str, x: str) -> str:
    """The exponential of a strip."""
    return f"  %{name} = call {STRIP} @teeny.exp.f32x{LANES}({STRIP} {x})\n"


def bias_gelu_text(block_m: int, block_n: int) -> str:
    """`out = residual + gelu(x + bias)` in one pass over blocks, column after column of them."""
    steps = (
        ("v", "fadd contract", "%xs", "%bs"),
        ("vc", "fmul contract", "%v", splat(0.044715)),
        ("v2", "fmul contract", "%vc", "%v"),
        ("v3", "fmul contract", "%v2", "%v"),
        ("inner", "fadd contract", "%v", "%v3"),
        ("z", "fmul contract", "%inner", splat(0.7978845608028654)),
        ("w", "fmul contract", "%z", splat(-2.0)),
    )
    text = "".join(f"  %{name} = {how} {STRIP} {a}, {b}\n" for name, how, a, b in steps)
    body = (
        "  %r = add i64 %i, %m\n  %c = add i64 %j, %n\n"
        + at("xp", "%x", "%r", "%cols", "%c") + strip("xs", "%xp")
        + "  %bp = getelementptr float, ptr %b, i64 %c\n" + strip("bs", "%bp")
        + at("ip", "%res", "%r", "%cols", "%c") + strip("is", "%ip")
        + text + exp("e", "%w")
        + f"  %d = fadd {STRIP} %e, {splat(1.0)}\n  %g = fdiv {STRIP} %v, %d\n"
        f"  %o = fadd {STRIP} %is, %g\n"
        + at("op", "%out", "%r", "%cols", "%c") + f"  store {STRIP} %o, ptr %op, align 4\n"
    )  # fmt: skip
    block = counted("i", str(block_m), 1, counted("j", str(block_n), LANES, body))
    loops = counted("n", "%cols", block_n, counted("m", "%rows", block_m, block))
    return _function("ptr %x, ptr %b, ptr %res, ptr %out, i64 %rows, i64 %cols", loops)


def logsumexp_text(rows: int = 16) -> str:
    """`log(sum(exp(x), axis=0))`: for each strip of columns, tiles of `rows` rows."""
    reads, best, sums = "", "%high", ""
    for i in range(rows):
        reads += f"  %row{i} = add i64 %r, {i}\n" + at(f"p{i}", "%x", f"%row{i}", "%cols", "%c")
        reads += strip(f"x{i}", f"%p{i}")
        reads += f"  %gt{i} = fcmp ogt {STRIP} %x{i}, {best}\n"
        reads += f"  %hi{i} = select <{LANES} x i1> %gt{i}, {STRIP} %x{i}, {STRIP} {best}\n"
        best = f"%hi{i}"
    total = "%scaled"
    sums += f"  %gone = fsub {STRIP} %high, {best}\n" + exp("factor", "%gone")
    sums += f"  %scaled = fmul {STRIP} %total, %factor\n"
    for i in range(rows):
        sums += f"  %z{i} = fsub {STRIP} %x{i}, {best}\n" + exp(f"e{i}", f"%z{i}")
        sums += f"  %t{i} = fadd {STRIP} {total}, %e{i}\n"
        total = f"%t{i}"
    carried = (
        f"  %high = phi {STRIP} [{splat(-3.0e38)}, %ENTRY], [{best}, %LATCH]\n"
        f"  %total = phi {STRIP} [zeroinitializer, %ENTRY], [{total}, %LATCH]\n"
    )
    after = (
        f"  %log = call {STRIP} @teeny.log.f32x{LANES}({STRIP} {total})\n"
        f"  %o = fadd {STRIP} {best}, %log\n"
        "  %op = getelementptr float, ptr %out, i64 %c\n"
        f"  store {STRIP} %o, ptr %op, align 4\n"
    )
    inner = counted("r", "%rows", rows, reads + sums, carried)
    loops = counted("c", "%cols", LANES, inner + after)
    return _function("ptr %x, ptr %out, i64 %rows, i64 %cols", loops)


def matmul_relu_text(tile: int, lanes: int) -> str:
    """`relu(a @ b) * scale[:, None]` with `tile` rows by `lanes` columns in registers."""
    kind = f"<{lanes} x float>"
    carried = "".join(
        f"  %acc{i} = phi {kind} [zeroinitializer, %ENTRY], [%new{i}, %LATCH]\n"
        for i in range(tile)
    )
    body = at("bp", "%b", "%k", "%N", "%j") + f"  %bs = load {kind}, ptr %bp, align 4\n"
    after = ""
    for i in range(tile):
        body += f"""  %ap{i} = getelementptr float, ptr %arow{i}, i64 %k
  %a{i} = load float, ptr %ap{i}, align 4
  %in{i} = insertelement {kind} poison, float %a{i}, i32 0
  %as{i} = shufflevector {kind} %in{i}, {kind} poison, <{lanes} x i32> zeroinitializer
  %new{i} = call {kind} @llvm.fma.v{lanes}f32({kind} %as{i}, {kind} %bs, {kind} %acc{i})
"""
        after += (
            f"""  %sp{i} = getelementptr float, ptr %scale, i64 %row{i}
  %s{i} = load float, ptr %sp{i}, align 4
  %sin{i} = insertelement {kind} poison, float %s{i}, i32 0
  %ss{i} = shufflevector {kind} %sin{i}, {kind} poison, <{lanes} x i32> zeroinitializer
  %pos{i} = fcmp ogt {kind} %new{i}, zeroinitializer
  %relu{i} = select <{lanes} x i1> %pos{i}, {kind} %new{i}, {kind} zeroinitializer
  %y{i} = fmul {kind} %relu{i}, %ss{i}
"""
            + at(f"op{i}", "%out", f"%row{i}", "%N", "%j")
            + f"  store {kind} %y{i}, ptr %op{i}, align 4\n"
        )
    before = "".join(
        f"  %row{i} = add i64 %i, {i}\n  %ao{i} = mul i64 %row{i}, %K\n"
        f"  %arow{i} = getelementptr float, ptr %a, i64 %ao{i}\n"
        for i in range(tile)
    )
    inner = before + counted("k", "%K", 1, body, carried) + after
    loops = counted("j", "%N", lanes, counted("i", "%M", tile, inner))
    given = "ptr %a, ptr %b, ptr %scale, ptr %out, i64 %M, i64 %N, i64 %K"
    return f"declare {kind} @llvm.fma.v{lanes}f32({kind}, {kind}, {kind})\n" + _function(
        given, loops
    )


def _function(parameters: str, body: str) -> str:
    return f"define void @handmade({parameters}) nounwind {{\n{body}  ret void\n}}\n"


def load(text: str, functions: tuple[str, ...] = ()) -> Callable[..., Callable[[], None]]:
    """The function of a text: given arrays and sizes, a call."""
    host = features.resolve("host")
    definitions = [maths.define(name, LANES, "f32", host.has("fma")) for name in functions]
    head = maths.module_text(definitions, fma=host.has("fma")) if definitions else ""
    made = llvm.compile_text(f"{head}\n{text}", host, want_ir=False, want_asm=False)
    code = jit.load(made.data, ("handmade",))

    def bind(*args: Any) -> Callable[[], None]:
        given = [arg if isinstance(arg, int) else arg.ctypes.data for arg in args]
        kinds = [ctypes.c_int64 if isinstance(arg, int) else ctypes.c_void_p for arg in args]
        function = ctypes.CFUNCTYPE(None, *kinds)(code.addresses["handmade"])
        call = partial(function, *given)
        call.kept = (code, args)  # type: ignore[attr-defined]
        return call

    return bind
