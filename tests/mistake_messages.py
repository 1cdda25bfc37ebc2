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

READS_BADLY: dict[str, str] = {}
