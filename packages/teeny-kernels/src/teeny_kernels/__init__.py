"""The kernel library on top of the toolchain.

This version holds no kernels: it reserves the package. It must not import a device or the compiler
itself, which are reached through entry points.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
