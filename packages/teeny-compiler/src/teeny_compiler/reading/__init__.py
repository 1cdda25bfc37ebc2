"""Reading aids: what a kernel became in each stage, and what it will cost, without a GPU."""

from __future__ import annotations

__all__: list[str] = []
