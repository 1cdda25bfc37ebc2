"""Every public function with every option of a wrong kind or out of range: a code or a result.

A call of each function that works is recorded while the specs run theirs; then one argument of it
at a time becomes nonsense.
"""

from __future__ import annotations

import inspect
import math
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

import teeny_kernels as tk
from teeny_kernels import testing
from teeny_kernels._index import HOMES
from teeny_kernels.codes import KernelError
from teeny_kernels.options import kind_of
from teeny_kernels.registry import specs

# Not operations: the references of some, and what makes gates.
NO_OPERATIONS = {name for name in HOMES if name.endswith("_reference")} | {"gated"}
NAMES = [name for name in HOMES if name not in NO_OPERATIONS]
NONSENSE: tuple[Any, ...] = (
    None, "a", "", b"x", 1.5, -1, -3, 0, 2**62, 2**70, True, math.nan, math.inf, -math.inf, 1e300,
    3 + 1j, [], {}, [None], (1.5,), ("a",), [1, 2], (1, 1), (-1, -1), (2**62, 2**62), object(),
    np.ones(2),
)  # fmt: skip
NO_ARRAYS = (None, "a", 1.5, [1.0, 2.0], object())

Call = dict[str, Any]


def _smallest(spec: Any) -> Any:
    cases = [
        case
        for case in spec.cases
        if case.values != "special" and all(all(shape) for shape in case.shapes)
    ]
    return min(cases, key=lambda case: sum(math.prod(own) for own in case.shapes if own))


@cache
def _recorded() -> dict[str, Call]:
    """A call of every function that the specs call."""
    codes = {inspect.unwrap(getattr(tk, name)).__code__: name for name in NAMES}
    calls: dict[str, Call] = {}

    def watch(frame: Any, event: str, _: Any) -> None:
        name = codes.get(frame.f_code) if event == "call" else None
        if name is None or name in calls or frame.f_code.co_flags & inspect.CO_VARARGS:
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        given = {own: frame.f_locals[own] for own in code.co_varnames[:count]}
        if not name.startswith("flash"):  # their `out` is an input
            given.pop("out", None)
        calls[name] = given

    for spec in specs().values():
        case, dtype = _smallest(spec), spec.dtypes[0]
        sys.setprofile(watch)
        try:
            if spec.backward is None:
                spec.run(*testing.inputs(spec, case, dtype), **case.options)
            else:
                testing.gradients_of(spec, case, dtype, lambda x: x)
        finally:
            sys.setprofile(None)
    return calls


def _others() -> dict[str, Call]:
    """Calls of the functions that specs call by another name."""
    x = np.ones((4, 6), np.float32)
    calls: dict[str, Call] = {
        "cat": {"arrays": [x, x]},
        "cat_backward": {"grad": np.ones((8, 6), np.float32), "arrays": [x, x]},
        "chunk": {"x": x, "chunks": 2},
        "chunk_backward": {"grads": [x[:2], x[2:]], "x": x, "chunks": 2},
        "pad": {"x": x, "pad": (1, 1)},
        "pad_backward": {"grad": x, "pad": (1, 1)},
    }
    for count in (1, 2, 3):
        x = np.ones((2, 3, *(4,) * count), np.float32)
        grad = np.ones((2, 3, *(2,) * count), np.float32)
        for pool, own in (("avg", {}), ("max", {}), ("lp", {"norm_type": 2.0})):
            name, options = f"{pool}_pool{count}d", {**own, "kernel_size": 2}
            calls[name] = {"x": x, **options}
            calls[f"{name}_backward"] = {"grad": grad, "x": x, **options}
    return calls


def _copied(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_copied(own) for own in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _tried(name: str, call: Call, parameter: str, value: Any) -> str:
    """What is wrong with how the function takes the value; empty where nothing is."""
    given = {own: _copied(known) for own, known in call.items()}
    given[parameter] = value
    shown = f"{name}: {parameter} {value!r}"
    try:
        with np.errstate(all="ignore"):
            getattr(tk, name)(**given)
    except KernelError as error:
        if error.code in ("E1201", "E1204") and parameter not in str(error):
            return f"{shown} has no name in: {error}"
        changed = [
            own for own, known in call.items() if own != parameter and not _same(known, given[own])
        ]
        return f"{shown} was refused and changed {changed}" if changed else ""
    except Exception as error:  # noqa: BLE001 (whatever it is, it has no code)
        return f"{shown}: {type(error).__name__}: {error}"
    return ""


def _same(known: Any, found: Any) -> bool:
    if isinstance(known, np.ndarray):
        return testing.same_bits(known, found)
    if isinstance(known, list | tuple):
        return all(map(_same, known, found))
    return True


def _calls() -> dict[str, Call]:
    return {**_others(), **_recorded()}


def test_every_function_is_tried() -> None:
    lists = {"elementwise_mean", "elementwise_sum"}
    lists |= {f"{name}_backward" for name in lists}
    assert set(NAMES) - set(_calls()) == lists


def test_every_annotation_is_known() -> None:
    for name in NAMES:
        for own, text in inspect.unwrap(getattr(tk, name)).__annotations__.items():
            assert own == "return" or kind_of(text) or text in {"Any", "A | float"}, (name, own)


def test_nonsense_is_refused_with_a_code_that_names_it_or_has_a_result() -> None:
    wrong: list[str] = []
    for name, call in _calls().items():
        annotations = inspect.unwrap(getattr(tk, name)).__annotations__
        for parameter in call:
            is_array = annotations[parameter] in {"A", "A | None", "Any", "A | float"}
            for value in NO_ARRAYS if is_array else NONSENSE:
                fault = _tried(name, call, parameter, value)
                if fault:
                    wrong.append(fault)
    assert not wrong, "\n".join(wrong)


X = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("topk", {"k": 1.5}, "topk: `k` cannot be `1.5`"),
        ("topk", {"k": True}, "give an integer"),
        ("chunk", {"chunks": 1.5}, "`chunks`"),
        ("flatten", {"start_dim": 0.5}, "`start_dim`"),
        ("group_norm", {"num_groups": 1.5}, "`num_groups`"),
        ("constant_pad", {"pad": (1.0, 1.0)}, "give a tuple or list of integers"),
        ("dropout", {"seed": None}, "`seed` cannot be `None`"),
        ("leaky_relu", {"negative_slope": "0.1"}, "give a number"),
        ("lp_pool1d", {"norm_type": "2", "kernel_size": 2}, "`norm_type`"),
        ("reduce_sum", {"keepdims": 1}, "give True or False"),
        ("softmax", {"axis": None}, "give an integer"),
        ("softmax", {"axis": 2**70}, "of 64 bits"),
        ("softshrink", {"lambd": -1.0}, "of at least 0"),
        ("hardtanh", {"min_val": 2.0}, "`max_val`, 1.0"),
        ("softmax", {"axis": X}, "cannot be an array (`ndarray`)"),
        ("avg_pool1d", {"kernel_size": 2, "stride": 2**31}, "at most 2^30"),
    ],
)
def test_messages_name_the_option_what_it_is_and_what_it_takes(
    name: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(KernelError) as caught:
        getattr(tk, name)(X, **arguments)
    assert caught.value.code == "E1204"
    assert words in str(caught.value)


@pytest.mark.parametrize("betas", [(0.9, 1.0), (-0.1, 0.9), (0.9, math.nan), 0.9])
def test_momenta_that_never_end_are_refused_before_a_step(betas: Any) -> None:
    param = np.ones(3)
    with pytest.raises(KernelError, match="`betas`"):
        tk.adam_step(param, np.ones(3), np.zeros(3), np.zeros(3), step=1, betas=betas)
    assert param.tolist() == [1, 1, 1]


def test_numbers_of_other_libraries_and_lists_are_taken() -> None:
    one: Any = np.int64(1)
    assert tk.softmax(X, one).tolist() == tk.softmax(X, 1).tolist()
    slope: Any = np.float32(0.5)
    assert tk.leaky_relu(X, slope).tolist() == tk.leaky_relu(X, 0.5).tolist()
    yes: Any = np.True_
    kept = tk.reduce_sum(X, [one], keepdims=yes)
    assert kept.tolist() == tk.reduce_sum(X, 1, keepdims=True).tolist()
    q = np.ones((1, 1, 4, 16), np.float32)
    listed: Any = [1, 2]
    found = tk.flash_attention(q, q, q, window=listed)[0]
    assert found.tolist() == tk.flash_attention(q, q, q, window=(1, 2))[0].tolist()


def test_options_have_the_names_of_pytorch_too() -> None:
    assert tk.softmax(X, dim=0).tolist() == tk.softmax(X, axis=0).tolist()
    found = tk.reduce_sum(X, dim=1, keepdim=True)
    assert found.tolist() == tk.reduce_sum(X, 1, keepdims=True).tolist()
    assert tk.reduce_max(X, 1, keepdim=True).shape == (4, 1)
    assert tk.cat([X, X], dim=1).shape == (4, 12)
    assert tk.topk(X, 2, dim=0)[0].shape == (2, 6)
    assert tk.cumsum(X, dim=-1).tolist() == tk.cumsum(X, -1).tolist()


@pytest.mark.parametrize("given", [((0,), {"dim": 1}), ((), {"axis": 0, "dim": 0})])
def test_one_option_by_two_names_is_refused(given: Any) -> None:
    with pytest.raises(KernelError, match="given beside `axis`"):
        tk.softmax(X, *given[0], **given[1])


@pytest.mark.torch
def test_names_of_pytorch_hold_in_its_graph() -> None:
    import torch

    from teeny_kernels import autograd

    x = torch.tensor(X, requires_grad=True)
    autograd.softmax(x, dim=0)[0].sum().backward()
    other = torch.tensor(X, requires_grad=True)
    torch.softmax(other, dim=0)[0].sum().backward()
    assert x.grad is not None
    assert other.grad is not None
    torch.testing.assert_close(x.grad, other.grad)
