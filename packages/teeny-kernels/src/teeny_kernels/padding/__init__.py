"""Padding of up to three axes: one kernel for each direction, and its calls."""
