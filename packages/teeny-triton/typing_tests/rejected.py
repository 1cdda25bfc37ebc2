"""One mistake a line. `# E: mypy | basedpyright` are the rules reported there; `-` is a mistake not seen."""
# fmt: off
# ruff: noqa: E501

from typing import TypeVar

import numpy as np
import numpy.typing as npt
from accepted import add, scaled, softmax_rows

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import (
    R1,
    R2,
    DeviceArray,
    Float,
    Num,
    Ptr,
    PtrTensor,
    Tensor,
    bf16,
    f16,
    f32,
    i1,
    i32,
    i64,
    u32,
)

D = TypeVar("D", bound=Num)
F = TypeVar("F", bound=Float)
Vector = Tensor[f32, R1]
Matrix = Tensor[f32, R2]
Offsets = Tensor[i32, R1]
Mask = Tensor[i1, R1]


def pointers(x: Ptr[f32], y: Ptr[f32], o: Offsets, v: Vector, n: i32) -> None:
    tl.load(x + v)  # a float tensor as offsets  # E: operator | reportOperatorIssue
    tl.load(x + 1.5)  # a float offset  # E: operator | reportOperatorIssue
    tl.load(x + o / 2)  # `/` where `//` belongs  # E: operator | reportOperatorIssue
    tl.load(x + n / 2)  # the same with scalars  # E: operator | reportOperatorIssue
    tl.load(o)  # pointer forgotten  # E: call-overload | reportArgumentType reportCallIssue
    tl.load(x + y)  # pointer + pointer  # E: operator | reportOperatorIssue
    x * 2  # arithmetic on the pointer instead of the value  # E: operator | reportOperatorIssue
    tl.store(o, v)  # pointer forgotten  # E: call-overload | reportArgumentType reportCallIssue


def dtypes(x: Ptr[f32], h: Ptr[f16], k: Ptr[i32], o: Offsets, v: Vector, w: Tensor[f16, R1]) -> None:
    tl.store(h + o, v)  # cast forgotten  # E: misc | reportArgumentType reportCallIssue
    v + w  # f32 + f16  # E: operator | reportOperatorIssue
    v * o  # f32 * i32  # E: operator | reportOperatorIssue
    o * 1.5  # an integer tensor times a float  # E: operator | reportOperatorIssue
    tl.load(k + o, mask=o < 4, other=-float("inf"))  # a float default for integers  # E: type-var | reportArgumentType reportCallIssue
    tl.store(k + o, 0.5)  # a float stored as integer  # E: type-var | reportArgumentType reportCallIssue
    tl.store(k, 0.5)  # the same at one place  # E: type-var | reportArgumentType reportCallIssue
    tl.where(v > 0, v, o)  # branches of two dtypes  # E: misc | reportArgumentType reportCallIssue
    tl.where(v, v, 0.0)  # a condition that is no boolean  # E: arg-type | reportArgumentType reportCallIssue
    tl.exp(o)  # exp of integers  # E: type-var | reportArgumentType reportCallIssue
    tl.exp(w)  # exp of f16: it is for f32 and f64  # E: type-var | reportArgumentType reportCallIssue
    w.sqrt()  # the same as a method  # E: misc | reportAttributeAccessIssue
    o.exp()  # the same as a method  # E: misc | reportAttributeAccessIssue
    o + tl.load(x + o).to(i32) / 2  # `/` of integers  # E: operator | reportOperatorIssue
    ~v  # ~ of floats  # E: misc | reportOperatorIssue
    v % 2  # % of floats  # E: operator | reportOperatorIssue
    v.to(float)  # a Python type as dtype  # E: type-var | reportArgumentType
    tl.zeros((16,), np.float32)  # a NumPy dtype  # E: type-var | reportArgumentType reportCallIssue
    tl.store(h + o, tl.load(h + o).max())  # the maximum of f16 is f32  # E: misc | reportArgumentType reportCallIssue
    tl.cdiv(4, 2.0)  # a float in cdiv  # E: call-overload | reportArgumentType reportCallIssue


def scalars(a: f32, b: f16, u: Tensor[u32, R1], o: Offsets, x: Ptr[f32], c: i1, v: Vector) -> None:
    a + b  # f32 + f16  # E: operator | reportOperatorIssue
    u + o  # u32 + i32  # E: operator | reportOperatorIssue
    tl.store(x, b)  # f16 stored as f32  # E: misc | reportArgumentType reportCallIssue
    tl.store(x, tl.maximum(a, b))  # the maximum of f32 and f16  # E: misc | reportArgumentType reportCallIssue
    tl.load(x + o, mask=o < 4, other=b)  # an f16 default  # E: misc | reportArgumentType reportCallIssue
    tl.maximum(a, b)  # two dtypes, unused  # E: - | -
    tl.where(c, a, b)  # two dtypes, unused  # E: - | -
    v * b  # a vector and a scalar of two dtypes  # E: operator | reportOperatorIssue


def run_time_integers(v: Vector, n: i32 | int, k: i32, o: Offsets) -> None:
    v / n  # divides floats  # E: operator | reportOperatorIssue
    tl.arange(0, n)  # no constant  # E: arg-type | reportArgumentType
    tl.zeros((k,), f32)  # no constant  # E: arg-type | reportArgumentType reportCallIssue
    for _ in range(o):  # a loop over a tensor  # E: call-overload | reportArgumentType
        pass
    tl.zeros(16, f32)  # a shape is a tuple  # E: call-overload | reportArgumentType reportCallIssue


def ranks(x: Ptr[f32], o: Offsets, v: Vector, m: Matrix, o2: Tensor[i32, R2]) -> None:
    m + v  # [:, None] forgotten  # E: operator | reportOperatorIssue
    tl.load(x + (o[:, None] * 8 + o))  # o not expanded  # E: operator | reportOperatorIssue
    tl.load(x + o2, mask=o < 4)  # a mask of rank 1  # E: misc | reportArgumentType reportCallIssue
    tl.sum(v, axis=1)  # no such axis  # E: call-overload | reportArgumentType reportCallIssue
    v.sum(axis=1)  # the same as a method  # E: call-overload | reportArgumentType reportCallIssue
    m - tl.max(m, axis=1)  # keep_dims forgotten  # E: operator | reportOperatorIssue
    v[:, :, None]  # too many indices  # E: index | reportArgumentType reportCallIssue
    v[0]  # one element  # E: call-overload | reportArgumentType reportCallIssue
    v.T  # a transpose of rank 1  # E: misc | reportAttributeAccessIssue
    tl.expand_dims(v, 2)  # no such axis  # E: call-overload | reportArgumentType reportCallIssue
    tl.broadcast_to(v, (4, 4))  # rank 1 to rank 2  # E: arg-type | reportArgumentType reportCallIssue
    tl.store(x + o, m)  # rank 2 to rank 1  # E: misc | reportArgumentType reportCallIssue


def masks(x: Ptr[f32], o: Offsets, o2: Tensor[i32, R2], v: Vector, m: Mask, k: Mask, n: i32 | int) -> None:
    tl.load(x + o, mask=o)  # integers as mask  # E: arg-type | reportArgumentType reportCallIssue
    tl.load(x + o, mask=(o < 4) * (o > 1))  # `*` of masks  # E: misc | reportOperatorIssue
    (v > 0) + 1  # arithmetic on a mask  # E: operator | reportOperatorIssue
    tl.load(x + o, other=0.0)  # other without mask  # E: call-overload | reportArgumentType reportCallIssue
    tl.load(x + o, mask=o == 1.5)  # i32 == float  # E: call-overload deprecated | reportArgumentType reportCallIssue reportDeprecated
    tl.load(x + o2, mask=o2 == o)  # == across ranks  # E: call-overload deprecated | reportArgumentType reportCallIssue reportDeprecated
    tl.load(x + o2, mask=o2 != o)  # != across ranks  # E: call-overload deprecated | reportArgumentType reportCallIssue reportDeprecated
    tl.load(x + o, mask=not m)  # `not` for `~`  # E: call-overload truthy-bool | reportArgumentType reportCallIssue reportGeneralTypeIssues
    tl.load(x + o, mask=m or k)  # `or` for `|`  # E: truthy-bool | -
    tl.load(x + o, mask=o < 4 and o > 1)  # `and` for `&`  # E: - | -
    tl.load(x + o, mask=0 <= o < 4)  # a chained comparison  # E: - | -
    tl.load(x + o, mask=o < n & o > 1)  # parentheses forgotten  # E: - | -
    tl.load(x + o, mask=True)  # a Python boolean  # E: call-overload | reportArgumentType reportCallIssue
    if o > 3:  # a branch on a tensor  # E: - | reportGeneralTypeIssues
        pass
    while o < 4:  # a loop on a tensor  # E: - | reportGeneralTypeIssues
        o = o + 1
    v if v > 0 else -v  # a ternary on a tensor  # E: - | reportGeneralTypeIssues


def products(a: Tensor[f16, R2], b: Tensor[bf16, R2], v: Tensor[f16, R1], c: Ptr[f16], o: Tensor[i32, R2]) -> None:
    tl.dot(a, b)  # operands of two dtypes  # E: arg-type | reportArgumentType reportCallIssue
    tl.dot(a, a, a)  # an f16 accumulator  # E: arg-type | reportArgumentType reportCallIssue
    tl.dot(a, v)  # an operand of rank 1  # E: arg-type | reportArgumentType reportCallIssue
    tl.store(c + o, tl.dot(a, a))  # the product is f32  # E: misc | reportArgumentType reportCallIssue
    tl.dot(a, a, input_precision="fp32")  # no such precision  # E: call-overload | reportArgumentType reportCallIssue


def generics(x: Ptr[D], y: Ptr[F], o: Offsets) -> None:
    tl.store(y + o, tl.load(x + o))  # two type variables  # E: misc | reportArgumentType reportCallIssue
    tl.load(x + o) * 0.5  # a float on any number  # E: operator | reportOperatorIssue


def programs() -> None:
    tl.program_id(3)  # no such axis  # E: arg-type | reportArgumentType
    tl.program_id("x")  # no such axis  # E: arg-type | reportArgumentType
    tl.arrange(0, 4)  # no such name  # E: attr-defined | reportAttributeAccessIssue
    tl.load(1, 2, 3, 4, 5, 6, 7, 8, 9)  # too many arguments  # E: call-overload | reportCallIssue


@device
def helper(x: Vector, n: i32) -> Vector:
    return x * n.to(f32)


def helpers(x: Vector) -> None:
    helper(tl.zeros((8,), f16), i32(3))  # a vector of another dtype  # E: arg-type | reportArgumentType
    helper(x, i64(3))  # a scalar of another dtype  # E: arg-type | reportArgumentType
    helper(x)  # an argument short  # E: call-arg | reportCallIssue
    acc = tl.zeros((16,), f16)
    for _ in tl.range(0, 4):
        acc = acc + tl.zeros((16,), f32)  # the dtype changes in the loop  # E: arg-type | reportOperatorIssue


@kernel  # a kernel returns nothing  # E: arg-type | reportArgumentType
def returns(x: Ptr[f32]) -> Vector:
    return tl.load(x + tl.arange(0, 4))


def launches(s: DeviceArray[f32], h: DeviceArray[f16], k: DeviceArray[i32], a: npt.NDArray[np.float64]) -> None:
    add[(1,)](s, s, 4, BLOCK=4)  # a pointer short  # E: arg-type call-arg | reportCallIssue
    add[(1,)](s, s, 4, s, BLOCK=4)  # the order  # E: arg-type | reportArgumentType
    add[(1,)](s, s, s, 4, BLOCK_SIZE=4)  # no such parameter  # E: call-arg | reportCallIssue
    add[(1,)](s, s, s, 4, BLOCK=4.0)  # a float constant  # E: arg-type | reportArgumentType
    add[(1,)](s, s, s, 4 / 2, BLOCK=4)  # a float for an i32  # E: arg-type | reportArgumentType
    add[(1,)](s, s, s, 4)  # a constant short  # E: call-arg | reportCallIssue
    add[(1,)]([1.0], [1.0], [1.0], 1, BLOCK=4)  # lists  # E: arg-type | reportArgumentType
    add[(1,)](s, h, s, 1, BLOCK=4)  # D is f32 and f16  # E: misc | reportArgumentType
    scaled[(1,)](k, k, 1, 1.0, BLOCK=4)  # integers where floats belong  # E: type-var | reportArgumentType
    softmax_rows[(1,)](s, h, 1, 1, 1, BLOCK=4)  # f16 for f32  # E: arg-type | reportArgumentType
    softmax_rows[(1,)](tl.typed(a), s, 1, 1, 1, BLOCK=4)  # f64 for f32  # E: arg-type | reportArgumentType
    softmax_rows[(1,)](a, a, 1, 1, 1, BLOCK=4)  # an array without dtype: checked at run time  # E: - | -
    add(s, s, s, 4, BLOCK=4)  # grid forgotten  # E: operator | reportCallIssue
    add[4.0](s, s, s, 4, BLOCK=4)  # a float grid  # E: index | reportArgumentType
    add[(1, 1, 1, 1)](s, s, s, 4, BLOCK=4)  # four axes  # E: index | reportArgumentType
    add.on(lambda meta: meta["BLOCK"] / 2)  # a float grid from a function  # E: arg-type return-value | reportArgumentType
    add.instantiate(D=f32, BLOCKSIZE=4)  # no such name: checked at run time  # E: - | -


def combining(v: Vector, m: Matrix, o: Offsets, x: Ptr[f32]) -> None:
    tl.argmax(v, 1)  # no such axis  # E: call-overload | reportArgumentType reportCallIssue
    tl.argmax(v)  # no axis at all  # E: call-overload | reportCallIssue
    tl.store(x, tl.argmax(v, 0))  # an index stored as a value  # E: misc | reportArgumentType reportCallIssue
    tl.reduce(v, 0, lambda a, b: a > b)  # a comparison does not combine  # E: call-overload | reportArgumentType reportCallIssue
    tl.histogram(v, 16)  # floats have no bins  # E: type-var | reportArgumentType
    tl.gather(m, o, 0)  # an index of another rank  # E: call-overload | reportArgumentType reportCallIssue
    tl.join(v, o)  # two dtypes  # E: misc | reportArgumentType reportCallIssue


def mathematics_and_memory(x: Tensor[f32, R1], h: Tensor[f16, R1], p: PtrTensor[i32, R1], d: Ptr[f16]) -> None:
    tl.math.atan2(x, h)  # operands of two dtypes  # E: misc | reportArgumentType reportCallIssue
    tl.math.popc(x)  # bits of a float  # E: arg-type | reportArgumentType reportCallIssue
    tl.atomic_add(p, x)  # a float into integers  # E: misc | reportArgumentType reportCallIssue
    tl.atomic_and(d, 1)  # bits of floats  # E: type-var | reportArgumentType reportCallIssue
    tl.make_tensor_descriptor(d, (8, 8), (8, 1), (8,))  # sides that do not fit  # E: arg-type | reportArgumentType reportCallIssue
    tl.make_tensor_descriptor(d, (8, 8), (8, 1), (8, 8)).load((0,))  # an offset forgotten  # E: arg-type | reportArgumentType reportCallIssue
    tl.rand(7, x)  # offsets that are floats  # E: type-var | reportArgumentType reportCallIssue
