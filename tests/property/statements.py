"""The statements of random kernels: assignments, loops, branches, memory, whole tensors."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from cases import Argument
from catalog import CLASSES, NAMES
from generator import Expr, Maker, NothingError, Shape, Var, argument, index_text
from tracked import DTYPES, Tracked

TILES: list[Shape] = [
    (16,), (64,), (128,), (8, 16), (16, 8), (4, 32), (16, 16), (1, 32), (32, 2), (2, 4, 8),
    (4, 4, 4), (16, 32), (1, 1, 16), (2, 2), (256,),
]  # fmt: skip


def begin(maker: Maker) -> None:
    """The parameters, and the values that everything starts from."""
    r = maker.random
    shape = r.choice(TILES)
    maker.tile = shape  # type: ignore[attr-defined]
    size = prod(shape)
    maker.arguments.append(Argument("n", "i32", number=r.randint(0, 8)))
    maker.line("pid = tl.program_id(0)")
    maker.declare("n", DTYPES["i32"], (), exact=True)
    maker.declare("pid", DTYPES["i32"], (), exact=True)
    if r.random() < 0.5:
        dtype = r.choice([d for d in NAMES if d not in ("i1", "f8e4m3", "f8e5m2")])
        number = r.choice([0.5, -2.25, 3.0]) if dtype in CLASSES["F"] else r.randint(0, 100)
        maker.arguments.append(Argument("s", dtype, number=number))
        maker.declare("s", DTYPES[dtype], (), exact=True)
        maker.count("stmt", "scalar argument")
    if r.random() < 0.5:
        maker.constants["FLAG"] = r.choice([True, False])
        maker.constants["COUNT"] = r.randint(0, 4)
        maker.scope.update(maker.constants)
    for axis, side in enumerate(shape[:2]):
        maker.line(f"r{axis} = tl.arange(0, {side})")
        maker.declare(f"r{axis}", DTYPES["i32"], (side,), exact=True)
    maker.line(f"o = {index_text(shape)}")
    maker.declare("o", DTYPES["i32"], shape, exact=True)
    maker.line(f"g = pid * {size} + o")
    maker.declare("g", DTYPES["i32"], shape, exact=True)
    places = Tracked(DTYPES["i32"], np.arange(size, dtype=np.int32).reshape(shape))
    maker.scope.update(o=places, g=places)
    for i in range(r.randint(2, 4)):
        dtype = r.choice(["f32", "f32", "i32", *NAMES])
        if i == 0:
            dtype = r.choice(["f32", "f64", "f16", "bf16"])
        flavor = r.choice(["tame", "tame", "wild"])
        pointer = argument(maker, dtype, size * maker.programs, flavor, "a")
        _load(maker, pointer, dtype, shape)


def _load(maker: Maker, pointer: str, dtype: str, shape: Shape) -> None:
    r, name = maker.random, maker.fresh("x")
    kind = r.random()
    exact = True
    if kind < 0.5:
        text = f"tl.load({pointer} + g)"
        maker.count("stmt", "load")
    elif kind < 0.8:
        other = _number(maker, dtype)
        text = f"tl.load({pointer} + g, mask={_mask(maker, shape)}, other={other})"
        maker.count("stmt", "masked load")
    elif kind < 0.9:
        text = f"tl.load({pointer} + g, mask={_mask(maker, shape)})"
        maker.count("stmt", "masked load without other")
        exact = False
    else:
        index = maker.index(shape, prod(shape))
        text = f"tl.load({pointer} + pid * {prod(shape)} + {index})"
        maker.count("stmt", "gathered load")
    maker.line(f"{name} = {text}")
    maker.count("op", "load")
    maker.declare(name, DTYPES[dtype], shape, exact=exact)


def _number(maker: Maker, dtype: str) -> str:
    if dtype in ("f16", "bf16", "f32", "f64"):
        return maker.random.choice(["0.0", "-1.5", "2", "0.25"])
    if dtype in ("f8e4m3", "f8e5m2"):
        return maker.random.choice(["0.0", "1.5"])
    return maker.random.choice(["0", "1"]) if dtype == "i1" else maker.random.choice(["0", "3"])


def _mask(maker: Maker, shape: Shape) -> str:
    r = maker.random
    return r.choice([
        f"o < n * {max(1, prod(shape) // 6)}", "g % 3 != 0", f"o < {r.randint(0, prod(shape))}",
        "(o & 1) == (n & 1)", "o >= n",
    ])  # fmt: skip


# --- kinds ----------------------------------------------------------------------------------------


def statement(maker: Maker) -> None:
    """One random statement."""
    r = maker.random
    kinds: list[Callable[[Maker], None]] = [assign] * 8
    kinds += [whole_tensor] * 6
    if maker.depth == 0:
        kinds += [counted_loop, branch, branch, unrolled, loop_while, scatter_back, atomic, several]
        kinds += [block_pointer, static_branch, ranged_loop, asserts, totals]
    elif maker.depth == 1:
        kinds += [branch, unrolled, reassign, reassign, counted_loop]
    r.choice(kinds)(maker)


def _some_shape(maker: Maker) -> Shape:
    shapes = [v.shape for v in maker.vars if v.shape]
    tile: Shape = maker.tile  # type: ignore[attr-defined]
    return tile if maker.random.random() < 0.6 else maker.random.choice(shapes)


def put(maker: Maker, found: Expr, kind: str) -> Var:
    """Assign an expression to a new variable."""
    name = maker.fresh()
    note = f": {'int' if found.d.is_int else 'object'}" if maker.random.random() < 0.0 else ""
    maker.line(f"{name}{note} = {found.text}")
    maker.accept(found)
    maker.count("stmt", kind)
    var = maker.declare(name, found.d, found.shape, exact=found.exact)
    if maker.random.random() < 0.25:
        maker.line(f"tl.static_assert({name}.dtype == {found.d}, 'dtype')")
        maker.count("stmt", "static_assert")
    return var


def assign(maker: Maker) -> None:
    put(maker, maker.expression(_some_shape(maker)), "assignment")


def several(maker: Maker) -> None:
    """A tuple of two."""
    shape = _some_shape(maker)
    one, two = maker.expression(shape), maker.expression(shape)
    a, b = maker.fresh(), maker.fresh()
    maker.line(f"{a}, {b} = {one.text}, {two.text}")
    for name, found in ((a, one), (b, two)):
        maker.accept(found)
        maker.declare(name, found.d, found.shape, exact=found.exact)
    maker.count("stmt", "tuple assignment")


def reassign(maker: Maker) -> None:
    """A new value of the same dtype and shape for an old variable."""
    fixed = ("o", "g", "n", "s", "pid", "r0", "r1")
    usable = [v for v in maker.vars if v.shape and v.name not in fixed and v.name[0] != "k"]
    if not usable:
        raise NothingError
    var = maker.random.choice(usable)
    if maker.random.random() < 0.3 and var.d.name in CLASSES["n"]:
        other = maker.atom("n", var.shape)
        op = maker.random.choice("+-*")
        text = f"({var.name} {op} {other.text})"
        found = maker.try_expr(text, exact=False, used=(op,))
        if found is not None and found.d == var.d and found.shape == var.shape:
            maker.line(f"{var.name} {op}= {other.text}")
            maker.accept(found)
            maker.count("stmt", "augmented assignment")
            _spoil(maker, var, found.exact)
            return
    found = maker.expression(var.shape)
    text = found.text
    if found.d != var.d:
        cast = f"{text}.to({var.d})"
        if var.d.saturates or found.d.saturates:
            cast = f"{text}.to(f32).to({var.d})"
        checked = maker.try_expr(cast, exact=False, used=(*found.used, "cast"))
        if checked is None:
            raise NothingError
        text, found = cast, checked
    maker.line(f"{var.name} = {text}")
    maker.accept(found)
    maker.count("stmt", "assignment to an old name")
    _spoil(maker, var, found.exact)


def _spoil(maker: Maker, var: Var, exact: bool) -> None:
    """The variable is as exact as all that may be in it."""
    if not exact:
        maker.vars = [v._replace(exact=False) if v.name == var.name else v for v in maker.vars]


# --- whole tensors --------------------------------------------------------------------------------


def whole_tensor(maker: Maker) -> None:
    """A reduction, scan, rearrangement, product, sort, gather, histogram or random numbers."""
    from tensor_forms import FORMS

    for _ in range(20):
        name, kind, form = maker.random.choice(FORMS)
        try:
            made = form(maker)
        except NothingError:
            continue
        if made is None:
            continue
        found = maker.try_expr(made[0], made[1], (name,))
        if found is not None:
            put(maker, found, kind)
            return
    raise NothingError


# --- control flow ---------------------------------------------------------------------------------


def _block(maker: Maker, least: int = 1) -> None:
    """The body of a loop or branch; what it declares ends with it."""
    maker.depth += 1
    kept = {v.name for v in maker.vars}
    count = len(maker.lines)
    for _ in range(maker.random.randint(least, 3)):
        mark, names = len(maker.lines), list(maker.vars)
        try:
            (reassign if maker.random.random() < 0.6 else statement)(maker)
        except NothingError:
            del maker.lines[mark:]
            maker.vars = names
    if len(maker.lines) == count:
        maker.line("pass")
        maker.count("stmt", "pass")
    maker.depth -= 1
    maker.vars = [v for v in maker.vars if v.name in kept]


def _loop(
    maker: Maker, head: str, kind: str, name: str | None, *, compile_time: bool = False
) -> None:
    """A loop; what its body assigns is not exact beforehand: it may depend on the last turn."""
    maker.line(head)
    before = list(maker.vars)
    maker.vars = [v._replace(exact=v.exact and v.name[0] not in "vx") for v in maker.vars]
    if name is not None and not compile_time:
        maker.declare(name, DTYPES["i32"], (), exact=True)
    _block(maker)
    maker.vars = [v for v in maker.vars if v.name in {b.name for b in before}]
    maker.count("stmt", kind)


def counted_loop(maker: Maker) -> None:
    r, name = maker.random, maker.fresh("k")
    head = r.choice([
        f"for {name} in range(n % {r.randint(2, 5)}):",
        f"for {name} in range({r.randint(0, 2)}, n, {r.randint(2, 4)}):",
        f"for {name} in range(n, 0, -{r.randint(2, 4)}):",
        f"for {name} in range(0, {r.randint(1, 3)}):",
    ])  # fmt: skip
    _loop(maker, head, "for", name)


def ranged_loop(maker: Maker) -> None:
    r, name = maker.random, maker.fresh("k")
    option = r.choice(["num_stages=2", "loop_unroll_factor=2", "num_stages=1", "flatten=True"])
    _loop(maker, f"for {name} in tl.range(0, n % 4, {option}):", "for over tl.range", name)


def unrolled(maker: Maker) -> None:
    name = maker.fresh("k")
    count = "COUNT" if "COUNT" in maker.constants else str(maker.random.randint(1, 3))
    _loop(maker, f"for {name} in tl.static_range({count}):", "for over static_range", name,
          compile_time=True)  # fmt: skip


def loop_while(maker: Maker) -> None:
    r, name = maker.random, maker.fresh("k")
    maker.line(f"{name} = {r.choice(['0', 'n * 0'])}")
    going = f"{name} < n % {r.randint(2, 5)}"
    if r.random() < 0.3:
        going = f"tl.condition({going}, disable_licm={r.choice([True, False])})"
        maker.count("op", "condition")
    maker.line(f"while {going}:")
    before = {v.name for v in maker.vars}
    maker.vars = [v._replace(exact=v.exact and v.name[0] not in "vx") for v in maker.vars]
    _block(maker)
    maker.vars = [v for v in maker.vars if v.name in before]
    maker.line(f"    {name} += 1")
    maker.count("stmt", "while")


def branch(maker: Maker) -> None:
    """Run-time branches."""
    r = maker.random
    maker.line(f"if {maker.condition()}:")
    _block(maker)
    maker.count("stmt", "if")
    if r.random() < 0.3:
        maker.line(f"elif {maker.condition()}:")
        _block(maker)
        maker.count("stmt", "elif")
    if r.random() < 0.5:
        maker.line("else:")
        _block(maker)
        maker.count("stmt", "else")


def static_branch(maker: Maker) -> None:
    """A branch at compile time; the dead side is not checked."""
    if "FLAG" not in maker.constants:
        raise NothingError
    maker.line("if FLAG:")
    _block(maker)
    maker.line("else:")
    if maker.constants["FLAG"]:
        maker.line("    dead = tl.nonexistent(1, 2)")
    else:
        _block(maker)
    maker.count("stmt", "if at compile time")


# --- memory ---------------------------------------------------------------------------------------


def scatter_back(maker: Maker) -> None:
    """Write a tile and read it again in another order."""
    shape: Shape = maker.tile  # type: ignore[attr-defined]
    size = prod(shape)
    var = maker.atom("x", shape)
    if var.shape != shape:
        raise NothingError
    pointer = argument(maker, var.d.name, size * maker.programs, "tame", "m")
    mask = f", mask={_mask(maker, shape)}" if maker.random.random() < 0.4 else ""
    maker.line(f"tl.store({pointer} + g, {var.text}{mask})")
    maker.line("tl.debug_barrier()")
    found = maker.try_expr(f"tl.load({pointer} + g)", exact=False, used=("load",))
    if found is None:
        raise NothingError
    put(
        maker,
        found._replace(text=f"tl.load({pointer} + pid * {size} + ({size - 1} - o))"),
        "assignment",
    )
    maker.count("stmt", "store and load again")
    maker.count("op", "store")
    maker.count("op", "debug_barrier")


def block_pointer(maker: Maker) -> None:
    """A tile through a block pointer or a descriptor, over the edge of its array."""
    shape: Shape = maker.tile  # type: ignore[attr-defined]
    r = maker.random
    if len(shape) != 2:
        raise NothingError
    rows, columns = shape
    dtype = r.choice(["f32", "f16", "i32", "f64", "i16"])
    width = max(columns, 16)
    pointer = argument(maker, dtype, (rows + 1) * width * maker.programs, "tame", "q")
    base = f"{pointer} + pid * {(rows + 1) * width}"
    sides = (r.randint(1, rows), r.randint(1, columns))
    step = 16 * 8 // DTYPES[dtype].bits  # a GPU stores 16 bytes at a time
    stored = (sides[0], r.randrange(step, columns + 1, step) if columns >= step else 0)
    if r.random() < 0.6:
        pad = r.choice(["zero", "nan"]) if dtype[0] == "f" else "zero"
        name = maker.fresh("p")
        maker.line(
            f"{name} = tl.make_block_ptr({base}, {sides}, ({width}, 1), (0, 0), {shape}, (1, 0))"
        )
        if r.random() < 0.4:
            maker.line(f"{name} = tl.advance({name}, (1, 0))")
            maker.count("op", "advance")
        text = f"tl.load({name}, boundary_check=(0, 1), padding_option='{pad}')"
        maker.count("op", "make_block_ptr")
    else:
        name = maker.fresh("p")
        maker.line(
            f"{name} = tl.make_tensor_descriptor({base}, {list(sides)}, [{width}, 1], "
            f"{list(shape)})"
        )
        if columns * DTYPES[dtype].bits < 128:
            raise NothingError
        text = f"{name}.load([{r.randint(0, 1)}, 0])"
        maker.count("op", "make_tensor_descriptor")
        maker.count("op", "load_tensor_descriptor")
    d = DTYPES[dtype]
    var = put(maker, Expr(text, d, shape, True, ()), "block")
    if r.random() < 0.5:
        return
    out = argument(maker, dtype, (rows + 1) * width * maker.programs, "tame", "q")
    base = f"{out} + pid * {(rows + 1) * width}"
    if "boundary" in text:
        block = f"tl.make_block_ptr({base}, {sides}, ({width}, 1), (1, 0), {shape}, (1, 0))"
        maker.line(f"tl.store({block}, {var.name}, boundary_check=(0, 1))")
    else:
        made = f"tl.make_tensor_descriptor({base}, {list(stored)}, [{width}, 1], {list(shape)})"
        maker.line(f"{made}.store([0, 0], {var.name})")
        maker.count("op", "store_tensor_descriptor")
    maker.count("stmt", "block stored")


def atomic(maker: Maker) -> None:
    """Atomics on an array of their own: what is left there does not depend on the order."""
    r = maker.random
    shape: Shape = maker.tile  # type: ignore[attr-defined]
    dtype = r.choice(["i32", "i32", "u32", "i64", "u64", "f32"])
    names = ["add", "max", "min", "and", "or", "xor"] if dtype != "f32" else ["add"]
    name = r.choice(names)
    size = prod(shape)
    given = maker.atom("i" if dtype != "f32" else "F", shape, exact=True)
    if given.shape != shape or given.d.is_float != (dtype == "f32"):
        raise NothingError
    pointer = argument(maker, dtype, size * maker.programs, "tame", "t")
    if dtype != "f32" and r.random() < 0.5:
        place = f"({maker.index(shape, min(8, size))})"
        mask = f", mask={_mask(maker, shape)}" if r.random() < 0.5 else ""
        maker.line(f"tl.atomic_{name}({pointer} + {place}, {given.text}.to({dtype}){mask})")
    elif r.random() < 0.2:
        maker.line(f"tl.atomic_store({pointer} + g, {given.text}.to({dtype}))")
        found = maker.try_expr(f"tl.atomic_load({pointer} + g)", exact=True, used=())
        if found is None:
            raise NothingError
        put(maker, found, "assignment")
        maker.count("op", "atomic_load")
        name = "store"
    elif r.random() < 0.3:
        text = f"tl.atomic_cas({pointer} + g, tl.zeros({shape}, {dtype}), {given.text}.to({dtype}))"
        if dtype == "f32":
            raise NothingError
        maker.line(f"{maker.fresh('c')} = {text}")
        name = "cas"
    else:
        name = r.choice([name, "xchg"])
        text = f"tl.atomic_{name}({pointer} + g, {given.text}.to({dtype}))"
        found = maker.try_expr(text, exact=True, used=())
        if found is None:
            raise NothingError
        put(maker, found._replace(exact=False), "assignment")
    maker.count("op", f"atomic_{name}")
    maker.count("stmt", "atomic")


def asserts(maker: Maker) -> None:
    """Statements that say what is known."""
    r = maker.random
    text = r.choice(["tl.device_assert(n >= 0, 'n')", "tl.assume(n >= 0)", "tl.debug_barrier()",
                     "assert n < 100", "tl.static_assert(True)"])  # fmt: skip
    maker.line(text)
    maker.count("stmt", "assertion")


def totals(maker: Maker) -> None:
    """A scalar that a loop adds up, from a literal."""
    r, name = maker.random, maker.fresh("v")
    step = maker.fresh("k")
    maker.line(f"{name} = {r.choice(['0', '7'])}")
    maker.line(f"for {step} in range(n):")
    maker.line(f"    {name} = {name} {r.choice('+-*')} {r.choice([step, 'pid', 'n', '3'])} + n")
    maker.line(f"{name} = tl.to_tensor({name})")
    maker.count("op", "to_tensor")
    maker.count("stmt", "scalar carried by a loop")
    maker.declare(name, DTYPES["i32"], (), exact=True)


def finish(maker: Maker) -> None:
    """Store the last values and some earlier ones."""
    r = maker.random
    made = [v for v in maker.vars if v.name[0] in "vx"]
    chosen = list(dict.fromkeys([*made[-2:], *r.sample(made, min(2, len(made)))]))
    for var in chosen:
        size = max(1, prod(var.shape))
        pointer = argument(maker, var.d.name, size * maker.programs, "tame", "w")
        mask = ""
        if var.shape and r.random() < 0.2:
            mask = f", mask={index_text(var.shape)} < n * {max(1, size // 5)}"
            maker.count("stmt", "masked store")
        maker.line(
            f"tl.store({pointer} + pid * {size} + ({index_text(var.shape)}), {var.name}{mask})"
        )
        maker.count("stmt", "store")
        maker.count("op", "store")
