"""Labels that move along a graph of similar rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from learnt.distances import Search
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.params import ParameterError, check_choice, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.schema import CLASSES, Dims, Schema, choice, count, number, real, table
from learnt.engine.scoring import RowsClassifier
from learnt.engine.validation import check_fit, check_predict
from learnt.kernels import gram_times
from learnt.semi_supervised._affinity import all_weights, called, rbf, search_of, weights_of_unlabelled
from learnt.semi_supervised._labels import labelled_rows, one_hot
from learnt.semi_supervised._steps import iterate, propagation, shares, spreading

_LOST = 1e-300  # a sum of weights below is one of numbers that no longer follow their exponents


def _has_neighbours(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    many = model.kernel == "knn" and model.n_neighbors > dims["n"]
    return "asks for more neighbours than it has rows" if many else None


class LabelsOnGraph(CallbackSupportMixin, RowsClassifier, Estimator):
    """Labels of the rows, found by steps along weights, and labels of new rows from them."""

    __learnt_schema__ = Schema(
        params={"kernel": choice("rbf", "knn"), "gamma": number(0), "n_neighbors": count(1)},
        state={
            **CLASSES,
            "X_": table("n", "d"),
            "label_distributions_": real("n", "c", low=0),
            "n_iter_": count(0),
        },
        rule=_has_neighbours,
    )
    # Of a similarity of e^(−20 ‖x − z‖²), digits of single precision would be amplified.
    __learnt_trial__ = Trial(quick={"gamma": 0.5}, most_rows=600)

    kernel: Any
    gamma: float
    n_neighbors: int
    max_iter: int
    tol: float
    n_jobs: int | None

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True)

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Find labels for the rows whose y is −1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows to learn from, with labels and without.
        y : array-like of shape (n_samples,)
            Class labels; −1 for rows without one. Where labels are text, an array of dtype object with the number −1.
        """
        self._check()
        X = check_fit(self, X, order="C").X
        _, known, self.classes_, codes = labelled_rows(y, X.shape[0], type(self).__name__)
        search = None
        self.__dict__.pop("_search", None)
        if isinstance(self.kernel, str) and self.kernel == "knn":
            if self.n_neighbors > X.shape[0]:
                raise ParameterError(
                    f"n_neighbors={self.n_neighbors} of {type(self).__name__} is more than there are rows, "
                    f"{X.shape[0]}; ask for fewer."
                )
            self._search = search = search_of(X, self.n_jobs)
        with fit_loop(self, self.max_iter, X, y) as loop:
            F, self.n_iter_ = self._move(X, search, known, one_hot(codes, len(self.classes_)), loop)
        self.X_, self.label_distributions_ = X, shares(F)
        return self

    def _check(self) -> None:
        if not callable(self.kernel):
            check_choice(self, "kernel", ("knn", "rbf"))
        check_number(self, "gamma", 0)
        check_number(self, "n_neighbors", 1, integer=True)
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)

    def _move(
        self, X: Any, search: Search | None, known: np.ndarray, Y: np.ndarray, loop: Any
    ) -> tuple[np.ndarray, int]:
        """Shares of the classes in each row, and how many steps that took; Y are labels of the known rows."""
        raise NotImplementedError

    @property
    def transduction_(self) -> np.ndarray:
        """The likeliest label of each training row."""
        if "label_distributions_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no transduction_; call fit first.")
        return self.classes_[self.label_distributions_.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the classes among the training rows, by their weight for each new row.

        Where all weights are too small for a number, the nearest row counts; where no row with any weight has got a
        label, all classes are alike.
        """
        X = check_predict(self, X, order="C")
        F = self.label_distributions_
        if callable(self.kernel):
            sums = np.asarray(called(self.kernel, self.X_, X).T @ F)
        elif self.kernel == "knn":
            sums = self._sums_of_nearest(X, self.n_neighbors)
        else:
            sums = np.asarray(gram_times(rbf(self.gamma, X), X, self.X_, F))
            lost = np.flatnonzero(sums.sum(axis=1) < _LOST)
            if lost.size:
                sums[lost] = self._sums_of_nearest(X[lost], 1)
        sums[sums.sum(axis=1) == 0] = 1.0
        return shares(sums)

    def _sums_of_nearest(self, X: Any, k: int) -> np.ndarray:
        """Sums of the shares of the k nearest rows."""
        if "_search" not in vars(self):  # after it was loaded, or where weights are not by neighbours
            self._search = search_of(self.X_, self.n_jobs)
        sums = np.empty((X.shape[0], len(self.classes_)))

        def add(lo: int, hi: int, distances: np.ndarray, index: np.ndarray) -> None:
            sums[lo:hi] = self.label_distributions_[index].sum(axis=1)

        self._search.nearest_blocks(X, k, add, n_jobs=self.n_jobs)
        return sums

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row; among equals the first of `classes_`."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]


class LabelPropagation(LabelsOnGraph):
    """Rows without a label take the mean of all others' by similarity, again and again (Zhu and Ghahramani, 2002).

    F_u ← D⁻¹ (W_uu F_u + W_ul Y_l),  D making rows sum to 1; rows with a label keep it

    Take it for few labels and many rows without, where rows near each other, or joined by a chain of near ones, have
    the same class, and the labels given are right. Where some may be wrong, take `LabelSpreading`.

    Parameters
    ----------
    kernel : {"rbf", "knn"} or callable, default="rbf"
        How alike rows are, the weights of the graph: "rbf", exp(−γ ‖x − z‖²), for all pairs of rows; "knn", 1 for the
        nearest rows and 0 for others, sparse, for more rows; or a function of two tables that returns a matrix, dense
        or sparse.
    gamma : float, default=20
        γ of "rbf", at least 0: the larger, the more local the graph. It hangs on the units of the columns; scale them
        first.
    n_neighbors : int, default=7
        How many nearest rows count for "knn", the row itself among them.
    max_iter : int, default=1000
        The most steps; raise it after a convergence warning.
    tol : float, default=1e-3
        Stopping tolerance: it ends when the changes of a step sum to less than this.
    n_jobs : int or None, default=None
        The most threads that search neighbours; None or -1 for all that this process may. The result does not depend on
        it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, without −1.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The shares of the classes in each training row; 0 where no label arrived.
    transduction_ : ndarray of shape (n_samples,)
        The likeliest label of each training row.
    X_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    n_iter_ : int
        The number of steps.

    See Also
    --------
    LabelSpreading : May overrule labels that are given, so that it is robust against wrong ones.
    SelfTrainingClassifier : Labels rows by any classifier.

    Notes
    -----
    Only weights of rows without a label are computed and kept: O(u n) memory for u of n rows with "rbf", O(u k) with
    "knn" and k neighbours. A step takes as much time for each class. X may also be a SciPy sparse matrix.

    References
    ----------
    .. [1] X. Zhu and Z. Ghahramani, "Learning from labeled and unlabeled data with label propagation", Technical report
       CMU-CALD-02-107, Carnegie Mellon University, 2002.

    Examples
    --------
    >>> X, y = [[0.0], [0.5], [1.0], [3.0], [3.5]], [0, -1, -1, -1, 1]
    >>> LabelPropagation(gamma=2.0).fit(X, y).transduction_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _move(
        self, X: Any, search: Search | None, known: np.ndarray, Y: np.ndarray, loop: Any
    ) -> tuple[np.ndarray, int]:
        W, given = weights_of_unlabelled(self, X, search, known, Y)
        start = np.zeros(given.shape)
        F = np.empty((len(known), Y.shape[1]))
        F[known] = Y
        F[~known], n_iter = iterate(propagation(W, given), start, float(len(Y)), self.max_iter, self.tol, loop)
        return F, n_iter


class LabelSpreading(LabelsOnGraph):
    """Labels spread over normalised weights, and may be overruled (Zhou, Bousquet, Lal, Weston and Schölkopf, 2004).

    F ← α D^(−½) W D^(−½) F + (1 − α) Y,  D the sums of the weights W, which has a diagonal of 0

    Take it for few labels, of which some may be wrong, and many rows without, where rows near each other, or joined by
    a chain of near ones, have the same class.

    Parameters
    ----------
    kernel : {"rbf", "knn"} or callable, default="rbf"
        How alike rows are, the weights of the graph: "rbf", exp(−γ ‖x − z‖²), for all pairs of rows; "knn", 1 for the
        nearest rows and 0 for others, sparse, for more rows; or a function of two tables that returns a matrix, dense
        or sparse.
    gamma : float, default=20
        γ of "rbf", at least 0: the larger, the more local the graph. It hangs on the units of the columns; scale them
        first.
    n_neighbors : int, default=7
        How many nearest rows count for "knn", the row itself among them.
    alpha : float, default=0.2
        How much of its label a row takes from others, between 0 and 1; near 0 a label given is kept, near 1 it counts
        little.
    max_iter : int, default=30
        The most steps; raise it after a convergence warning.
    tol : float, default=1e-3
        Stopping tolerance: it ends when the changes of a step sum to less than this.
    n_jobs : int or None, default=None
        The most threads that search neighbours; None or -1 for all that this process may. The result does not depend on
        it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, without −1.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The shares of the classes in each training row; 0 where no label arrived.
    transduction_ : ndarray of shape (n_samples,)
        The likeliest label of each training row.
    X_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    n_iter_ : int
        The number of steps.

    See Also
    --------
    LabelPropagation : Keeps the labels that are given.
    SelfTrainingClassifier : Labels rows by any classifier.

    Notes
    -----
    All weights are kept: O(n²) memory for n rows with "rbf", O(n k) with "knn" and k neighbours. A step takes as much
    time for each class. X may also be a SciPy sparse matrix.

    References
    ----------
    .. [1] D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schölkopf, "Learning with local and global consistency",
       NIPS, 2003.

    Examples
    --------
    >>> X, y = [[0.0], [0.5], [1.0], [3.0], [3.5]], [0, -1, -1, -1, 1]
    >>> LabelSpreading(gamma=2.0).fit(X, y).transduction_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        alpha: float = 0.2,
        max_iter: int = 30,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        check_number(self, "alpha", 0, float(np.nextafter(1.0, 0.0)), open_low=True)

    def _move(
        self, X: Any, search: Search | None, known: np.ndarray, Y: np.ndarray, loop: Any
    ) -> tuple[np.ndarray, int]:
        start = np.zeros((len(known), Y.shape[1]))
        start[known] = Y
        step = spreading(all_weights(self, X, search), start, float(self.alpha))
        return iterate(step, start, float(len(Y)), self.max_iter, self.tol, loop)
