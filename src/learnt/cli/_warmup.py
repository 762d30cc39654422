"""``learnt warmup``: every estimator fitted once in both precisions, so that all kernels are compiled."""

from __future__ import annotations

import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import numpy as np
from rich.console import Console
from scipy import sparse

from learnt.cli._bar import bar
from learnt.engine.estimator import Settings, acceptable, takes_of, warmup_of
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel import compilation_enabled
from learnt.engine.random import generator
from learnt.engine.rows import as_rows
from learnt.engine.threads import thread_count
from learnt.explanation import Explained
from learnt.persistence._registry import estimators, resolve
from learnt.statistics import moments

METRICS = ("accuracy_score", "confusion_matrix", "roc_auc_score", "log_loss")
SUMS = "moments"  # of many rows: what least squares and principal components fit from
ROWS, COLUMNS = 2000, 8
SPARSE_ROWS, SPARSE_COLUMNS = 3000, 5000


def run_warmup(*, clear: bool) -> int:
    """Compile ahead, or remove what was compiled."""
    console = Console(stderr=True, highlight=False)
    if clear:
        print(f"{kernel_cache.clear()} compiled kernels removed")
        return 0
    if not compilation_enabled():
        console.print("Compilation is off or Numba is not installed: there is nothing to warm up.")
        return 0
    before, started = kernel_cache.info(), time.monotonic()
    failed = warm(thread_count())
    after = kernel_cache.info()
    for name, why in failed:
        console.print(f"{name} could not be fitted: {why}")
    where = f" in {after.folder}" if after.folder else ", not kept: no folder can be written"
    took = time.monotonic() - started
    print(f"{after.entries - before.entries} kernels compiled in {took:.1f} s, {after.entries} ready{where}")
    return 0 if not failed else 2


def warm(processes: int = 1) -> list[tuple[str, str]]:
    """Fit everything once, shared among processes; returns what failed and why."""
    jobs = sorted(estimators(), key=_heaviest_first) + [*METRICS, SUMS]
    failed: list[tuple[str, str]] = []
    with bar("compiling", len(jobs)) as advance:
        if processes == 1:
            for name in jobs:
                failed += warm_one(name)
                advance(name.rpartition(".")[2])
            return failed
        # Fresh processes, not forks: this one may have threads.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            running = {pool.submit(warm_one, name): name for name in jobs}
            for done in as_completed(running):
                failed += done.result()
                advance(running[done].rpartition(".")[2])
    return failed


def _heaviest_first(path: str) -> tuple[bool, str]:
    """Trees compile longest: begun last, they would keep one process busy while the others have nothing left."""
    return not path.startswith(("learnt.ensemble", "learnt.tree")), path


def warm_one(name: str) -> list[tuple[str, str]]:
    """Fit one estimator in all ways listed for it, or measure one metric, or sum; returns what failed and why."""
    failed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in METRICS:
            _measure(name, _data(np.float64)[1]["two classes"])
            return []
        if name == SUMS:
            moments(as_rows(np.zeros((3000, 300))), scatter="full")
            return []
        dense, thin = [_data(np.float64), _data(np.float32)], [_sparse_data()]
        for target, settings, is_sparse in warmup_of(resolve(name)):
            for X, targets in thin if is_sparse else dense:
                try:
                    _fit(name, settings, X, targets[target])
                except ImportError:  # an extra that is not installed has nothing to compile
                    break
                except Exception as error:
                    failed.append((name, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))
    return failed


def _data(dtype: type) -> tuple[np.ndarray, dict[str, Any]]:
    rng = generator(0)
    X: np.ndarray = rng.normal(size=(ROWS, COLUMNS)).astype(dtype)
    amount: np.ndarray = (X @ rng.normal(size=COLUMNS) + rng.normal(size=ROWS)).astype(dtype)
    return X, {
        "amount": amount,
        "two amounts": np.stack([amount, amount[::-1]], axis=1),
        "positive": np.abs(amount) + 1,
        "two classes": (amount > 0).astype(np.int64),
        "classes": np.digitize(amount, np.quantile(amount, [0.3, 0.6])),
        "none": None,
    }


def _sparse_data() -> tuple[Any, dict[str, Any]]:
    rng = generator(0)
    X = sparse.random_array((SPARSE_ROWS, SPARSE_COLUMNS), density=20 / SPARSE_COLUMNS, format="csr", rng=rng)
    amount = X @ rng.normal(size=SPARSE_COLUMNS) + 0.1 * rng.normal(size=SPARSE_ROWS)
    return X, {"amount": amount, "two classes": (amount > 0).astype(np.int64), "none": None}


def _fit(path: str, settings: Settings, X: Any, y: Any) -> None:
    model = resolve(path)(**settings)
    X = X if sparse.issparse(X) else acceptable(X, model)
    model.fit(X) if y is None else model.fit(X, y)
    if (
        hasattr(model, "transform") and takes_of(model).missing
    ):  # what fills cells has nothing to do where none is missing
        holes = X[:300].copy()
        holes[::7, 0] = np.nan
        model.transform(holes)
    for method in ("predict", "predict_proba", "transform", "kneighbors", "mahalanobis"):
        if hasattr(model, method):
            getattr(model, method)(X[:300])
            getattr(model, method)(X[:1])
    explain = getattr(type(model), "contributions", Explained.contributions)
    if explain is not Explained.contributions and y.ndim == 1:  # trees, by a kernel of their own
        model.contributions(X[:2])


def _measure(name: str, y: np.ndarray) -> None:
    metrics = import_module("learnt.metrics")
    score = np.linspace(0.01, 0.99, len(y))
    getattr(metrics, name)(y, score if name in ("roc_auc_score", "log_loss") else (score > 0.5).astype(np.int64))
