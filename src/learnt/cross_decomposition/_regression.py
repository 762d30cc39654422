"""Regression on few scores of the features."""

from __future__ import annotations

from learnt.cross_decomposition._partial import PartialLeastSquares


class PLSRegression(PartialLeastSquares):
    """Regress y on few scores of X, those of largest covariance with it (Wold 1966; PLS1 and PLS2).

    tₖ = Xₖ w,  w = argmax over ‖w‖ = ‖v‖ = 1 of wᵀ Xₖᵀ Yₖ v;  X and y lose what tₖ explains, and so on

    Take it for many correlated columns and few rows, such as spectra: few components regularise as a ridge does, and
    show which directions of X predict y. It predicts one target or several at once.

    Parameters
    ----------
    n_components : int, default=2
        How many components to find; at most the number of rows, and of columns of X. Choose it by cross-validation: too
        few underfit, too many overfit.
    scale : bool, default=True
        Whether columns are divided by their standard deviations, so that units do not matter.
    max_iter : int, default=500
        The most steps of the power method for each component; one is exact for one column of y.
    tol : float, default=1e-6
        Convergence tolerance: the power method ends when the squared length of a step of w is below this.
    copy : bool, default=True
        Whether to leave X as it is. False: `fit` may overwrite X with its standardised values, which saves memory where
        their means are large.

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
    PLSCanonical : Both sides alike, to find what they have in common.
    learnt.linear_model.Ridge : Shrinkage of all directions by their variance.
    learnt.decomposition.PCA : Components of X that know nothing of y.

    Notes
    -----
    X and y are about their means, in units of their standard deviations. X is neither copied nor deflated: a component
    takes two products with it, O(n d) time for n rows of d columns; many components of many rows take one QR
    factorisation.

    References
    ----------
    .. [1] J. A. Wegelin, "A survey of partial least squares (PLS) methods, with emphasis on the two-block case",
       Technical report 371, University of Washington, 2000.
    .. [2] S. Wold, M. Sjöström and L. Eriksson, "PLS-regression: a basic tool of chemometrics", Chemometrics and
       Intelligent Laboratory Systems 58, 2001.

    Examples
    --------
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [2.0, 5.0, 4.0]]
    >>> y = [[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]]
    >>> PLSRegression(n_components=2).fit(X, y).predict(X).round(1)
    array([[ 0.3,  0.2],
           [ 0.6,  0.5],
           [ 6.5,  6.5],
           [11.8, 12. ]])
    """

    _regression = True

    def __init__(
        self, n_components: int = 2, *, scale: bool = True, max_iter: int = 500, tol: float = 1e-6, copy: bool = True
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
