"""The key of an entry: what is hashed, under which names. The entry keeps the same inputs.

Everything that can change code is here, and nothing else: no path, no user text but the kernel's
identity, no hash of a library. A change of what is hashed raises `SCHEMA`.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from json import JSONEncoder
from typing import TYPE_CHECKING, Any

from teeny_compiler import env
from teeny_macros.artifact import SCHEMA as METADATA_SCHEMA
from teeny_macros.unit import FORMAT, LANGUAGE

if TYPE_CHECKING:
    from teeny_compiler.options import CompileOptions
    from teeny_compiler.versions import Versions
    from teeny_macros.target import Target

SCHEMA = 3

Inputs = dict[str, Any]
_canonical = JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def inputs_of(
    kernel: str,
    identity: str,
    dsl_digest: str,
    target: Target,
    options: CompileOptions,
    versions: Versions,
) -> Inputs:
    """The inputs of a compilation as a JSON object, from resolved options."""
    return {
        "key_schema": SCHEMA,
        "metadata_schema": METADATA_SCHEMA,
        "unit_format": FORMAT,
        "language": LANGUAGE,
        "kernel": kernel,
        "id": identity,
        "dsl": dsl_digest,
        "target": str(target),
        "machine": _host_cpu() if target.kind == "cpu" and target.arch == "host" else None,
        "options": {
            "fp_fusion": options.fp_fusion,
            "ptx_version": options.ptx_version,
            "emit": list(options.emit),
            "bounds_checks": bool(options.bounds_checks),
            "assertions": bool(options.assertions),
            "overflow_checks": bool(options.overflow_checks),
            # Only where it is on, so that earlier entries keep their keys.
            **({"locations": True} if options.locations else {}),
            **({"cubin": _assembler()} if options.cubin else {}),
        },
        "versions": dict(versions),
    }


def key_of(inputs: Inputs) -> str:
    """The SHA-256 of the inputs, 64 hexadecimal digits."""
    return sha256(canonical_json(inputs)).hexdigest()


def canonical_json(data: object) -> bytes:
    """One spelling for equal data, on every Python."""
    return _canonical(data).encode()


def _assembler() -> str:
    """What tells the ptxas that is named from others; Triton's own goes with its version."""
    import os

    path = env.read(env.TEENYC_PTXAS)
    if path is None:
        return "on"
    try:
        info = os.stat(path)
    except OSError:
        return "none"
    return f"{info.st_size} {info.st_mtime_ns}"


@lru_cache(maxsize=1)
def _host_cpu() -> str:
    """What tells this CPU's code from another's: a directory may be shared between machines."""
    import platform

    facts = [platform.system(), platform.machine()]
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                name = line.partition(":")[0].strip()
                if name in {"vendor_id", "cpu family", "model", "flags", "Features", "CPU part"}:
                    facts.append(line.strip())
                if not line.strip():
                    break  # the first core speaks for all
    except OSError:
        facts.append(platform.processor())
    return sha256("\n".join(facts).encode()).hexdigest()[:16]
