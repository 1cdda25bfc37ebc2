"""Operations on whole tensors, as random kernels write them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from generator import Expr, Maker, NothingError, Shape

Made = tuple[str, bool] | None
FORMS: list[tuple[str, str, Callable[[Maker], Made]]] = []


def form(name: str, kind: str) -> Callable[[Callable[[Maker], Made]], Callable[[Maker], Made]]:
    """Enter what writes an operation: its text, and whether targets agree about the result."""

    def enter(f: Callable[[Maker], Made]) -> Callable[[Maker], Made]:
        FORMS.append((name, kind, f))
        return f

    return enter


def _tensor(maker: Maker, kind: str, rank: int = 1, *, exact: bool = False) -> Expr:
    """A variable of at least `rank` sides."""
    for _ in range(20):
        shapes = [v.shape for v in maker.vars if len(v.shape) >= rank]
        if not shapes:
            raise NothingError
        found = maker.atom(kind, maker.random.choice(shapes), exact=exact)
        if len(found.shape) >= rank and prod(found.shape) <= 512:
            return found
    raise NothingError


def _axis(maker: Maker, x: Expr) -> int:
    rank = len(x.shape)
    return maker.random.randint(-rank, rank - 1)


def _reductions() -> None:
    for name, kinds in {
        "sum": "nb",
        "max": "n",
        "min": "n",
        "xor_sum": "i",
        "reduce_or": "i",
    }.items():

        def write(maker: Maker, name: str = name, kinds: str = kinds) -> Made:
            x = _tensor(maker, maker.random.choice(kinds))
            exact = x.exact and (not x.d.is_float or name in ("max", "min"))
            axis: object = _axis(maker, x)
            keep = maker.random.choice(["", ", keep_dims=True"])
            if maker.random.random() < 0.2:
                axis = None
            if maker.random.random() < 0.3 and name in ("sum", "max"):
                return f"{x.text}.{name}(axis={axis}{keep})", exact
            return f"tl.{name}({x.text}, axis={axis}{keep})", exact

        form(name, "reduction")(write)
    for name in ("argmax", "argmin"):

        def place(maker: Maker, name: str = name) -> Made:
            x = _tensor(maker, "n")
            return f"tl.{name}({x.text}, {_axis(maker, x)})", x.exact and not x.d.is_float

        form(name, "reduction")(place)


_reductions()


@form("max", "reduction")
def _max_and_place(maker: Maker) -> Made:
    x, r = _tensor(maker, "n"), maker.random
    text = f"tl.{r.choice(['max', 'min'])}({x.text}, {_axis(maker, x)}, return_indices=True)"
    return f"{text}[{r.randint(0, 1)}]", x.exact and not x.d.is_float


@form("reduce", "reduction")
def _reduce(maker: Maker) -> Made:
    r = maker.random
    name, kind = r.choice([("combine_sum", "I"), ("combine_max", "n"), ("combine_xor", "i")])
    maker.helper(name)
    x = _tensor(maker, kind)
    if r.random() < 0.2 and name == "combine_max":
        return f"tl.reduce({x.text}, {_axis(maker, x)}, lambda a, b: tl.maximum(a, b))", x.exact
    return f"tl.reduce({x.text}, {_axis(maker, x)}, {name})", x.exact


@form("reduce", "reduction")
def _reduce_two(maker: Maker) -> Made:
    x = _tensor(maker, "I", exact=True)
    if len(x.shape) != 1:
        return None
    maker.helper("combine_first")
    size = x.shape[0]
    text = f"tl.reduce(({x.text}, tl.arange(0, {size})), 0, combine_first)"
    return f"{text}[{maker.random.randint(0, 1)}]", x.exact


for _name in ("cumsum", "cumprod"):

    @form(_name, "scan")
    def _running(maker: Maker, name: str = _name) -> Made:
        x = _tensor(maker, maker.random.choice("nnb"))
        reverse = maker.random.choice(["", ", reverse=True"])
        return f"tl.{name}({x.text}, {_axis(maker, x)}{reverse})", x.exact and not x.d.is_float


@form("associative_scan", "scan")
def _scan(maker: Maker) -> Made:
    r = maker.random
    name, kind = r.choice([("combine_sum", "I"), ("combine_max", "F"), ("combine_xor", "i")])
    maker.helper(name)
    x = _tensor(maker, kind)
    reverse = r.choice(["", ", reverse=True"])
    return f"tl.associative_scan({x.text}, {_axis(maker, x)}, {name}{reverse})", x.exact


@form("associative_scan", "scan")
def _scan_two(maker: Maker) -> Made:
    x = _tensor(maker, "I")
    maker.helper("affine")
    text = f"tl.associative_scan(({x.text}, {x.text} + 1), {_axis(maker, x)}, affine)"
    return f"{text}[{maker.random.randint(0, 1)}]", x.exact


@form("map_elementwise", "map")
def _mapped(maker: Maker) -> Made:
    x = _tensor(maker, "I", exact=True)
    if prod(x.shape) > 64:
        return None
    if maker.random.random() < 0.4:
        maker.helper("greater")
        return f"tl.map_elementwise(greater, {x.text}, {x.text} - 2)", True
    maker.helper("piecewise")
    return f"tl.map_elementwise(piecewise, {x.text})", True


# --- shapes ---------------------------------------------------------------------------------------


def _shaped(name: str, rank: int, write: Callable[[Maker, Expr], str | None]) -> None:
    def whole(maker: Maker) -> Made:
        x = _tensor(maker, "x", rank)
        text = write(maker, x)
        return None if text is None else (text, x.exact)

    form(name, "shape")(whole)


def _other_shape(maker: Maker, shape: Shape) -> Shape:
    size, sides = prod(shape), []
    for _ in range(maker.random.randint(0, 2)):
        side = 1 << maker.random.randint(0, size.bit_length() - 1)
        sides.append(side)
        size //= side
    return (*sides, size)


def _order(maker: Maker, rank: int) -> str:
    order = list(range(rank))
    maker.random.shuffle(order)
    return ", ".join(map(str, order))


_shaped("reshape", 1, lambda m, x: f"tl.reshape({x.text}, {_other_shape(m, x.shape)})")
_shaped(
    "reshape", 1, lambda m, x: f"{x.text}.reshape({', '.join(map(str, _other_shape(m, x.shape)))})"
)
_shaped("trans", 2, lambda m, x: f"tl.trans({x.text}, {_order(m, len(x.shape))})")
_shaped("trans", 2, lambda m, x: f"{x.text}.T" if len(x.shape) == 2 else None)
_shaped("permute", 2, lambda m, x: f"tl.permute({x.text}, ({_order(m, len(x.shape))}))")
_shaped("expand_dims", 1, lambda m, x: f"tl.expand_dims({x.text}, {m.random.randint(0, 1)})")
_shaped("unsqueeze", 1, lambda m, x: f"tl.unsqueeze({x.text}, -1)")
_shaped("[]", 1, lambda m, x: f"{x.text}[None, :]" if len(x.shape) == 1 else f"{x.text}[:, None]")
_shaped("ravel", 1, lambda m, x: f"tl.ravel({x.text})")
_shaped("flip", 1, lambda m, x: f"tl.flip({x.text}, {_axis(m, x)})")
_shaped("join", 1, lambda m, x: f"tl.join({x.text}, {x.text})" if len(x.shape) < 3 else None)
_shaped("interleave", 1, lambda m, x: f"tl.interleave({x.text}, {x.text})")
_shaped("cat", 1, lambda m, x: f"tl.cat({x.text}, {x.text})" if len(x.shape) == 1 else None)
_shaped("zeros_like", 1, lambda m, x: f"tl.zeros_like({x.text})")
_shaped(
    "split",
    1,
    lambda m, x: f"tl.split({x.text})[{m.random.randint(0, 1)}]" if x.shape[-1] == 2 else None,
)


@form("split", "shape")
def _split(maker: Maker) -> Made:
    x = _tensor(maker, "x")
    size = prod(x.shape)
    if size < 4:
        return None
    return (
        f"tl.split(tl.reshape({x.text}, ({size // 2}, 2)))[{maker.random.randint(0, 1)}]",
        x.exact,
    )


@form("broadcast_to", "shape")
def _broadcast_to(maker: Maker) -> Made:
    x = _tensor(maker, "x", 2)
    if 1 not in x.shape:
        return None
    return f"tl.broadcast_to({x.text}, {tuple(4 if s == 1 else s for s in x.shape)})", x.exact


@form("broadcast", "shape")
def _broadcast(maker: Maker) -> Made:
    x, y = _tensor(maker, "x"), _tensor(maker, "x")
    if len(x.shape) != len(y.shape):
        return None
    return f"tl.broadcast({x.text}, {y.text})[{maker.random.randint(0, 1)}]", x.exact and y.exact


@form("squeeze", "shape")
def _squeeze(maker: Maker) -> Made:
    x = _tensor(maker, "x", 2)
    if 1 not in x.shape:
        return None
    return f"tl.squeeze({x.text}, {x.shape.index(1)})", x.exact


FILLS = (("f32", "1.5"), ("i32", "-3"), ("u8", "200"), ("f64", "0.1"), ("f16", "2"), ("bf16", "n"),
         ("i64", "pid"), ("i1", "True"))  # fmt: skip


@form("full", "shape")
def _full(maker: Maker) -> Made:
    r = maker.random
    shape = r.choice([v.shape for v in maker.vars if v.shape])
    dtype, number = r.choice(FILLS)
    return f"tl.full({shape}, {number}, {dtype})", True


@form("zeros", "shape")
def _zeros(maker: Maker) -> Made:
    r = maker.random
    dtype = r.choice(["f32", "i32", "f16", "u64", "i1"])
    return f"tl.zeros({r.choice([v.shape for v in maker.vars if v.shape])}, {dtype})", True


# --- order, places, counts ------------------------------------------------------------------------


@form("sort", "sort")
def _sort(maker: Maker) -> Made:
    x = _tensor(maker, "n", exact=True)
    return f"tl.sort({x.text}, descending={maker.random.choice([True, False])})", x.exact


@form("topk", "sort")
def _topk(maker: Maker) -> Made:
    x = _tensor(maker, "n", exact=True)
    if x.shape[-1] < 4:
        return None
    return f"tl.topk({x.text}, {maker.random.choice([1, 2, 4])})", x.exact


@form("gather", "gather")
def _gather(maker: Maker) -> Made:
    x = _tensor(maker, "x")
    axis = maker.random.randrange(len(x.shape))
    index = maker.index(x.shape, x.shape[axis])
    return f"tl.gather({x.text}, {index}, {axis})", x.exact


@form("histogram", "histogram")
def _histogram(maker: Maker) -> Made:
    x = _tensor(maker, "I", exact=True)
    if len(x.shape) != 1 or x.shape[0] < 2:
        return None
    return f"tl.histogram({x.text}.to(i32) & 15, 16)", True


@form("dot", "dot")
def _dot(maker: Maker) -> Made:
    r = maker.random
    x = _tensor(maker, r.choice(["s", "F", "x"]), 2)
    if x.shape not in ((16, 16), (16, 32)) or x.d.name in ("i1", "f8e4m3", "f8e5m2"):
        return None
    text = x.text
    if x.d.is_int:
        if x.shape != (16, 32):
            return None
        text = f"{x.text}.to(i8)"
    precision = r.choice(["", ", input_precision='ieee'", ", input_precision='ieee'"])
    return f"tl.dot({text}, {text}.T{precision})", x.exact and x.d.is_int


# --- random numbers -------------------------------------------------------------------------------


for _name, _sure in (("randint", True), ("rand", True), ("randn", False)):

    @form(_name, "random")
    def _random(maker: Maker, name: str = _name, sure: bool = _sure) -> Made:
        x = _tensor(maker, "j", exact=True)
        return f"tl.{name}({maker.random.choice(['n', '42', '0x123456789ABC'])}, {x.text})", sure


@form("randint4x", "random")
def _four(maker: Maker) -> Made:
    x = _tensor(maker, maker.random.choice("jl"), exact=True)
    return f"tl.randint4x(7, {x.text})[{maker.random.randint(0, 3)}]", True


@form("rand4x", "random")
def _four_floats(maker: Maker) -> Made:
    x = _tensor(maker, "j", exact=True)
    return f"tl.rand4x(n, {x.text})[{maker.random.randint(0, 3)}]", True


@form("softmax", "softmax")
def _softmax(maker: Maker) -> Made:
    x = _tensor(maker, "f")
    return f"tl.softmax({x.text}, {_axis(maker, x)})", False


for _name in ("multiple_of", "max_contiguous", "max_constancy"):

    @form(_name, "hint")
    def _hint(maker: Maker, name: str = _name) -> Made:
        x = _tensor(maker, "j")
        return f"tl.{name}({x.text}, {(1,) * len(x.shape)})", x.exact


@form("num_programs", "program")
def _programs(maker: Maker) -> Made:
    return f"(tl.num_programs({maker.random.randint(0, 2)}) + o)", True


@form("elem", "dtype")
def _elem(maker: Maker) -> Made:
    x = _tensor(maker, "n")
    pointers = [a.name for a in maker.arguments if a.size and a.dtype not in ("f8e4m3", "f8e5m2")]
    return f"{x.text}.to(tl.elem({maker.random.choice(pointers)}))", False


@form("philox", "random")
def _philox(maker: Maker) -> Made:
    x = _tensor(maker, "j", exact=True)
    text = f"tl.philox(n, {x.text}, {x.text} * 0, {x.text} + 1, {x.text} * 0)"
    return f"{text}[{maker.random.randint(0, 3)}]", True


@form("randn4x", "random")
def _four_normal(maker: Maker) -> Made:
    x = _tensor(maker, "j", exact=True)
    return f"tl.randn4x(n, {x.text})[{maker.random.randint(0, 3)}]", False


@form("swizzle2d", "places")
def _swizzle(maker: Maker) -> Made:
    x, r = _tensor(maker, "j", exact=True), maker.random
    i, j = r.choice([2, 3, 5, 8]), r.choice([2, 4, 7])
    text = f"({x.text} & 1023) % {i}, ({x.text} & 1023) // {i} % {j}"
    return f"tl.swizzle2d({text}, {i}, {j}, {r.randint(1, 4)})[{r.randint(0, 1)}]", True
