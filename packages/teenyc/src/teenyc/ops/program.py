"""Which program of the grid this is, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teenyc.codes import E0409
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ops.families import Array, Environment
from teenyc.types import I32, ScalarType
from teenyc.values import EnumMember, RuntimeValue, describe

_AXES = ("x", "y", "z")


def _grid_op(name: str, dsl: str, numbers: str) -> OpDef:
    def read(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
        return np.asarray(getattr(env, numbers)[_AXES.index(op.attrs["axis"])], dtype=np.int32)

    def verify(op: Operation) -> str | None:
        return None if op.attrs["axis"] in _AXES else f"has no axis {op.attrs['axis']!r}"

    record = register(
        OpDef(
            name,
            lambda operands, attrs: (ScalarType("i32"),),
            lambda op, names: f"{name} {op.attrs['axis']} : i32",
            attrs=("axis",),
            verify=verify,
            ref=read,
            cpu=lambda c, op: getattr(c, numbers)[op.attrs["axis"]],
            dsl=(dsl,),
        )
    )

    def handler(b: Builder, axis: object) -> RuntimeValue:
        number = axis.value if isinstance(axis, EnumMember) else axis
        if isinstance(number, bool) or number not in (0, 1, 2):
            raise b.fail(E0409, arg="axis", what=describe(axis)).help(
                f"write `{dsl}(0)`, `{dsl}(1)` or `{dsl}(2)`"
            )
        return RuntimeValue(b.value(record, axis=_AXES[int(number)]), I32)

    lowers(dsl)(handler)
    return record


GET_PROGRAM_ID = _grid_op("tt.get_program_id", "program_id", "program")
GET_NUM_PROGRAMS = _grid_op("tt.get_num_programs", "num_programs", "grid")
