"""Principal components of rows that come in batches."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from learnt.decomposition._principal import PrincipalComponents
from learnt.decomposition.spectrum._centre import Centre
from learnt.decomposition.spectrum._exact import Spectrum, largest_eigen
from learnt.engine.arrays import like, namespace
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.params import check_flag, check_number
from learnt.engine.rows import as_rows
from learnt.engine.schema import FEATURES, Schema, anyof, count, flag, number, real
from learnt.engine.validation import check_fit
from learnt.statistics import Moments, moments
from learnt.statistics._record import FULL


class IncrementalPCA(PrincipalComponents):
    """Principal components from batches of rows, exactly those of all rows seen so far.

    Take it where rows come in batches and the components are wanted in between. (For rows that do not fit in memory
    `PCA` reads a `learnt.scan` table in blocks just as well.) Unlike scikit-learn's, which keeps n_components
    directions of each batch and loses the rest, nothing is forgotten: neither the size nor the order of the batches
    matters.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to keep; None is the smaller of the rows of the first batch and the columns.
    whiten : bool, default=False
        Whether to divide scores by their standard deviations, so that all have variance 1.
    copy : bool, default=True
        Kept for scikit-learn's signature: X is left as it is either way.
    batch_size : int or None, default=None
        Kept for scikit-learn's signature: `fit` reads rows in blocks, and their size changes nothing.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The directions, one a row, by falling variance; the largest entry of each is positive.
    explained_variance_ : ndarray of shape (n_components_,)
        The variance of the rows along each direction (divisor n − 1).
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Its share of the total variance.
    singular_values_ : ndarray of shape (n_components_,)
        ‖(X − mean) v_k‖ of each direction v_k.
    mean_ : ndarray of shape (n_features,)
        The mean of each column, which is subtracted from rows.
    n_components_ : int
        How many components were kept.
    noise_variance_ : float
        The mean variance of the directions left out: the noise of probabilistic PCA.
    var_ : ndarray of shape (n_features,)
        The variance of each column (divisor n).
    scatter_ : ndarray of shape (n_features, n_features)
        Σ (x − mean)(x − mean)ᵀ over all rows seen: what `partial_fit` goes on from.
    n_samples_seen_ : int
        How many rows it has seen.
    batch_size_ : int
        The parameter `batch_size`, or 5 times the number of columns.

    See Also
    --------
    PCA : All rows at once.
    TruncatedSVD : Without centring, so that sparse rows stay sparse.

    Notes
    -----
    The mean and the d × d scatter of two sets of rows give those of both together [1]_. Memory is O(d²), whatever the
    number of rows, and each batch of m rows takes O(m d² + d³) time.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
       variances", Technical report STAN-CS-79-773, Stanford University, 1979.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [3.0, 2.0, 1.0]
    >>> model = IncrementalPCA(n_components=2).partial_fit(X[:50]).partial_fit(X[50:])
    >>> model.n_samples_seen_, bool(np.allclose(model.mean_, X.mean(axis=0)))
    (100, True)
    """

    __learnt_schema__ = Schema(
        params={"whiten": flag},
        state={
            **FEATURES,
            "n_components_": count(0, name="k"),
            "components_": real("k", "d"),
            "mean_": real("d"),
            "var_": real("d", low=0),
            "scatter_": real("d", "d"),
            **dict.fromkeys(("explained_variance_", "explained_variance_ratio_", "singular_values_"), real("k", low=0)),
            "noise_variance_": anyof(number(0), real()),
            "n_samples_seen_": number(1),
        },
        extra={"batch_size_": count(1)},
    )
    __learnt_takes__ = Takes(sparse=True, tensors=True, lazy=True)
    __learnt_trial__ = Trial(quick={"n_components": 2}, warmup=(Warm("none", {"n_components": 2}),))

    def __init__(
        self, n_components: int | None = None, *, whiten: bool = False, copy: bool = True, batch_size: Any = None
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def fit(self, X: Any, y: Any = None) -> IncrementalPCA:
        """Find the components of X, read in blocks; what was seen before is forgotten."""
        self._check_parameters()
        X = check_fit(self, X, min_rows=2).X
        found = moments(as_rows(X), scatter=FULL, shared_scale=True)
        d = X.shape[1]
        self.batch_size_ = 5 * d if self.batch_size is None else self.batch_size
        self._update(found, self._count(int(found.weight), d, first=True), X)
        return self

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> IncrementalPCA:
        """Update the components with one more batch of rows.

        Parameters
        ----------
        check_input : bool, default=True
            Whether sparse X is refused, as in scikit-learn; all else is checked in any case.
        """
        self._check_parameters()
        first = not hasattr(self, "scatter_")
        if sparse.issparse(X) and check_input:
            raise TypeError(
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data to dense or use "
                "IncrementalPCA.fit to do so in batches."
            )
        X = check_fit(self, X, reset=first).X
        found = moments(as_rows(X), scatter=FULL, shared_scale=True)
        k = self._count(int(found.weight), X.shape[1], first)
        if not first:
            mean = found.mean
            before, S = (like(part, mean, namespace(mean).float64) for part in (self.mean_, self.scatter_))
            found = Moments(float(self.n_samples_seen_), before, S, FULL).merge(found)
        self._update(found, k, X)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "batch_size", 1, integer=True, also=(None,))
        check_flag(self, "whiten", "copy")

    def _count(self, n: int, d: int, first: bool) -> int:
        """How many components, if rows and features allow it."""
        if self.n_components is None:
            return min(n, d) if first else self.components_.shape[0]
        if self.n_components > d:
            raise ValueError(
                f"n_components={self.n_components} invalid for n_features={d}, need more rows than columns for "
                "IncrementalPCA processing; ask for fewer components."
            )
        if first and self.n_components > n:
            raise ValueError(
                f"n_components={self.n_components} must be less or equal to the batch number of samples {n} for the "
                "first partial_fit call; begin with more rows."
            )
        if not first and self.components_.shape[0] != self.n_components:
            raise ValueError(
                f"Number of input features has changed from {self.components_.shape[0]} to {self.n_components} between "
                "calls to partial_fit! Try setting n_components to a fixed value."
            )
        return int(self.n_components)

    def _update(self, found: Moments, k: int, X: Any) -> None:
        S = found.scatter
        xp = namespace(S)
        n = int(found.weight)
        columns = xp.linalg.diagonal(S)
        values, vectors = largest_eigen(S, None)
        total = float(xp.sum(columns)) / max(n - 1, 1)
        spectrum = Spectrum(Centre(n, found.mean, total), values / max(n - 1, 1), vectors.T)
        left = min(n, S.shape[0])
        self._keep(spectrum._replace(variance=spectrum.variance[:left]), k, getattr(X, "dtype", ""))
        # In float64 whatever the rows: further batches are added to them.
        self.mean_, self.scatter_, self.n_samples_seen_ = found.mean, S, n
        self.var_ = columns / n

    def transform(self, X: Any) -> Any:
        """Scores (X − mean) v_k of each row (n × n_components_); those of a scan table are one again."""
        return super().transform(X)
