"""Affinity propagation: the estimator, and the same as a function."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from learnt.cluster.affinity._messages import exemplars, refined, without_ties
from learnt.distances import nearest_center
from learnt.engine.documentation import documented
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.matrices import dense, take_rows
from learnt.engine.mixins import ClusterMixin
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number, check_verbose
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Dims, Schema, choice, count, integers, real, table
from learnt.engine.threads import single_blas
from learnt.engine.validation import NOT_FITTED, check_fit, check_predict
from learnt.engine.verbose import tell
from learnt.kernels import require_room
from learnt.metrics.pairwise import euclidean_distances


def _has_centers(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    wanted = model.affinity != "precomputed"
    return "has no cluster centres" if wanted and "cluster_centers_" not in state else None


class AffinityPropagation(CallbackSupportMixin, ClusterMixin, Estimator):
    """Clusters around rows that stand for others, found by messages between all rows (Frey and Dueck, 2007).

        r(i, k)   how well row k would stand for row i, compared with all others
        a(i, k)   how much other rows want row k to stand for them

    Rows with r(k, k) + a(k, k) > 0 are exemplars. The number of clusters is not given; it grows with `preference`. Take
    it for few rows, where clusters should be shown by examples or only similarities are known.

    Parameters
    ----------
    damping : float, default=0.5
        The share of a message that stays from round to round, from 0.5 to less than 1. Raise it, to 0.9 say, where the
        exemplars go up and down without convergence.
    max_iter : int, default=200
        The most rounds.
    convergence_iter : int, default=15
        It ends when the exemplars were the same for so many rounds.
    copy : bool, default=True
        False: a given matrix of similarities is changed.
    preference : float, array-like of shape (n_samples,) or None, default=None
        How similar each row is to itself: the larger, the more clusters. None for the median of the similarities.
    affinity : {"euclidean", "precomputed"}, default="euclidean"
        The similarity of two rows: −‖x − z‖², or X holds similarities.
    verbose : bool, default=False
        Whether to tell how many rounds there were, in the log or on stderr.
    random_state : int, RandomState, Generator or None, default=None
        Where noise of the size of rounding errors comes from, which decides ties.

    Attributes
    ----------
    cluster_centers_indices_ : ndarray of shape (n_clusters,)
        The numbers of the exemplars.
    cluster_centers_ : ndarray or CSR matrix of shape (n_clusters, n_features)
        Their rows, where X holds rows.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; −1 where no exemplar was found.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Similarities, with the preference on the diagonal and the noise.
    n_iter_ : int
        The number of rounds.

    See Also
    --------
    affinity_propagation : The same as a function of similarities.
    AgglomerativeClustering : Clusters of any distances, merged two at a time.
    KMeans : Compact clusters of many rows.

    Notes
    -----
    Three n × n matrices are kept, and read twice a round: for some thousand rows. Where it does not converge the labels
    may be of little use, and a warning says so; without any exemplar all labels are −1.

    References
    ----------
    .. [1] B. J. Frey, D. Dueck, "Clustering by Passing Messages Between Data Points", Science 315, 2007.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [4.0, 2.0], [4.0, 4.0], [4.0, 0.0]])
    >>> model = AffinityPropagation(random_state=5).fit(X)
    >>> model.labels_, model.cluster_centers_indices_
    (array([0, 0, 0, 1, 1, 1]), array([0, 3]))
    """

    __learnt_schema__ = Schema(
        params={"affinity": choice("euclidean", "precomputed")},
        state={
            **FEATURES,
            "affinity_matrix_": real("n", "n"),
            "cluster_centers_indices_": integers("k", below="n"),
            "labels_": integers("n", low=-1, below="k"),
            "n_iter_": count(0),
        },
        extra={"cluster_centers_": table("k", "d")},
        rule=_has_centers,
    )
    # The noise is drawn for the rows in their order.
    __learnt_trial__ = Trial(quick={"random_state": 0}, any_order=False, most_rows=600)

    labels_: np.ndarray

    def __init__(
        self,
        *,
        damping: float = 0.5,
        max_iter: int = 200,
        convergence_iter: int = 15,
        copy: bool = True,
        preference: Any = None,
        affinity: str = "euclidean",
        verbose: Any = False,
        random_state: Any = None,
    ) -> None:
        self.damping = damping
        self.max_iter = max_iter
        self.convergence_iter = convergence_iter
        self.copy = copy
        self.verbose = verbose
        self.preference = preference
        self.affinity = affinity
        self.random_state = random_state

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=self.affinity != "precomputed")

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> AffinityPropagation:
        """Find the exemplars among the rows of X, or among rows whose similarities X holds."""
        self._check_parameters()
        given = X
        X = check_fit(self, X, order="C").X
        n = X.shape[0]
        require_room(type(self).__name__, n, n, 3, "take another kind of clusters, KMeans for example")
        if self.affinity == "precomputed":
            if X.shape[1] != n:
                raise ValueError(
                    f"The matrix of similarities must be a square array. Got {X.shape} instead; give one row and one "
                    "column for each sample."
                )
            kept = self.copy and np.may_share_memory(X, np.asarray(given))
            S = X.copy() if kept or not X.flags.writeable else X
        else:
            with single_blas():
                S = np.asarray(euclidean_distances(X, squared=True))
            np.negative(S, out=S)
        preference = self._preferences(S)
        with fit_loop(self, self.max_iter, X, y) as loop:
            rows, self.labels_ = self._find(S, preference, loop)
        self.affinity_matrix_, self.cluster_centers_indices_ = S, rows
        self.__dict__.pop("cluster_centers_", None)  # of a fit to rows
        if self.affinity != "precomputed":
            self.cluster_centers_ = take_rows(X, rows)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "damping", 0.5, float(np.nextafter(1.0, 0.0)))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "convergence_iter", 1, integer=True)
        check_flag(self, "copy")
        check_choice(self, "affinity", ("euclidean", "precomputed"))
        check_verbose(self)

    def _preferences(self, S: np.ndarray) -> np.ndarray:
        """One number, or one for each row."""
        if self.preference is None:
            return np.asarray(np.median(S))
        try:
            found = np.asarray(self.preference, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.empty((0, 0))
        if found.shape not in ((), (len(S),)) or not np.isfinite(found).all():
            raise ParameterError(
                f"The 'preference' parameter of {type(self).__name__} must be None, a finite number, or one for each "
                f"of {len(S)} rows. Got {self.preference!r:.80} instead."
            )
        return found

    def _find(self, S: np.ndarray, preference: np.ndarray, loop: Any) -> tuple[np.ndarray, np.ndarray]:
        """The exemplars and the label of each row."""
        n, one = len(S), float(preference.flat[0])
        self.n_iter_ = 0
        if n == 1 or ((preference == one).all() and _all_equal(S)):
            warnings.warn(
                "All samples have mutually equal similarities. Returning arbitrary cluster center(s): every row, or "
                "the first, by the preference.",
                UserWarning,
                stacklevel=4,
            )
            if one > S.flat[n - 1]:
                return np.arange(n), np.arange(n)
            return np.zeros(1, dtype=np.int64), np.zeros(n, dtype=np.int64)
        S.flat[:: n + 1] = preference
        without_ties(S, random_state_of(self.random_state))
        found = exemplars(np.asarray(S, dtype=np.float64), self.damping, self.max_iter, self.convergence_iter, loop)
        self.n_iter_ = found.n_iter
        if self.verbose:
            tell("%s after %d rounds.", "Converged" if found.settled else "Did not converge", found.n_iter)
        if not found.settled:
            what = "may return degenerate cluster centers and labels" if found.rows.size else "has no cluster centers"
            warnings.warn(
                f"Affinity propagation did not converge, this model {what}. Raise max_iter, or damping where the "
                "number of clusters goes up and down.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if not found.rows.size:
            return found.rows, np.full(n, -1)
        return refined(S, found.rows)

    def predict(self, X: Any) -> np.ndarray:
        """The cluster whose exemplar is nearest to each row; −1 where there are no clusters."""
        check_is_fitted(self, msg=NOT_FITTED)
        X = check_predict(self, X, order="C")
        if self.affinity == "precomputed":
            raise ValueError(
                "Predict method is not supported when affinity='precomputed': new rows have no place in the matrix of "
                "similarities; fit to rows."
            )
        if not self.cluster_centers_.shape[0]:
            warnings.warn(
                "This model does not have any cluster centers because affinity propagation did not converge. Labeling "
                "every sample as '-1'.",
                ConvergenceWarning,
                stacklevel=2,
            )
            return np.full(X.shape[0], -1)
        centers = np.asarray(dense(self.cluster_centers_), dtype=np.float64)
        return nearest_center(X, centers, np.zeros(centers.shape[1])).astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _all_equal(S: np.ndarray) -> bool:
    """Whether all similarities of different rows are equal."""
    differ = S[0, 1] != S
    np.fill_diagonal(differ, False)
    return not differ.any()


@documented
def affinity_propagation(
    S: Any,
    *,
    preference: Any = None,
    convergence_iter: int = 15,
    max_iter: int = 200,
    damping: float = 0.5,
    copy: bool = True,
    verbose: bool = False,
    return_n_iter: bool = False,
    random_state: Any = None,
) -> Any:
    """Clusters around exemplars from a matrix of similarities; `AffinityPropagation` as a function.

    Parameters
    ----------
    S : array-like of shape (n_samples, n_samples)
        Similarities of all rows to each other: the larger, the more alike.
    preference : float, array-like of shape (n_samples,) or None, default=None
        How similar each row is to itself: the larger, the more clusters. None for the median of the similarities.
    convergence_iter : int, default=15
        It ends when the exemplars were the same for so many rounds.
    max_iter : int, default=200
        The most rounds.
    damping : float, default=0.5
        The share of a message that stays from round to round, from 0.5 to less than 1. Raise it where the exemplars go
        up and down without convergence.
    copy : bool, default=True
        Whether to work on a copy; False changes S.
    verbose : bool, default=False
        Whether to tell how many rounds there were, in the log or on stderr.
    random_state : int, RandomState, Generator or None, default=None
        Where noise of the size of rounding errors comes from, which decides ties.

    Returns
    -------
    cluster_centers_indices : ndarray of shape (n_clusters,)
        The numbers of the exemplars.
    labels : ndarray of shape (n_samples,)
        The cluster of each row; −1 where no exemplar was found.
    n_iter : int
        The number of rounds; only with `return_n_iter=True`.

    See Also
    --------
    AffinityPropagation : The same as a class, for rows too.
    spectral_clustering : Clusters by cuts of a graph of similarities.

    Notes
    -----
    Three n × n matrices are kept, and read twice a round: for some thousand rows. Where it does not converge the labels
    may be of little use, and a warning says so; without any exemplar all labels are −1.

    References
    ----------
    .. [1] B. J. Frey, D. Dueck, "Clustering by Passing Messages Between Data Points", Science 315, 2007.

    Examples
    --------
    >>> S = -np.square(np.subtract.outer([0.0, 1.0, 2.5, 9.0, 10.0], [0.0, 1.0, 2.5, 9.0, 10.0]))
    >>> affinity_propagation(S, preference=-10.0, random_state=0)
    (array([1, 3]), array([0, 0, 0, 1, 1]))
    """
    model = AffinityPropagation(
        damping=damping,
        max_iter=max_iter,
        convergence_iter=convergence_iter,
        copy=copy,
        preference=preference,
        affinity="precomputed",
        verbose=verbose,
        random_state=random_state,
    ).fit(S)
    found = model.cluster_centers_indices_, model.labels_
    return (*found, model.n_iter_) if return_n_iter else found
