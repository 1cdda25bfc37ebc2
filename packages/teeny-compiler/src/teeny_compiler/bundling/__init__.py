"""Bundles: many compiled kernels in one file, made ahead and run without a compiler."""

from __future__ import annotations

__all__: list[str] = []
