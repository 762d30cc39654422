"""What a first study compiles, and what it costs: python benchmarks/compile_time.py [TABLE TARGET]

Runs one study (of the shipped table without arguments) with an empty kernel cache of its own, and prints processor
seconds and argument types of every kernel that was compiled, then the totals and the processor time of the whole study.
Processor time, because compiling shares the machine with whatever else runs.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path


def measure(arguments: list[str], folder: Path) -> tuple[list[dict], float, float]:
    """The lines of the compiler's log, processor seconds and wall seconds of one study with nothing compiled."""
    log = folder / "log.jsonl"
    environment = os.environ | {
        "LEARNT_CACHE_DIR": str(folder / "cache"),
        "LEARNT_COMPILE_LOG": str(log),
        "LEARNT_LEDGER": str(folder / "ledger.jsonl"),
    }
    command = [sys.executable, "-m", "learnt.cli", "study", *arguments, "--out", str(folder / "out"), "--quiet"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()], spent, wall


def main() -> None:
    table = sys.argv[1:]
    arguments = [table[0], "--target", table[1]] if table else []
    with tempfile.TemporaryDirectory() as folder:
        lines, spent, wall = measure(arguments, Path(folder))
    kernels = defaultdict(list)
    for line in lines:
        kernels[line["kernel"].removeprefix("learnt.")].append(line)
    print(f"{'seconds':>8}  {'types':>5}  {'times':>5}  kernel")
    for name, found in sorted(kernels.items(), key=lambda item: -sum(line["seconds"] for line in item[1])):
        seconds, types = sum(line["seconds"] for line in found), len({line["types"] for line in found})
        print(f"{seconds:8.2f}  {types:5}  {len(found):5}  {name}")
    distinct = len({(line["kernel"], line["types"]) for line in lines})
    total = sum(line["seconds"] for line in lines)
    print(f"{total:8.2f}  {distinct:5}  {len(lines):5}  all, in {len({line['process'] for line in lines})} processes")
    print(f"The study took {spent:.1f} s of processor time and {wall:.1f} s by the clock.")


if __name__ == "__main__":
    main()
