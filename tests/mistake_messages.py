"""The commonest mistakes of the catalogue, and which messages about them read badly, and why."""

from __future__ import annotations

COMMONEST = (
    "store_without_cast",
    "half_offsets",
    "half_plus_single",
    "vector_plus_tile",
    "unexpanded_offsets",
    "vector_mask_of_tile",
    "reduced_minus_tile",
    "and_of_masks",
    "chained_comparison",
    "branch_on_tensor",
    "exponent_of_half",
    "run_time_range",
    "mean_by_count",
    "dot_stored_as_half",
    "stored_pointers",
    "sum_changes_dtype",
    "range_of_100",
    "vectors_of_two_lengths",
    "misspelled_constant",
    "two_dtypes_for_one",
)

_NO_DTYPES = (
    "mypy speaks of a type parameter of `store`, basedpyright and ty of overloads; none of them "
    "names the two dtypes in its first line."
)
_OTHER_EXPRESSION = (
    "mypy expects the second operand to be like the first, and so reports the pointer inside it, "
    "where nothing is wrong."
)
READS_BADLY: dict[str, str] = {
    "store_without_cast": _NO_DTYPES,
    "half_offsets": (
        "`teeny check` and the launch say that the offsets are floats, and only in their help that "
        "`/` made them so."
    ),
    "half_plus_single": _OTHER_EXPRESSION,
    "vector_plus_tile": _OTHER_EXPRESSION,
    "vector_mask_of_tile": (
        "mypy, basedpyright and ty do not say in their first line that it is the mask, or its rank."
    ),
    "exponent_of_half": (
        "mypy names a type variable of ours without its bound, f32 and f64; basedpyright, ty and "
        "pyrefly do not say that another dtype would do."
    ),
    "run_time_range": (
        "the checkers ask for an `int`: that it has to be known at compile time, they cannot say."
    ),
    "dot_stored_as_half": _NO_DTYPES,
    "stored_pointers": "no checker says that a load is missing; they list overloads of `store`.",
    "sum_changes_dtype": _OTHER_EXPRESSION,
    "misspelled_constant": (
        "basedpyright, ty and pyrefly say first that `BLOCK` is missing, and then what is unknown."
    ),
    "two_dtypes_for_one": (
        "mypy names neither the array nor a dtype, and ty blames the array whose dtype is right."
    ),
}
