"""`learnt.distributed.fit`: real processes, a worker that is killed, a Dask cluster, bad input."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest

import learnt
from learnt.distributed import WorkerLostWarning, _fit
from learnt.linear_model import Ridge
from learnt.neural_network import Conv, ConvNetClassifier, Dense, Dropout, MaxPool

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(130, 6, 6)), RNG.integers(0, 3, 130)
LAYERS = [Conv(4, 3, activation="tanh"), MaxPool(2), Dense(6)]


def network(**settings):
    return ConvNetClassifier(**{"layers": LAYERS, "batch_size": 16, "max_iter": 3, "random_state": 0, **settings})


def assert_close(a, b):
    # Adam divides a gradient by its own size, so that rounding (2⁻²⁴) of small ones is a share of the step.
    for name, value in a.weights_.items():
        np.testing.assert_allclose(b.weights_[name], value, rtol=0, atol=2e-5, err_msg=name)


@pytest.mark.long
def test_two_processes_are_one_with_twice_the_batch():
    weights = RNG.random(130)
    model = network()
    assert learnt.distributed.fit(model, X, Y, weights, workers=2) is model
    assert model.checkpoint is None
    assert_close(network(batch_size=32).fit(X, Y, weights), model)


@pytest.mark.long
def test_a_killed_worker_is_reported_and_training_continues_to_the_same_end(monkeypatch, tmp_path):
    settings = {"layers": [Conv(4, 3), Dropout(0.3), Dense(6)], "max_iter": 60}
    whole = learnt.distributed.fit(network(**settings), X, Y, workers=2)
    started, path, start = [], tmp_path / "kept.npz", _fit.start

    def recorded(*arguments):
        started.append(start(*arguments))
        return started[-1]

    def kill():
        while not path.exists():
            time.sleep(0.005)
        started[1].send_signal(signal.SIGKILL)

    monkeypatch.setattr(_fit, "start", recorded)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with pytest.warns(WorkerLostWarning, match=r"lost worker 2 of 2 \(killed by SIGKILL\); training goes on") as told:
        model = learnt.distributed.fit(network(checkpoint=str(path), **settings), X, Y, workers=2)
    killer.join()
    assert [str(w.message).count("\n") for w in told] == [0]
    assert len(started) == 4
    assert not path.exists()
    for name, value in whole.weights_.items():
        np.testing.assert_array_equal(model.weights_[name], value)


@pytest.mark.long
def test_on_the_workers_of_a_dask_cluster():
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        model = learnt.distributed.fit(network(), X, Y, workers=2, client=client)
        with pytest.raises(ValueError, match="has 2 threads and 9 workers of a network need one each"):
            learnt.distributed.fit(network(), X, Y, workers=9, client=client)
    assert_close(network(batch_size=32).fit(X, Y), model)


@pytest.mark.long
def test_the_errors_and_warnings_of_workers_are_the_callers():
    with pytest.raises(ValueError, match="contains NaN at row 0") as caught:
        learnt.distributed.fit(network(), np.full_like(X, np.nan), Y, workers=2)
    assert "\n" not in str(caught.value)
    with pytest.warns(UserWarning, match="larger than the sample size"):
        learnt.distributed.fit(network(batch_size=500, max_iter=1), X, Y, workers=1)


def lost(folder, workers):
    return [_fit.Ended(0, {"error": None, "warnings": []}), _fit.Ended(-9, None)][:workers]


def test_workers_that_are_lost_again_and_again_end_it_in_one_sentence(monkeypatch):
    monkeypatch.setattr(_fit, "run_here", lost)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(
            RuntimeError, match=r"lost worker 2 of 2 \(killed by SIGKILL\) once more after 2 restarts"
        ) as end:
            learnt.distributed.fit(network(), X, Y, max_restarts=2)
    assert "\n" not in str(end.value)
    assert [w.category for w in told] == [WorkerLostWarning] * 2
    assert "begins anew" in str(told[0].message)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: learnt.distributed.fit(Ridge(), X, Y), "trains networks"),
        (lambda: learnt.distributed.fit(network(), X, Y, workers=0), "workers .* at least 1; got 0"),
        (lambda: learnt.distributed.fit(network(), X, Y, workers=True), "workers .* at least 1; got True"),
        (lambda: learnt.distributed.fit(network(), X, Y, max_restarts=-1), "max_restarts .* at least 0"),
    ],
)
def test_bad_calls_get_one_sentence(call, words):
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
