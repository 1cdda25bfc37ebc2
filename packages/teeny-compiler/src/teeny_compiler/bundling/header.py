"""A C header of a bundle: what another program must know to launch its code, for CUDA and CPUs.

It describes code that is loaded from the bundle's members; it holds none of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teeny_macros.bundle import Bundle
    from teeny_macros.bundle_file import InstanceRow, KernelRow

_TYPES = {
    "i1": "uint8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f64": "double",
    "f8e4m3": "uint8_t",
    "f8e5m2": "uint8_t",
}
_BITS = frozenset(("f16", "bf16", "f8e4m3", "f8e5m2"))

_HEAD = """\
/* Launch ABI of the bundle `{name}`, sha256 {digest}.
 * Written by `teeny bundle header`. C99, C++11 or later; it needs no other header.
 *
 * CUDA. Load `member` (PTX text with a zero behind it, or a cubin) with cuModuleLoadData and get
 * `entry_point` with cuModuleGetFunction. Where `shared_bytes` is above 48 KiB, first set
 * CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES to it. For a grid of x * y * z programs:
 *   gridDim   x * num_ctas, y, z           blockDim   threads_per_block, 1, 1
 *   sharedMemBytes   shared_bytes          kernelParams   what NAME_table() fills
 * With num_ctas above 1 launch with cuLaunchKernelEx and CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
 * num_ctas, 1, 1. The last two parameters are scratch memory of `global_scratch_bytes` and
 * `profile_scratch_bytes` for each block (x * y * z * num_ctas of them), aligned to
 * `..._scratch_align`; 0 where that is no bytes. PTX for sm_75 to sm_89 runs on every later GPU,
 * later code on its own architecture alone.
 *
 * CPU. `member` is an object file; its symbol `entry_point` is a teeny_cpu_entry. NAME_words()
 * fills the words that it takes; it runs the programs from `begin` up to `end`, counted along x
 * first, and returns 0, or 1 with an error in `error`. Threads may share the words of a launch but
 * not `error` and `arena`, which is `arena_bytes` (or more), aligned to 64 bytes.
 *
 * `divisible_by_16` and `equal_to_1` are bits, by the number of the parameter: these arguments
 * must be multiples of 16 (pointers: aligned to 16 bytes), or 1. Pick a row whose bits your
 * arguments fulfill; the rows with more of them are faster.
 */
#ifndef {guard}
#define {guard}

#include <stddef.h>
#include <stdint.h>

#ifndef TEENY_BUNDLE_ABI
#define TEENY_BUNDLE_ABI 1

typedef struct teeny_program {{
  const char *instance; /* types and compile-time values */
  const char *target;
  const char *member; /* in the bundle, which is a zip file */
  const char *entry_point;
  uint64_t divisible_by_16;
  uint64_t equal_to_1;
  uint32_t params; /* without scratch memory */
  uint32_t threads_per_block;
  uint32_t num_ctas;
  uint32_t shared_bytes;
  uint32_t global_scratch_bytes;
  uint32_t global_scratch_align;
  uint32_t profile_scratch_bytes;
  uint32_t profile_scratch_align;
  uint32_t arena_bytes;
}} teeny_program;

/* The bytes of a CUtensorMap, as cuTensorMapEncodeTiled makes it. */
typedef struct teeny_tensor_map {{
  uint64_t opaque[16];
}} teeny_tensor_map;

typedef int32_t (*teeny_cpu_entry)(const uint64_t *words, int64_t begin, int64_t end, void *arena);

/* Where the memory of an array begins, and its bytes. */
typedef struct teeny_extent {{
  uint64_t begin;
  uint64_t bytes;
}} teeny_extent;

static inline uint64_t teeny_word(const void *value, size_t size) {{
  uint64_t word = 0;
  unsigned char *to = (unsigned char *)&word;
  const unsigned char *from = (const unsigned char *)value;
  for (size_t i = 0; i < size; i++) to[i] = from[i];
  return word;
}}
#endif /* TEENY_BUNDLE_ABI */

#ifdef __cplusplus
extern "C" {{
#endif
"""

_TAIL = """
#ifdef __cplusplus
}}
#endif

#endif /* {guard} */
"""

# Name, kind and dtype of each, and of a tensor map its box and swizzle.
Params = tuple[tuple[str, str, str, str], ...]


def header_text(bundle: Bundle) -> str:
    """The header: for each kernel its argument structures, and a table of its programs."""
    guard = "TEENY_BUNDLE_" + re.sub(r"\W", "_", bundle.name, flags=re.ASCII).upper() + "_H"
    parts = [_HEAD.format(name=_safe(bundle.name), digest=bundle.digest, guard=guard)]
    for number, row in enumerate(bundle.kernels):
        same = sum(other.name == row.name for other in bundle.kernels) > 1
        name = _identifier(row.name) + (f"_{number}" if same else "")
        parts += _kernel(row, name)
    return "\n".join(parts) + _TAIL.format(guard=guard)


def _kernel(row: KernelRow, name: str) -> Iterator[str]:
    """The structures of each list of parameters, then the programs in the order of instances."""
    forms: dict[Params, str] = {}
    programs: list[str] = []
    for instance in row.instances:
        for target, code in instance.code.items():
            params = _params(code.metadata)
            form = forms.setdefault(params, f"{name}_{len(forms)}")
            programs.append(_program(instance, target, code.file, code.metadata, form))
    for params, form in forms.items():
        yield _structure(row, params, form)
    yield (
        f"/* {_safe(row.qualified)} */\n"
        f"static const teeny_program {name}_programs[] = {{\n" + "\n".join(programs) + "\n};\n"
        f"#define {name.upper()}_PROGRAMS {len(programs)}"
    )


def _params(metadata: Any) -> Params:
    maps = iter(metadata["descriptors"])
    return tuple(
        (
            param["name"],
            param["kind"],
            param["dtype"],
            _box(*next(maps)) if param["kind"] == "descriptor" else "",
        )
        for param in metadata["params"]
    )


def _box(box: Sequence[int], swizzle: int) -> str:
    return f"box {' x '.join(map(str, box))}, swizzle {swizzle}"


def _structure(row: KernelRow, params: Params, form: str) -> str:
    count = len(params)
    fields: list[str] = []
    for name, kind, dtype, box in params:
        field = _field(name)
        if kind == "descriptor":
            fields.append(f"  teeny_tensor_map {field}; /* {dtype}, {box} */")
        elif kind == "pointer":
            note = ", written" if name in row.written else ""
            fields.append(f"  uint64_t {field}; /* address of {dtype}{note} */")
        else:
            note = f" /* the bits of a {dtype} */" if dtype in _BITS else ""
            fields.append(f"  {_TYPES[dtype]} {field};{note}")
    names = [_field(param[0]) for param in params]
    table = [f"  table[{at}] = &args->{name};" for at, name in enumerate(names)]
    words = [f"  words[{at}] = {_word(*param[:3])};" for at, param in enumerate(params)]
    pointers = [name for name, kind, *_ in params if kind == "pointer"]
    listing = ", ".join(pointers) or "none"
    lines = [
        f"typedef struct {form}_args {{",
        *fields,
        "  uint64_t global_scratch;",
        "  uint64_t profile_scratch;",
        f"}} {form}_args;",
        f"#define {form.upper()}_TABLE {count + 2}",
        f"#define {form.upper()}_WORDS {count + 6}",
        f"#define {form.upper()}_EXTENTS {len(pointers)} /* {listing} */",
        f"static inline void {form}_table({form}_args *args, void *table[{count + 2}]) {{",
        *table,
        f"  table[{count}] = &args->global_scratch;",
        f"  table[{count + 1}] = &args->profile_scratch;",
        "}",
        "/* `separate`: no two of the arrays overlap. `error` has room for 8 integers. */",
        f"static inline void {form}_words(const {form}_args *args, uint64_t x, uint64_t y,",
        "    uint64_t z, int separate, const teeny_extent *extents, int64_t *error,",
        f"    uint64_t words[{count + 6}]) {{",
        *words,
        f"  words[{count}] = x;",
        f"  words[{count + 1}] = y;",
        f"  words[{count + 2}] = z;",
        f"  words[{count + 3}] = separate ? 1 : 0;",
        f"  words[{count + 4}] = (uint64_t)(uintptr_t)extents;",
        f"  words[{count + 5}] = (uint64_t)(uintptr_t)error;",
        "}",
    ]
    return "\n".join(lines)


def _word(name: str, kind: str, dtype: str) -> str:
    """Integers are extended to 64 bits, of floats the bits are kept."""
    field = f"args->{_field(name)}"
    if kind == "pointer":
        return field
    if kind == "descriptor":
        return "0"  # code for CPUs has none
    if "f" in dtype:
        return f"teeny_word(&{field}, sizeof {field})"
    return (
        f"(uint64_t)(int64_t){field}"
        if dtype[0] == "i" and dtype != "i1"
        else (f"(uint64_t){field}")
    )


def _program(instance: InstanceRow, target: str, member: str, metadata: Any, form: str) -> str:
    names = [param["name"] for param in metadata["params"]]
    types = ", ".join(f"{name}: {text}" for name, text in instance.types)
    constants = ", ".join(f"{name}={text}" for name, text in instance.constants)
    shown = "; ".join(filter(None, (types, constants)))
    numbers = [
        len(names),
        metadata["threads_per_block"],
        metadata["num_ctas"],
        metadata["shared_bytes"],
        metadata["global_scratch_bytes"],
        metadata["global_scratch_align"],
        metadata["profile_scratch_bytes"],
        metadata["profile_scratch_align"],
        metadata["arena_bytes"],
    ]
    masks = [
        f"UINT64_C({_mask(names, hints):#x})"
        for hints in (instance.divisible_by_16, instance.equal_to_1)
    ]
    texts = [f'"{_quoted(text)}"' for text in (shown, target, member, metadata["entry_point"])]
    return f"  /* {form} */ {{{', '.join([*texts, *masks, *map(str, numbers)])}}},"


def _mask(names: Sequence[str], hints: Sequence[str]) -> int:
    return sum(1 << names.index(name) for name in hints if name in names)


def _identifier(name: str) -> str:
    """The name in ASCII, as C wants it."""
    return "".join(
        char if char.isascii() and (char.isalnum() or char == "_") else f"u{ord(char):04x}"
        for char in name
    )


_RESERVED = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while", "class", "new", "delete", "this",
    "template", "namespace", "operator", "private", "public", "protected", "friend", "virtual",
    "try", "catch", "throw", "bool", "true", "false",
))  # fmt: skip


def _field(name: str) -> str:
    found = _identifier(name)
    return f"{found}_" if found in _RESERVED else found


def _safe(text: str) -> str:
    return text.replace("*/", "* /")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return escaped.replace("??", '?""?')
