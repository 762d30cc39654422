"""Run benchmarks: `python benchmarks/run.py [FAMILY ...] [--quick] [--repeat N] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
THREADS = "2"
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LEARNT_NUM_THREADS"):
    os.environ[variable] = THREADS  # before NumPy is imported by anything below

from machine import processor  # noqa: E402
from tasks import all_tasks  # noqa: E402

TITLES = (
    "| task | best peer | ratio | quartiles | needed | ok | learnt s | peer s | quality | learnt | peer "
    "| cold s | peer cold s | MiB | peer MiB |"
)


def main() -> int:
    if sys.argv[1:2] == ["study"]:  # not a race against the clock: see study/main.py
        from study.main import main as compare_studies

        return compare_studies(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Compare learnt with its peers on this machine.")
    parser.add_argument("families", nargs="*", help="families or task names; all without")
    parser.add_argument("--quick", action="store_true", help="3 rounds, no cold starts, no memory")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--budget", type=float, default=12.0, help="seconds of rounds a task")
    parser.add_argument("--json", type=Path, help="where to write the numbers (benchmarks/results/ by default)")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # in a process of its own: this task
    parser.add_argument("--cold", help=argparse.SUPPRESS)  # …and only the cold start and memory of this contender
    options = parser.parse_args()
    if options.one:
        return _one(options)
    tasks = [t for t in all_tasks() if not options.families or {t.family, t.name} & set(options.families)]
    if not tasks or options.list:
        known = sorted({t.family for t in all_tasks()})
        print("\n".join(f"{t.family:14s} {t.name}" for t in tasks) or f"No such family; there are {', '.join(known)}.")
        return 0 if tasks else 2
    rows = []
    print(_header(), flush=True)
    print(TITLES)
    print("|---" * TITLES.count(" | ") + "|---|", flush=True)
    for task in tasks:
        row = _spawn(task, options)
        rows.append(row)
        print(_line(row), flush=True)
    target = options.json or HERE / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"machine": _header(), "rows": rows}, indent=1))
    failed = [row["task"] for row in rows if not row.get("ok")]
    print(f"\n{len(rows) - len(failed)} of {len(rows)} reach their ratio at equal quality. Numbers in {target}")
    return 0


def _spawn(task, options) -> dict:
    command = [sys.executable, str(Path(__file__)), "--one", task.name, "--repeat", str(options.repeat)]
    command += ["--budget", str(options.budget)] + (["--quick"] if options.quick else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"task": task.name, "family": task.family, "failed": last, "ok": False}
    row = json.loads(done.stdout.strip().splitlines()[-1])
    row["ok"] = row["equal"] and row["ratio"] >= row["required"]
    if not options.quick:
        for who, prefix in (("learnt", ""), (row["best_peer"], "peer_")):
            done = subprocess.run([*command, "--cold", who], capture_output=True, text=True)
            if done.returncode == 0:
                row[f"{prefix}cold"], row[f"{prefix}memory"] = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def _one(options) -> int:
    from harness import cold_start, measure

    task = next(t for t in all_tasks() if t.name == options.one)
    if options.cold:
        print(json.dumps(cold_start(task, options.cold)))
        return 0
    repeat, budget = (3, 1.0) if options.quick else (options.repeat, options.budget)
    print(json.dumps(asdict(measure(task, repeat, budget))))
    return 0


def _line(row: dict) -> str:
    if "failed" in row:
        return f"| {row['task']} | failed: {row['failed'][:100]} |" + " |" * (TITLES.count(" | ") - 1)
    peer = row["best_peer"]
    alone = [f"{row[key]:.3g}" if key in row else "" for key in ("cold", "peer_cold", "memory", "peer_memory")]
    return (
        f"| {row['task']} | {peer} | **{row['ratio']:.2f}** | {row['ratio_range'][0]:.2f}–{row['ratio_range'][1]:.2f} "
        f"| {row['required']:g} | {'yes' if row['ok'] else 'NO'} "
        f"| {row['seconds']['learnt']:.4g} | {row['seconds'][peer]:.4g} | {row['quality_name']} "
        f"| {row['quality']['learnt']:.7g} | {row['quality'][peer]:.7g} | {' | '.join(alone)} |"
    )


def _header() -> str:
    import numba
    import numpy
    import scipy
    import sklearn

    import learnt

    versions = f"learnt {learnt.__version__}, scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}"
    versions += f", SciPy {scipy.__version__}, Numba {numba.__version__}, Python {platform.python_version()}"
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    machine = f"{processor()}, {os.cpu_count()} cores, {THREADS} threads each, load {busy:.1f} at the start"
    return f"{versions}; {machine}{' (busy: do not trust the ratios)' if busy > 0.5 * (os.cpu_count() or 1) else ''}"


if __name__ == "__main__":
    sys.exit(main())
