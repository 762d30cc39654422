"""Studies killed (SIGKILL) at random moments and resumed: nothing finished is lost, and they end as if never killed.

python tests/study/kills.py --kills 20 [--seed 0] [--each 5] [--whole]

A study of a small generated table is run once undisturbed. Then studies of the same table are started, killed at a
moment drawn from the time that the undisturbed one took, started again, `--each` times; then they run to their end.
Every line that a kill left whole in the journal must stay, no result may be worked out twice, and numbers, winner and
model file must be those of the undisturbed study. `--whole` races all models, not only the leaders. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl


def make_table(seed: int, rows: int = 240) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    y = np.where(x[:, 0] + x[:, 1] ** 2 + 0.5 * rng.normal(size=rows) > 0.5, "yes", "no")
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "kind": rng.choice(["p", "q"], rows), "y": y})


def numbers(folder: Path) -> dict:
    """Everything in study.json that a kill must not change."""
    facts = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    del facts["run"], facts["test"]["use"]
    for entry in facts["race"]["entries"]:
        entry.pop("timing", None)
    (facts["sections"] or {}).pop("finishers", None)  # when each model was finished
    return facts


class Trial:
    """A folder with the table, and studies in it that have all the time they want: the clock must not decide."""

    def __init__(self, work: Path, seed: int, whole: bool) -> None:
        self.work = work
        make_table(seed).write_csv(work / "t.csv")
        brief = {} if whole else {"LEARNT_STUDY_BRIEF": "1"}
        self.environment = {**os.environ, **brief, "LEARNT_LEDGER": str(work / "ledger.jsonl")}

    def start(self, out: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "learnt.cli", "study", "t.csv", "--target", "y", "--out", out, "--quiet"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*command, "--budget", "30m"], cwd=self.work, env=self.environment, **quiet)

    def finish(self, out: str) -> float:
        started = time.monotonic()
        process = self.start(out)
        _, said = process.communicate()
        if process.returncode:
            raise RuntimeError(f"the study in {out} ended with code {process.returncode}: {said.strip()[-300:]}")
        return time.monotonic() - started

    def kill(self, out: str, after: float) -> bool:
        """Start or go on, and kill after so many seconds; False where it ended before."""
        process = self.start(out)
        try:
            process.wait(after)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True
        finally:
            process.stderr.close()

    def journal(self, out: str) -> bytes:
        path = self.work / out / "journal.jsonl"
        raw = path.read_bytes() if path.exists() else b""
        return raw[: raw.rfind(b"\n") + 1]


def differences(trial: Trial, out: str, kept: list[bytes]) -> list[str]:
    """What is not as it would have been; `kept` are the whole lines of the journal after each kill."""
    found = []
    journal = trial.journal(out)
    if not all(journal.startswith(before) for before in kept):
        found.append("a line of the journal was lost")
    names = [(record["kind"], record["name"]) for record in map(json.loads, journal.splitlines())]
    if len(names) != len(set(names)):
        found.append("a result was worked out twice")
    ours, whole = numbers(trial.work / out), numbers(trial.work / "whole")
    found += [f"{key} differs" for key in whole if ours.get(key) != whole[key]]
    if (trial.work / out / "model.learnt").read_bytes() != (trial.work / "whole" / "model.learnt").read_bytes():
        found.append("the model file differs")
    return found


def run(kills: int, seed: int, each: int, whole: bool) -> dict:
    with tempfile.TemporaryDirectory() as work:
        trial = Trial(Path(work), seed, whole)
        trial.finish("whole")  # compiles, where that is needed
        seconds = trial.finish("timed")
        rng = np.random.default_rng(seed)
        moments: list[float] = []
        wrong: list[str] = []
        study = 0
        while len(moments) < kills:
            study += 1
            out, kept = f"killed{study}", []
            for _ in range(min(each, kills - len(moments))):
                after = float(rng.uniform(0, seconds))
                if not trial.kill(out, after):
                    break
                moments.append(round(after, 2))
                kept.append(trial.journal(out))
            trial.finish(out)
            wrong += [f"{out}: {what}" for what in differences(trial, out, kept)]
        return {"seconds": round(seconds, 1), "studies": study, "kills": len(moments), "after": moments, "wrong": wrong}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=5, help="kills of one study")
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args()
    report = run(given.kills, given.seed, given.each, given.whole)
    print(json.dumps(report))
    sys.exit(1 if report["wrong"] else 0)
