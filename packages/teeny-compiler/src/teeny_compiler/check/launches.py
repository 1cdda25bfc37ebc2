"""Launches in a tree: the arguments against the kernel's parameters, and the instances they need.

The rules are those of a running launch: the same code binds arguments and resolves types, with what
is known of each argument in place of the argument.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

from teeny_compiler.check import guesses
from teeny_compiler.check.grids import check_grid
from teeny_compiler.check.trials import Request
from teeny_compiler.check.values import (
    UNKNOWN,
    Abstract,
    ArrayOf,
    DescriptorOf,
    NotStatic,
    Some,
    Tuned,
    Typed,
    is_known,
)
from teeny_compiler.codes import E0942
from teeny_compiler.tuning.config import Config, configs_of
from teeny_macros.binding import CallSignature
from teeny_macros.codes import E1007, E1013, E1014, E1018, E1020
from teeny_macros.diagnostics import TeenyError
from teeny_macros.instance import KernelInstance
from teeny_macros.kernel import Kernel
from teeny_macros.launch import LaunchSite
from teeny_macros.namespace import MISSING, dtype_name
from teeny_macros.options import LaunchOptions
from teeny_macros.resolve import (
    FLOATS,
    NONE,
    Given,
    checked_constant,
    given_type,
    python_dtype,
)
from teeny_macros.signature import CONST, DESCRIPTOR, POINTER, SCALAR, UNTYPED

if TYPE_CHECKING:
    from teeny_compiler.check.calls import Arguments
    from teeny_compiler.check.evaluate import Evaluator
    from teeny_compiler.check.session import Session
    from teeny_compiler.check.values import Launcher
    from teeny_macros.signature import Parameter

_PLACES = ("stream", "device")
_DEVICES = ("cuda", "cpu", "interpret")
_ANY_INT = 6  # neither 0 nor 1 nor a multiple of 16


class Launches:
    """Checks the launches of a session, and asks for the instances that they need."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.launched: dict[int, str] = {}

    def check(
        self,
        evaluator: Evaluator,
        node: ast.Call,
        launcher: Launcher,
        given: Arguments,
        extra: tuple[str, ...] = (),
    ) -> None:
        """Check one launch; what is wrong is noted at its place."""
        kernel = launcher.kernel
        self.check_device(evaluator, node, given, kernel)
        self.launched[id(node)] = self.session.name_of(kernel)
        kwargs = {key: one for key, one in given.kwargs.items() if key not in (*_PLACES, *extra)}
        places = _Places(node, given)
        definition = self.session.definition_of(kernel)
        try:
            rows = self.configured(kernel, kwargs)
            for values, options in rows:
                self.bound(evaluator, node, launcher, given, values, options, places)
        except TeenyError as error:
            self.session.refuse(error, evaluator.scope.module, node, definition, places=places)

    def configured(
        self, kernel: Any, kwargs: dict[str, Any]
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The named arguments and options of each program that a launch may need."""
        names = LaunchOptions._fields
        options = {key: one for key, one in kwargs.items() if key in names and is_known(one)}
        values = {key: one for key, one in kwargs.items() if key not in names}
        if not isinstance(kernel, Tuned):
            return [(values, options)]
        rules = {name: UNKNOWN for name in kernel.ruled if name not in values}
        if kernel.configs is None:
            missing = [p.name for p in kernel.kernel.parameters if p.kind == CONST]
            rules.update((name, UNKNOWN) for name in missing if name not in values)
            return [({**rules, **values}, options)]
        if kernel.configs and any(chosen for chosen, _ in kernel.configs):
            configs_of(kernel.kernel, [Config(chosen, **own) for chosen, own in kernel.configs])
        rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for chosen, own in kernel.configs:
            for one in chosen:
                if one in values:
                    raise E0942.error(kernel=kernel.kernel.name, name=one).help("leave it out")
            rows.append(({**rules, **values, **chosen}, {**options, **own}))
        return rows

    def bound(
        self,
        evaluator: Evaluator,
        node: ast.Call,
        launcher: Launcher,
        given: Arguments,
        kwargs: dict[str, Any],
        options: dict[str, Any],
        places: _Places,
    ) -> None:
        """Bind the arguments of one program, and ask for its instance."""
        kernel = launcher.kernel
        if isinstance(kernel, KernelInstance):
            self.instance_launch(evaluator, launcher, given, kwargs, places)
            return
        plain: Kernel[...] = kernel.kernel if isinstance(kernel, Tuned) else kernel
        chosen = plain.launch_options.changed(options)
        values = _bind(plain, given, kwargs)
        named = {
            parameter.name: value
            for parameter, value in zip(plain.parameters, values, strict=True)
            if value is not MISSING
        }
        places.parameters = plain.parameters
        constants, unsure = _constants(plain, named)
        run = {
            p.name: found
            for p in plain.parameters
            if p.kind != CONST
            and (found := _given(plain, p, named.get(p.name, UNKNOWN))) is not None
        }
        request = Request(plain, run, constants, unsure, chosen, self.session.span(evaluator, node))
        request.resolve()
        self._check_writes(plain, named, request)
        meta = {**constants, **dict.fromkeys(unsure, UNKNOWN), **chosen._asdict()}
        check_grid(plain.name, launcher, meta, evaluator)
        self.session.requests.append(request)

    def instance_launch(
        self,
        evaluator: Evaluator,
        launcher: Launcher,
        given: Arguments,
        kwargs: dict[str, Any],
        places: _Places,
    ) -> None:
        """A launch of an instance: compile-time values may be given again, equal."""
        instance: KernelInstance[...] = launcher.kernel
        site = LaunchSite(instance.parameters, instance=instance)
        places.parameters = site.parameters
        if given.complete and is_known(list(kwargs.values())):
            values = site.signature.bind_with(tuple(given.args), kwargs, site.fixed)
        else:
            return
        from teeny_macros.resolve import Resolver

        run: dict[str, Given] = {}
        for parameter, value in zip(site.parameters, values, strict=True):
            if parameter.kind != CONST:
                found = _given(instance, parameter, value)
                if found is not None:
                    run[parameter.name] = found
        Resolver(instance.name, site.parameters).resolve(run)
        meta = {**site.fixed, **instance.options._asdict()}
        check_grid(instance.name, launcher, meta, evaluator)

    def check_device(
        self, evaluator: Evaluator, node: ast.Call, given: Arguments, kernel: Any
    ) -> None:
        """Refuse a device of an unknown kind."""
        name = given.kwargs.get("device")
        if isinstance(name, str) and name.partition(":")[0] not in _DEVICES:
            error = E1018.error(what=f"device `{name}`").help(f"devices are {', '.join(_DEVICES)}")
            self.session.refuse(
                error, evaluator.scope.module, node, self.session.definition_of(kernel)
            )

    def instantiate(
        self, evaluator: Evaluator, node: ast.Call, kernel: Kernel[...], given: Arguments
    ) -> Any:
        """`kernel.instantiate(...)`: the instance, or UNKNOWN with its request noted."""
        kinds = {parameter.name: parameter for parameter in kernel.parameters}
        binds = {
            name: value for name, value in given.kwargs.items() if not isinstance(value, NotStatic)
        }
        vague = [n for n, v in given.kwargs.items() if isinstance(v, NotStatic | Some | ArrayOf)]
        for name in vague:
            parameter = kinds.get(name)
            if parameter is not None and parameter.kind == CONST:
                _refuse_kind(kernel, parameter, given.kwargs[name])
        if not vague and given.complete:
            instance = kernel._instantiate(binds)  # noqa: SLF001 - without looking for a frame
            self.session.ask_for(instance, self.session.span(evaluator, node))
            return instance
        constants = {
            name: value
            for name, value in {**guesses.default_constants(kernel), **binds}.items()
            if name in kinds and kinds[name].kind == CONST and is_known(value)
        }
        unsure = [p.name for p in kernel.parameters if p.kind == CONST and p.name not in constants]
        run = {
            name: found
            for name, value in binds.items()
            if name in kinds
            and kinds[name].kind != CONST
            and (found := given_type(value)) is not None
        }
        options = {n: v for n, v in binds.items() if n in LaunchOptions._fields and is_known(v)}
        request = Request(
            kernel, run, constants, unsure, kernel.launch_options.changed(options),
            self.session.span(evaluator, node),
        )  # fmt: skip
        for name, value in binds.items():
            dtype = dtype_name(value)
            if name not in kinds and dtype is not None:
                request.variables[name] = dtype
        request.resolve()
        self.session.requests.append(request)
        return UNKNOWN

    def _check_writes(self, kernel: Kernel[...], named: dict[str, Any], request: Request) -> None:
        readonly = [n for n, one in named.items() if isinstance(one, ArrayOf) and one.readonly]
        instance = request.first() if readonly else None
        if instance is None:
            return
        for name in sorted(set(readonly) & instance.written_parameters()):
            raise E1020.error(kernel=kernel.name, name=name).help("pass a writable array")


class _Places:
    """Where the arguments of a call stand."""

    def __init__(self, node: ast.Call, given: Arguments) -> None:
        self.node = node
        self.given = given
        self.parameters: tuple[Parameter, ...] = ()

    def find(self, message: str) -> ast.AST:
        """The node of the argument that a message is about, else the call."""
        for name, node in self.given.named.items():
            if f"`{name}`" in message:
                return node
        found = [p.name for p in self.parameters if f"`{p.name}`" in message]
        if found and self.given.complete:
            at = next(i for i, p in enumerate(self.parameters) if p.name == found[-1])
            if at < len(self.given.nodes):
                return self.given.nodes[at]
        return self.node


def _bind(kernel: Kernel[...], given: Arguments, kwargs: dict[str, Any]) -> list[Any]:
    """One value for each parameter; UNKNOWN where arguments are spread that are not known."""
    signature = CallSignature(kernel.name, kernel.parameters)
    if given.complete:
        return signature.bind(tuple(given.args), kwargs)
    filled = dict(zip((p.name for p in kernel.parameters), given.args, strict=False))
    spread = any(isinstance(node, ast.Starred) for node in given.nodes)
    for name, value in kwargs.items():
        if name not in signature.index:
            signature.reject_unknown(name)
        filled[name] = value
    return [UNKNOWN if spread else filled.get(p.name, UNKNOWN) for p in kernel.parameters]


def _constants(kernel: Kernel[...], named: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The compile-time values, and the names of those that are not known."""
    constants: dict[str, Any] = {}
    unsure: list[str] = []
    for parameter in kernel.parameters:
        if parameter.kind != CONST:
            continue
        value = named.get(parameter.name, UNKNOWN)
        if is_known(value):
            constants[parameter.name] = checked_constant(kernel.name, parameter, value)
        else:
            _refuse_kind(kernel, parameter, value)
            unsure.append(parameter.name)
    return constants, unsure


def _refuse_kind(kernel: Kernel[...], parameter: Parameter, value: Any) -> None:
    """Refuse a compile-time value that is known to be of another kind."""
    if isinstance(value, ArrayOf):
        raise E1013.error(name=parameter.name, kernel=kernel.name, what="an array").help(
            "pass arrays as run-time arguments"
        )
    kind = value.kind if isinstance(value, Some) else ""
    fits = {"float": ("float", "int", "bool"), "int": ("int", "bool")}
    wanted = parameter.dtype
    if kind and wanted is not None and kind not in fits.get(wanted, (wanted,)):
        raise E1007.error(
            name=parameter.name, kernel=kernel.name, wanted=f"`Const[{wanted}]`", found=repr(value)
        ).help(f"pass a Python {wanted}")


def _given(kernel: Any, parameter: Parameter, value: Any) -> Given | None:
    """What is known of a run-time argument, as the resolution of types wants it."""
    if value is None:
        if parameter.kind == POINTER and not parameter.is_optional:
            error = E1014.error(name=parameter.name, kernel=kernel.name, found="None")
            raise error.help("pass an array of the device, or a NumPy array")
        return Given(NONE)
    if isinstance(value, ArrayOf):
        if value.foreign:
            return Given(POINTER, "", foreign=value.foreign)
        if value.dtype is None:
            if parameter.kind == SCALAR:
                raise _mistyped(kernel, parameter, "an array", "pass a number")
            return None
        return Given(POINTER, value.dtype)
    if isinstance(value, DescriptorOf):
        if parameter.kind not in (DESCRIPTOR, UNTYPED):
            raise _mistyped(kernel, parameter, "a descriptor", "pass an array or a number")
        dtype = value.dtype or (parameter.dtype if parameter.variable is None else None)
        if dtype is None or value.block is None:
            return None
        return Given(DESCRIPTOR, dtype, block=value.block)
    if isinstance(value, Typed):
        return Given(SCALAR, value.dtype)
    if isinstance(value, Some):
        return _some(kernel, parameter, value)
    if isinstance(value, Abstract):
        return None
    if isinstance(value, bool | int | float):
        return Given(SCALAR, python_dtype(value), value)
    dtype = dtype_name(cast("object", type(value)))
    if dtype is not None:
        return Given(SCALAR, dtype)
    if (getattr(value, "array", None) is not None) and hasattr(value, "dtype"):
        return Given(POINTER, value.dtype)
    shown = f"a `{type(value).__qualname__}`"
    if parameter.kind == SCALAR:
        raise _mistyped(kernel, parameter, shown, "pass a number")
    raise E1014.error(name=parameter.name, kernel=kernel.name, found=shown).help(
        "pass a NumPy array, a device's buffer, or an array with `__dlpack__`"
    )


def _some(kernel: Any, parameter: Parameter, value: Some) -> Given | None:
    """A number of which only the Python type is known."""
    if value.kind == "str" or parameter.kind == POINTER:
        if parameter.kind == SCALAR:
            raise _mistyped(kernel, parameter, repr(value), "pass a number")
        raise E1014.error(name=parameter.name, kernel=kernel.name, found=repr(value)).help(
            "pass an array of the device, or a NumPy array"
        )
    if parameter.kind == UNTYPED or parameter.variable is not None:
        number: float = {"int": _ANY_INT, "float": 0.5, "bool": True}[value.kind]
        return Given(SCALAR, python_dtype(number), number)
    if value.kind == "float" and parameter.dtype not in FLOATS:
        raise _mistyped(kernel, parameter, repr(value), "pass an int")
    return None


def _mistyped(kernel: Any, parameter: Parameter, found: str, remedy: str) -> TeenyError:
    return E1007.error(
        name=parameter.name, kernel=kernel.name, wanted=f"`{parameter.dtype}`", found=found
    ).help(remedy)
