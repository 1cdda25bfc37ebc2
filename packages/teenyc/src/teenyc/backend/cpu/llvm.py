"""The only import of llvmlite in teenyc: targets of this machine, text to object and assembly."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.codes import I0000
from teenyc.codes import E0801

if TYPE_CHECKING:
    from teenyc.backend.cpu.features import Features


class Compiled(NamedTuple):
    """An object file, the optimized IR and the assembly (empty unless asked for)."""

    data: bytes
    ir: str
    asm: str


@lru_cache(maxsize=1)
def binding() -> Any:
    """llvmlite.binding with every target set up. Raises E0801 where llvmlite is missing."""
    try:
        import llvmlite.binding as found
    except ImportError as error:
        raise E0801.error(reason=str(error)).help("install it: `pip install llvmlite`") from error
    found.initialize_native_target()
    found.initialize_native_asmprinter()
    return found


def version() -> str:
    """LLVM's version, and llvmlite's."""
    from importlib import metadata

    found = ".".join(map(str, binding().llvm_version_info))
    return f"{metadata.version('llvmlite')} (LLVM {found})"


def host() -> tuple[str, str, dict[str, bool]]:
    """Triple, CPU and features of the machine that compiles."""
    found = binding()
    return (
        found.get_process_triple(),
        found.get_host_cpu_name(),
        dict(found.get_host_cpu_features()),
    )


def triple_for(machine: str) -> str:
    """This system's triple with another machine."""
    parts = str(binding().get_process_triple()).split("-")
    return "-".join([machine, *parts[1:]])


@lru_cache(maxsize=8)
def _machine(features: Features) -> Any:
    found = binding()
    if not features.triple.startswith(found.get_process_triple().split("-")[0]):
        found.initialize_all_targets()
        found.initialize_all_asmprinters()
    target = found.Target.from_triple(features.triple)
    return target.create_target_machine(
        cpu=features.cpu, features=features.flags, opt=1, reloc="pic", codemodel="default"
    )


def compile_text(text: str, features: Features, *, want_ir: bool, want_asm: bool) -> Compiled:
    """Parse, verify, optimize and emit `text`. A text that LLVM refuses is our bug (I0000)."""
    found, machine = binding(), _machine(features)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{features.triple}"\n'
    try:
        module = found.parse_assembly(head + text)
        module.verify()
    except RuntimeError as error:
        raise I0000.error(where="the CPU back end", what=f"LLVM refuses its text: {error}") from (
            error
        )
    options = found.create_pipeline_tuning_options(speed_level=1)
    builder = found.create_pass_builder(machine, options)
    manager = found.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    ir = str(module) if want_ir else ""
    asm = machine.emit_assembly(module) if want_asm else ""
    # Emitting changes the module, so the object comes from a module that nothing was emitted from.
    if want_asm:
        module = found.parse_assembly(ir or str(module))
    return Compiled(machine.emit_object(module), ir, asm)


# Our text is near its final form: more passes cost more time than they save.
_PASSES = (
    "always_inliner",
    "sroa",
    "simplify_cfg",
    "instruction_combine",
    "new_gvn",
    "loop_rotate",
    "simplify_cfg",
    "instruction_combine",
    "dead_code_elimination",
)
