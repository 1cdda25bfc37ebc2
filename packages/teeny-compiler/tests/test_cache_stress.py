"""The cache under kills, flipped bits, failing calls, jumping clocks, and other users."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STRESS = Path(__file__).parent / "fakes" / "stress_cache.py"


@pytest.mark.skipif(sys.platform != "linux", reason="it makes disks and other users, as Linux has")
@pytest.mark.timeout(300)
def test_every_result_is_right_and_every_damaged_entry_is_healed() -> None:
    command = [sys.executable, str(STRESS), "--processes", "8", "--rounds", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    chaos = found["chaos"]
    assert chaos["results"] == 8 * 5 * 6
    assert chaos["kills"] > 0
    assert chaos["flips"] > 0
    assert chaos["longest_s"] < 60  # nobody waited for a lock of the dead
