"""The unit: the self-contained text that teenyc compiles; its reader and writer.

A header names the modules and how many lines each has; their texts follow one after the other.
Modules are plain Python that is parsed and never executed. Positions count in the *body*:
everything but the DSL module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teeny_macros.codes import E0020, E0021

if TYPE_CHECKING:
    from teeny_macros.diagnostics import TeenyError

FORMAT = 1
LANGUAGE = 1
DSL_MODULE = "teeny_triton"
KERNEL_MODULE = "kernel"
ENTRY_MODULE = "entry"
_MAGIC = "# teeny-unit "


class UnitModule(NamedTuple):
    """One module of a unit: its name and its text (each line ends in a newline)."""

    name: str
    text: str

    @property
    def line_count(self) -> int:
        """Number of lines."""
        return self.text.count("\n")


class Unit(NamedTuple):
    """A unit taken apart. `dsl_text` is None when only the digest of the DSL travels."""

    kernel: str
    modules: tuple[UnitModule, ...]
    dsl_digest: str
    dsl_text: str | None = None
    language: int = LANGUAGE

    @property
    def body(self) -> str:
        """The text that positions count in and that identity hashes."""
        return "".join(module.text for module in self.modules)

    @property
    def file(self) -> str:
        """The canonical file name of the body in positions."""
        return f"{self.kernel}.py"

    @property
    def entry_point(self) -> str:
        """The symbol of the compiled kernel."""
        return f"{self.kernel}_entry_point"

    def first_line(self, name: str) -> int:
        """The line of the body on which module `name` begins."""
        line = 1
        for module in self.modules:
            if module.name == name:
                return line
            line += module.line_count
        raise _damaged(f"it has no module `{name}`")

    def render(self) -> str:
        """The text that `parse` reads back."""
        modules = self.modules
        if self.dsl_text is not None:
            modules = (UnitModule(DSL_MODULE, self.dsl_text), *modules)
        head = [
            f"{_MAGIC}{FORMAT}",
            f"# language {self.language}",
            f"# dsl sha256:{self.dsl_digest}",
            f"# kernel {self.kernel}",
            *(f"# module {module.name} {module.line_count}" for module in modules),
            "#",
        ]
        return "\n".join(head) + "\n" + "".join(module.text for module in modules)


def _damaged(reason: str) -> TeenyError:
    return E0020.error(reason=reason).help("make it anew: `kernel.instantiate(...).unit(...)`")


def parse(text: str) -> Unit:
    """Take a unit's text apart. Raises E0020 (damaged) or E0021 (a version that is not known)."""
    # Only "\n" ends a line here: a string of the kernel may hold a form feed or U+2028.
    lines = [f"{line}\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        lines.pop()
    if not lines or not lines[0].startswith(_MAGIC):
        raise _damaged("its first line is not `# teeny-unit 1`")
    if lines[0].strip() != f"{_MAGIC}{FORMAT}":
        raise E0021.error(
            what="unit format", version=lines[0][len(_MAGIC) :].strip(), known=FORMAT
        ).help("install the teenyc that belongs to your teeny-triton: `pip install -U teenyc`")
    fields: dict[str, str] = {}
    counts: list[tuple[str, int]] = []
    at = 1
    while at < len(lines) and lines[at].startswith("# "):
        words = lines[at][2:].split()
        if words[:1] == ["module"] and len(words) == 3 and words[2].isdigit():
            counts.append((words[1], int(words[2])))
        elif len(words) == 2:
            fields[words[0]] = words[1]
        else:
            raise _damaged(f"line {at + 1} of its header cannot be read")
        at += 1
    at += 1  # the lone `#`
    missing = [key for key in ("language", "dsl", "kernel") if key not in fields]
    if missing or not fields["language"].isdigit():
        raise _damaged(f"its header lacks {', '.join(missing) or 'a language number'}")
    if int(fields["language"]) != LANGUAGE:
        raise E0021.error(what="language", version=fields["language"], known=LANGUAGE).help(
            "bring both to matching versions: `pip install -U teeny-triton teenyc`"
        )
    modules: list[UnitModule] = []
    for name, count in counts:
        if at + count > len(lines):
            raise _damaged(f"module `{name}` is cut short")
        modules.append(UnitModule(name, "".join(lines[at : at + count])))
        at += count
    if at != len(lines):
        raise _damaged("it has text after its last module")
    dsl = next((module.text for module in modules if module.name == DSL_MODULE), None)
    return Unit(
        fields["kernel"],
        tuple(module for module in modules if module.name != DSL_MODULE),
        fields["dsl"].removeprefix("sha256:"),
        dsl,
    )
