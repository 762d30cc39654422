"""Run the comparison and print it: `python benchmarks/run.py study [--gather] [--jobs N] …`."""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from study.compare import HERE, result_file
from study.peers import PEERS, SLOW, installed
from study.tables import gather

RESULTS = HERE.parent / "results"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="run.py study", description=__doc__)
    parser.add_argument("--tables", type=Path, default=RESULTS / "tables", help="the folder of gathered tables")
    parser.add_argument("--gather", action="store_true", help="fill that folder and stop")
    parser.add_argument("--results", type=Path, default=RESULTS / "study", help="one file for each finished job")
    parser.add_argument("--jobs", type=int, default=1, help="how many run at once, each on cores of its own")
    parser.add_argument("--threads", type=int, default=2, help="cores of each contender")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--budget", default="60s", help="of a study")
    parser.add_argument("--only", nargs="*", help="these tables")
    parser.add_argument(
        "--contenders", nargs="*", metavar="NAME", help='these: "learnt", "peers" for all others, or names of peers'
    )
    parser.add_argument("--redo", action="store_true", help="forget what is there of ours, keep the peers'")
    parser.add_argument("--summary", action="store_true", help="print what is there, run nothing")
    options = parser.parse_args(arguments)
    if options.gather or not (options.tables / "index.json").exists():
        for line in gather(options.tables):
            print(f"left out, {line}")
        print(f"Tables are in {options.tables}.")
        if options.gather:
            return 0
    index = json.loads((options.tables / "index.json").read_text())
    names = [n for n in index if not options.only or n in options.only]
    options.results.mkdir(parents=True, exist_ok=True)
    if options.redo:
        for path in options.results.glob("*-learnt.npz"):
            path.unlink()
    peers = installed()
    wanted = _wanted(options.contenders, peers)
    if isinstance(wanted, str):
        parser.error(wanted)
    if not options.summary:
        _run_all(names, wanted, options)
    print(summary(options.results, {n: index[n] for n in names}, options.splits))
    absent = sorted(set(PEERS) - set(peers))
    if absent:
        print(f"Not installed here, so missing unless their files were: {', '.join(absent)}.")
    return 0


def _wanted(names: list[str] | None, peers: list[str]) -> list[str] | str:
    """The contenders that are asked for and can run here, or a sentence."""
    if names is None:
        return ["learnt", *peers]
    known = {"learnt": ["learnt"], "peers": peers, **{name: [name] for name in PEERS}}
    for name in names:
        if name not in known:
            return f"no contender is called {name!r}; there are {', '.join(map(repr, known))}"
    chosen = {one for name in names for one in known[name]}
    return [one for one in ("learnt", *peers) if one in chosen]


# --- running -------------------------------------------------------------------------------------------------


def _run_all(names: list[str], contenders: list[str], options: argparse.Namespace) -> None:
    """Every job that has left no file yet: ours, then the peers of a split together, and last the one that is slow."""
    folders = {"tables": str(options.tables.resolve()), "results": str(options.results.resolve())}
    quick = [name for name in contenders if name not in ("learnt", SLOW)]
    todo: queue.Queue[dict] = queue.Queue()
    for together in (["learnt"], quick, [SLOW]):
        for split in range(options.splits):
            for name in names:
                left = [c for c in together if c in contenders]
                left = [c for c in left if not result_file(options.results, name, split, c).exists()]
                if left:
                    todo.put({"table": name, "split": split, "contenders": left, "budget": options.budget} | folders)
    total = todo.qsize()
    if not total:
        return
    if any("learnt" in given["contenders"] for given in list(todo.queue)):
        _compile(options)
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

    def work(place: int) -> None:
        first = place * options.threads
        mine = cores[first : first + options.threads] if len(cores) >= options.jobs * options.threads else []
        while True:
            try:
                given = todo.get_nowait()
            except queue.Empty:
                return
            _spawn(given | {"threads": options.threads}, mine, options.threads)
            who = ", ".join(given["contenders"])
            print(f"{total - todo.qsize()}/{total} {given['table']} {given['split']} {who}", flush=True)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _environment(threads: int) -> dict[str, str]:
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LEARNT_NUM_THREADS", "POLARS_MAX_THREADS")
    return {**os.environ, **dict.fromkeys(limits, str(threads))}


def _spawn(given: dict, cores: list[int], threads: int) -> None:
    pin = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    done = subprocess.run(
        [sys.executable, str(HERE / "compare.py"), json.dumps(given)],
        capture_output=True,
        text=True,
        env=_environment(threads),
        preexec_fn=pin,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"FAILED {given['table']} {given['split']}: {last}", flush=True)


def _compile(options: argparse.Namespace) -> None:
    """Machine code once, before anything is timed."""
    subprocess.run([sys.executable, "-m", "learnt.cli", "warmup"], capture_output=True, env=_environment(options.jobs))


# --- what came out -------------------------------------------------------------------------------------------


def summary(results: Path, index: dict[str, dict], splits: int) -> str:
    """Loss ratios by table, their geometric means, and whether the three demands are met."""
    lines = [
        "| table | rows | splits | loss | learnt | best peer | ratio to it | ± 2 s.e. of its log | chosen |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    ratios: dict[str, list[float]] = {name: [] for name in PEERS}
    to_best, worse = [], []
    for name, about in index.items():
        classify = about["task"] == "classify"
        ours = _losses(results, name, "learnt", splits)
        if not ours:
            continue
        found = {}
        for peer in PEERS:
            theirs = _losses(results, name, peer, splits)
            if set(ours) <= set(theirs):
                found[peer] = ratio(ours, {k: theirs[k] for k in ours}, classify)
                ratios[peer].append(found[peer][0])
        if not found:
            continue
        best = max(found, key=lambda peer: found[peer][0])
        log_ratio, error = found[best]
        to_best.append(log_ratio)
        if log_ratio - 2 * error > math.log(1.03):
            worse.append(name)
        level = _level(ours, classify)
        chosen = "; ".join(sorted({_note(results, name, k) for k in ours}))
        lines.append(
            f"| {name} | {about['rows']} | {len(ours)} | {'log loss' if classify else 'RMSE'} | {level:.4g} | {best} "
            f"| {math.exp(log_ratio):.3f} | {2 * error:.3f} | {chosen[:160]} |"
        )
    lines.append("")
    for peer, found_ratios in ratios.items():
        if found_ratios:
            mean = math.exp(np.mean(found_ratios))
            lines.append(f"loss / {peer}: {mean:.3f} in geometric mean over {len(found_ratios)} tables (wanted: < 1)")
    if to_best:
        lines.append(f"loss / best of them: {math.exp(np.mean(to_best)):.3f} in geometric mean (wanted: < 1.02)")
        error = float(np.std(to_best, ddof=1)) / math.sqrt(len(to_best)) if len(to_best) > 1 else math.nan
        lines.append(f"  two standard errors of that mean's log, over {len(to_best)} tables: {2 * error:.3f}")
        lines.append(f"worse than 1.03 beyond two standard errors: {', '.join(worse) or 'none'}")
    return "\n".join(lines)


def ratio(ours: dict[int, np.ndarray], theirs: dict[int, np.ndarray], classify: bool) -> tuple[float, float]:
    """Mean over splits of log(our loss / their loss), and its standard error from the paired rows.

    With mean losses a and b the log of their ratio has, to first order, the variance of (aᵢ/a − bᵢ/b) over the rows.
    Splits share rows, so the errors of splits are averaged and not counted as independent.
    """
    half = 1.0 if classify else 0.5  # RMSE is the root of the mean
    logs, errors = [], []
    for split, a in ours.items():
        b = theirs[split]
        logs.append(half * math.log(a.mean() / b.mean()))
        errors.append(half * float(np.std(a / a.mean() - b / b.mean())) / math.sqrt(len(a)))
    return float(np.mean(logs)), float(np.mean(errors))


def _losses(results: Path, table: str, contender: str, splits: int) -> dict[int, np.ndarray]:
    found = {}
    for split in range(splits):
        path = result_file(results, table, split, contender)
        if path.exists():
            with np.load(path) as held:
                found[split] = held["losses"]
    return found


def _level(ours: dict[int, np.ndarray], classify: bool) -> float:
    means = [losses.mean() for losses in ours.values()]
    return float(np.mean(means if classify else np.sqrt(means)))


def _note(results: Path, table: str, split: int) -> str:
    with np.load(result_file(results, table, split, "learnt")) as held:
        return json.loads(str(held["note"]))["chosen"]
