"""Liger's kernels as peers of the operations that both libraries have.

Liger (https://github.com/linkedin/Liger-Kernel) is no dependency: `forward` and `backward` give
None where its package is not importable, or where it lacks an operation or an option.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _functions() -> Any:
    try:
        return importlib.import_module("liger_kernel.transformers.functional")
    except ImportError:
        return None


def _rope(own: Any, x: Any, cos: Any, sin: Any) -> Any:
    """Liger's turns queries and keys of (batch, heads, positions, D) in place: half of x each."""
    heads = x.shape[2] // 2
    q, k = x[:, :, :heads].transpose(1, 2), x[:, :, heads:].transpose(1, 2)
    wide = [angle.repeat(1, 2)[None] for angle in (cos, sin)]
    return own.liger_rope(q, k, *wide)


# Arrays and options of a case, and the call of Liger's function that computes the same.
CALLS: Mapping[str, Callable[..., Any]] = {
    "softmax": lambda own, x: own.liger_softmax(x),
    "swiglu": lambda own, x, y: own.liger_swiglu(x, y),
    "geglu": lambda own, x, y: own.liger_geglu(x, y),
    "rms_norm": lambda own, x, w, normalized_shape: own.liger_rms_norm(
        x, w, 1e-6, 0.0, "llama", False
    ),
    "layer_norm": lambda own, x, w, b, normalized_shape: own.liger_layer_norm(x, w, b, 1e-5),
    "add_rms_norm": lambda own, x, residual, w, normalized_shape, eps: own.liger_fused_add_rms_norm(
        x, residual, w, eps, 0.0, "llama", False
    ),
    "group_norm": lambda own, x, w, b, num_groups: own.liger_group_norm(
        x, w, b, x.shape[1], num_groups, 1e-5
    ),
    "rope": _rope,
    "cross_entropy": lambda own, x, t: own.liger_cross_entropy(x, t),
    "linear_cross_entropy": lambda own, x, w, t, bias=None: own.liger_fused_linear_cross_entropy(
        x, w, t, bias
    ),
    "kl_div": lambda own, x, y: own.liger_kl_div(x, y, reduction="mean"),
}

# Their gradients are made forward already, or overwrite what a second backward needs.
FORWARD_ONLY = {"cross_entropy", "linear_cross_entropy", "rope"}


def forward(name: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What runs Liger's forward on the inputs of a case, or None."""
    own = _functions()
    if own is None or name not in CALLS:
        return None
    call = CALLS[name]
    try:
        call(own, *inputs, **options)
    except Exception as error:  # noqa: BLE001 - a peer that cannot is no failure of ours
        print(f"    liger: {type(error).__name__}: {str(error).splitlines()[0][:90]}")
        return None
    return lambda: call(own, *inputs, **options)


def backward(
    name: str,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    grads: Sequence[Any],
    wanted: Sequence[int],
) -> Any:
    """What runs Liger's backward of a result made before, through autograd; or None."""
    own = _functions()
    if own is None or name not in CALLS or name in FORWARD_ONLY:
        return None
    import torch

    leaves = [given.clone() for given in inputs]
    sources = [leaves[at].requires_grad_() for at in wanted]
    try:
        found = CALLS[name](own, *leaves, **options)
        found = tuple(found) if isinstance(found, tuple | list) else (found,)
        # Liger's kernels write gradients over those they are given.
        given = [own_grad.clone() for own_grad in grads[: len(found)]]

        def work() -> object:
            return torch.autograd.grad(found, sources, given, retain_graph=True, allow_unused=True)

        work()
    except Exception as error:  # noqa: BLE001 - a peer that cannot is no failure of ours
        print(f"    liger: {type(error).__name__}: {str(error).splitlines()[0][:90]}")
        return None
    return work
