"""What the two biclusterings share: their checks, singular vectors of a scaled matrix, k-means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import make_nonnegative, randomized_svd

from learnt.cluster._kmeans import KMeans
from learnt.cluster._minibatch import MiniBatchKMeans
from learnt.engine.estimator import Estimator, Takes
from learnt.engine.matrices import double
from learnt.engine.mixins import BiclusterMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, flags, integers
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit

# Dense rows with negative entries are raised, sparse ones refused.
EXEMPT = ("check_fit_non_negative", "check_positive_only_tag_during_fit")


class Biclusters(BiclusterMixin, Estimator):
    """Labels of rows and columns from singular vectors."""

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "row_labels_": integers("n"),
            "column_labels_": integers("d"),
            "rows_": flags("k", "n"),
            "columns_": flags("k", "d"),
        }
    )
    __learnt_takes__ = Takes(sparse=True)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the rows and of the columns of X."""
        self._check_parameters()
        X = double(check_fit(self, X).X)
        self._check_counts(X.shape[0])
        given = self.random_state
        seed = random_state_of(given) if isinstance(given, np.random.Generator) else given
        with single_blas():
            self._find(X, seed)
        return self

    def _check_parameters(self) -> None:
        check_choice(self, "svd_method", ("randomized", "arpack"))
        check_number(self, "n_svd_vecs", 0, integer=True, also=(None,))
        check_flag(self, "mini_batch")
        check_number(self, "n_init", 1, integer=True)
        if isinstance(self.init, str):
            check_choice(self, "init", ("k-means++", "random"))

    def _check_counts(self, n: int) -> None:
        raise NotImplementedError

    def _find(self, X: Any, seed: Any) -> None:
        raise NotImplementedError

    def _vectors(self, A: Any, k: int, seed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Left and right singular vectors by falling value, one a column."""
        if self.svd_method == "randomized":
            more = 10 if self.n_svd_vecs is None else self.n_svd_vecs
            U, _, Vt = randomized_svd(A, k, n_oversamples=more, random_state=seed)
            return U, Vt.T
        least = min(A.shape)
        if k >= least:
            raise ValueError(
                f"svd_method='arpack' of {type(self).__name__} finds fewer singular vectors than rows and columns, and "
                f"{k} are needed of {A.shape[0]} rows and {A.shape[1]} columns; use 'randomized' or fewer clusters."
            )
        start = random_state_of(seed).uniform(-1, 1, least)
        U, s, Vt = svds(A, k=k, ncv=self.n_svd_vecs or None, v0=start)
        order = np.argsort(-s)
        return U[:, order], Vt[order].T

    def _means(self, Z: np.ndarray, k: int, seed: Any) -> KMeans | MiniBatchKMeans:
        kind = MiniBatchKMeans if self.mini_batch else KMeans
        return kind(k, init=self.init, n_init=self.n_init, random_state=seed).fit(Z)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def too_small(X: Any, name: str) -> str:
    """What is said of a table whose only singular vector is that of its sums."""
    n, d = X.shape
    return f"{name} needs two rows and two columns at least; X has n_samples={n} and n_features={d}: give more."


def not_negative(X: Any, name: str) -> Any:
    """X raised so that its least entry is 0 or more."""
    try:
        return make_nonnegative(X)
    except ValueError:
        raise ValueError(
            f"{name} takes weights of at least 0, and X is sparse with an entry below, so that it cannot be raised; "
            "shift or clip its entries, or give X.toarray()."
        ) from None
