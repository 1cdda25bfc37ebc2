"""Random kernels on every target, against their NumPy reading.

python tests/property/run.py --cases 20000 --targets cpu,interp --jobs 16 --seed 0 --out FOLDER

Each failure is written as a file that runs by itself. The counts of all operations, dtypes and
kinds of statements are printed; in a long run each must have occurred 50 times. The cases are
divided among processes of their own, so that one that dies or hangs costs one case; a run with
the same folder goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LONG = 5000
LEAST = 50
HANG = 60.0
MUTANTS = 10**9


def again(text: str, launch: dict[str, Any]) -> None:
    """Run a written case on every target that is here; the exit status says whether it fails."""
    from cases import Argument, Case
    from targets import check

    arguments = [Argument(**a) for a in launch["arguments"]]
    case = Case(launch["seed"], text, arguments, launch["constants"], launch["grid"],
                launch["num_warps"])  # fmt: skip
    targets = sys.argv[1].split(",") if len(sys.argv) > 1 else ["interp", "cpu"]
    result = check(case, targets)
    for failure in result.failures:
        print(f"{failure.target} {failure.kind}: {failure.text}")
    print(result.compared)
    sys.exit(bool(result.failures))


def case_of(seed: int) -> Any:
    """The case of a number: random kernels from 0, single operations below."""
    if seed < 0:
        from singles import single

        return single(-1 - seed)
    if seed >= MUTANTS:
        from mutations import mutant

        return mutant(seed - MUTANTS)
    from generator import make

    return make(seed)


def check_case(case: Any, targets: list[str]) -> Any:
    """The result of a case; of a mutant, whether it compiles or is refused as it should be."""
    if case.seed >= MUTANTS:
        from mutations import check_mutant

        return check_mutant(case)
    from targets import check

    return check(case, targets)


def run_shard(options: argparse.Namespace) -> None:
    """Run this process's share, a line of results for each case."""
    targets, explained = options.targets.split(","), 0
    with Path(options.shard_file).open("a", encoding="utf-8") as out:
        for seed in _seeds(options.seeds):
            out.write(json.dumps({"begin": seed}) + "\n")
            out.flush()
            try:
                case = case_of(seed)
                result = check_case(case, targets)
            except Exception as error:  # noqa: BLE001 - a fault of the generator or the reading
                import traceback

                text = "".join(traceback.format_exception(error)[-3:])
                row = {
                    "seed": seed,
                    "failures": [["reading", f"raised {type(error).__name__}", text]],
                }
                out.write(json.dumps(row) + "\n")
                continue
            sticky = any(f.target == "cuda" and "error E10" in f.kind for f in result.failures)
            small: dict[str, Any] = {}
            can_explain = explained < options.explain and seed < MUTANTS and not sticky
            if result.failures and can_explain:
                explained += 1
                small = _explained(case, result.failures[0])
            row = {**small, "seed": seed, "failures": result.failures, "counts": case.counts,
                   "compared": result.compared, "skipped": result.skipped}  # fmt: skip
            out.write(json.dumps(row) + "\n")
            if sticky:
                out.flush()
                os._exit(3)  # the GPU answers nothing more in this process


def _explained(case: Any, failure: Any) -> dict[str, Any]:
    """A smaller kernel that fails, and the operations in it."""
    import re

    from shrink import shrink

    small = shrink(case, failure, 60)
    body = small.text.partition("def k(")[2].partition("\n")[2]
    found = set(re.findall(r"tl\.(?:math\.)?(\w+)|(?<=[\w)]) ([-+*/%<>&|^]+) |\.(to|T)\b", body))
    names = {"".join(parts) for parts in found}
    return {
        "ops": " ".join(sorted(names - {"load", "store", "arange", "program_id"})),
        "small": body,
    }


def _seeds(text: str) -> range:
    first, last, step = map(int, text.split(":"))
    return range(first, last, step)


class Shard:
    """One process and the rows it has written."""

    def __init__(self, options: argparse.Namespace, number: int, first: int, last: int) -> None:
        self.options, self.number, self.last = options, number, last
        self.path = Path(options.out) / f"rows-{number}.jsonl"
        self.first = first
        self.process: subprocess.Popen[bytes] | None = None
        self.size, self.moved = 0, time.monotonic()

    def rows(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue  # cut off
        return found

    def next_seed(self) -> int:
        """Where to go on: a case that was begun and not ended has died."""
        rows = self.rows()
        if not rows:
            return self.first
        if "begin" in rows[-1]:
            status = "died" if self.process is None else f"ended with {self.process.returncode}"
            with self.path.open("a", encoding="utf-8") as out:
                row = {"seed": rows[-1]["begin"], "failures": [["process", "died", status]]}
                out.write("\n" + json.dumps(row) + "\n")
            return int(rows[-1]["begin"]) + int(self.options.jobs)
        return int(rows[-1]["seed"]) + int(self.options.jobs)

    def start(self) -> bool:
        """Start a process for what is left; False when nothing is."""
        first = self.next_seed()
        if first >= self.last:
            return False
        command = [sys.executable, str(HERE / "run.py"), "--targets", self.options.targets]
        command += [f"--seeds={first}:{self.last}:{self.options.jobs}"]
        command += ["--shard-file", str(self.path), "--explain", str(self.options.explain)]
        quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TEENY_CPU_THREADS": "1"}
        self.process = subprocess.Popen(command, env={**os.environ, **quiet})
        self.moved = time.monotonic()
        return True

    def poll(self) -> bool:
        """Whether there is more to come."""
        assert self.process is not None
        size = self.path.stat().st_size if self.path.exists() else 0
        if size != self.size:
            self.size, self.moved = size, time.monotonic()
        if self.process.poll() is None:
            if time.monotonic() - self.moved > HANG:
                self.process.kill()
                self.process.wait()
                return self.start()
            return True
        return self.start()


def run_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run all shards; their rows."""
    Path(options.out).mkdir(parents=True, exist_ok=True)
    first = options.seed
    shards = [Shard(options, i, first + i, first + options.cases) for i in range(options.jobs)]
    if options.singles:
        from singles import COUNT

        shards = [Shard(options, i, i - COUNT, first + options.cases) for i in range(options.jobs)]
    live = [shard for shard in shards if shard.start()]
    end = time.monotonic() + options.seconds
    while live and time.monotonic() < end:
        time.sleep(0.2)
        live = [shard for shard in live if shard.poll()]
    for shard in live:
        if shard.process is not None:
            shard.process.kill()
    return [row for shard in shards for row in shard.rows() if "seed" in row]


def report(options: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    """Print counts and failures; the number of faults."""
    counts: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        counts.update(row.get("counts", {}))
        compared.update(row.get("compared", {}))
        skipped.update(row.get("skipped", ()))
        for target, kind, text in row["failures"]:
            groups.setdefault(f"{target} {kind}", []).append({"seed": row["seed"], "text": text})
    for prefix in ("op", "dtype", "stmt", "mutation"):
        named = {
            k.removeprefix(prefix + " "): n for k, n in counts.items() if k.startswith(prefix + " ")
        }
        print(f"{prefix}: " + ", ".join(f"{k} {n}" for k, n in sorted(named.items())))
    print(f"cases: {len(rows)}; elements: {dict(compared)}; left out: {dict(skipped)}")
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if "ops" in row:
            kinds.setdefault(row["ops"], []).append(row)
    for ops, found in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"WITH {ops}: {len(found)}, seeds {[f['seed'] for f in found[:5]]}")
        print(f"    {found[0]['failures'][0][2][:200]}")
        lines = [x for x in found[0]["small"].splitlines() if "= tl.arange" not in x]
        print("\n".join(line[:150] for line in lines[:12]))
    for name, found in sorted(groups.items()):
        print(f"FAILED {name}: {len(found)}, seeds {[f['seed'] for f in found[:8]]}")
        print("    " + found[0]["text"].strip().replace("\n", "\n    ")[: options.width])
    faults = sum(map(len, groups.values()))
    if len(rows) >= LONG and not options.few:
        from coverage_list import expected

        rare = {name: counts[name] for name in expected(options.targets) if counts[name] < LEAST}
        for name, count in rare.items():
            print(f"RARE {name}: {count} times, {LEAST} are wanted")
        faults += len(rare)
    for name, found in groups.items():
        if name.startswith("mutant"):
            for failure in found[: options.shrink]:
                print(f"{name}, seed {failure['seed']}:\n{case_of(failure['seed']).text}")
        elif not name.startswith(("process", "reading")):
            _write(options, found[: options.shrink])
    return faults


def _write(options: argparse.Namespace, found: list[dict[str, Any]]) -> None:
    """Make failures small and write them as files."""
    from shrink import shrink
    from targets import check

    for failure in found:
        case = case_of(failure["seed"])
        now = check(case, options.targets.split(",")).failures
        if now:
            small = shrink(case, now[0])
            path = Path(options.out) / f"case_{failure['seed']}.py"
            small.write(path, f"{now[0].target} {now[0].kind}\n{now[0].text}")
            print(f"wrote {path}\n{small.text}")


def main() -> int:
    """Read the command line, run, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--targets", default="cpu,interp")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="number of the first random kernel")
    parser.add_argument("--singles", action="store_true", help="single operations before these")
    parser.add_argument("--mutants", type=int, default=0, help="kernels with faults after these")
    parser.add_argument("--out", default="property-run", help="folder of rows and failing cases")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--shrink", type=int, default=1, help="failures of a kind to make small")
    parser.add_argument(
        "--explain", type=int, default=3, help="failures that a process makes small"
    )
    parser.add_argument("--few", action="store_true", help="do not ask for 50 of everything")
    parser.add_argument("--width", type=int, default=600)
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    parser.add_argument("--shard-file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.shard_file:
        run_shard(options)
        return 0
    rows = run_all(options)
    if options.mutants:
        changed = {"seed": MUTANTS + options.seed, "cases": options.mutants, "singles": False}
        out = str(Path(options.out) / "mutants")
        rows += run_all(argparse.Namespace(**{**vars(options), **changed, "out": out}))
    return min(report(options, rows), 100)


if __name__ == "__main__":
    sys.exit(main())
