"""Random tables: what the numbers are (KINDS), what holds them (LAYOUTS), weights and targets.

A layout that cannot hold some number exactly rounds it first: `Table.plain` has, in float64 and in C order, the numbers
that the layout holds, so that whoever reads either should find the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

TAME = ("normal", "blobs", "scales")  # where the minimum is unique and its digits are not lost


def _kind_normal(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d))


def _kind_blobs(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d)) + 4.0 * r.normal(size=(3, d))[r.integers(0, 3, n)]


def _kind_scales(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d)) * 10.0 ** r.uniform(-1, 1, d)


def _kind_units(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d)) * 10.0 ** r.integers(-6, 7, d)


def _kind_constant(r: Any, n: int, d: int) -> np.ndarray:
    X = r.normal(size=(n, d))
    X[:, r.random(d) < 0.5] = r.choice([0.0, 1.0, -3.7])
    return X


def _kind_all_constant(r: Any, n: int, d: int) -> np.ndarray:
    return np.full((n, d), r.choice([0.0, 1.0, 5.3]))


def _kind_duplicates(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d))[r.integers(0, max(1, n // 4), n)]


def _kind_repeated_columns(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d))[:, r.integers(0, max(1, d // 2), d)]


def _kind_huge(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d)) * 1e150


def _kind_tiny(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d)) * 1e-150


def _kind_offset(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, d)) + 1e8


def _kind_outlier(r: Any, n: int, d: int) -> np.ndarray:
    X = r.normal(size=(n, d))
    X[r.integers(n), r.integers(d)] = 1e12
    return X


def _kind_grid(r: Any, n: int, d: int) -> np.ndarray:
    return r.integers(-2, 3, size=(n, d)).astype(np.float64)


def _kind_line(r: Any, n: int, d: int) -> np.ndarray:
    return r.normal(size=(n, 1)) * r.normal(size=d) + 1.0


def _kind_geometric(r: Any, n: int, d: int) -> np.ndarray:
    return 2.0 ** -r.integers(0, 30, size=(n, d)).astype(np.float64)


KINDS: dict[str, Callable[[Any, int, int], np.ndarray]] = {
    name.removeprefix("_kind_"): make for name, make in sorted(globals().items()) if name.startswith("_kind_")
}


def _duplicated_entries(X: np.ndarray) -> sparse.coo_array:
    """COO with every cell as two halves, and stored zeros."""
    rows, columns = (index.ravel() for index in np.indices(X.shape))
    half = 0.5 * X.ravel()
    cells = (np.append(half, X.ravel() - half), (np.tile(rows, 2), np.tile(columns, 2)))
    return sparse.coo_array(cells, shape=X.shape)


def _negative_strides(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _memory_map(X: np.ndarray) -> np.ndarray:
    folder = Path(tempfile.mkdtemp(prefix="learnt-fuzz-"))
    np.save(folder / "X.npy", X)
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    (folder / "X.npy").unlink()  # what is mapped stays readable
    folder.rmdir()
    return mapped


def _every_other(X: np.ndarray) -> np.ndarray:
    wide = np.repeat(X, 2, axis=1)
    return wide[:, ::2]


def _names(X: np.ndarray) -> list[str]:
    return [f"x{j}" for j in range(X.shape[1])]


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "negative strides": _negative_strides,
    "every other column": _every_other,
    "read-only": _read_only,
    "memory map": _memory_map,
    "object": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    ">f8": lambda X: X.astype(">f8"),
    ">f4": lambda X: X.astype(">f4"),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: X.astype(np.int8),
    "pandas": lambda X: pd.DataFrame(X, columns=_names(X)),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=_names(X)).astype("Float64"),
    "polars": lambda X: pl.DataFrame(X, schema=_names(X)),
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "COO twice": _duplicated_entries,
}
SPARSE = ("CSR", "CSC", "COO twice")
_ROUNDED = {">f4": np.float32, "float32": np.float32, "float16": np.float16, "int8": np.int8}


def rounded(X: np.ndarray, layout: str) -> np.ndarray | None:
    """The numbers that the layout holds, in float64; None where some would not be finite."""
    to = _ROUNDED.get(layout)
    if to is None:
        return X
    if to is np.int8:
        return np.clip(np.rint(X), -120, 120)
    with np.errstate(over="ignore", under="ignore"):
        held = X.astype(to).astype(np.float64)
    return held if np.isfinite(held).all() else None


def _weights(r: Any, n: int, kind: str) -> np.ndarray | None:
    if kind == "none":
        return None
    if kind == "integers":
        return r.integers(1, 4, n).astype(np.float64)
    w = r.uniform(0.5, 2.0, n)
    if kind == "zeros" and n > 6:
        w[r.random(n) < 0.4] = 0.0
        w[:4] = 1.0  # a few rows, of both classes, stay
    if kind == "huge":
        w[r.integers(n)] = 1e6
    return w


WEIGHTS = ("none", "none", "integers", "uniform", "zeros", "huge")


def _labels(r: Any, X: np.ndarray, many: bool) -> np.ndarray:
    """0 … 2 or fewer, not without relation to X; the first rows have every class."""
    n = len(X)
    with np.errstate(all="ignore"):
        score = np.nan_to_num((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300) @ r.normal(size=X.shape[1]))
    score = score + (0.5 * np.abs(score).mean() + 0.1) * r.normal(size=n)
    k = min(3 if many else 2, n)
    codes = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score) if n > 1 else np.zeros(1, dtype=int)
    codes[:k] = np.arange(k)
    return codes


NAMES = {"integers": lambda c: c, "strings": lambda c: np.array(["no", "maybe", "yes"])[c], "negative": lambda c: c - 1}


def _numbers(r: Any, X: np.ndarray, positive: bool) -> np.ndarray:
    with np.errstate(all="ignore"):
        Z = np.nan_to_num((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300))
    z = Z @ r.normal(size=X.shape[1]) / np.sqrt(X.shape[1]) + 0.3 * r.normal(size=len(X))
    return np.exp(0.5 * np.clip(z, -6, 6)) if positive else z


@dataclass
class Table:
    kind: str
    layout: str
    weighting: str
    plain: np.ndarray
    laid: Any
    y: np.ndarray | None
    w: np.ndarray | None

    @property
    def tame(self) -> bool:
        """More rows than unknowns, no column without digits: models are determined by the rows."""
        return self.kind in TAME and len(self.plain) > 3 * self.plain.shape[1] + 6 and self.weighting != "huge"

    @property
    def single(self) -> bool:
        """Whether fits may be in single precision."""
        return self.layout in ("float32", ">f4", "float16")

    @property
    def sparse(self) -> bool:
        return self.layout in SPARSE

    def __str__(self) -> str:
        n, d = self.plain.shape
        return f"{n}×{d} {self.kind}, {self.layout}, weights {self.weighting}"


def draw(
    r: Any,
    *,
    task: str,
    weighted: bool = True,
    takes_sparse: bool = False,
    positive_rows: bool = False,
    columns: int = 0,
) -> Table:
    """`task` says what the target is: "numbers", "amounts" (above 0), "labels", "two labels" or "none"."""
    n = int(r.choice([1, 2, 5, 12, 20, 60, 60, 150]))
    d = columns or int(r.choice([1, 2, 2, 4, 4, 8, 30]))
    kind = str(r.choice([*KINDS, *TAME, *TAME]))
    X = KINDS[kind](r, n, d)
    if positive_rows:
        X = np.abs(X)
    layouts = [name for name in LAYOUTS if takes_sparse or name not in SPARSE]
    layout = str(r.choice(layouts))
    plain = rounded(X, layout)
    if plain is None:
        layout, plain = "C", X
    y = None
    if task in ("labels", "two labels"):
        y = NAMES[str(r.choice(list(NAMES)))](_labels(r, plain, many=task == "labels" and bool(r.random() < 0.5)))
    elif task != "none":
        y = _numbers(r, plain, positive=task == "amounts")
    weighting = str(r.choice(WEIGHTS)) if weighted else "none"
    return Table(kind, layout, weighting, plain, LAYOUTS[layout](plain), y, _weights(r, n, weighting))
