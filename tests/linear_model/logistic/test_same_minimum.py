"""The same minimum wherever the rows lie, at any number of threads, and under scikit-learn's callbacks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import learnt
from learnt.engine import progress
from learnt.linear_model.logistic._regression import LogisticRegression


def table(n, d, K, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    return X * 10.0 ** rng.uniform(-1, 2, d) + 3, y, rng.integers(0, 3, n).astype(float)


def in_numpy(X, y, w, folder):
    return np.array(X), y, w


def in_columns(X, y, w, folder):
    return np.asfortranarray(X), y, w


def in_a_memory_map(X, y, w, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r"), y, w


def in_torch(X, y, w, folder):
    import torch

    return torch.tensor(X), torch.tensor(y), torch.tensor(w)


def in_array_api_strict(X, y, w, folder):
    import array_api_strict as xp

    return xp.asarray(X), xp.asarray(y), xp.asarray(w)


def in_dask(X, y, w, folder):
    import dask.array as da

    chunk = len(X) // 3
    return da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk), da.from_array(w, chunks=chunk)


def in_a_parquet_file(X, y, w, folder):
    import polars as pl

    names = [f"x{j}" for j in range(X.shape[1])]
    pl.DataFrame(dict(zip(names, X.T, strict=True)) | {"y": y, "w": w}).write_parquet(folder / "rows.parquet")
    rows = learnt.scan(folder / "rows.parquet")
    return rows[names], rows["y"], w


PLACES = [in_columns, in_a_memory_map, in_torch, in_array_api_strict, in_dask, in_a_parquet_file]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.sweep
def test_equal_results_everywhere(place, K, weighted, tmp_path):
    X, y, w = table(6000, 5, K)
    expected = LogisticRegression(tol=1e-8).fit(X, y, sample_weight=w if weighted else None)
    data, labels, weights = place(X, y, w, tmp_path)
    model = LogisticRegression(tol=1e-8).fit(data, labels, sample_weight=weights if weighted else None)
    np.testing.assert_allclose(np.asarray(model.coef_) * X.std(axis=0), expected.coef_ * X.std(axis=0), atol=1e-6)
    assert type(model.coef_).__module__.partition(".")[0] in (type(data).__module__.partition(".")[0], "numpy")
    predicted = model.predict(data)
    predicted = np.asarray(predicted.compute() if hasattr(predicted, "compute") else predicted)
    assert (predicted == expected.predict(X)).mean() > 0.999
    probabilities = model.predict_proba(data)
    probabilities = np.asarray(probabilities.compute() if hasattr(probabilities, "compute") else probabilities)
    np.testing.assert_allclose(probabilities, expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("place", [in_torch, in_array_api_strict, in_a_memory_map])
@pytest.mark.parametrize("K", [2, 3])
def test_fewer_rows_than_columns_everywhere(place, K, tmp_path):
    X, y, w = table(60, 700, K)
    expected = LogisticRegression(tol=1e-6).fit(X, y, sample_weight=w)
    data, labels, weights = place(X, y, w, tmp_path)
    model = LogisticRegression(tol=1e-6).fit(data, labels, sample_weight=weights)
    np.testing.assert_allclose(np.asarray(model.coef_) * X.std(axis=0), expected.coef_ * X.std(axis=0), atol=1e-5)


@pytest.mark.parametrize("place", [in_numpy, in_torch, in_dask])
def test_class_weights_everywhere(place, tmp_path):
    for K in (2, 3):
        X, y, w = table(6000, 3, K)
        data, labels, _ = place(X, y, w, tmp_path)
        model = LogisticRegression(class_weight="balanced", tol=1e-8).fit(data, labels)
        expected = LogisticRegression(tol=1e-8).fit(X, y, sample_weight=6000 / (K * np.bincount(y))[y])
        np.testing.assert_allclose(np.asarray(model.coef_), expected.coef_, rtol=1e-4, atol=1e-7)


def test_scores_of_other_arrays():
    X, y, _ = table(500, 3, 2)
    data, labels, _ = in_torch(X, y, y, None)
    model = LogisticRegression().fit(data, labels)
    assert type(model.predict(data)).__name__ == "Tensor"
    assert model.score(data, labels) == LogisticRegression().fit(X, y).score(X, y)
    assert isinstance(model.predict(X), np.ndarray)
    data, labels, _ = in_dask(X, y, y, None)
    assert LogisticRegression().fit(data, labels).score(data, labels) == model.score(X, y)


def test_string_labels_in_dask():
    import dask.array as da

    X, y, _ = table(3000, 3, 3)
    names = np.array(["a", "b", "c"])[y]
    model = LogisticRegression().fit(da.from_array(X, chunks=(700, 3)), da.from_array(names, chunks=700))
    assert model.classes_.tolist() == ["a", "b", "c"]
    expected = LogisticRegression().fit(X, names)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize(("n", "d", "K"), [(40_000, 8, 2), (20_000, 8, 4), (300, 900, 2), (5000, 30, 2)])
def test_any_number_of_threads_gives_the_same_bits(n, d, K):
    X, y, w = table(n, d, K)
    kinds = [X, sparse.csr_matrix(np.where(X.mean(axis=0) < X, X, 0.0))]
    for data in kinds:
        found = []
        for threads in (1, 2, 5):
            learnt.set_threads(threads)
            try:
                found.append(LogisticRegression().fit(data, y, sample_weight=w))
            finally:
                learnt.set_threads(None)
        found.append(LogisticRegression(n_jobs=1).fit(data, y, sample_weight=w))
        for model in found[1:]:
            assert model.coef_.tobytes() == found[0].coef_.tobytes()
            assert model.intercept_.tobytes() == found[0].intercept_.tobytes()


def test_without_compilation_the_same_minimum(monkeypatch):
    found = []
    for compiled in ("1", "0"):
        monkeypatch.setenv("LEARNT_COMPILE", compiled)
        for K in (2, 3):
            X, y, w = table(9000, 6, K)
            models = [LogisticRegression(tol=1e-8).fit(data, y, sample_weight=w) for data in (X, sparse.csr_matrix(X))]
            found += [model.coef_ for model in models]
    for one, other in zip(found[:4], found[4:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


class Recorder:
    """A callback that remembers what it saw, and asks to stop after `stop_after` steps."""

    def __init__(self, stop_after=None):
        self.stop_after, self.coefs = stop_after, []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "iteration":
            self.coefs.append(fitted_estimator.coef_.copy())
            return len(self.coefs) == self.stop_after
        return False

    def teardown(self, estimator, context):
        pass


@pytest.mark.skipif(not hasattr(progress.CallbackSupportMixin, "set_callbacks"), reason="scikit-learn before 1.9")
@pytest.mark.parametrize(("n", "d", "K"), [(400, 4, 2), (400, 4, 3), (20_000, 5, 2), (50, 700, 2)])
def test_callbacks_see_every_step_and_can_stop_the_fit(n, d, K):
    X, y, _ = table(n, d, K)
    seen = Recorder()
    model = LogisticRegression().set_callbacks(seen).fit(X, y)
    assert len(seen.coefs) == model.n_iter_[0]
    np.testing.assert_allclose(seen.coefs[-1], model.coef_, rtol=1e-6)
    impatient = Recorder(stop_after=1)
    stopped = LogisticRegression(tol=1e-9).set_callbacks(impatient).fit(X, y)
    assert stopped.n_iter_[0] == 1
    assert not stopped.converged_
    np.testing.assert_allclose(impatient.coefs[0], stopped.coef_)


def test_progress_is_reported(capsys):
    X, y, _ = table(200, 3, 2)
    progress.show("plain")
    try:
        LogisticRegression().fit(X, y)
    finally:
        progress.show("off")
    captured = capsys.readouterr()
    assert "LogisticRegression fit" in captured.err
    assert captured.out == ""


def test_fits_in_two_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    X, y, _ = table(20_000, 6, 2)
    expected = LogisticRegression().fit(X, y).coef_
    with ThreadPoolExecutor(2) as pool:
        fitted = list(pool.map(lambda _: LogisticRegression().fit(X, y).coef_, range(6)))
    assert all(coef.tobytes() == expected.tobytes() for coef in fitted)


def test_max_iter_zero_is_the_start():
    X, y, _ = table(200, 3, 2)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(max_iter=0).fit(X, y)
    assert not model.coef_.any()
