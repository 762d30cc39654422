"""make fuzz: random estimators on random tables, beside scikit-learn, by law. Ends with 1 if a law is broken.

make fuzz ARGS="--seed 7 --cases 3000"      all cases of a seed
make fuzz ARGS="--seed 7 --first 1234 --cases 1"   one again
make fuzz ARGS="--only Ridge"               of one class
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import numpy as np
from laws import broken, case_of


def main() -> int:
    options = argparse.ArgumentParser(prog="make fuzz", description="random estimators on random tables, by law")
    options.add_argument("--seed", type=int, default=None, help="default: another one every time, which is printed")
    options.add_argument("--cases", type=int, default=3000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--only", default="", help="the name of a class")
    asked = options.parse_args()
    seed = int(np.random.SeedSequence().entropy % 10**6) if asked.seed is None else asked.seed
    print(f"seed {seed}, {asked.cases} cases", flush=True)
    began, wrong, tried = time.monotonic(), 0, Counter()
    for number in range(asked.first, asked.first + asked.cases):
        case = case_of(seed, number)
        if asked.only not in ("", case.subject.name):
            continue
        tried[case.subject.name] += 1
        for line in broken(case):
            wrong += 1
            print(f"seed {seed} #{number} {case}: {line}", flush=True)
    print(f"{tried.total()} cases of {len(tried)} classes, {wrong} laws broken, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
