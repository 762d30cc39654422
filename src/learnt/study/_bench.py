"""The work bench inside the worker process: prepared folds, fits, losses, the final model."""

from __future__ import annotations

import json
import os
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from learnt.diagnosis import noise_bounds, row_losses, spread_columns
from learnt.engine import kernel_cache
from learnt.metrics import roc_auc_score
from learnt.preprocessing import TableEncoder
from learnt.study._families import build

MOST_VALID = 6_000
MOST_CELLS = 40_000_000  # of one prepared training fold
TRAIN_SAMPLE = 2_000  # rows on which the training loss is measured


def lay_out(folder: Path, X: pl.DataFrame, y: np.ndarray, folds: list, classes: list | None, seed: int) -> None:
    """Write the development rows where a bench can find them; `y` holds class numbers or amounts."""
    folder.mkdir(parents=True, exist_ok=True)
    X.write_ipc(folder / "rows.arrow")
    np.save(folder / "y.npy", y)
    arrays = {f"{part}{k}": rows for k, pair in enumerate(folds) for part, rows in zip(("train", "valid"), pair)}
    np.savez(folder / "folds.npz", **arrays)
    meta = {"folds": len(folds), "classes": classes, "seed": seed}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")


class Bench:
    """Development rows and their folds; each fold is encoded once for each encoding, from its training rows alone."""

    def __init__(self, folder: Path) -> None:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        self.X = pl.read_ipc(folder / "rows.arrow")
        self.y = np.load(folder / "y.npy")
        arrays = np.load(folder / "folds.npz")
        self.folds = [(arrays[f"train{k}"], arrays[f"valid{k}"]) for k in range(meta["folds"])]
        self.labels, self.seed = meta["classes"], meta["seed"]
        self.classes = None if self.labels is None else np.arange(len(self.labels))
        self._prepared: dict[tuple[int, str, int], tuple] = {}

    def prepared(self, fold: int, encoding: str, most: int) -> tuple:
        """Encoded training rows in random order (a prefix is a sample) and held-out rows, with their targets.

        The encoder learns from at most `most` training rows, and from no other row.
        """
        key = (fold, encoding, most)
        if key not in self._prepared:
            for smaller in [k for k in self._prepared if k[2] < most]:
                del self._prepared[smaller]  # the race has moved on to more rows
            rng = np.random.default_rng([self.seed, fold])
            train, valid = self.folds[fold]
            train = train[rng.permutation(len(train))][:most]
            valid = valid[rng.permutation(len(valid))][:MOST_VALID]
            inside, outside = self._encoded(train, valid, encoding)
            self._prepared[key] = (inside, self.y[train][: len(inside)], outside, self.y[valid], valid)
        return self._prepared[key]

    def _encoded(self, train: np.ndarray, valid: np.ndarray, encoding: str) -> tuple[np.ndarray, np.ndarray]:
        if encoding == "none":
            return np.zeros((len(train), 1)), np.zeros((len(valid), 1))
        encoder = TableEncoder(numeric=encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unreadable cells were counted in the profile
            inside = encoder.fit_transform(self.X[train], self.y[train])
            if inside.size > MOST_CELLS:
                inside = inside[: max(MOST_CELLS // inside.shape[1], 1000)]
            return inside, encoder.transform(self.X[valid])

    def evaluate(
        self, spec: dict[str, Any], fold: int, rows: int, most: int, tested: int | None = None, keep: str | None = None
    ) -> dict[str, Any]:
        """Fit on `rows` training rows of a fold and measure on its held-out rows (at most `tested` of them).

        `keep` names a file for the held-out rows and their predictions.
        """
        started = time.perf_counter()
        inside, y_inside, outside, y_outside, valid = self.prepared(fold, spec["encoding"], most)
        prepared = time.perf_counter() - started
        inside, y_inside = inside[:rows], y_inside[:rows]
        outside, y_outside, valid = outside[:tested], y_outside[:tested], valid[:tested]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            started = time.perf_counter()
            model = build(spec).fit(inside, y_inside)
            fitted = time.perf_counter()
            predicted = self._predict(model, outside)
            done = time.perf_counter()
            own = slice(None, TRAIN_SAMPLE)
            train_loss = row_losses(y_inside[own], self._predict(model, inside[own]), self.classes).mean()
        result = {
            "rows": len(inside),
            "loss": float(row_losses(y_outside, predicted, self.classes).mean()),
            "train_loss": float(train_loss),
            "prepare_s": prepared,
            "fit_s": fitted - started,
            "predict_s": done - fitted,
            "converged": not any(issubclass(w.category, ConvergenceWarning) for w in caught),
            **self._also(y_outside, predicted),
        }
        if not np.isfinite(result["loss"]):
            raise ValueError("its predictions are not finite numbers")
        if keep is not None:
            Path(keep).parent.mkdir(exist_ok=True)
            part = f"{keep}.part.npz"
            np.savez(part, rows=valid, predicted=predicted)
            os.replace(part, keep)  # whole or not at all
        return result

    def rehearse(self, **order: Any) -> dict[str, Any]:
        """Fit and predict once, so that the machine code is there; the names of all that was used so far."""
        with suppress(Exception):  # the race will meet the same trouble, and tell
            self.evaluate(**order)
        return {"used": sorted(kernel_cache.used)}

    def rehearse_bracket(self) -> dict[str, Any]:
        """The same for the bracket of the best possible error, which the study measures itself."""
        few = np.random.default_rng(0).normal(size=(300, 3))
        noise_bounds(few, few[:, :1], max_rows=300, random_state=0)
        return {"used": sorted(kernel_cache.used)}

    def fit(self, spec: dict[str, Any], path: str, rows: int | None) -> dict[str, Any]:
        """Fit table encoder, scaler and model on all development rows (or a sample of them) and save them as one."""
        from learnt.persistence import save

        chosen = np.arange(len(self.y))
        if rows is not None and rows < len(chosen):
            chosen = np.sort(np.random.default_rng([self.seed, 99]).permutation(len(chosen))[:rows])
        y = self.y[chosen] if self.labels is None else np.array(self.labels)[self.y[chosen]]
        parts = [step for _, step in build(spec).steps]
        steps = list(zip(("scale", "model") if len(parts) == 2 else ("model",), parts))
        numeric = "raw" if spec["encoding"] == "none" else spec["encoding"]
        model = Pipeline([("table", TableEncoder(numeric=numeric)), *steps])
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(self.X[chosen], y)
        took = time.perf_counter() - started
        save(model, path)
        return {"rows": len(chosen), "fit_s": took, "columns": int(model[:-1].transform(self.X[:1]).shape[1])}

    def _predict(self, model: Any, X: np.ndarray) -> np.ndarray:
        if self.classes is None:
            return np.asarray(model.predict(X), dtype=np.float64)
        return spread_columns(model.predict_proba(X), model.classes_, self.classes)

    def _also(self, y: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
        """Numbers people know, beside the loss that decides."""
        if self.classes is None:
            return {"mae": float(np.abs(y - predicted).mean())}
        error = float(np.mean(predicted.argmax(axis=1) != y))
        if len(self.classes) == 2 and 0 < np.mean(y) < 1:
            return {"error": error, "auc": float(roc_auc_score(y, predicted[:, 1]))}
        return {"error": error}
