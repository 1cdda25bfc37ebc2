"""Checks of the package as such: what it exports and that it says its own version."""

from importlib.metadata import version

import teeny_kernels


def test_the_package_exports_its_version_and_nothing_else() -> None:
    public = {name for name in vars(teeny_kernels) if not name.startswith("_")}
    assert teeny_kernels.__all__ == ["__version__"]
    assert public == set()


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert teeny_kernels.__version__ == version("teeny-kernels")
