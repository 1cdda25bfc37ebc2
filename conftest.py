"""Options and fixtures of the whole workspace. It must not import any of the packages."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

DEFAULT_ARCHS = ("sm_80", "sm_90", "sm_100", "sm_120")

# A background job of a shell ignores Ctrl-C, and so would the processes that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options that the nox sessions hand to pytest."""
    options = parser.getgroup("teeny")
    options.addoption(
        "--update-golden", action="store_true", help="write golden files anew instead of comparing"
    )
    options.addoption(
        "--arch",
        action="append",
        metavar="ARCH",
        help="architecture of the acceptance tests (may be repeated), for example sm_90",
    )
    options.addoption(
        "--distributions", type=Path, help="folder of built wheels and sdists to inspect"
    )


@pytest.fixture(scope="session")
def archs(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Architectures that the acceptance tests compile for: one of each generation by default."""
    return tuple(request.config.getoption("--arch") or DEFAULT_ARCHS)


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written anew."""
    return bool(request.config.getoption("--update-golden"))
