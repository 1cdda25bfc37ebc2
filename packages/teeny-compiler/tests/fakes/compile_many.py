"""A process that compiles kernels: `compile_many.py SM VARIANT...` prints `variant path digest`.

With a path in FAKE_GATE it waits until that file exists, so that many processes begin at once.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import sys
import time
from pathlib import Path

from teeny_compiler import Target, compile_kernel

Instance = runpy.run_path(str(Path(__file__).with_name("instance.py")))["Instance"]
gate = os.environ.get("FAKE_GATE")
if gate:
    print("ready", flush=True)
    while not Path(gate).exists():
        time.sleep(0.002)
for variant in sys.argv[2:]:
    made = compile_kernel(Instance(variant), Target.cuda(sys.argv[1]))
    digest = hashlib.sha256(made.path.read_bytes()).hexdigest()
    print(variant, made.path, digest, flush=True)
