"""Whole scikit-learn scripts by python and by `python -m learnt.accel`: `python benchmarks/accel.py [ROUNDS]`.

Each run is a process of its own, imports and all, by turns; the least wall and processor seconds of the rounds count.
Run it twice on a new machine: the first time compiles.
"""

import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter

SCRIPTS = sorted((Path(__file__).resolve().parent / "scripts").glob("*.py"))


def run(*arguments):
    """Wall seconds, processor seconds, and what was printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


def main(rounds):
    print("| script | wall: scikit-learn, accel | ratio | processor: scikit-learn, accel | ratio | prints |")
    print("|---|---|---|---|---|---|")
    for script in SCRIPTS:
        turns = [(run(str(script)), run("-m", "learnt.accel", str(script))) for _ in range(rounds)]
        (wall, cpu), (our_wall, our_cpu) = ([min(turn[k][i] for turn in turns) for i in (0, 1)] for k in (0, 1))
        prints = " / ".join(turns[0][k][2] for k in (0, 1))
        times = (
            f"{wall:.1f}, {our_wall:.1f} s | {wall / our_wall:.1f} | {cpu:.1f}, {our_cpu:.1f} s | {cpu / our_cpu:.1f}"
        )
        print(f"| {script.stem} | {times} | {prints} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
