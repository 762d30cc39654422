"""What partial least squares models share as estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from learnt.cross_decomposition._components import Components, How, components
from learnt.cross_decomposition._standard import Table, Units, units_of
from learnt.cross_decomposition._triangle import triangle
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, TransformerMixin
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.progress import task
from learnt.engine.schema import FEATURES, Schema, count, flag, listof, real
from learnt.engine.scoring import RowsRegressor
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict

# QR of the rows takes about as long as this many components, as a share of the columns, take without it.
_WORTH_QR = 0.25


class PartialLeastSquares(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiOutputMixin, RowsRegressor, Estimator
):
    """Components, scores of new rows, rows of scores, and predictions."""

    __learnt_schema__ = Schema(
        state={
            **FEATURES,
            "x_weights_": real("d", "k"),
            "y_weights_": real("q", "k"),
            "x_loadings_": real("d", "k"),
            "y_loadings_": real("q", "k"),
            "x_scores_": real("n", "k"),
            "y_scores_": real("n", "k"),
            "x_rotations_": real("d", "k"),
            "y_rotations_": real("q", "k"),
            "x_mean_": real("d"),
            "x_std_": real("d", above=0),
            "y_mean_": real("q"),
            "y_std_": real("q", above=0),
            "coef_": real("q", "d"),
            "intercept_": real("q"),
            "n_iter_": listof(count(1)),
            "_predict_1d": flag,
        }
    )
    # scikit-learn leaves this check out for every class of a module of this name.
    __learnt_trial__ = Trial(quick={"n_components": 1}, exempt=("check_regressor_data_not_an_array",))

    _regression = False
    _canonical = False  # weights of the largest correlation instead of covariance
    algorithm = "nipals"
    n_components: int
    scale: bool
    max_iter: int
    tol: float
    copy: bool

    def fit(self, X: Any, y: Any) -> Self:
        """Find the components that X and y share.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of the rows: one column or several.
        """
        self._check()
        X, Y, self._predict_1d = two_tables(self, X, y)
        (n, d), q = X.shape, Y.shape[1]
        k = int(self.n_components)
        check_count(k, (n, d) if self._regression else (n, d, q))
        x_units, y_units = units_of(X, self.scale, "X"), units_of(Y, self.scale, "y")
        leading = "canonical" if self._canonical else self.algorithm
        how = How(k, self._regression, leading, int(self.max_iter), float(self.tol), type(self).__name__)
        with single_blas(), task(f"{how.name} fit", k) as bar:
            table = table_of(X, x_units, in_place=not self.copy)
            if n > 2 * (d + q) and (self._canonical or k > _WORTH_QR * (d + q)):
                A, B = triangle(table.values, Y, table.units, y_units)
                found = components(Table(A), B, how, bar.advance)
                scores = None
            else:
                if self._canonical:
                    table = Table(table.all_values())
                found = components(table, y_units.apply(Y), how, bar.advance)
                scores = found.T, found.U
            self._record(found, x_units, y_units)
            self.x_scores_, self.y_scores_ = scores or self._scores_of(table, y_units.apply(Y))
        return self

    def _check(self) -> None:
        check_number(self, "n_components", 1, integer=True)
        check_flag(self, "scale", "copy")
        check_choice(self, "algorithm", ("nipals", "svd"))
        check_number(self, "max_iter", 1, integer=True)
        check_number(self, "tol", 0)

    def _record(self, found: Components, x_units: Units, y_units: Units) -> None:
        self.x_weights_, self.y_weights_, self.x_loadings_, self.y_loadings_ = found[:4]
        self.n_iter_ = found.n_iter
        self.x_mean_, self.x_std_, self.y_mean_, self.y_std_ = *x_units[:2], *y_units[:2]
        self.x_rotations_ = found.W @ linalg.pinv(found.P.T @ found.W, check_finite=False)
        self.y_rotations_ = found.V @ linalg.pinv(found.Q.T @ found.V, check_finite=False)
        self.coef_ = (found.Q * self.y_std_[:, None]) @ self.x_rotations_.T / self.x_std_
        self.intercept_ = self.y_mean_.copy()

    def _scores_of(self, X: Table, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the rows, where the components were found from fewer."""
        T = X.times(self.x_rotations_)
        if not self._regression:
            return T, Y @ self.y_rotations_
        # Each u is Yₖ v / vᵀv, with what earlier components left: Yₖ = Y − Σ_{i<k} tᵢ qᵢᵀ.
        V = self.y_weights_
        size = np.einsum("ij,ij->j", V, V)
        return T, (Y @ V - T @ np.triu(self.y_loadings_.T @ V, 1)) / np.where(size > 0, size, 1.0)

    def transform(self, X: Any, y: Any = None, copy: bool = True) -> Any:
        """Scores of the rows of X, and those of y if it is given; both are left as they are.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets of the same rows.
        copy : bool, default=True
            Kept for scikit-learn's signature: nothing is overwritten either way.

        Returns
        -------
        x_scores : ndarray of shape (n_samples, n_components)
            The scores of X; where y is given, the first of a pair.
        y_scores : ndarray of shape (n_samples, n_components)
            The scores of y; only where it is given.
        """
        X = check_predict(self, X)
        scores = shifted(X, self.x_mean_, self.x_rotations_ / self.x_std_[:, None])
        if y is None:
            return scores
        return scores, shifted(targets_like(y, self), self.y_mean_, self.y_rotations_ / self.y_std_[:, None])

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the components, and return the scores of the rows of X and of y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of the rows: one column or several.

        Returns
        -------
        x_scores : ndarray of shape (n_samples, n_components)
            The scores of X.
        y_scores : ndarray of shape (n_samples, n_components)
            The scores of y.
        """
        return self.fit(X, y).transform(X, y)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Rows of X from their scores, and rows of y from theirs if they are given.

        They are the rows the scores were made of where there are as many components as columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores of rows of X.
        y : array-like of shape (n_samples, n_components), default=None
            Scores of y.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            Rows of X; where y is given, the first of a pair.
        y_original : ndarray of shape (n_samples, n_targets)
            Rows of y; only where scores of y are given.
        """
        check_is_fitted(self)
        rows = self._rows_of(X, "X") @ self.x_loadings_.T * self.x_std_ + self.x_mean_
        if y is None:
            return rows
        return rows, self._rows_of(y, "y") @ self.y_loadings_.T * self.y_std_ + self.y_mean_

    def predict(self, X: Any, copy: bool = True) -> np.ndarray:
        """(X − x_mean_) coef_ᵀ + intercept_: one number a row, or one for each column of y.

        Parameters
        ----------
        copy : bool, default=True
            Kept for scikit-learn's signature: nothing is overwritten either way.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predicted targets, in the shape of the y of `fit`.
        """
        X = check_predict(self, X)
        predicted = shifted(X, self.x_mean_, self.coef_.T) + self.intercept_
        return predicted.ravel() if self._predict_1d else predicted

    def _rows_of(self, scores: Any, name: str) -> np.ndarray:
        scores = check_array(scores, input_name=name, dtype=(np.float64, np.float32))
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"{name} has {scores.shape[1]} columns, and inverse_transform takes one for each of the "
                f"{self._n_features_out} components."
            )
        return scores

    @property
    def _n_features_out(self) -> int:
        return self.x_weights_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def two_tables(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """X and y as tables of float64, and whether y was one number a row."""
    name = type(estimator).__name__
    X, y, _ = check_fit(estimator, X, y, target="numbers", min_rows=2)
    flat = y.ndim == 1
    X, Y = X.astype(np.float64, copy=False), y.reshape(len(y), -1).astype(np.float64, copy=False)
    if not Y.shape[1]:
        raise ValueError(f"y has 0 columns, and {name} needs at least one.")
    return X, Y, flat


def targets_like(y: Any, model: Any) -> np.ndarray:
    """y of new rows: as many columns as the model was fitted to."""
    y = check_array(y, input_name="y", ensure_2d=False, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    if y.shape[1] != len(model.y_mean_):
        raise ValueError(
            f"y has {y.shape[1]} columns, but {type(model).__name__} was fitted to {len(model.y_mean_)}; give as many."
        )
    return y


def check_count(k: int, sizes: tuple[int, ...]) -> None:
    """There are at most as many components as rows, and as columns of either table."""
    if k > min(sizes):
        raise ValueError(f"`n_components` upper bound is {min(sizes)}. Got {k} instead. Reduce `n_components`.")


def table_of(X: np.ndarray, units: Units, in_place: bool) -> Table:
    """X in its units: as it is where no digits are lost, else a copy; in its own memory if it may be overwritten."""
    if in_place and X.flags.writeable:
        return Table(units.apply(X, overwrite=True))
    return Table(units.apply(X)) if units.far else Table(X, units)


def shifted(A: np.ndarray, mean: np.ndarray, V: np.ndarray) -> np.ndarray:
    """(A − mean) V, in this order, so that large means cost no digits."""
    A = A.astype(np.float64, copy=False)
    return (A - mean) @ V
