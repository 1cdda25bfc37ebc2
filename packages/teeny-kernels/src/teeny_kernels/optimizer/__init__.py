"""Optimizers: one step over a parameter and its state, changed in place."""
