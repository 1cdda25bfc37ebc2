"""Every function of libdevice on a CPU, beside the interpreter's reading of it.

What is defined bit for bit must be so; functions of real numbers may differ by rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from teenyc.ops.libdevice import TABLE, Row
from teenyc.ops.libdevice_reference import WIDE

EXACT_WIDE = {"finitef", "isfinited", "isinf", "isnan", "signbit", "copysign", "rint", "trunc"}
EXACT_WIDE |= {"nearbyint", "round", "saturatef", "logb", "ilogb", "ldexp", "scalbn", "rcp64h"}
EXACT_WIDE |= {"llrint", "llround", "fdim", "remainder", "fmod", "fast_dividef"}
# Near their zeros the readings are right to an absolute bound only.
WAVES = {"j0", "j1", "jn", "y0", "y1", "yn", "lgamma", "tgamma", "sinpi", "cospi"}
WAVES |= {"cyl_bessel_i0", "cyl_bessel_i1"}
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5, 0.5, 1e-7, -1e-40, 3.4e38, 2.0**-133]
ROWS = [(name, row) for name, rows in sorted(TABLE.items()) for row in rows]
LANES = 64


def operand(name: str, dtype: str, seed: int, kinds: dict[str, Any]) -> Any:
    rng = np.random.default_rng(seed)
    if dtype[0] in "iu":
        if name in ("ldexp", "scalbn", "pow"):
            return rng.integers(-40, 40, LANES).astype(kinds[dtype])
        if name in ("jn", "yn"):
            return rng.integers(0, 6, LANES).astype(kinds[dtype])
        info = np.iinfo(kinds[dtype])
        found = rng.integers(info.min, info.max, LANES, dtype=kinds[dtype], endpoint=True)
        found[:4] = [0, 1, info.max, info.min]
        return found
    if name in WAVES:
        return (rng.uniform(0.01, 12, LANES)).astype(kinds[dtype])
    with np.errstate(over="ignore"):
        found = (rng.standard_normal(LANES) * 10.0 ** rng.integers(-3, 2, LANES)).astype(
            kinds[dtype]
        )
        found[: len(ODD)] = np.roll(np.asarray(ODD), seed).astype(kinds[dtype])
    found[20:40] = np.clip(found[20:40], -0.99, 0.99)
    if dtype == "f32" and "2" in name:
        found[40:44] = [2.0**31, -(2.0**31), 2.0**63, 2.0**32]
    return found


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[row.symbol for _, row in ROWS])
def test_a_function_of_libdevice_is_the_interpreters(
    name: str,
    row: Row,
    compiled: Callable[..., Any],
    interpreted: Callable[..., None],
    same_bits: Callable[[Any, Any], None],
    kinds: dict[str, Any],
) -> None:
    names = "xyzw"[: len(row.operands)]
    params = ", ".join(
        f"{n}_ptr: Ptr[{dtype}]" for n, dtype in zip(names, row.operands, strict=True)
    )
    params += f", out_ptr: Ptr[{row.result}]"
    loads = "".join(f"{n} = tl.load({n}_ptr + o)\n" for n in names)
    body = (
        f"o = tl.arange(0, {LANES})\n{loads}"
        f"tl.store(out_ptr + o, tl.extra.libdevice.{name}({', '.join(names)}))"
    )
    given = [operand(name, dtype, seed, kinds) for seed, dtype in enumerate(row.operands)]
    found, wanted = (np.zeros(LANES, kinds[row.result]) for _ in range(2))
    status, _ = compiled(params, body).launch([*given, found])
    assert status == 0
    with np.errstate(all="ignore"):
        interpreted(params, body, [*given, wanted], (1, 1, 1))
    if name not in WIDE or name in EXACT_WIDE:
        same_bits(found, wanted)
        return
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    rtol, atol = 1e-12, 1e-12 if name in WAVES else 1e-290
    if row.result == "f32":
        rtol, atol = 4e-7, 1e-6 if name in WAVES else 3e-45
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)
