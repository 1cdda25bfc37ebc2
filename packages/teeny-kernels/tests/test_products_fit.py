"""Configurations of products fit in the shared memory of their GPU, whatever the epilogue needs."""

from __future__ import annotations

from typing import Any

import pytest

import teeny_kernels as tk
from teeny_compiler import compile_kernels, every_launch
from teeny_compiler.reading.limits import LIMITS
from teeny_kernels.arrays import ITEMSIZES, operand
from teeny_kernels.products.choose import Config, Problem, choose, table
from teeny_kernels.products.run import PLAIN, Epilogue, chosen, product
from teeny_kernels.products.views import turned
from teeny_macros.target import Target

# The result of a product of each dtype, as the functions of the library ask for it.
RESULTS = {"f8e4m3": "bf16", "i8": "i32"}
EPILOGUES: dict[str, dict[str, Any]] = {
    "plain": {},
    "bias": {"bias": True},
    "factors": {"rows": True, "columns": True, "bias": True},
    "activation": {"bias": True, "activation": "gelu"},
    "residual": {"residual": True},
    "layer": {"bias": True, "residual": True, "activation": "silu"},
    "backward": {"bias": True, "residual": True, "activation": "gelu", "gradient": True},
}
# m, n, k and dtype of products that no row of the table is near to.
RULED = [
    (4096, 11008, 4096, "bf16"), (512, 512, 512, "bf16"), (1000, 4096, 64, "bf16"),
    (4096, 4096, 4096, "f32"), (256, 256, 65536, "bf16"), (24, 4096, 4096, "bf16"),
    (1024, 1024, 1024, "f8e4m3"), (256, 256, 4096, "f64"),
]  # fmt: skip


def epilogue_of(device: Any, name: str, m: int, n: int, dtype: str, batch: int = 1) -> Epilogue:
    own = EPILOGUES[name]
    whole = (m, n) if batch == 1 else (batch, m, n)
    shapes: dict[str, tuple[int, ...]] = {
        "bias": (n,),
        "residual": whole,
        "rows": (m,),
        "columns": (n,),
    }
    made: dict[str, Any] = dict(own)
    for key in own:
        if key in shapes:
            kind = "f32" if key in ("rows", "columns") else dtype
            made[key] = operand(key, device.buffer(shapes[key], kind))
    return Epilogue(**made)


def launched(problem: Problem, epilogue: str, arch: str) -> tuple[list[Any], Config]:
    """The instances of a product on a GPU that is not there, and what was chosen for it."""
    found: list[Config] = []
    m, n, k = problem[:3]

    def work(device: Any) -> None:
        many = () if problem.batch == 1 else (problem.batch,)
        dtype = RESULTS.get(problem.x, problem.x)
        x = (*many, k, m) if problem.x_turned else (*many, m, k)
        y = (*many, n, k) if problem.y_turned else (*many, k, n)
        a, b = (
            operand("array", device.buffer(shape, kind))
            for shape, kind in ((x, problem.x), (y, problem.y))
        )
        a, b = (turned(a) if problem.x_turned else a), (turned(b) if problem.y_turned else b)
        out = operand("out", device.buffer((*many, m, n), dtype))
        end = PLAIN
        if EPILOGUES[epilogue]:
            end = epilogue_of(device, epilogue, m, n, dtype, problem.batch)
        found.append(chosen(out, a, b, end, relaxed=problem.relaxed))
        product(out, a, b, end, relaxed=problem.relaxed)

    return every_launch(work, arch)[1::2], found[0]


def ruled(arch: str) -> list[Problem]:
    blank = Problem(1, 1, 1, 1, "", "", False, True, False, False, False, arch, 1)
    return [
        blank._replace(m=m, n=n, k=k, x=dtype, y=dtype, relaxed=relaxed)
        for m, n, k, dtype in RULED
        for relaxed in ((False, True) if dtype in ("f32", "f8e4m3") else (False,))
        if dtype != "f8e4m3" or int(arch[3:]) >= 89
    ]


def needs(problem: Problem, config: Config) -> int:
    """Bytes of shared memory that `config` takes at most, as choose.py counts them."""
    used = config.stages * (config.m + config.n) * config.k * ITEMSIZES[problem.x]
    if config.kind == "persistent":
        stored = config.m * config.n // config.split * problem.out_bytes
        used += stored * (2 if problem.residual else 1)
    return used


@pytest.mark.parametrize("residual", [False, True])
def test_every_row_of_the_table_has_room_for_an_epilogue(residual: bool) -> None:
    for problem, _ in table("sm_90"):
        for plain in (False, not residual):
            size = ITEMSIZES[RESULTS.get(problem.x, problem.x)]
            full = problem._replace(
                described=True, processors=132, plain=plain, residual=residual, out_bytes=size
            )
            config = choose(full)
            assert needs(full, config) + 1024 <= LIMITS["sm_90"].shared_per_block, (full, config)
            assert config.stages >= 3 or problem.x == "i8", (full, config)


PARTS = 5  # of the table, each in a test of its own
CHOSEN = [
    *((arch, -1) for arch in ("sm_80", "sm_86", "sm_90", "sm_120")),
    *(("sm_90", part) for part in range(PARTS)),
]


@pytest.mark.accept
@pytest.mark.parametrize(("arch", "part"), CHOSEN)
def test_what_is_chosen_fits_when_it_is_compiled(arch: str, part: int) -> None:
    wanted: dict[Any, Any] = {}
    problems = ruled(arch)
    if part >= 0:
        problems = [problem for problem, _ in table(arch)][part::PARTS]
    for problem in problems:
        # All that is read or kept at the end of a tile; others need no more than these.
        is_float = problem.x == problem.y and problem.x not in ("i8", "f8e4m3")
        for name in [
            "residual" if is_float else "factors",
            *(["plain", "backward"] if not wanted else []),
        ]:
            instances, config = launched(problem, name, arch)
            for one in instances:
                if "join" not in one.name and "transpose" not in one.name:
                    wanted.setdefault((one.name, config, problem.x, problem.y, name), one)
    pairs = [(one, Target.cuda(arch)) for one in wanted.values()]
    made = compile_kernels(pairs, workers=2, progress=False)
    for key, artifact in zip(wanted, made, strict=True):
        assert not isinstance(artifact, Exception), (key, artifact)
        assert artifact.metadata.shared_bytes <= LIMITS[arch].shared_per_block, key


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_large_layers_with_a_residual_run_on_a_gpu(name: str) -> None:
    import torch

    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[name]
    bound = {"f16": 2**-9, "bf16": 2**-6}[name]

    def made(*shape: int) -> Any:
        return torch.randn(shape, device="cuda", dtype=dtype)

    x, y, r = made(4096, 4096), made(4096, 4096) / 64, made(4096, 4096)
    wanted = x.float() @ y.float() + r.float()
    assert ((tk.addmm(r, x, y).float() - wanted).abs() <= bound * (1 + wanted.abs())).all()
    x, weight, bias, r = made(8192, 4096), made(4096, 4096) / 64, made(4096), made(8192, 4096)
    wanted = torch.nn.functional.silu(x.float() @ weight.float().T + bias.float()) + r.float()
    found = tk.linear_activation(x, weight, bias, r, activation="silu").float()
    assert ((found - wanted).abs() <= bound * (1 + wanted.abs())).all()
    grad = made(8192, 4096)
    for own in tk.linear_activation_backward(grad, x, weight, bias, activation="silu"):
        assert own is None or own.isfinite().all()
