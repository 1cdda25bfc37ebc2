"""teenyc: the kernel compiler. It takes the text of a unit and returns MLIR, PTX and metadata; it runs no user code."""

__all__ = ["__version__"]

__version__ = "0.1.0"
