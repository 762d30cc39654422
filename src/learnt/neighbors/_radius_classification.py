"""Classification by all neighbours within a radius."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.distances import BallSums
from learnt.engine.mixins import ClassifierMixin
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

    Take it instead of a fixed number of neighbours where a distance has a meaning of its own (metres, hours), or where
    the rows are much denser in some places than in others. Rows that nothing is near to can be told by `outlier_label`.

    Parameters
    ----------
    radius : float, default=1.0
        How far a neighbour may be. Too small a radius leaves rows without neighbours (overfitting); too large a one
        averages over rows that are not alike (underfitting). Its scale is that of the distances, so look at a few
        first.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What each neighbour counts.

        - "uniform" or None: all the same.
        - "distance": 1 / distance, so that near neighbours count more; a neighbour at distance 0 decides alone.
        - callable: a function of the array of distances that returns weights of the same shape.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        How to search for neighbours. All but "approximate" give the same neighbours, so this is a choice of speed.

        - "auto": brute force at first; a tree is built once the queries so far would have paid for it.
        - "brute": distances to all training rows; for sparse rows, many columns, and metrics that no tree takes.
        - "kd_tree": nested boxes, for Minkowski distances of dense rows with few columns (up to ten or so).
        - "ball_tree": nested balls, for any true metric of dense rows.
        - "approximate": a graph of near rows (HNSW), which misses some neighbours and is much quicker on many rows of
          many columns. For "euclidean", "sqeuclidean" and "cosine"; needs `pip install learnt[ann]`. `recall_` says
          what share of the true neighbours it finds.
    leaf_size : int, default=30
        The most rows in a leaf of the tree. It changes the speed and the memory of the search, never the neighbours.
    p : float, default=2
        The power of the Minkowski metric: 1 is the Manhattan distance, 2 the Euclidean. Other metrics ignore it.
    metric : str or callable, default="minkowski"
        The distance between two rows. By name: "euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "hamming",
        "jaccard", "haversine", "nan_euclidean" (which takes missing cells) and others of SciPy's; the names are in
        `VALID_METRICS`. "precomputed" means that X holds distances. A function gets two rows and returns a number; it
        is slow. Scale the columns first where they have different units: the largest one decides otherwise.
    outlier_label : label, "most_frequent", list of labels or None, default=None
        The class of rows without neighbours; a list has one for each output. "most_frequent" takes the commonest class.
        None raises an error at such rows. Probabilities of a label that y does not have are all 0.
    metric_params : dict or None, default=None
        Further parameters of the metric, such as `{"w": weights}` for weights of the columns.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of them
        The class labels, sorted; a list with one array for each column of y where y has several.
    outlier_label_ : list of labels or None
        The label for rows without neighbours, one for each output.
    effective_metric_ : str or callable
        The metric that is computed: "euclidean" for `metric="minkowski"` with p = 2.
    effective_metric_params_ : dict
        The parameters that this metric gets.
    n_samples_fit_ : int
        The number of training rows.
    outputs_2d_ : bool
        Whether y had several columns.
    recall_ : float
        The share of the true neighbours that the search finds, measured on a sample of training rows; only with
        `algorithm="approximate"`.

    See Also
    --------
    KNeighborsClassifier : Votes of a fixed number of neighbours, as near or far as they are.
    RadiusNeighborsRegressor : Predicts numbers: the mean of all rows within a radius.
    LocalOutlierFactor : Which rows are far from all others.

    Notes
    -----
    Votes are counted block by block, so that never all pairs of neighbours are in memory. With equal votes and a search
    by trees, the votes inside whole nodes of the tree are added up beforehand, and a large radius costs little more
    than a small one.

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
        radius: float | None = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        outlier_label: Any = None,
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
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
        """Remember the rows and their classes; y may have several columns, each a question of its own.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows; with `metric="precomputed"` their distances to each other, (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels; each of several columns is a question of its own.
        """
        check_weights_parameter(self)
        self._fit_labels(self._fit_rows(X), y)
        self._renew_sums()
        self.outlier_label_ = self._outlier_labels()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row; X = None asks for the training rows, each by its other rows (leave-one-out).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            Rows to predict; with `metric="precomputed"` their distances to the training rows. None asks for the
            training rows, each predicted by its other rows (leave-one-out).

        Returns
        -------
        y_pred : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            The class with the most votes; `outlier_label` for rows without neighbours.
        """
        counted, lonely = self._counted(X)
        out = self._named(np.stack([votes.argmax(axis=1) for votes in counted], axis=1))
        if lonely.size and self.outlier_label_ is not None:
            out[lonely] = self.outlier_label_ if self.outputs_2d_ else self.outlier_label_[0]
        return out

    def predict_proba(self, X: Any) -> Any:
        """The share of the votes for each class, in the order of `classes_`; a list where y had several columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            Rows to predict; with `metric="precomputed"` their distances to the training rows. None asks for the
            training rows, each predicted by its other rows (leave-one-out).

        Returns
        -------
        proba : ndarray of shape (n_queries, n_classes), or list of them
            Shares of the votes. A row without neighbours has 1 for its outlier label, or 0 throughout where y lacks the
            label.
        """
        counted, _ = self._counted(X)
        out = [shares(votes) for votes in counted]
        return out if self.outputs_2d_ else out[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; X = None: of the training rows, each by its other rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None
            Rows to predict; with `metric="precomputed"` their distances to the training rows. None asks for the
            training rows, each predicted by its other rows (leave-one-out).
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            The true classes.
        """
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
