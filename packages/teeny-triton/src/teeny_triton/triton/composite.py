"""What the language says in itself: these bodies are compiled like a helper of the kernel."""

from teeny_triton.rules import elementwise, on_host, rule


@on_host
@rule(x="int", div="int", returns="int")
@rule(x="I", div="I | int", returns="I")
@rule(x="Tensor[I, R]", div="Tensor[I, R] | I | int", returns="Tensor[I, R]")
def cdiv(x, div):
    """Divide and round up, for x >= 0 and div > 0; outside a kernel it takes Python integers."""
    return (x + (div - 1)) // div


@rule(k=(1, 2, 3), shape="Shape{k}", dtype="type[E]", returns="Tensor[E, R{k}]")
@rule(shape="AnyShape", dtype="type[E]", returns="Tensor[E, Any]")
def zeros(shape, dtype):
    """A tensor of zeros. `shape` is a tuple of powers of two known at compile time."""
    return full(shape, 0, dtype)


@rule(input="Tensor[E, R]", returns="Tensor[E, R]")
def zeros_like(input):
    """A tensor of zeros with the shape and dtype of `input`."""
    return zeros(input.shape, input.dtype)


@elementwise("W")
def sigmoid(x):
    """1 / (1 + exp(-x)) of each element; f32 or f64."""
    return 1 / (1 + exp(-x))


@rule(x="Tensor[F, R]", dim="int | None", returns="Tensor[F, R]")
def softmax(x, dim=None, keep_dims: bool = False, ieee_rounding: bool = False):
    """exp(x - max) / sum(exp(x - max)) along the axis `dim` (0 when None); f32 or f64.

    The shape is kept, whatever `keep_dims` says.
    """
    static_assert(not ieee_rounding, "softmax with ieee_rounding is not supported in this version")
    axis: constexpr = 0 if dim is None else dim
    z = x - max(x, axis, keep_dims=True)
    num = exp(z)
    return num / sum(num, axis, keep_dims=True)


@rule(input="Tensor[E, R]", other="Tensor[E, R] | E | bool | int", returns="Tensor[i1, R]")
@rule(input="E", other="E | bool | int", returns="i1")
def logical_and(input, other):
    """Whether both are not zero, of each pair of elements; both are computed."""
    return (input != 0) & (other != 0)


@rule(input="Tensor[E, R]", other="Tensor[E, R] | E | bool | int", returns="Tensor[i1, R]")
@rule(input="E", other="E | bool | int", returns="i1")
def logical_or(input, other):
    """Whether one of both is not zero, of each pair of elements; both are computed."""
    return (input != 0) | (other != 0)
