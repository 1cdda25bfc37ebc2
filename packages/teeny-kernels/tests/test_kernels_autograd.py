"""Operations in PyTorch's graph: gradients are those of the backward functions, traced or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_kernels
from teeny_kernels import autograd, testing
from teeny_kernels.codes import KernelError
from teeny_kernels.registry import specs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
SPECS = specs()
DIRECT = [
    name
    for name, spec in SPECS.items()
    if spec.backward is not None and spec.call is None and hasattr(autograd, name)
]


def _tensor(array: Any) -> Any:
    return torch.from_numpy(np.array(array, order="C"))


@pytest.mark.parametrize("name", DIRECT)
def test_the_graph_gives_the_gradients_of_the_backward_function(name: str) -> None:
    spec = SPECS[name]
    most = max(len(case.shapes) for case in spec.cases)
    case = next(
        case
        for case in spec.cases
        if case.values != "integers" and len(case.shapes) == most and all(map(all, case.shapes))
    )
    tensors = [_tensor(array) for array in testing.inputs(spec, case, "f64")]
    places = testing.differentiable(spec, tensors)
    for place in places:
        tensors[place].requires_grad_()
    found = testing.tupled(getattr(autograd, name)(*tensors, **case.options))
    plain = [tensor.detach() for tensor in tensors]
    wanted = testing.tupled(spec.run(*plain, **case.options))
    assert all(map(torch.equal, found[:1], wanted[:1])) or torch.isnan(found[0]).any()
    gradient = torch.ones_like(found[0])
    found[0].backward(gradient)
    known = spec.backward([gradient], plain, wanted, dict(case.options))  # type: ignore[misc]
    for place, own in zip(places, known, strict=True):
        assert tensors[place].grad is not None, place
        np.testing.assert_array_equal(tensors[place].grad.numpy(), testing.host(own))


def test_every_operation_with_a_gradient_is_there() -> None:
    names = {name for name, spec in SPECS.items() if spec.backward is not None}
    assert names - set(dir(autograd)) == autograd._OF_LISTS & names
    for name in sorted(names - autograd._OF_LISTS):
        assert callable(getattr(autograd, name))
    with pytest.raises(AttributeError):
        _ = autograd.nothing_of_the_kind


@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_passes_gradcheck(affine: bool) -> None:
    x = torch.randn(3, 7, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(7, dtype=torch.float64, requires_grad=True) if affine else None
    bias = torch.randn(7, dtype=torch.float64, requires_grad=True) if affine else None
    inputs = [own for own in (x, weight, bias) if own is not None]
    assert torch.autograd.gradcheck(
        lambda *own: autograd.layer_norm(own[0], (7,), *own[1:]), inputs
    )


def test_attention_passes_gradcheck() -> None:
    q, k, v = (torch.randn(1, 2, 5, 16, dtype=torch.float64, requires_grad=True) for _ in range(3))
    assert torch.autograd.gradcheck(
        lambda q, k, v: autograd.flash_attention(q, k, v, causal=True)[0], (q, k, v)
    )


def test_the_first_operand_of_where_is_no_part_of_the_graph() -> None:
    x, y = (torch.randn(9, requires_grad=True) for _ in range(2))
    autograd.where(x > 0, x, y).sum().backward()
    assert torch.equal(x.grad, (x > 0).float())
    assert torch.equal(y.grad, (x <= 0).float())


def test_a_gradient_that_the_backward_does_not_give_is_refused() -> None:
    x, target = (torch.randn(4, requires_grad=True) for _ in range(2))
    with pytest.raises(KernelError, match=r"`target` cannot be a tensor that requires a gradient"):
        autograd.mse_loss(x, target)
    autograd.mse_loss(x, target.detach()).backward()
    assert x.grad is not None
    with torch.no_grad():
        assert autograd.mse_loss(x, target) == teeny_kernels.mse_loss(x, target)


def test_arguments_that_an_operation_does_not_take_are_refused_by_its_name() -> None:
    with pytest.raises(TypeError, match=r"gelu\(\) got an unexpected keyword argument 'is_causal'"):
        autograd.gelu(torch.randn(4), is_causal=True)


def test_gradients_of_gradients_are_refused() -> None:
    x = torch.randn(5, requires_grad=True)
    (gradient,) = torch.autograd.grad(autograd.tanh(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"does not require grad|once_differentiable"):
        gradient.sum().backward()


def _model(x: Any, weight: Any) -> Any:
    hidden = autograd.gelu(torch.relu(x) @ weight)
    return autograd.softmax(hidden * 2.0, axis=-1).square().sum()


# The tracer asks for it itself.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_a_traced_model_has_the_gradients_of_the_plain_one_pytorch_119348() -> None:
    x = torch.randn(4, 6, dtype=torch.float64)
    plain = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    traced = plain.detach().clone().requires_grad_()
    one = _model(x, plain)
    one.backward()
    other = torch.compile(_model, backend="aot_eager")(x, traced)
    other.backward()
    assert torch.equal(one, other)
    assert torch.equal(plain.grad, traced.grad)


def test_operations_that_write_their_results_do_so_when_traced_pytorch_132196() -> None:
    def both(x: Any, y: Any) -> tuple[Any, Any]:
        one, other = torch.empty_like(x), torch.empty_like(x)
        teeny_kernels.add(x, y, out=one)
        teeny_kernels.add(one, 1.0, out=other)
        return one * 1, other * 1

    x, y = torch.arange(3.0), torch.arange(3.0) * 10
    traced = torch.compile(both, backend="aot_eager")
    for _ in range(4):  # from the third on, a launch takes its short way
        for found, wanted in zip(traced(x, y), both(x, y), strict=True):
            assert torch.equal(found, wanted)


def test_an_operation_on_a_copy_and_its_source_is_the_same_when_traced_pytorch_198031() -> None:
    def twice(x: Any) -> Any:
        copy = x.clone()
        teeny_kernels.add(x.flip(0), 0.0, out=copy)
        return copy * 2, x

    x = torch.arange(8.0)
    for found, wanted in zip(torch.compile(twice, backend="aot_eager")(x), twice(x), strict=True):
        assert torch.equal(found, wanted)
    assert torch.equal(x, torch.arange(8.0))
