"""How sharp the kernel library's tests are: kernels made a little wrong must all be caught.

    python tools/mutation [--count 300] [--seed 0] [--jobs N] [--only TEXT] [--json FILE]

Every change is run in a process of its own on the CPU target, with bounds checks, against the
checks of up to four operations that the changed function is part of, and then the library's other
tests, which call kernels and paths of their own. What nothing sees is listed and makes the exit
status 1, but for the changes that equivalent.txt gives a reason for.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run import Uses, Verdict, find_uses, load_everything_else, try_change
from sites import Site, find_sites

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "packages" / "teeny-kernels" / "src"


def read_equivalents(path: Path) -> dict[str, str]:
    """`file function: kind: old -> new` of the changes that change nothing, with the reasons."""
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            change, _, reason = line.partition("  # ")
            found[change.strip()] = reason.strip()
    return found


def key(site: Site) -> str:
    """The change without its line, as equivalent.txt names it."""
    return f"{site.file} {site.function}: {site.kind}: `{site.old}` -> `{site.new}`"


def choose(sites: list[Site], count: int, seed: int) -> list[Site]:
    """`count` of the sites, as many of each kind as there are, from the rarest kind on."""
    generator = random.Random(seed)  # noqa: S311
    by_kind: dict[str, list[Site]] = {}
    for site in sites:
        by_kind.setdefault(site.kind, []).append(site)
    chosen: list[Site] = []
    groups = sorted(by_kind.values(), key=len)
    for at, group in enumerate(groups):
        share = (count - len(chosen)) // (len(groups) - at)
        chosen += generator.sample(group, min(share, len(group)))
    return chosen


def main() -> int:
    """Run it; the exit status is 1 where a change survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--count", type=int, default=300, help="how many changes (default 300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="changes whose file or function has this text")
    parser.add_argument("--json", type=Path, help="write every verdict there")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {
            "TEENYC_CACHE_DIR": cache, "TEENYC_BOUNDS_CHECKS": "on", "TEENY_LOG": "quiet",
            "TEENY_CPU_THREADS": "1",
        }  # fmt: skip
        load_everything_else()
        uses = find_uses(SOURCE)
        sites = [s for s in find_sites(SOURCE / "teeny_kernels") if asked.only in key(s)]
        known = read_equivalents(HERE / "equivalent.txt")
        chosen = choose([s for s in sites if key(s) not in known], asked.count, asked.seed)
        print(f"{len(sites)} changes possible, {len(known)} known to change nothing, "
              f"{len(chosen)} tried", flush=True)  # fmt: skip
        for site in chosen[:: max(1, len(chosen) // 4)]:
            _expect_clean(site, uses)
        verdicts = _run(chosen, uses, asked.jobs)
    if asked.json:
        asked.json.write_text(json.dumps([v._asdict() | {"site": key(v.site)} for v in verdicts]))
    return _report(verdicts)


def _expect_clean(site: Site, uses: Uses) -> None:
    """Without the change the same checks must find nothing, or what they catch says nothing."""
    control = try_change(SOURCE, site._replace(new=site.old), uses)
    if control.verdict not in {"survived", "unused"}:
        raise SystemExit(f"the unchanged library fails ({control.by}): {key(site)}")


def _run(chosen: list[Site], uses: Uses, jobs: int) -> list[Verdict]:
    start, verdicts = time.monotonic(), list[Verdict]()
    with ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda site: try_change(SOURCE, site, uses), chosen):
            verdicts.append(found)
            if found.verdict == "broken":
                raise SystemExit(found.by)
            if found.verdict in {"survived", "unused"}:
                print(f"{found.verdict}: {key(found.site)} (line {found.site.place})", flush=True)
            if len(verdicts) % 50 == 0:
                seconds = time.monotonic() - start
                print(f"... {len(verdicts)} of {len(chosen)} in {seconds:.0f} s", flush=True)
    return verdicts


def _report(verdicts: list[Verdict]) -> int:
    kinds = sorted({v.site.kind for v in verdicts})
    names = ("caught", "refused", "survived", "unused")
    print(f"{'kind':20}" + "".join(f"{name:>10}" for name in names))
    for kind in [*kinds, "all"]:
        count = Counter(v.verdict for v in verdicts if kind in {v.site.kind, "all"})
        print(f"{kind:20}" + "".join(f"{count[name]:10}" for name in names))
    return int(any(v.verdict in {"survived", "unused"} for v in verdicts))


class _Raw(argparse.RawDescriptionHelpFormatter):
    pass


if __name__ == "__main__":
    raise SystemExit(main())
