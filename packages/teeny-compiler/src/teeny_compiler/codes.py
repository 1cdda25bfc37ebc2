"""The codes of toolchain discovery, running teenyc, the cache and the `teeny` command (E09xx)."""

from __future__ import annotations

from teeny_macros.diagnostics import Code, CompileError, LaunchError, ToolchainError, code

# --- finding teenyc -------------------------------------------------------------------------------
E0901 = code("E0901", "missing-teenyc", "no teenyc toolchain was found", ToolchainError)
E0902 = code(
    "E0902",
    "several-toolchains",
    "{count} teenyc toolchains were found and none was chosen",
    ToolchainError,
)
E0903 = code(
    "E0903", "unusable-teenyc-path", "TEENYC_PATH is `{path}`, which {reason}", ToolchainError
)
E0904 = code("E0904", "unknown-toolchain", "there is no toolchain `{name}`", ToolchainError)
E0905 = code(
    "E0905",
    "unknown-teenyc-version",
    "`{path} --version --verbose` does not state a version",
    ToolchainError,
)
E0906 = code(
    "E0906",
    "failed-install",
    "the toolchain `{name}` cannot be installed: {reason}",
    ToolchainError,
)
E0907 = code("E0907", "existing-toolchain", "there is already a toolchain `{name}`", ToolchainError)
E0908 = code(
    "E0908",
    "unsupported-triton",
    "Triton {version} of `{path}` is not supported: teenyc {teenyc} drives {supported}",
    ToolchainError,
)

# --- running teenyc -------------------------------------------------------------------------------
E0910 = code("E0910", "dead-teenyc", "teenyc {how} while compiling `{kernel}`", ToolchainError)
E0911 = code(
    "E0911",
    "slow-teenyc",
    "teenyc did not finish `{kernel}` within {seconds:g} seconds and was ended",
    ToolchainError,
)
E0912 = code(
    "E0912",
    "incomplete-output",
    "teenyc reported success for `{kernel}` but {what}",
    ToolchainError,
)
E0913 = code(
    "E0913",
    "mismatched-teenyc",
    "teenyc does not understand this teeny-compiler: {what}",
    ToolchainError,
)
E0914 = code(
    "E0914", "unreadable-variable", "{name} is `{value}`, which is not {wanted}", ToolchainError
)
E0915 = code(
    "E0915", "unknown-stage", "`{stage}` is not a stage of target `{target}`", CompileError
)

# --- the cache ------------------------------------------------------------------------------------
E0920 = code(
    "E0920", "unusable-cache", "`{path}` cannot be used as the cache: {reason}", ToolchainError
)
E0921 = code(
    "E0921",
    "damaged-entry",
    "the cached `{kernel}` is damaged and is compiled again: {reason}",
    ToolchainError,
)
E0922 = code(
    "E0922", "missing-folder", "there is no folder to compile in: {reason}", ToolchainError
)
E0923 = code("E0923", "unknown-entry", "`{key}` names {count} entries of the cache", ToolchainError)
E0924 = code(
    "E0924",
    "unusable-layer",
    "`{path}` cannot be used as a layer of the cache: {reason}",
    ToolchainError,
)
E0925 = code(
    "E0925", "unusable-remote", "the remote cache `{url}` cannot be used: {reason}", ToolchainError
)

# --- the command ----------------------------------------------------------------------------------
E0930 = code("E0930", "missing-cli-extra", "the `teeny` command needs {missing}", ToolchainError)
E0931 = code(
    "E0931", "unknown-kernel", "`{given}` does not name a kernel: {reason}", ToolchainError
)
E0932 = code("E0932", "unreadable-binding", "`-D {given}` cannot be read: {reason}", ToolchainError)
E0933 = code("E0933", "unknown-target", "`{given}` is not a target", ToolchainError)
E0934 = code("E0934", "unreadable-limit", "`{given}` is not {wanted}", ToolchainError)
E0935 = code("E0935", "unwritable-output", "`{path}` cannot be written: {reason}", ToolchainError)

# --- tuning ---------------------------------------------------------------------------------------
E0940 = code("E0940", "unusable-tuning", "`{kernel}` cannot be tuned: {reason}", ToolchainError)
E0941 = code(
    "E0941",
    "no-usable-config",
    "none of the {count} configs of `{kernel}` can be used",
    ToolchainError,
)
E0942 = code(
    "E0942",
    "tuned-value-given",
    "`{name}` of `{kernel}` is chosen by its tuner, and the launch gives it",
    ToolchainError,
)
E0943 = code(
    "E0943", "unreadable-tunings", "`{path}` holds no tuning results: {reason}", ToolchainError
)

# --- checking -------------------------------------------------------------------------------------
E0950 = code("E0950", "unreadable-module", "`{path}` cannot be read: {reason}", ToolchainError)
E0951 = code("E0951", "forgotten-arguments", "`{kernel}[grid]` is given no arguments", LaunchError)
E0952 = code("E0952", "kept-launch", "a launch of `{kernel}` has no result to keep", LaunchError)
E0953 = code(
    "E0953",
    "unknown-grid-value",
    "the grid function of `{kernel}` asks for `{name}`, which is no value of the launch",
    LaunchError,
)
E0954 = code("E0954", "unknown-setting", "`{path}`, [tool.teeny.check]: {what}", ToolchainError)

# --- bundles --------------------------------------------------------------------------------------
E0970 = code("E0970", "nothing-to-bundle", "`{module}` does not say what to bundle", ToolchainError)
E0971 = code(
    "E0971", "unreadable-manifest", "the manifest `{path}` cannot be used: {reason}", ToolchainError
)
E0972 = code(
    "E0972", "unbundlable-target", "`{target}` is a target of one machine alone", ToolchainError
)
E0973 = code(
    "E0973",
    "incomplete-bundle",
    "{failed} of the {count} kernels of the bundle cannot be compiled",
    ToolchainError,
)
E0974 = code(
    "E0974", "planned-value", "the contents of a planned {what} are asked for", ToolchainError
)

# --- reading what was compiled --------------------------------------------------------------------
E0980 = code("E0980", "missing-cuda-tool", "`{tool}` is needed and was not found", ToolchainError)
E0981 = code("E0981", "refused-by-ptxas", "ptxas refuses `{kernel}`: {reason}", ToolchainError)
E0982 = code(
    "E0982", "unknown-revision", "`{revision}` is no tree to compare with: {reason}", ToolchainError
)
E0983 = code("E0983", "uncompared-side", "`{side}` cannot be shown", ToolchainError)

CODES: tuple[Code, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Code)
)
