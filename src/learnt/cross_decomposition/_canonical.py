"""Scores of two tables that belong together: largest covariance, or largest correlation."""

from __future__ import annotations

from learnt.cross_decomposition._partial import PartialLeastSquares


class PLSCanonical(PartialLeastSquares):
    """Scores of X and of y with the largest covariance, the two alike (Wegelin 2000, PLS-W2A).

    t = Xₖ w,  u = Yₖ v,  (w, v) = argmax over ‖w‖ = ‖v‖ = 1 of wᵀ Xₖᵀ Yₖ v;  X loses what t explains, y what u does

    Parameters
    ----------
    n_components : int, default=2
        At most the number of rows, and of columns of X and of y.
    scale : bool, default=True
        Whether columns are divided by their standard deviations.
    algorithm : {"nipals", "svd"}, default="nipals"
        How weights are found: by the power method, or exactly.
    max_iter, tol : int, default=500; float, default=1e-6
        The power method ends when the squared length of a step of w is below `tol`.
    copy : bool, default=True
        False: `fit` may overwrite X with its standardised values.

    Attributes
    ----------
    x_weights_, x_loadings_, x_rotations_ : arrays of shape (n_features, n_components)
        The w; what the scores explain of X; and what gives scores at once, T = X x_rotations_.
    y_weights_, y_loadings_, y_rotations_ : arrays of shape (n_targets, n_components)
    x_scores_, y_scores_ : arrays of shape (n_samples, n_components)
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
        y ≈ (X − x_mean_) coef_ᵀ + intercept_.
    x_mean_, x_std_, y_mean_, y_std_ : arrays
    n_iter_ : list of int
        Steps that each component took; empty for "svd".
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [2.0, 5.0, 4.0]]
    >>> y = [[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]]
    >>> import numpy as np
    >>> t, u = PLSCanonical(n_components=1).fit_transform(X, y)
    >>> bool(np.corrcoef(t.T, u.T)[0, 1] > 0.98)
    True
    """

    def __init__(self, n_components=2, *, scale=True, algorithm="nipals", max_iter=500, tol=1e-6, copy=True):
        self.n_components = n_components
        self.scale = scale
        self.algorithm = algorithm
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy


class CCA(PartialLeastSquares):
    """Canonical correlation analysis: scores of X and of y with the largest correlation (Hotelling 1936).

    t = Xₖ w,  u = Yₖ v,  (w, v) = argmax of corr(Xₖ w, Yₖ v);  X loses what t explains, y what u does

    With fewer rows than columns every correlation can be 1: take PLSCanonical.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of rows, and of columns of X and of y.
    scale : bool, default=True
        Whether columns are divided by their standard deviations.
    max_iter, tol : int, default=500; float, default=1e-6
        The power method ends when the squared length of a step of w is below `tol`.
    copy : bool, default=True
        False: `fit` may overwrite X with its standardised values.

    Attributes
    ----------
    x_weights_, y_weights_, x_loadings_, y_loadings_, x_rotations_, y_rotations_, x_scores_, y_scores_, coef_, \
intercept_, x_mean_, x_std_, y_mean_, y_std_, n_iter_, n_features_in_, feature_names_in_
        As for `PLSCanonical`.

    Examples
    --------
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [3.0, 5.0, 4.0]]
    >>> y = [[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]]
    >>> import numpy as np
    >>> t, u = CCA(n_components=1).fit_transform(X, y)
    >>> np.corrcoef(t.T, u.T)[0, 1].round(2)
    np.float64(1.0)
    """

    _canonical = True

    def __init__(self, n_components=2, *, scale=True, max_iter=500, tol=1e-6, copy=True):
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
