"""The autotuner: which compile-time values and launch options are fastest, measured and remembered.

It knows devices through `teeny_macros.devices` alone, and trials never touch a caller's arrays.
"""
