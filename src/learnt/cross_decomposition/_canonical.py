"""Scores of two tables that belong together: largest covariance, or largest correlation."""

from __future__ import annotations

from learnt.cross_decomposition._partial import PartialLeastSquares


class PLSCanonical(PartialLeastSquares):
    """Scores of X and of y with the largest covariance, the two alike (Wegelin 2000, PLS-W2A).

    t = Xₖ w,  u = Yₖ v,  (w, v) = argmax over ‖w‖ = ‖v‖ = 1 of wᵀ Xₖᵀ Yₖ v;  X loses what t explains, y what u does

    Take it to find what two tables of the same rows have in common, both sides alike, even with more columns than rows.
    To predict y from X take `PLSRegression`.

    Parameters
    ----------
    n_components : int, default=2
        How many components to find; at most the number of rows, and of columns of X and of y. Choose it by
        cross-validation: too many overfit.
    scale : bool, default=True
        Whether columns are divided by their standard deviations, so that units do not matter.
    algorithm : {"nipals", "svd"}, default="nipals"
        How weights are found: "nipals" by the power method, "svd" exactly.
    max_iter : int, default=500
        The most steps of the power method for each component; raise it after a convergence warning.
    tol : float, default=1e-6
        Convergence tolerance: the power method ends when the squared length of a step of w is below this.
    copy : bool, default=True
        Whether to leave X as it is. False: `fit` may overwrite X with its standardised values, which saves memory.

    Attributes
    ----------
    x_weights_ : ndarray of shape (n_features, n_components)
        The weights w of each component: directions in X.
    y_weights_ : ndarray of shape (n_targets, n_components)
        The weights v of each component: directions in y.
    x_loadings_ : ndarray of shape (n_features, n_components)
        What each score explains of the columns of X.
    y_loadings_ : ndarray of shape (n_targets, n_components)
        What each score explains of the columns of y.
    x_scores_ : ndarray of shape (n_samples, n_components)
        The scores t of the training rows.
    y_scores_ : ndarray of shape (n_samples, n_components)
        The scores u of the training targets.
    x_rotations_ : ndarray of shape (n_features, n_components)
        What gives scores of standardised rows at once: T = X x_rotations_.
    y_rotations_ : ndarray of shape (n_targets, n_components)
        What gives scores of standardised targets at once: U = y y_rotations_.
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the prediction  y ≈ (X − x_mean_) coef_ᵀ + intercept_.
    intercept_ : ndarray of shape (n_targets,)
        The prediction where X has its mean.
    x_mean_ : ndarray of shape (n_features,)
        The mean of each column of X.
    x_std_ : ndarray of shape (n_features,)
        The standard deviation that each column of X is divided by; 1 for a constant one, and where `scale` is False.
    y_mean_ : ndarray of shape (n_targets,)
        The mean of each column of y.
    y_std_ : ndarray of shape (n_targets,)
        The standard deviation that each column of y is divided by; 1 for a constant one, and where `scale` is False.
    n_iter_ : list of int
        How many steps of the power method each component took.

    See Also
    --------
    CCA : Largest correlation instead of covariance.
    PLSSVD : All components at once, from one matrix of products.
    PLSRegression : To predict y from X.

    Notes
    -----
    A component takes O(n d) time for n rows of d columns, besides steps on the d × q matrix of products with q columns
    of y. Many components of many rows take one QR factorisation instead. With "svd", `n_iter_` is empty.

    References
    ----------
    .. [1] J. A. Wegelin, "A survey of partial least squares (PLS) methods, with emphasis on the two-block case",
       Technical report 371, University of Washington, 2000.

    Examples
    --------
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [2.0, 5.0, 4.0]]
    >>> y = [[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]]
    >>> import numpy as np
    >>> t, u = PLSCanonical(n_components=1).fit_transform(X, y)
    >>> bool(np.corrcoef(t.T, u.T)[0, 1] > 0.98)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        algorithm: str = "nipals",
        max_iter: int = 500,
        tol: float = 1e-6,
        copy: bool = True,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.algorithm = algorithm
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy


class CCA(PartialLeastSquares):
    """Canonical correlation analysis: scores of X and of y with the largest correlation (Hotelling 1936).

    t = Xₖ w,  u = Yₖ v,  (w, v) = argmax of corr(Xₖ w, Yₖ v);  X loses what t explains, y what u does

    Take it to find what two tables of the same rows have in common, with many more rows than columns. With fewer rows
    than columns every correlation can be 1 (overfitting): take `PLSCanonical`.

    Parameters
    ----------
    n_components : int, default=2
        How many components to find; at most the number of rows, and of columns of X and of y. Choose it by
        cross-validation: too many overfit.
    scale : bool, default=True
        Whether columns are divided by their standard deviations, so that units do not matter.
    max_iter : int, default=500
        The most steps of the power method for each component; raise it after a convergence warning.
    tol : float, default=1e-6
        Convergence tolerance: the power method ends when the squared length of a step of w is below this.
    copy : bool, default=True
        Whether to leave X as it is. False: `fit` may overwrite X with its standardised values, which saves memory.

    Attributes
    ----------
    x_weights_ : ndarray of shape (n_features, n_components)
        The weights w of each component: directions in X.
    y_weights_ : ndarray of shape (n_targets, n_components)
        The weights v of each component: directions in y.
    x_loadings_ : ndarray of shape (n_features, n_components)
        What each score explains of the columns of X.
    y_loadings_ : ndarray of shape (n_targets, n_components)
        What each score explains of the columns of y.
    x_scores_ : ndarray of shape (n_samples, n_components)
        The scores t of the training rows.
    y_scores_ : ndarray of shape (n_samples, n_components)
        The scores u of the training targets.
    x_rotations_ : ndarray of shape (n_features, n_components)
        What gives scores of standardised rows at once: T = X x_rotations_.
    y_rotations_ : ndarray of shape (n_targets, n_components)
        What gives scores of standardised targets at once: U = y y_rotations_.
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the prediction  y ≈ (X − x_mean_) coef_ᵀ + intercept_.
    intercept_ : ndarray of shape (n_targets,)
        The prediction where X has its mean.
    x_mean_ : ndarray of shape (n_features,)
        The mean of each column of X.
    x_std_ : ndarray of shape (n_features,)
        The standard deviation that each column of X is divided by; 1 for a constant one, and where `scale` is False.
    y_mean_ : ndarray of shape (n_targets,)
        The mean of each column of y.
    y_std_ : ndarray of shape (n_targets,)
        The standard deviation that each column of y is divided by; 1 for a constant one, and where `scale` is False.
    n_iter_ : list of int
        How many steps of the power method each component took.

    See Also
    --------
    PLSCanonical : Largest covariance, for few rows or many columns.
    PLSSVD : All components at once, from one matrix of products.
    PLSRegression : To predict y from X.

    Notes
    -----
    Pairs of weights come from the power method on pseudo-inverses of X and y: O(n d²) time for n rows of d columns.

    References
    ----------
    .. [1] H. Hotelling, "Relations between two sets of variates", Biometrika 28, 1936.
    .. [2] J. A. Wegelin, "A survey of partial least squares (PLS) methods, with emphasis on the two-block case",
       Technical report 371, University of Washington, 2000.

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

    def __init__(
        self, n_components: int = 2, *, scale: bool = True, max_iter: int = 500, tol: float = 1e-6, copy: bool = True
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
