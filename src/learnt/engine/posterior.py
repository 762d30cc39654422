"""From log p(x, c) to labels and probabilities, on every kind of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.labels import classes_beside, labels_at
from learnt.engine.rows import Block, as_rows
from learnt.engine.scoring import RowsClassifier
from learnt.engine.validation import check_predict


class BayesAnswers(RowsClassifier):
    """Labels and probabilities of a model that has `_joint(X)`.

    That is a pure function of blocks that gives log p(x, c) (n × K), its state, and the dtype of the answer.
    """

    classes_: Any

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        return self._map(X, _label, labels=True)

    def predict_proba(self, X: Any) -> Any:
        """p(c | x) of each row (n × K), columns as in `classes_`."""
        return self._map(X, posterior)

    def predict_log_proba(self, X: Any) -> Any:
        """log p(c | x) of each row (n × K)."""
        return self._map(X, log_posterior)

    def predict_joint_log_proba(self, X: Any) -> Any:
        """log p(x, c) of each row (n × K)."""
        return self._map(X, _same)

    def _joint(self, X: Any) -> tuple[Callable[..., Any], tuple, Any]:
        raise NotImplementedError

    def _map(self, X: Any, finish: Callable[..., Any], labels: bool = False) -> Any:
        X = check_predict(self, X)
        joint, state, dtype = self._joint(X)
        more = (classes_beside(self.classes_, X),) if labels else ()
        return as_rows(X).map(_finished, joint, state, dtype, finish, *more)


def log_posterior(joint: Any) -> Any:
    """log p(c | x) from log p(x, c)."""
    xp = namespace(joint)
    below = joint - xp.max(joint, axis=1, keepdims=True)
    return below - xp.log(xp.sum(xp.exp(below), axis=1, keepdims=True))


def posterior(joint: Any) -> Any:
    """p(c | x) from log p(x, c)."""
    xp = namespace(joint)
    p = xp.exp(joint - xp.max(joint, axis=1, keepdims=True))
    return p / xp.sum(p, axis=1, keepdims=True)


def winner(joint: Any) -> Any:
    """The position of the most probable class of each row."""
    return joint.argmax(axis=1) if is_numpy(joint) else namespace(joint).argmax(joint, axis=1)


def _finished(block: Block, joint: Any, state: tuple, dtype: Any, finish: Any, *more: Any) -> Any:
    """What `finish` makes of a block's joint log densities; a module-level function, so that it can travel."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = finish(joint(block, *state), *more)
    return values.astype(dtype, copy=False) if is_numpy(values) and values.ndim == 2 else values


def _same(joint: Any) -> Any:
    return joint


def _label(joint: Any, classes: Any) -> Any:
    return labels_at(classes, winner(joint))
