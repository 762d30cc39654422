"""Classification by all neighbours within a radius."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from learnt.distances import BallSums
from learnt.engine.schema import Schema, anyof, choice, listof, none, number, scalar
from learnt.neighbors._base import NeighborsBase
from learnt.neighbors._radius import RadiusNeighborsMixin, RadiusSums
from learnt.neighbors._schema import CODES, METRIC, RECALL, SEARCH, votes_rule
from learnt.neighbors._targets import LabelTargets
from learnt.neighbors._vote import all_count_the_same, check_weights_parameter, counted_votes, radius_weights, shares


def _rule(model: Any, state: dict[str, Any], dims: dict[str, int]) -> str | None:
    outlier, outputs = state["outlier_label_"], len(state["classes_"]) if state["outputs_2d_"] else 1
    if outlier is not None and len(outlier) != outputs:
        return "does not have one label of outliers for each output"
    return votes_rule(model, state, dims)


class RadiusNeighborsClassifier(RadiusSums, RadiusNeighborsMixin, LabelTargets, ClassifierMixin, NeighborsBase):
    """A row's class is the one most training rows within a radius of it have.

        P(y = c | x) = Σ over xᵢ with distance(x, xᵢ) ≤ r of  vᵢ [yᵢ = c]  /  Σ vᵢ,     vᵢ = 1, or 1 / distance

    Votes are counted block by block, so that never all pairs of neighbours are in memory.

    Parameters
    ----------
    radius : float, default=1.0
        The radius r.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a neighbour's vote counts: the same, one over its distance, or a function of the distances of one row.
    algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As for `KNeighborsClassifier`.
    outlier_label : label, "most_frequent", list of labels (one an output) or None, default=None
        The class of rows that have no neighbour. Probabilities of a label that y does not have are all 0. None refuses
        such rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of them where y has several columns
    outlier_label_ : list of labels, or None
    effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_, n_features_in_ :
        As for `KNeighborsClassifier`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = RadiusNeighborsClassifier(radius=1.0, outlier_label="far").fit(X, ["a", "a", "bee", "bee"])
    >>> model.predict([[0.4]])
    array(['a'], dtype='<U3')
    >>> model.predict_proba([[1.0]])
    array([[0.667, 0.333]])
    """

    __learnt_schema__ = Schema(
        params={
            "radius": anyof(none, number(0, finite=False)),
            "weights": choice(None, "uniform", "distance"),
            **METRIC,
        },
        state={**SEARCH, **CODES, "outlier_label_": anyof(none, listof(scalar))},
        extra=RECALL,
        rule=_rule,
    )

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        outlier_label=None,
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> RadiusNeighborsClassifier:
        """Remember the rows and their classes; y may have several columns, each a question of its own."""
        check_weights_parameter(self)
        self._fit_labels(self._fit_rows(X), y)
        self._renew_sums()
        self.outlier_label_ = self._outlier_labels()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row; X = None asks for the training rows, each by its other rows (leave-one-out)."""
        counted, lonely = self._counted(X)
        out = self._named(np.stack([votes.argmax(axis=1) for votes in counted], axis=1))
        if lonely.size and self.outlier_label_ is not None:
            out[lonely] = self.outlier_label_ if self.outputs_2d_ else self.outlier_label_[0]
        return out

    def predict_proba(self, X: Any) -> Any:
        """The share of the votes for each class, in the order of `classes_`; a list where y had several columns."""
        counted, _ = self._counted(X)
        out = [shares(votes) for votes in counted]
        return out if self.outputs_2d_ else out[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; X = None: of the training rows, each by its other rows."""
        return super().score(X, y, sample_weight)

    def _make_sums(self) -> list[BallSums | None]:
        classes, codes = self._outputs()
        return [self._built().ball_votes(codes[:, j], names.size) for j, names in enumerate(classes)]

    def _counted(self, X: Any) -> tuple[list[np.ndarray], np.ndarray]:
        """The votes of each output, and the rows that have no neighbour."""
        Q = self._queries(X)
        m = self.n_samples_fit_ if Q is None else Q.shape[0]
        classes, codes = self._outputs()
        counted = [np.empty((m, names.size)) for names in classes]
        alone = np.empty(m, dtype=bool)
        sums, same = self._kept_sums(Q), all_count_the_same(self.weights)
        if sums is not None:
            for j, balls in enumerate(sums):
                counts, counted[j] = balls.within(Q, self._radius(None), self.n_jobs)
            alone = counts == 0
        else:
            blocks = self._built().within_blocks(
                Q, self._radius(None), distances=not same, ordered=not same, n_jobs=self.n_jobs
            )
            for lo, hi, found in blocks:
                weights, query = radius_weights(found, self.weights), found.query
                alone[lo:hi] = found.counts == 0
                for j, names in enumerate(classes):
                    counted[j][lo:hi] = counted_votes(codes[found.indices, j], query, hi - lo, names.size, weights)
        lonely = np.flatnonzero(alone)
        if lonely.size:
            self._vote_for_outliers(lonely, counted)
        return counted, lonely

    def _vote_for_outliers(self, lonely: np.ndarray, counted: list[np.ndarray]) -> None:
        if self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {lonely[:10]!r} ({lonely.size} in all), you can try using larger "
                "radius, giving a label for outliers, or considering removing them from your dataset."
            )
        for names, votes, label in zip(self._outputs()[0], counted, self.outlier_label_, strict=True):
            known = np.flatnonzero(names == label)
            votes[lonely[:, None], known] = 1.0
            if known.size == 0:
                warnings.warn(
                    f"Outlier label {label} is not in training classes. All class probabilities of outliers will be "
                    "assigned with 0.",
                    UserWarning,
                    stacklevel=4,
                )

    def _outlier_labels(self) -> list | None:
        """The label of rows without neighbours for each output."""
        label = self.outlier_label
        classes, codes = self._outputs()
        if label is None:
            return None
        if isinstance(label, str) and label == "most_frequent":
            return [names[np.bincount(codes[:, j]).argmax()] for j, names in enumerate(classes)]
        several = np.ndim(label) > 0 or isinstance(label, list | tuple)
        chosen = list(label) if several else [label] * len(classes)
        if len(chosen) != len(classes):
            raise ValueError(
                f"The length of outlier_label: {label} is inconsistent with the output length: {len(classes)}; give "
                "one label, or one for each output."
            )
        for names, one in zip(classes, chosen, strict=True):
            if np.ndim(one) > 0:
                raise TypeError(f"The outlier_label of classes {names} is supposed to be a scalar, got {one}.")
            if np.append(names, one).dtype != names.dtype:
                raise TypeError(
                    f"The dtype of outlier_label {one} is inconsistent with classes {names} in y; give a label of the "
                    "same kind and length."
                )
        return chosen
