"""Tables of what random kernels are made of: operations as text with holes, helpers, dtypes.

A hole is a class of operands: `n` any number, `x` anything, `F` a float of 16 bits or more, `f` f32
or f64, `s` f32, `d` f64, `i` an integer, `I` one of 32 or 64 bits, `j` i32, `l` i64, `u` u32 or
u64, `b` i1, `e` an 8-bit float. `exact` says that exact operands give a result that every target
agrees about; `alone` keeps an operation out of random kernels: on a GPU its result may be undefined
in a way that spreads.
"""

from __future__ import annotations

from typing import NamedTuple

from tracked import Dtype

INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
F8 = ("f8e4m3", "f8e5m2")
NAMES = (*FLOATS, *F8, *INTS, "i1")

CLASSES: dict[str, tuple[str, ...]] = {
    "n": (*FLOATS, *INTS),
    "x": NAMES,
    "F": FLOATS,
    "f": ("f32", "f64"),
    "s": ("f32",),
    "d": ("f64",),
    "i": INTS,
    "I": ("i32", "i64", "u32", "u64"),
    "j": ("i32",),
    "l": ("i64",),
    "u": ("u32", "u64"),
    "b": ("i1",),
    "e": F8,
}


class Form(NamedTuple):
    """An operation: its name in the counts, its text, the classes of its holes."""

    name: str
    text: str
    holes: str
    exact: bool = True
    alone: bool = False


def has_class(d: Dtype, kind: str) -> bool:
    return d.name in CLASSES[kind]


_EVERYWHERE = [
    Form("+", "({0} + {1})", "nn"),
    Form("-", "({0} - {1})", "nn"),
    Form("*", "({0} * {1})", "nn"),
    Form("*", "({0} * {1})", "bb"),
    Form("/", "({0} / {1})", "nn", exact=False),
    Form("//", "({0} // ({1} | 1))", "ii", exact=False),
    Form("//", "({0} // 7)", "i"),
    Form("%", "({0} % ({1} | 1))", "ii", exact=False),
    Form("%", "({0} % 5)", "i"),
    Form("%", "({0} % {1})", "FF", exact=False),
    Form("<<", "({0} << ({1} & 7))", "ii"),
    Form(">>", "({0} >> ({1} & 7))", "ii"),
    Form(">>", "({0} >> 3)", "i"),
    Form("<<", "({0} << {1})", "ii", exact=False, alone=True),
    Form(">>", "({0} >> {1})", "ii", exact=False, alone=True),
    Form("&", "({0} & {1})", "ii"),
    Form("|", "({0} | {1})", "ii"),
    Form("^", "({0} ^ {1})", "ii"),
    Form("&", "({0} & {1})", "bb"),
    Form("|", "({0} | {1})", "bb"),
    Form("^", "({0} ^ {1})", "bb"),
    Form("~", "(~{0})", "i"),
    Form("~", "(~{0})", "b"),
    Form("neg", "(-{0})", "n"),
    Form("pos", "(+{0})", "n"),
    *(Form(op, f"({{0}} {op} {{1}})", "nn") for op in ("<", "<=", ">", ">=", "==", "!=")),
    Form("==", "({0} == {1})", "bb"),
    Form("maximum", "tl.maximum({0}, {1})", "nn"),
    Form("minimum", "tl.minimum({0}, {1})", "nn"),
    Form("maximum", "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", "FF"),
    Form("minimum", "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", "FF"),
    Form("logical_and", "tl.logical_and({0}, {1})", "nn"),
    Form("logical_or", "tl.logical_or({0}, {1})", "nn"),
    Form("logical_or", "{0}.logical_or({1})", "nb"),
    Form("where", "tl.where({0}, {1}, {2})", "bnn"),
    Form("where", "tl.where({0}, {1}, {2})", "bbb"),
    Form("abs", "tl.abs({0})", "n"),
    Form("abs", "{0}.abs()", "n"),
    Form("fma", "tl.fma({0}, {1}, {2})", "FFF"),
    Form("clamp", "tl.clamp({0}, -2.0, 3.0)", "F"),
    Form("clamp", "tl.clamp({0}, 1, 50)", "i"),
    Form("clamp", "tl.clamp({0}, -2.5, 1.0, propagate_nan=tl.PropagateNan.ALL)", "F"),
    Form("add", "tl.add({0}, {1})", "nn"),
    Form("sub", "tl.sub({0}, {1}, sanitize_overflow=False)", "nn"),
    Form("mul", "tl.mul({0}, {1})", "nn"),
    Form("cdiv", "tl.cdiv({0}, ({1} & 7) + 1)", "ii", exact=False),
    Form("umulhi", "tl.umulhi({0}, {1})", "II"),
    Form("div_rn", "tl.div_rn({0}, {1})", "FF"),
    Form("fdiv", "tl.fdiv({0}, {1})", "FF", exact=False),
    Form("fdiv", "tl.fdiv({0}, {1}, ieee_rounding=True)", "ff"),
    Form("sqrt_rn", "tl.sqrt_rn({0})", "f"),
    *(Form(n, f"tl.{n}({{0}})", "f") for n in ("floor", "ceil")),
    *(
        Form(n, f"tl.{n}({{0}})", "f", exact=False)
        for n in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "sigmoid")
    ),
    *(Form(n, f"{{0}}.{n}()", "f", exact=False) for n in ("exp", "log", "sqrt", "sigmoid")),
    *(Form("cast", f"{{0}}.to({d})", "n", exact=False) for d in (*FLOATS, *INTS, "i1")),
    *(Form("cast", f"{{0}}.to({d})", "b") for d in ("i32", "u8", "f32")),
    *(Form("cast", f"{{0}}.to(f32).to({d})", "F", exact=False) for d in F8),
    *(Form("cast", f"tl.cast({{0}}, {d})", "e", exact=False) for d in (*FLOATS, *F8)),
    Form("cast", 'tl.cast({0}, f16, fp_downcast_rounding="rtz")', "s", exact=False),
    Form("cast", '{0}.to(bf16, fp_downcast_rounding="rtz")', "s", exact=False),
    Form("bitcast", "{0}.to(u32, bitcast=True)", "s", exact=False),
    Form("bitcast", "({0} & 0xFFFFF).to(f32, bitcast=True)", "j"),
    Form("bitcast", "{0}.to(i64, bitcast=True)", "d", exact=False),
    Form("bitcast", "tl.cast(({0} & 0x3F).to(u8), f8e5m2, bitcast=True)", "i"),
    Form("bitcast", "tl.cast(({0} & 0x7BFF).to(u16), f16, bitcast=True)", "I"),
    *(Form(n, f"tl.math.{n}({{0}})", "f") for n in ("rint", "nearbyint", "trunc", "round")),
    Form("tanh", "tl.math.tanh({0})", "f", exact=False),
    Form("copysign", "tl.math.copysign({0}, {1})", "ff", exact=False),
    Form("fmod", "tl.math.fmod({0}, {1})", "ff", exact=False),
    *(Form(n, f"tl.math.{n}({{0}}, {{1}})", "ff") for n in ("add_rn", "sub_rn", "mul_rn")),
    Form("fma_rn", "tl.math.fma_rn({0}, {1}, {2})", "fff"),
    *(Form(n, f"tl.math.{n}({{0}})", "f", exact=False) for n in ("isnan", "isinf")),
    *(Form(n, f"tl.math.{n}({{0}})", "I") for n in ("popc", "clz", "brev")),
    *(
        Form(f"fast_{n}f", f"tl.math.fast_{n}f({{0}})", "s", exact=False)
        for n in ("exp", "log", "log2", "sin", "cos")
    ),
    Form("fast_dividef", "tl.math.fast_dividef({0}, {1})", "ss", exact=False),
    Form("ternary", "({0} if n > 2 else {0})", "x"),
    Form("to_tensor", "tl.to_tensor({0})", "x"),
]
ELEMENTWISE = tuple(_EVERYWHERE)
TOGETHER = tuple(form for form in ELEMENTWISE if not form.alone)

# Helpers by text: each name is used by a form below, which counts as the statement kind `helper`.
HELPERS = {
    "scaled": "def scaled(x, y, scale=0.5):\n    return x * scale + y\n",
    "both": "def both(x, y):\n    return x + y, x - y\n",
    "early": (
        "def early(x, turn=True):\n    if turn:\n        return x\n    return tl.nonexistent(x)\n"
    ),
    "greater": "def greater(p, q):\n    if p > q:\n        return p\n    return q - p\n",
    "maybe": "def maybe(x, y=None):\n    if y is None:\n        return x + 1\n    return x * y\n",
    "by_dtype": (
        "def by_dtype(x):\n    if x.dtype == f32:\n        return x * 2.0\n"
        "    elif x.dtype == f64:\n        return x + 0.5\n    else:\n        return x\n"
    ),
    "repeated": (
        "def repeated(x, COUNT: tl.constexpr):\n    for i in tl.static_range(COUNT):\n"
        "        x = x + i\n    return x\n"
    ),
    "twice": (
        "def once_more(x):\n    return x + x\ndef twice(x):\n    return once_more(once_more(x))\n"
    ),
    "combine_sum": "def combine_sum(a, b):\n    return a + b\n",
    "combine_max": "def combine_max(a, b):\n    return tl.maximum(a, b)\n",
    "combine_xor": "def combine_xor(a, b):\n    c = a ^ b\n    return c\n",
    "combine_first": (
        "def combine_first(v, i, w, j):\n    left = (v < w) | ((v == w) & (i < j))\n"
        "    return tl.where(left, v, w), tl.where(left, i, j)\n"
    ),
    "affine": "def affine(a, b, c, d):\n    return a * c, b * c + d\n",
    "piecewise": (
        "def piecewise(x):\n    y = x\n    if x > 3:\n        y = x - 3\n    elif x < 0:\n"
        "        y = -x\n    return y\n"
    ),
}
# Forms that call them, with the helper's name.
CALLS = (
    (Form("call", "scaled({0}, {0})", "F"), "scaled"),
    (Form("call", "scaled({0}, y={0}, scale=2)", "n"), "scaled"),
    (Form("call", "both({0}, {1})[0]", "nn"), "both"),
    (Form("call", "both(y={0}, x={1})[1]", "nn"), "both"),
    (Form("call", "early({0})", "x"), "early"),
    (Form("call", "maybe({0})", "n"), "maybe"),
    (Form("call", "maybe({0}, {1})", "nn"), "maybe"),
    (Form("call", "by_dtype({0})", "n"), "by_dtype"),
    (Form("call", "repeated({0}, COUNT=3)", "n"), "repeated"),
    (Form("call", "twice({0})", "n"), "twice"),
)
