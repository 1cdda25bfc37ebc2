"""Activation functions, forward and backward: each a formula and its derivative."""
