"""From log p(x, c) to labels and probabilities, on every kind of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnt.engine.arrays import is_numpy, namespace
from learnt.engine.classification.labels import classes_on_device_of, labels_at
from learnt.engine.rows import Block, as_rows
from learnt.engine.scoring import RowsClassifier
from learnt.engine.validation import check_predict


class ScoreClassifier(RowsClassifier):
    """Labels and probabilities of a model that has `_joint(X)`.

    `_joint(X)` returns a pure function of blocks that gives log p(x, c) (n × K) up to a constant of each row, its
    state, and the dtype of the result.
    """

    classes_: Any

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        return self._map(X, label_of, labels=True)

    def predict_proba(self, X: Any) -> Any:
        """p(c | x) of each row (n × K), columns as in `classes_`."""
        return self._map(X, posterior)

    def predict_log_proba(self, X: Any) -> Any:
        """log p(c | x) of each row (n × K)."""
        return self._map(X, log_posterior)

    def _joint(self, X: Any) -> tuple[Callable[..., Any], tuple, Any]:
        raise NotImplementedError

    def _map(self, X: Any, finish: Callable[..., Any], labels: bool = False, joint: Any = None) -> Any:
        """What `finish` makes of the scores of each row, those of `_joint` or of another such method."""
        X = check_predict(self, X)
        joint, state, dtype = (joint or self._joint)(X)
        more = (classes_on_device_of(self.classes_, X),) if labels else ()
        return as_rows(X).map(_finished, joint, state, dtype, finish, *more)


class JointDensityClassifier(ScoreClassifier):
    """The same of a model whose `_joint` is log p(x, c) itself."""

    def predict_joint_log_proba(self, X: Any) -> Any:
        """log p(x, c) of each row (n × K)."""
        return self._map(X, unchanged)


def difference(scores: Any) -> Any:
    """For two classes the second score minus the first; for more the scores as they are."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


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


def most_probable(joint: Any) -> Any:
    """The position of the most probable class of each row."""
    return joint.argmax(axis=1) if is_numpy(joint) else namespace(joint).argmax(joint, axis=1)


def _finished(block: Block, joint: Any, state: tuple, dtype: Any, finish: Any, *more: Any) -> Any:
    """What `finish` makes of a block's joint log densities; a module-level function, so that it can be pickled."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = finish(joint(block, *state), *more)
    return values.astype(dtype, copy=False) if is_numpy(values) and values.ndim == 2 else values


def unchanged(joint: Any) -> Any:
    return joint


def label_of(joint: Any, classes: Any) -> Any:
    return labels_at(classes, most_probable(joint))
