"""Kernels without annotations, as Triton's users write them: checked as Any, with own settings."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, allow-any-expr
# pyright: basic

import teeny_triton as tl
from teeny_macros import kernel


@kernel
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    acc = tl.zeros([BLOCK_SIZE, BLOCK_SIZE], dtype=tl.float32)
    tl.store(output_ptr + offsets, x + y + tl.sum(acc, axis=1) + tl.max(x), mask=mask)


@kernel
def row_kernel(x_ptr, n, SIDE: tl.constexpr, WIDE: tl.constexpr = 4):
    acc = tl.zeros((SIDE, WIDE), dtype=tl.float32)
    for k in range(tl.cdiv(n, SIDE)):
        acc += tl.load(x_ptr + k)
    tl.store(x_ptr + tl.arange(0, SIDE), tl.where(tl.max(acc, 1) > 0, tl.sum(acc, 1), 0.0))


add_kernel[(1,)](object(), object(), object(), 4, BLOCK_SIZE=4)
