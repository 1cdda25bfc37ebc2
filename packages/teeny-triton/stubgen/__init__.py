"""Writes the typed surface (`.pyi`) of the kernel language from its text: `python -m stubgen [--check]`."""
