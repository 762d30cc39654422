"""One (table, split): the study's model and every peer on the same held-out rows, resumable.

A job is one or several contenders on a split of a table; each leaves one file `TABLE-SPLIT-CONTENDER.npz` with the loss
of every held-out row. Files that are there are not made again, so a run goes on where it was, and after a change of
ours only the files of ours have to be removed (`--redo`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
HELD_OUT = 0.25
SMALLEST = float(np.finfo(np.float64).eps)  # probabilities below it count as it, as in scikit-learn


def split_rows(features, labels: np.ndarray, classify: bool, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and held-out rows, each class in proportion; rows with the same features stay on one side.

    The study keeps them together too: a row that is known already says nothing about those to come.
    """
    from sklearn.model_selection import train_test_split

    _, firsts, units = np.unique(features.hash_rows(seed=0).to_numpy(), return_index=True, return_inverse=True)
    order = np.argsort(firsts)  # numbered by their first row, so that nothing depends on the hash
    place = np.empty(len(firsts), dtype=np.int64)
    place[order] = np.arange(len(firsts))
    units, known = place[units], labels[firsts[order]]
    counts = np.unique(known, return_counts=True)[1] if classify else np.array([2])
    strata = known if classify and counts.min() >= 2 else None
    _, held = train_test_split(np.arange(len(firsts)), test_size=HELD_OUT, random_state=split, stratify=strata)
    out = np.isin(units, held)
    return np.flatnonzero(~out), np.flatnonzero(out)


def log_losses(labels: np.ndarray, probability: np.ndarray, classes: list) -> np.ndarray:
    """−log of the probability of what was true; a class that was not known has none."""
    names = [str(c) for c in classes]
    p = np.array([probability[i, names.index(t)] if t in names else 0.0 for i, t in enumerate(map(str, labels))])
    return -np.log(np.clip(p, SMALLEST, 1 - SMALLEST))


def job(tables: Path, table: str, split: int, contenders: list[str], budget: str, threads: int, results: Path) -> None:
    """Run contenders in this process, one after another, and leave their files; a failure is told at the end."""
    import polars as pl

    about = json.loads((tables / "index.json").read_text())[table]
    frame, target = pl.read_parquet(tables / f"{table}.parquet"), about["target"]
    classify = about["task"] == "classify"
    labels = frame[target].cast(pl.String).to_numpy().astype(str) if classify else frame[target].to_numpy()
    if classify:  # the same classes for everybody; the study leaves out those with fewer than 5 rows
        names, counts = np.unique(labels, return_counts=True)
        keep = np.isin(labels, names[counts >= 10])
        frame, labels = frame.filter(pl.Series(keep)), labels[keep]
        frame = frame.with_columns(pl.Series(target, labels))
    train, test = split_rows(frame.drop(target), labels, classify, split)
    failed = []
    for contender in contenders:
        started = time.perf_counter()
        try:
            if contender == "learnt":
                losses, note = _study(frame[train], frame[test], labels[test], target, classify, budget, threads)
            else:
                given = (frame[train], frame[test], labels, train, test, target, classify, threads)
                losses, note = _peer(contender, *given)
        except Exception as error:  # the others go on
            failed.append(f"{contender}: {type(error).__name__}: {error}".replace("\n", " "))
            continue
        out = result_file(results, table, split, contender)
        part = out.with_suffix(".part.npz")
        np.savez(part, losses=losses, seconds=time.perf_counter() - started, note=json.dumps(note))
        os.replace(part, out)
    if failed:
        sys.exit("; ".join(failed))


def result_file(results: Path, table: str, split: int, contender: str) -> Path:
    """Where a contender leaves what it reached."""
    return results / f"{table}-{split}-{contender}.npz"


def _study(train, test, labels, target: str, classify: bool, budget: str, threads: int):
    from learnt.study import predict_table

    with tempfile.TemporaryDirectory() as work:
        train.write_parquet(Path(work, "train.parquet"))
        command = [sys.executable, "-m", "learnt.cli", "study", "train.parquet", "--target", target, "--quiet"]
        command += ["--budget", budget, "--out", "out", "--time", "none", "--threads", str(threads)]
        command += ["--task", "classify" if classify else "regress"]
        environment = {**os.environ, "LEARNT_LEDGER": str(Path(work, "ledger.jsonl"))}
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, env=environment)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"the study ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
        facts = json.loads(Path(work, "out", "study.json").read_text())
        found = predict_table(Path(work, "out", "model.learnt"), test)
        note = {"chosen": facts["chosen"]["label"], "seconds": facts["run"]["seconds"]}
        note["model"] = {k: v for k, v in facts["model"].items() if isinstance(v, int | str)}
        note["race"] = [[e["label"], e.get("loss"), e["state"], e["note"]] for e in facts["race"]["entries"]]
    if not classify:
        return (found["prediction"].to_numpy() - labels) ** 2, note
    columns = [c for c in found.columns if c.startswith("p(")]
    return log_losses(labels, found.select(columns).to_numpy(), [c[2:-1] for c in columns]), note


def _peer(name: str, train, test, labels, rows, held, target: str, classify: bool, threads: int):
    from study.peers import PEERS, prepare

    X, X_test = prepare(train.drop(target).to_pandas(), test.drop(target).to_pandas())
    if classify:
        classes, codes = np.unique(labels[rows], return_inverse=True)
        model = PEERS[name](X, codes, True, threads)
        return log_losses(labels[held], np.asarray(model.predict_proba(X_test)), list(classes)), {}
    model = PEERS[name](X, labels[rows], False, threads)
    return (np.asarray(model.predict(X_test)) - labels[held]) ** 2, {}


if __name__ == "__main__":
    import warnings

    sys.path.insert(0, str(HERE.parent))
    warnings.simplefilter("ignore")
    given = json.loads(sys.argv[1])
    job(
        Path(given["tables"]),
        given["table"],
        given["split"],
        given["contenders"],
        given["budget"],
        given["threads"],
        Path(given["results"]),
    )
