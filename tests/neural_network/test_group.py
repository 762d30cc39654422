"""Workers that share batches take the steps of one with the k-fold batch; here they are threads that meet."""

import threading

import numpy as np
import pytest
import torch

from learnt.neural_network import Augment, Conv, ConvNetClassifier, ConvNetRegressor, Dense, Dropout, MaxPool
from learnt.neural_network.training._group import Group, join

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(67, 6, 6)), RNG.integers(0, 3, 67), RNG.random(67)
LAYERS = [Conv(4, 3, activation="tanh"), MaxPool(2), Dense(6)]


class ThreadGroup(Group):
    """The sums and broadcasts of a group, between threads of this process."""

    def __init__(self, rank, size, barrier, room):
        super().__init__(rank, size)
        self.barrier, self.room = barrier, room

    def _all(self, tensor):
        self.room[self.rank] = tensor.clone()
        self.barrier.wait(60)
        found = [self.room[rank] for rank in range(self.size)]
        self.barrier.wait(60)
        return found

    def sum(self, tensor):
        tensor.copy_(torch.stack(self._all(tensor)).sum(0))

    def from_first(self, tensor):
        tensor.copy_(self._all(tensor)[0])


def fit_together(make, size, *data):
    barrier, room, models, errors = threading.Barrier(size), {}, {}, []

    def work(rank):
        join(ThreadGroup(rank, size, barrier, room))
        try:
            models[rank] = make().fit(*data)
        except Exception as error:
            errors.append(error)
            barrier.abort()

    workers = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert not errors, errors
    return [models[rank] for rank in range(size)]


def assert_close(a, b):
    # Adam divides a gradient by its own size, so that rounding (2⁻²⁴) of small ones is a share of the step.
    for name, value in a.weights_.items():
        np.testing.assert_allclose(b.weights_[name], value, rtol=0, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("weights", [None, W])
def test_k_workers_are_one_with_the_k_fold_batch(size, weights):
    settings = {"max_iter": 2, "random_state": 0, "alpha": 0.1, "augment": Augment(1, True, 5, 0.1)}

    def make(batch=8):
        return ConvNetClassifier(LAYERS, batch_size=batch, **settings)

    models = fit_together(make, size, X, Y, weights)  # 67 rows: the last batch is shorter, and may be one row
    for other in models[1:]:
        for name, value in models[0].weights_.items():
            np.testing.assert_array_equal(other.weights_[name], value)
    alone = make(8 * size).fit(X, Y, weights)
    assert_close(alone, models[0])
    np.testing.assert_allclose(models[0].loss_curve_, alone.loss_curve_, rtol=1e-4)
    assert np.abs(make(8).fit(X, Y, weights).weights_["conv1.weight"] - alone.weights_["conv1.weight"]).max() > 1e-3


def test_workers_stop_early_together():
    def make(batch=10):
        return ConvNetRegressor(LAYERS, batch_size=batch, max_iter=3, early_stopping=True, random_state=0)

    one, two = fit_together(make, 2, X, X.mean(axis=(1, 2)))
    assert one.validation_scores_ == two.validation_scores_
    assert_close(make(20).fit(X, X.mean(axis=(1, 2))), one)


def test_workers_drop_other_units():
    def make():
        return ConvNetClassifier([Dense(8), Dropout(0.5)], batch_size=10, max_iter=1, random_state=0)

    one, two = fit_together(make, 2, np.repeat(X[:1], 20, axis=0), np.arange(20) % 2)
    np.testing.assert_array_equal(one.weights_["dense1.weight"], two.weights_["dense1.weight"])


def test_a_worker_without_rows_counts_for_nothing():
    first, second = Group(0, 2), Group(1, 2)
    assert (first.part(4, 5), second.part(4, 5)) == ((4, 5, False), (4, 5, True))
    assert (first.part(4, 9), second.part(4, 9)) == ((4, 6, True), (6, 9, True))
