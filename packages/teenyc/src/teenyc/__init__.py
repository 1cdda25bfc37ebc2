"""teenyc: the kernel compiler. Text of a unit in, MLIR, PTX and metadata out; no user code runs."""

__all__ = ["__version__"]

__version__ = "0.1.0"
