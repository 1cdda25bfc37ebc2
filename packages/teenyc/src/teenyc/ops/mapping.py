"""A function of scalars for each element of tensors, with control flow of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teenyc.codes import E0314, E0413, E0416
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops.broadcasting import broadcast_pair
from teenyc.ops.control import MAP_RETURN
from teenyc.ops.families import Array, Environment
from teenyc.ops.literals import numeric
from teenyc.ops.regions import fill, format_region, require_function, run_elementwise
from teenyc.types import IRType, TensorType, element_type, scalar_of, shape_of
from teenyc.values import RuntimeValue, describe


def _mapped_types(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    shape = shape_of(operands[0].type)
    return tuple(TensorType(shape, element) for element in attrs["elements"])


def _format_map(op: Operation, names: Names) -> str:
    return format_region(op, names, f"pack = {op.attrs['pack']} : i32")


def _verify_map(op: Operation) -> str | None:
    shapes = {shape_of(value.type) for value in (*op.operands, *op.results)}
    if len(shapes) != 1:
        return f"maps between the shapes {sorted(shapes)}"
    block, pack = op.regions[0].block, op.attrs["pack"]
    wanted = [scalar_of(value.type) for value in op.operands for _ in range(pack)]
    if [arg.type for arg in block.args] != wanted or block.ops[-1].name != MAP_RETURN.name:
        return f"calls its function with other values than {pack} of each operand"
    given = [scalar_of(value.type) for value in op.results for _ in range(pack)]
    found = [value.type for value in block.ops[-1].operands]
    return None if found == given else f"gets {found} from its function instead of {given}"


def _ref_map(
    np: Any, op: Operation, operands: Sequence[Array], env: Environment
) -> tuple[Array, ...]:
    """Neighbours are packed together, in order of the elements."""
    pack, shape = op.attrs["pack"], operands[0].shape
    rows = [array.reshape(-1, pack) for array in operands]
    found = run_elementwise(
        np, env, op.regions[0], [row[:, j] for row in rows for j in range(pack)]
    )
    return tuple(
        np.stack(found[i : i + pack], axis=-1).reshape(shape) for i in range(0, len(found), pack)
    )


MAP_ELEMENTWISE = register(
    OpDef(
        "tt.map_elementwise",
        _mapped_types,
        _format_map,
        attrs=("pack", "elements"),
        verify=_verify_map,
        ref=_ref_map,
        dsl=("map_elementwise",),
        labelled=(0,),
        isolated=True,
    )
)


@lowers("map_elementwise")
def _map_elementwise(
    b: Builder, scalar_fn: object, args: object = (), pack: object = 1
) -> RuntimeValue | tuple[RuntimeValue, ...]:
    function = require_function(b, scalar_fn, "scalar_fn")
    items = args if isinstance(args, tuple) else (args,)
    values = [numeric(b, item, "map_elementwise", "args")[0] for item in items]
    values = _one_shape(b, values)
    if not values or not values[0].shape:
        found = values[0].describe() if values else "nothing"
        raise b.fail(E0413, arg="args", op="map_elementwise", what="tensors", type=found).help(
            "call the function itself on scalars"
        )
    size = pack if isinstance(pack, int) and not isinstance(pack, bool) else 0
    if size < 1 or size & (size - 1):
        raise b.fail(E0416, arg="pack", what=describe(pack), parameter="pack").help(
            "it is a power of two: how many elements one call takes"
        )
    dtypes = [value.dtype for value in values for _ in range(size)]
    region, results = fill(b, function, dtypes, MAP_RETURN, "scalar_fn")  # type: ignore[arg-type]
    kinds = [value.dtype for value in results[::size]]
    if not results or [kind for kind in kinds for _ in range(size)] != [v.dtype for v in results]:
        given = ", ".join(str(value.dtype) for value in results) or "nothing"
        raise b.fail(
            E0314,
            arg="scalar_fn",
            function=function.name,
            found=given,
            wanted=f"{size} values of each result" if size > 1 else "scalars",
        ).help("it returns the results of all elements that it takes, one result after the other")
    attrs = {"pack": size, "elements": tuple(element_type(kind) for kind in kinds)}
    op = b.emit(MAP_ELEMENTWISE, [value.ir for value in values], attrs=attrs, regions=[region])
    shape = values[0].shape
    out = [RuntimeValue(x, kind, shape) for x, kind in zip(op.results, kinds, strict=True)]
    return out[0] if len(out) == 1 else tuple(out)


def _one_shape(b: Builder, values: list[RuntimeValue]) -> list[RuntimeValue]:
    """All values in their common shape, in Triton's order of steps."""
    if len(values) < 2:
        return values
    head, *tail = values
    for i in range(len(tail)):
        head, tail[i] = broadcast_pair(b, head, tail[i], "args")
    for i in range(len(tail) - 1):
        head, tail[i] = broadcast_pair(b, head, tail[i], "args")
    return [head, *tail]
