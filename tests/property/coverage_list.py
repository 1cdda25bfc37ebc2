"""What a long run must contain, and what random kernels leave out, with the reason."""

from __future__ import annotations

from catalog import ELEMENTWISE, NAMES
from tensor_forms import FORMS

STATEMENTS = (
    "assignment", "assignment to an old name", "augmented assignment", "tuple assignment",
    "scalar argument", "scalar carried by a loop", "static_assert", "assertion", "load",
    "masked load", "masked load without other", "gathered load", "store", "masked store",
    "store and load again", "block", "block stored", "atomic", "if", "elif", "else",
    "if at compile time", "for", "for over tl.range", "for over static_range", "while",
    "reduction", "scan", "shape", "sort", "gather", "histogram", "dot", "map", "random",
    "softmax", "hint", "program", "dtype", "places",
)  # fmt: skip
_OTHERS = (
    "load", "store", "condition", "debug_barrier", "advance", "make_block_ptr",
    "make_tensor_descriptor",
    "load_tensor_descriptor", "store_tensor_descriptor", "atomic_load", "atomic_store",
    *(f"atomic_{name}" for name in ("add", "and", "cas", "max", "min", "or", "xchg", "xor")),
)  # fmt: skip
# Written by every kernel, or as a statement; not counted by name.
WRITTEN = ("arange", "program_id", "range", "static_range", "static_assert", "device_assert",
           "assume", "num_programs", "sum", "max", "min", "abs", "round")  # fmt: skip
LEFT_OUT = {
    "bitonic_merge": "its operand is made of sorted halves; compared in the tests of sorting",
    "dot_scaled": "compared in the tests of products",
    "view": "its order is not defined",
    "expect_zero": "prints; compared in the tests of debugging",
    "device_print": "prints",
    "static_print": "prints",
    "inline_asm_elementwise": "of GPUs only",
    "gdc_wait": "of GPUs only",
    "gdc_launch_dependents": "of GPUs only",
    "atomic_poll": "waits for another program",
    "pointer_type": "makes pointers of numbers",
    "philox_impl": "within `philox`",
    "uint_to_uniform_float": "within `rand`",
    "pair_uniform_to_normal": "within `randn`",
    "constexpr": "an annotation",
    "auto": "a default",
    "typed": "a decorator",
}


def operations() -> set[str]:
    """The operations that are counted."""
    return {f.name for f in ELEMENTWISE} | {name for name, _, _ in FORMS} | set(_OTHERS)


def expected(targets: str) -> list[str]:
    """The counts that a long run must have."""
    return [
        *(f"op {name}" for name in sorted(operations())),
        *(f"dtype {name}" for name in NAMES),
        *(f"stmt {name}" for name in STATEMENTS),
    ]
