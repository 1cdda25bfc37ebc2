"""Printing and checking, while compiling and while running."""

from teeny_triton.rules import rule


@rule(values="*object")
def static_print(*values, sep: str = " ", end: str = "\n", file: None = None, flush: bool = False):
    """Print compile-time values while compiling, to standard error; of others the type."""
    ...


@rule(args="*object")
def device_print(prefix: str, *args, hex: bool = False):
    """Print a line for each element of the values, behind the program's number and `prefix`.

    `prefix` is a string known at compile time. `hex=True` prints bits.
    """
    ...


@rule(cond="Tensor[i1, Any] | i1 | bool", mask="Tensor[i1, Any] | i1 | None")
def device_assert(cond, msg: str = "", mask=None):
    """End the kernel with an error that says `msg` unless `cond` holds wherever `mask` does.

    GPUs check it in builds with assertions (`-C assertions=on`) only.
    """
    ...


@rule(x="Tensor[E, R]", mask="Mask", returns="Tensor[E, R]")
@rule(x="E", mask="i1 | bool", returns="E")
def expect_zero(x, mask):
    """The value x itself; builds with assertions check that it is zero where `mask` holds."""
    device_assert((x == 0) | ~to_tensor(mask), "expect_zero expected x == 0 where mask is true")
    return x
