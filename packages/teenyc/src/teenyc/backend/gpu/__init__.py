"""The GPU back end: Triton-dialect MLIR text to PTX through libtriton, in a child process."""

__all__: list[str] = []
