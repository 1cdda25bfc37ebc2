"""Which instances go into a bundle: every combination of choices, and variants for arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_compiler.codes import E0970, E0972
from teeny_macros.target import CPU_ARCHS, Target

if TYPE_CHECKING:
    from types import ModuleType

    from teeny_macros.instance import KernelInstance

    Instance = KernelInstance[...]

ATTRIBUTE = "bundle_instances"
_TARGET = "target"
HINTS = ("usual", "none")
# What `cpu` stands for: every 64-bit machine, and a faster code where there is AVX2.
PORTABLE = ("x86-64", "x86-64-v3", "aarch64")
_INTEGERS = frozenset(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])


class Wanted(NamedTuple):
    """An instance that a bundle is to hold, and the targets that it is compiled for."""

    instance: Instance
    targets: tuple[Target, ...]


Listed = Wanted  # before its variants for launches


def every_instance(kernel: Any, **choices: Any) -> list[Instance]:
    """All instances of a kernel that choices allow; a list stands for one of its members.

    `every_instance(vector_add, D=[f32, f16], BLOCK_SIZE=1024)` gives two. What `instantiate` takes
    is a choice. A tuned kernel gives each of its configs as well.

    Raises:
        LaunchError: what `kernel.instantiate` raises.
    """
    inner = getattr(kernel, "kernel", kernel) if not hasattr(kernel, "instantiate") else kernel
    choices = {**_own_dtypes(inner, choices), **choices}
    names = list(choices)
    lists = [value if isinstance(value, list) else [value] for value in choices.values()]
    binds = [dict(zip(names, row, strict=True)) for row in product(*lists)]
    configs = getattr(kernel, "configs", None)
    if configs is not None:
        rows = [{**config.values, **config.options} for config in configs]
        binds = [{**row, **bind} for bind in binds for row in rows]
    found = [inner.instantiate(**bind) for bind in binds]
    return list(dict.fromkeys(found))


def _own_dtypes(kernel: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The dtypes that `@kernel(dtypes=...)` lists, for type variables that nothing else fixes."""
    import teeny_triton

    listed = [getattr(teeny_triton, name) for name in getattr(kernel, "dtypes", ())]
    if not listed:
        return {}
    free = [
        parameter.variable.__name__
        for parameter in kernel.parameters
        if parameter.variable is not None and parameter.name not in given
    ]
    fixed = {p.variable for p in kernel.parameters if p.variable and p.name in given}
    taken = {variable.__name__ for variable in fixed}
    return {name: listed for name in dict.fromkeys(free) if name not in taken}


def instances_in(module: ModuleType, targets: Sequence[Target] = ()) -> list[Listed]:
    """What a module offers for bundles, and the targets that it is for.

    Its `bundle_instances`: a list of instances and kernels, or a function that returns one. Without
    it, each of its kernels that has nothing to fix.

    Raises:
        ToolchainError: E0970 when that is nothing.
    """
    given = getattr(module, ATTRIBUTE, None)
    if callable(given):
        return list(listed_by(module.__name__, given, {}, targets))
    if given is not None:
        listed = dict.fromkeys(each_instance(module.__name__, given))
        return [Listed(instance, tuple(targets)) for instance in listed]
    found: list[Instance] = []
    refused: list[str] = []
    for name, value in vars(module).items():
        if not _is_kernel(value) or value.__module__ != module.__name__:
            continue
        try:
            found += every_instance(value)
        except Exception as error:
            if not hasattr(error, "diagnostics"):
                raise
            refused.append(f"`{name}`: {error.diagnostics[0].message}")
    if not found or refused:
        error = E0970.error(module=module.__name__)
        for reason in refused:
            error.note(reason)
        raise error.help(
            f"list them: `{ATTRIBUTE} = [vector_add.instantiate(D=f32, BLOCK_SIZE=1024)]`, "
            "or give a manifest"
        )
    return [Listed(instance, tuple(targets)) for instance in found]


def listed_by(
    name: str, function: Any, arguments: Mapping[str, Any], targets: Sequence[Target]
) -> Iterator[Listed]:
    """What a function of instances lists; one that takes `target` is asked for each of them.

    Raises:
        ToolchainError: E0970 for what is no instance.
    """
    from inspect import signature

    if _TARGET not in signature(function).parameters or _TARGET in arguments:
        for instance in dict.fromkeys(each_instance(name, function(**arguments))):
            yield Listed(instance, tuple(targets))
        return
    for target in targets:
        for instance in dict.fromkeys(
            each_instance(name, function(**arguments, target=target.arch))
        ):
            yield Listed(instance, (target,))


def each_instance(module: str, listed: Any) -> Iterator[Instance]:
    """The instances of a list: of instances, kernels with nothing to fix, and lists of these.

    Raises:
        ToolchainError: E0970 for anything else.
    """
    rows: Iterable[Any] = listed if isinstance(listed, Iterable) else (listed,)
    for row in rows:
        if hasattr(row, "instantiate"):
            yield row.instantiate()
        elif hasattr(row, "with_hints"):
            yield row
        elif isinstance(row, list | tuple):
            yield from each_instance(module, row)
        else:
            raise (
                E0970.error(module=module)
                .note(f"`{ATTRIBUTE}` has {row!r} in it, which is no instance of a kernel")
                .help("make instances: `kernel.instantiate(...)`, or `every_instance(kernel, ...)`")
            )


def _is_kernel(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "instantiate")


def variants(instance: Instance, hints: str = "usual") -> list[Instance]:
    """The instance as launches may ask for it: what they know of the arguments is in its hints.

    `usual`: nothing is known; pointers are aligned to 16 bytes; and integers are multiples of 16 as
    well. A launch takes the closest that holds for its arguments. An instance that has hints, and
    any with `none`, stays as it is.
    """
    asked = instance.specialization
    if hints == "none" or asked.divisible_by_16 or asked.equal_to_1:
        return [instance]
    specializes = instance.kernel.specializes
    pointers = [
        name for name, type_ in asked.types if type_.kind == "pointer" and all(specializes(name))
    ]
    integers = [
        name
        for name, type_ in asked.types
        if type_.kind != "pointer" and type_.dtype in _INTEGERS and all(specializes(name))
    ]
    found = [instance, instance.with_hints(pointers), instance.with_hints([*pointers, *integers])]
    return list(dict.fromkeys(found))


def parse_targets(given: Iterable[str]) -> tuple[Target, ...]:
    """`sm_90`, `x86-64-v3`, `aarch64`; `cpu` for the portable levels; commas may join them.

    Raises:
        ToolchainError: E0972 for a target of one machine alone. LaunchError: E1040.
    """
    found: list[Target] = []
    for part in (part.strip() for text in given for part in text.split(",")):
        name = part.removeprefix("cuda:").removeprefix("cpu:")
        if part == "cpu":
            found += map(Target.cpu, PORTABLE)
        elif name in ("interpret", "host"):
            raise E0972.error(target=part).help(
                "`cpu` is " + ", ".join(f"`{level}`" for level in PORTABLE)
            )
        elif name in CPU_ARCHS:
            found.append(Target.cpu(name))
        elif part:
            found.append(Target.cuda(name))
    return tuple(dict.fromkeys(found))
