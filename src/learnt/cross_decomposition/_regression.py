"""Regression on few scores of the features."""

from __future__ import annotations

from learnt.cross_decomposition._partial import PartialLeastSquares


class PLSRegression(PartialLeastSquares):
    """Regress y on few scores of X, those of largest covariance with it (Wold 1966; PLS1 and PLS2).

    tₖ = Xₖ w,  w = argmax over ‖w‖ = ‖v‖ = 1 of wᵀ Xₖᵀ Yₖ v;  X and y lose what tₖ explains, and so on

    X and y are about their means, in units of their standard deviations. X is neither copied nor deflated: a component
    takes two products with it, many components of many rows one QR factorisation.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of rows, and of columns of X.
    scale : bool, default=True
        Whether columns are divided by their standard deviations.
    max_iter : int, default=500
        Steps of the power method for each component; one is exact for one column of y.
    tol : float, default=1e-6
        It ends when the squared length of a step of w is below.
    copy : bool, default=True
        False: `fit` may overwrite X with its standardised values, which saves memory where their means are large.

    Attributes
    ----------
    x_weights_, x_loadings_, x_rotations_ : arrays of shape (n_features, n_components)
        The w; what the scores explain of X; and what gives scores at once, T = X x_rotations_.
    y_weights_, y_loadings_, y_rotations_ : arrays of shape (n_targets, n_components)
    x_scores_, y_scores_ : arrays of shape (n_samples, n_components)
        Of the rows that were fitted to.
    coef_ : array of shape (n_targets, n_features)
    intercept_ : array of shape (n_targets,)
        The prediction where X has its mean, as in scikit-learn: y ≈ (X − x_mean_) coef_ᵀ + intercept_.
    x_mean_, x_std_, y_mean_, y_std_ : arrays
        Means and units of the columns.
    n_iter_ : list of int
        Steps that each component took.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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

    def __init__(self, n_components=2, *, scale=True, max_iter=500, tol=1e-6, copy=True):
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
