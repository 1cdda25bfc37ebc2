"""Triton's names that the language does not have, as the compiler says where a kernel uses one."""

# Of triton.language 3.6 to 3.9. A name leaves the list when it comes into the language.
_NOT_SUPPORTED_YET = (
    "float8e4b15",
    "float8e4b8",
    "float8e5b16",
)
