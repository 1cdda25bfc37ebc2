"""What the command's arguments name: kernels in modules and files, bindings, targets."""

from __future__ import annotations

import ast
import re
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teeny_compiler.codes import E0931, E0932, E0933
from teeny_macros.diagnostics import LaunchError, TeenyError
from teeny_macros.namespace import DTYPES
from teeny_macros.target import Target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_INSTANTIATE = re.compile(r"`instantiate\(([^()`]*)\)`")
_DTYPE_LIKE = re.compile(r"[a-z]+\d+\w*")
MAIN = "put what a script does under `if __name__ == '__main__':`"
_EXAMPLE = "for example `examples/vector_add.py:vector_add`"


def find_kernel(given: str, *, tuned: bool = False) -> Any:
    """The kernel that `MODULE_OR_FILE:NAME` names. Importing runs the module. Raises E0931.

    Below `@autotune` and `@heuristics` it is the kernel itself, with `tuned` what they made of it.
    """
    where, _, name = given.rpartition(":")
    if not where or not name:
        raise _unnamed(given)
    module = _load(given, where)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if is_kernel(found):
        return found
    if _is_tuned(found):
        return found if tuned else found.kernel
    names = _kernels_of(module)
    reason = "there is no such name in it" if found is None else "that is not a kernel"
    error = E0931.error(given=given, reason=reason)
    if names:
        raise error.help(f"it has {', '.join(f'`{key}`' for key in names)}")
    raise error.help("a kernel is a function under `@kernel`")


def _kernels_of(module: ModuleType) -> list[str]:
    return sorted(
        key for key, value in vars(module).items() if is_kernel(value) or _is_tuned(value)
    )


def _is_tuned(value: Any) -> bool:
    return not isinstance(value, type) and is_kernel(getattr(value, "kernel", None))


def _unnamed(given: str) -> TeenyError:
    """E0931 for a name without a kernel's, with those that the file has."""
    error = E0931.error(given=given, reason="it is not `MODULE_OR_FILE:KERNEL`")
    path = given.removesuffix(":")
    if path.endswith(".py") and Path(path).is_file():
        for name in _kernels_of(_load(given, path)):
            error.help(f"it has `{path}:{name}`")
    return error if error.diagnostics[0].helps else error.help(_EXAMPLE)


def instance_of(kernel: Any, bindings: dict[str, Any]) -> Any:
    """The instance of a kernel with these bindings. Raises what `instantiate` does, for `-D`."""
    if not hasattr(kernel, "instantiate"):
        return kernel
    try:
        return kernel.instantiate(**bindings)
    except LaunchError as error:
        for found in error.diagnostics:
            # The call stands in this command, which the user did not write.
            found.labels = [label for label in found.labels if label.text != "in this call"]
            found.helps = [_INSTANTIATE.sub(r"`-D \1`", text) for text in found.helps]
        raise


def find_function(given: str) -> Any:
    """The plain function that `MODULE_OR_FILE:NAME` names; None for a kernel or nothing."""
    where, _, name = given.rpartition(":")
    found = getattr(_load(given, where), name, None)
    return (
        found if callable(found) and not isinstance(found, type) and not is_kernel(found) else None
    )


def parse_arguments(given: Sequence[str]) -> dict[str, Any]:
    """The arguments of a function, from all `-D NAME=VALUE`: literals, and all else as texts.

    A name that is given again has a list. Raises E0932.
    """
    found: dict[str, list[Any]] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier():
            raise E0932.error(given=text, reason="it is not `NAME=VALUE`").help(
                "for example `-D dtypes=f32`"
            )
        try:
            read = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            read = value
        found.setdefault(name, []).append(read)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def names_kernel(given: str) -> bool:
    """Whether this is `MODULE_OR_FILE:NAME` and not a module or file."""
    return bool(given.rpartition(":")[0]) and not Path(given).is_file()


def load_module(given: str) -> ModuleType:
    """The module or file of that name. Importing runs it. Raises E0931."""
    return _load(given, given)


def is_kernel(value: Any) -> bool:
    """Whether this is a kernel or an instance of one."""
    return not isinstance(value, type) and all(
        hasattr(value, name) for name in ("name", "kernel_source")
    )


def parse_bindings(given: list[str]) -> dict[str, Any]:
    """The bindings of all `-D NAME=VALUE`. Raises E0932."""
    return dict(parse_binding(text) for text in given)


def parse_binding(given: str) -> tuple[str, Any]:
    """`BLOCK_SIZE=1024`, `D=f32`, `x_ptr=Ptr[f32]` as name and value. Raises E0932."""
    name, equals, text = (part.strip() for part in given.partition("="))
    if not equals or not name.isidentifier():
        raise E0932.error(given=given, reason="it is not `NAME=VALUE`").help(
            "for example `-D BLOCK_SIZE=1024 -D D=f32`"
        )
    return name, parse_value(name, text)


def parse_value(name: str, text: str) -> Any:
    """A literal, or a name of the kernel language (`f32`, `Ptr[f32]`). Raises E0932."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass  # no literal, so a name of the kernel language
    try:
        return _evaluate(ast.parse(text, mode="eval").body)
    except (SyntaxError, AttributeError, TypeError, KeyError) as error:
        given = f"{name}={text}"
        found = E0932.error(given=given, reason=f"`{text}` is neither a literal nor a dtype")
        if _DTYPE_LIKE.fullmatch(text):
            raise found.help(f"dtypes are {', '.join(sorted(DTYPES))}") from error
        raise found.help(f"write a text in quotes: `-D {name}=\"'{text}'\"`") from error


def parse_target(given: str) -> Target:
    """`sm_90`, `cpu`, `cpu:x86-64-v3` or `interpret` as a target. Raises E0933 or E1040."""
    name = given.removeprefix("cuda:")
    if name == "cpu" or name.startswith("cpu:"):
        return Target.cpu(name.removeprefix("cpu").removeprefix(":") or "host")
    if name == "interpret":
        return Target.interpret()
    if name.startswith("sm_"):
        return Target.cuda(name)
    raise E0933.error(given=given).help(
        "`sm_90` (see `teenyc --print targets`), `cpu`, `cpu:x86-64-v3`, `interpret`"
    )


def _evaluate(node: ast.expr) -> Any:
    """A name of the kernel language, or one subscripted by another; nothing is called."""
    import teeny_triton

    if isinstance(node, ast.Name):
        return getattr(teeny_triton, node.id)
    if isinstance(node, ast.Subscript):
        return _evaluate(node.value)[_evaluate(node.slice)]
    raise SyntaxError


def _load(given: str, where: str) -> ModuleType:
    path = Path(where)
    try:
        if path.suffix == ".py" or path.is_file():
            return load_file(path)
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        return import_module(where)
    except TeenyError:
        raise  # an error in the kernel itself, with its place
    except FileNotFoundError as error:
        raise E0931.error(given=given, reason=f"there is no file `{where}`").help(
            _EXAMPLE
        ) from error
    except ModuleNotFoundError as error:
        raise _missing(given, where, error) from error
    except SystemExit as error:
        reason = f"importing it ended the process (`sys.exit({error.code!r})`)"
        raise E0931.error(given=given, reason=reason).help(MAIN) from error
    except Exception as error:
        reason = f"importing it failed: {type(error).__name__}: {error}"
        found = E0931.error(given=given, reason=reason)
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, SyntaxError):
            found.note(f"at {error.filename}:{error.lineno}: {(error.text or '').strip()}")
        elif frames and frames[-1].lineno:
            found.note(f"at {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line or ''}")
        raise found.help("mend the module: it is imported to find the kernel") from error


def _missing(given: str, where: str, error: ModuleNotFoundError) -> TeenyError:
    """The module itself is not there, or something that it imports."""
    name = error.name or where
    if where == name or where.startswith(f"{name}."):
        return E0931.error(given=given, reason=f"there is no module `{name}`").help(
            "modules are looked for in this folder and among the packages of " + sys.executable
        )
    reason = f"importing it failed: there is no module `{name}`"
    return E0931.error(given=given, reason=reason).help(f"install it beside `teeny`: {_pip(name)}")


def _pip(name: str) -> str:
    return f"`{sys.executable} -m pip install {name.partition('.')[0]}`"


def load_file(path: Path) -> ModuleType:
    """Import a file as `python FILE` would find its neighbors, but not as `__main__`."""
    from importlib.util import module_from_spec, spec_from_file_location

    if not path.is_file():
        raise FileNotFoundError(path)
    spec = spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
