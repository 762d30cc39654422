"""The fits inside the worker process: prepared folds, losses, the final model."""

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

from learnt.diagnosis import row_losses, spread_columns
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.random import generator, stream
from learnt.engine.threads import set_threads
from learnt.preprocessing import TableEncoder
from learnt.study.race._ground import fold_rows
from learnt.study.race._layout import MOST_CELLS
from learnt.study.race._objective import Objective
from learnt.study.race._recipe import Recipe, Spec, build, build_recipe, recalibrated, settled

MOST_STORED = 100_000_000  # cells of all prepared folds that are kept
TRAIN_SAMPLE = 2_000  # rows on which the training loss is measured
PATIENCE = 40  # rounds of boosting without improvement on the held-out rows, after which boosting stops


class Bench:
    """Development rows and their folds; each fold is encoded once for each encoding, from its training rows alone."""

    def __init__(self, folder: Path) -> None:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        self.folder = folder
        self.X = pl.read_ipc(folder / "rows.arrow")
        self.y = np.load(folder / "y.npy")
        arrays = np.load(folder / "folds.npz")
        self.folds = [(arrays[f"train{k}"], arrays[f"valid{k}"]) for k in range(meta["folds"])]
        self.labels, self.seed = meta["classes"], meta["seed"]
        self.classes = None if self.labels is None else np.arange(len(self.labels))
        self.objective = Objective(None if self.labels is None else len(self.labels), meta.get("metric"))
        self._prepared: dict[tuple[int, str, int], tuple] = {}
        self._known: set[str] = set()  # models that this process has fitted
        self._trained = 0.0  # seconds of the fits of the order under way, without predictions

    def prepared(self, fold: int, encoding: str, most: int) -> tuple:
        """Encoded training rows in random order (a prefix is a sample) and held-out rows, with their targets.

        The encoder learns from at most `most` training rows, and from no other row.
        """
        key = (fold, encoding, most)
        if key not in self._prepared:
            train, valid = fold_rows(self.folds[fold], fold, self.seed, most)
            inside, outside = self._encoded(train, valid, encoding)
            while self._prepared and sum(p[0].size for p in self._prepared.values()) + inside.size > MOST_STORED:
                del self._prepared[next(iter(self._prepared))]
            self._prepared[key] = (inside, self.y[train][: len(inside)], outside, self.y[valid], valid)
        return self._prepared[key]

    def _encoded(self, train: np.ndarray, valid: np.ndarray, encoding: str) -> tuple[np.ndarray, np.ndarray]:
        if encoding == "none":
            return np.zeros((len(train), 1)), np.zeros((len(valid), 1))
        if encoding == "pixels":
            return self.X[train].to_numpy().astype(np.float32), self.X[valid].to_numpy().astype(np.float32)
        encoder = TableEncoder(numeric=encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unreadable cells were counted in the profile
            inside = encoder.fit_transform(self.X[train], self.y[train])
            if inside.size > MOST_CELLS:
                inside = inside[: max(MOST_CELLS // inside.shape[1], 1000)]
            return inside, encoder.transform(self.X[valid])

    def evaluate(
        self,
        spec: Spec,
        fold: int,
        rows: int,
        most: int,
        tested: int | None = None,
        keep: str | None = None,
        threads: int | None = None,
    ) -> dict[str, Any]:
        """Fit on `rows` training rows of a fold and measure on its held-out rows (at most `tested` of them).

        A specification with a path is measured at every value of it: "curve" has one loss a value. `keep` names a file
        for the held-out rows and their predictions, (values, rows, …).
        """
        if threads is not None:
            set_threads(threads)
        started, calculated = time.perf_counter(), time.process_time()
        inside, y_inside, outside, y_outside, valid = self.prepared(fold, spec["encoding"], most)
        prepared = time.perf_counter() - started
        encoded = len(inside) + len(outside)
        if inside.shape[1] > spec["most_columns"]:
            return {"unfit": f"not for {inside.shape[1]} columns, at most {spec['most_columns']}"}
        inside, y_inside = inside[:rows], y_inside[:rows]
        outside, y_outside, valid = outside[:tested], y_outside[:tested], valid[:tested]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            started, self._trained = time.perf_counter(), 0.0
            predicted = self._along_path(spec, inside, y_inside, outside, y_outside)
            done = time.perf_counter()
        curve = [self.objective.loss(y_outside, p) for p in predicted]
        known, self._known = self._known, self._known | {spec["model"]}
        if not np.isfinite(curve).all():
            raise ValueError("its predictions are not finite numbers")
        if keep is not None:
            self._keep(keep, valid, np.asarray(predicted))
        return {
            "rows": len(inside),
            "curve": curve,
            "prepare_s": prepared,
            "prepared_rows": encoded,
            "fit_s": done - started,
            "train_s": self._trained,
            "loaded": spec["model"] in known,
            "processor_s": time.process_time() - calculated,
            "converged": not any(issubclass(w.category, ConvergenceWarning) for w in caught),
        }

    def _along_path(
        self, spec: Spec, X: np.ndarray, y: np.ndarray, held: np.ndarray, y_held: np.ndarray
    ) -> list[np.ndarray]:
        """Predictions for the held-out rows at every value of the path, or the only ones."""
        if spec["path"] is None:
            return [self._predict(self._fitted(build(spec), X, y), held)]
        _, values, staged = spec["path"]
        if not staged:
            return [self._predict(self._fitted(build(settled(spec, value)), X, y), held) for value in values]
        model = build(settled(spec, values[-1]))[-1]  # rounds of boosting need no scaler
        if self.classes is None or np.isin(y_held, y).all():
            # The held-out rows decide when to stop boosting, never which value is taken: that is decided by the other
            # folds.
            model.set_params(early_stopping=True, n_iter_no_change=PATIENCE, tol=0.0)
            self._fitted(model, X, y, X_val=held, y_val=y_held)
        else:
            self._fitted(model, X, y)
        found: list[np.ndarray] = []
        stages = model.staged_predict(held) if self.classes is None else model.staged_predict_proba(held)
        for k, p in enumerate(stages, 1):
            last = p
            if k == values[len(found)]:
                found.append(self._spread(p, model))
                if len(found) == len(values):
                    break
        return found + [self._spread(last, model)] * (len(values) - len(found))

    def _fitted(self, model: Any, X: np.ndarray, y: np.ndarray, **more: Any) -> Any:
        started = time.perf_counter()
        model.fit(X, y, **more)
        self._trained += time.perf_counter() - started
        return model

    def learn(self, recipe: Recipe, fold: int, rows: int, most: int, threads: int | None = None) -> dict[str, Any]:
        """A whole recipe on `rows` training rows of a fold: its loss there and on held-out rows, for a curve."""
        if threads is not None:
            set_threads(threads)
        started = time.perf_counter()
        parts = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for member in recipe["members"]:
                inside, y_inside, outside, y_outside, _ = self.prepared(fold, member["spec"]["encoding"], most)
                model = build(member["spec"]).fit(inside[:rows], y_inside[:rows])
                own = slice(None, min(rows, TRAIN_SAMPLE))
                pair = [self._predict(model, X) for X in (outside, inside[own])]
                parts.append([member["weight"] * recalibrated(p, member["calibration"]) for p in pair])
        predicted, own_predicted = (np.sum([pair[k] for pair in parts], axis=0) for k in (0, 1))
        predicted, own_predicted = (recalibrated(p, recipe["calibration"]) for p in (predicted, own_predicted))
        return {
            "rows": min(rows, len(inside)),
            "loss": float(row_losses(y_outside, predicted, self.classes).mean()),
            "train_loss": float(row_losses(y_inside[own], own_predicted, self.classes).mean()),
            "fit_s": time.perf_counter() - started,
        }

    def _keep(self, path: str, rows: np.ndarray, predicted: np.ndarray) -> None:
        Path(path).parent.mkdir(exist_ok=True)
        part = f"{path}.{os.getpid()}.part.npz"
        np.savez(part, rows=rows, predicted=predicted)
        os.replace(part, path)  # atomically

    def rehearse(self, **order: Any) -> dict[str, Any]:
        """Fit and predict once, so that kernels are compiled; returns the names of the cache entries used so far."""
        with suppress(Exception):  # the race will meet the same error, and report it
            self.evaluate(**order)
        return {"used": sorted(kernel_cache.used)}

    def rehearse_bracket(self) -> dict[str, Any]:
        """The same for the bracket of the best possible error, which the study measures itself."""
        from learnt.diagnosis import noise_bounds

        few = generator(0).normal(size=(3000, 12))  # with fewer rows or columns another code path is taken
        for rows in (300, 3000):
            noise_bounds(few, few[:, :1], max_rows=rows, random_state=0)
        return {"used": sorted(kernel_cache.used)}

    def fit(
        self,
        recipe: Recipe,
        path: str,
        everything: bool = False,
        threads: int | None = None,
        most: int | None = None,
    ) -> dict[str, Any]:
        """Fit a recipe on all development rows (or on `everything` that is labelled) and save it as one file.

        `most` is how many rows it may be fitted on, drawn from them; None: all.
        """
        from learnt.persistence import save

        if threads is not None:
            set_threads(threads)
        X, y = (
            (pl.read_ipc(self.folder / "all.arrow"), np.load(self.folder / "all-y.npy"))
            if everything
            else (
                self.X,
                self.y,
            )
        )
        rows = stream(self.seed, 99).permutation(len(y))[:most]  # cross-validation in a model splits rows in order
        codes = y[rows]
        y = codes if self.labels is None else np.array(self.labels)[codes]
        present = None if self.labels is None else np.unique(codes).tolist()
        model = build_recipe(recipe, present)
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[rows], y)
        took = time.perf_counter() - started
        part = f"{path}.part"
        save(model, part)
        os.replace(part, path)
        return {"rows": len(rows), "fit_s": took}

    def _predict(self, model: Any, X: np.ndarray) -> np.ndarray:
        if self.classes is None:
            return np.asarray(model.predict(X), dtype=np.float64)
        return self._spread(model.predict_proba(X), model)

    def _spread(self, predicted: np.ndarray, model: Any) -> np.ndarray:
        if self.classes is None:
            return np.asarray(predicted, dtype=np.float64)
        return spread_columns(predicted, model.classes_, self.classes)
