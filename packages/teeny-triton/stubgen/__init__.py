"""Writes the typed surface (`.pyi`) of the kernel language: `python -m stubgen [--check]`."""
