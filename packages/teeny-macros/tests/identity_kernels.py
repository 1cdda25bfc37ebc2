"""Twenty instances whose ids are stored in golden/ids.json; run as a program, it prints them.

The odd layout is the point: it must not change with a formatter or a Python version.
"""

# ruff: noqa: ANN001, ANN201, D209, D300, D415, E702, F841, W291
# mypy: ignore-errors

from __future__ import annotations

import enum
import json
import math
from typing import Any, TypeVar

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Float, Num, Ptr, bf16, f16, f32, f64, i1, i32, i64, u8

D = TypeVar("D", bound=Float)
E = TypeVar("E", f16, f32)
N = TypeVar("N", bound=Num)
SCALE, LIMIT, NAME = 0.1, 1 << 40, "größe"
SHAPE = (8, (8, 1.5), True, None)
INFINITE = float("-inf")
CONSTANT = tl.constexpr(-1)
DTYPES = (f32, bf16)


class Mode(enum.Enum):
    """A user's enumeration."""

    FAST = 3


class Config:
    """A user's namespace."""

    EPS = 1e-6


@device
def scaled(x: Any, by: Any = SCALE) -> Any:
    """Docstring."""
    return x * by  # a comment


@device
def twice(x):  # type: ignore[no-untyped-def]
    return scaled(scaled(x), by=2.0) + Config.EPS


@kernel
def vector_add(x_ptr: Ptr[D], out_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int] = 64) -> None:
    """Docstring

    of several lines."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)

    # a comment
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)  # another
    tl.store(out_ptr + offs, x, mask=mask)


@kernel
def with_helpers(out_ptr: Ptr[f32]) -> None:
    tl.store(out_ptr, twice(tl.load(out_ptr)) * math.pi)


@kernel
def with_literals(out_ptr: Ptr[N], limit: i64 | int = LIMIT) -> None:
    text = NAME, SHAPE, INFINITE, CONSTANT, DTYPES, Mode.FAST, tl.Axis.Y, "漢字"
    tl.store(out_ptr, limit)


# fmt: off
@kernel(num_warps=8)
def with_layout(
    out_ptr: Ptr[E],     # odd layout stays

    flag: i1 | bool,
    *, WIDE: Const[bool] = True,
) -> None:
    "A docstring"; x = tl.load(out_ptr) ; y = \
        x
    if WIDE:
      text = """lines
  # that stay   

        """; tl.store(out_ptr, x + (  # c
            y
              # d
        ))
    message = f"{x}  # {y:>{3}}"
# fmt: on


@kernel
def untyped(x_ptr, n, scale, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(x_ptr + n, scale * BLOCK)


@kernel
def optional(x_ptr: Ptr[f32], w_ptr: Ptr[f32] | None, op: Const[Any], dt: Const[Any]) -> None:
    tl.store(x_ptr, op(tl.load(x_ptr).to(dt)))


def factory(by: Any) -> Any:
    """A kernel that closes over `by`."""

    @kernel
    def closed(out_ptr: Ptr[f32]) -> None:
        tl.store(out_ptr, by)

    return closed


def identities() -> dict[str, str]:
    """The ids by a name for each."""
    add = vector_add.instantiate(D=f32)
    untyped_ = untyped.instantiate(x_ptr=Ptr[u8], n=i32, scale=f32, BLOCK=2)
    instances = {
        "add": add,
        "add f64": vector_add.instantiate(D=f64, BLOCK=128),
        "add bf16": vector_add.instantiate(D=bf16),
        "add hints": add.with_hints(divisible_by_16=("n", "x_ptr"), equal_to_1=()),
        "add one": add.with_hints(equal_to_1=("n",)),
        "add warps": vector_add.instantiate(D=f32, num_warps=8, maxnreg=64),
        "add unfused": vector_add.options(enable_fp_fusion=False).instantiate(D=f32),
        "helpers": with_helpers.instantiate(),
        "literals f16": with_literals.instantiate(N=f16),
        "literals i64": with_literals.instantiate(N=i64),
        "layout": with_layout.instantiate(E=f16),
        "layout narrow": with_layout.instantiate(E=f16, WIDE=False),
        "untyped": untyped_,
        "untyped f64": untyped.instantiate(x_ptr=Ptr[f64], n=i64, scale=f64, BLOCK=-1),
        "untyped float": untyped.instantiate(x_ptr=Ptr[f64], n=i64, scale=f64, BLOCK=-1.5),
        "untyped text": untyped.instantiate(x_ptr=Ptr[f64], n=i64, scale=f64, BLOCK="a.b"),
        "optional none": optional.instantiate(w_ptr=None, op=twice, dt=f32),
        "optional array": optional.instantiate(w_ptr=Ptr[f32], op=scaled, dt=f16),
        "closed int": factory(1).instantiate(),
        "closed float": factory(1.0).instantiate(),
    }
    return {name: instance.id for name, instance in instances.items()}


if __name__ == "__main__":
    print(json.dumps(identities(), indent=1))
