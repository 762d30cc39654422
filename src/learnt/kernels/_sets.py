"""Kernels of histograms and of sets: counts of at least 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import namespace
from learnt.engine.matrices import dense
from learnt.kernels._base import BOUNDS, Kernel, Term
from learnt.kernels._differences import filled


def chi_square_gaps(X: Any, Y: Any) -> Any:
    """Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ) of every pair; a feature that is 0 in both adds 0."""
    X, Y = dense(X), dense(Y)
    xp = namespace(X)
    for name, rows in (("X", X), ("Y", Y)):
        if rows.shape[0] and float(xp.min(rows)) < 0:
            raise ValueError(
                f"{name} contains negative values, and the chi-square kernels compare counts of at least 0; shift or "
                "bin the features, or take another kernel."
            )
    total = filled(X, Y, 0.0)
    for j in range(X.shape[1]):
        x, z = X[:, j][:, None], Y[:, j][None, :]
        both = x + z
        total = total + (x - z) ** 2 / xp.where(both > 0, both, xp.ones_like(both))
    return total


class AdditiveChi2(Kernel):
    """−Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ) for features of at least 0: positive semidefinite only where weights sum to 0.

    For histograms, in an SVM with an intercept, whose dual weights sum to 0. It has no parameters. `Chi2` is its
    exponential, and a kernel everywhere.

    See Also
    --------
    Chi2 : The exponential of it, positive semidefinite.
    learnt.kernel_approximation.AdditiveChi2Sampler : Features for a linear model, of a kernel of the same name.

    Examples
    --------
    >>> from learnt.kernels import AdditiveChi2
    >>> AdditiveChi2()([[1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]).round(3)
    array([[-0.667, -2.   ]])
    """

    @property
    def proven(self) -> bool:
        return False

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return -chi_square_gaps(X, Y)

    def formula(self) -> str:
        return "−Σⱼ(xⱼ − zⱼ)²/(xⱼ + zⱼ)"


class Chi2(Kernel):
    """exp(−γ Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ)) for histograms.

    For counts and shares of at least 0, such as bags of visual words: a difference counts for more where both are
    small.

    Parameters
    ----------
    gamma : float, default=1.0
        How fast similarity decays, γ; larger values fit finer detail and overfit more easily.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Lowest and highest γ that a Gaussian process tries when it learns its kernel; "fixed" keeps the value as it is.

    See Also
    --------
    AdditiveChi2 : The sum in the exponent.
    RBF : The same of the Euclidean distance, for numbers of any sign.
    learnt.svm.SVC : Takes it as its `kernel`.

    References
    ----------
    .. [1] Jianguo Zhang, Marcin Marszałek, Svetlana Lazebnik and Cordelia Schmid, "Local Features and Kernels for
       Classification of Texture and Object Categories: A Comprehensive Study", International Journal of Computer
       Vision, 2007.

    Examples
    --------
    >>> from learnt.kernels import Chi2
    >>> Chi2(1.0)([[1.0, 0.0], [0.5, 0.5]]).round(3)
    array([[1.   , 0.513],
           [0.513, 1.   ]])
    """

    learnable = ("gamma",)

    def __init__(self, gamma: float = 1.0, gamma_bounds: Any = BOUNDS) -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        return self.terms(X, Y, start)[0]

    def terms(self, X: Any, Y: Any, start: int | None) -> tuple[Any, list[Term]]:
        gaps = -float(self.gamma) * chi_square_gaps(X, Y)
        K = namespace(gaps).exp(gaps)
        return K, [] if self.hyperparameter_gamma.fixed else [lambda: gaps * K]  # type: ignore[attr-defined]

    def diag(self, X: Any) -> Any:
        """1 for every row."""
        return filled(X, X[:1], 1.0)[:, 0]

    def formula(self) -> str:
        return f"exp(−{float(self.gamma):g}·Σⱼ(xⱼ − zⱼ)²/(xⱼ + zⱼ))"


class SetIntersection(Kernel):
    """exp(|S ∩ T|) of sets: = ∏ over elements that both have of e.

    Sets are rows of 0 and 1, one column an element; called directly, the kernel also takes lists of Python sets. It has
    no parameters.

    See Also
    --------
    AllProducts : 2^|S ∩ T| for the same rows.
    Chi2 : For counts instead of sets.

    Examples
    --------
    >>> from learnt.kernels import SetIntersection
    >>> SetIntersection()([[1, 1, 0]], [[0, 1, 1]]).round(4)
    array([[2.7183]])
    >>> SetIntersection()([{"tea", "milk"}], [{"milk", "eggs"}]).round(4)
    array([[2.7183]])
    """

    @property
    def in_blocks(self) -> bool:
        return True  # the call below only prepares its rows

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        return super().__call__(*_rows_of_sets(X, Y), eval_gradient)

    def block(self, X: Any, Y: Any, start: int | None) -> Any:
        X, Y = dense(X), dense(Y)
        xp = namespace(X)
        for rows in (X, Y):
            if not bool(xp.all((rows == 0) | (rows == 1))):
                raise ValueError("Sets are rows of 0 and 1, one column an element; X holds other numbers.")
        return xp.exp(X @ Y.T)

    def formula(self) -> str:
        return "exp(|x ∩ z|)"


def _rows_of_sets(X: Any, Y: Any) -> tuple[Any, Any]:
    """Lists of Python sets as rows of 0 and 1 over the elements of all of them; anything else as it is."""
    lists = [rows for rows in (X, Y) if rows is not None]
    if not all(isinstance(rows, list | tuple) and all(isinstance(s, set | frozenset) for s in rows) for rows in lists):
        return X, Y
    place: dict[Any, int] = {}
    for rows in lists:
        for members in rows:
            for element in members:
                place.setdefault(element, len(place))

    def indicator(rows: Any) -> np.ndarray:
        table = np.zeros((len(rows), max(1, len(place))))
        for i, members in enumerate(rows):
            table[i, [place[element] for element in members]] = 1.0
        return table

    return indicator(X), None if Y is None else indicator(Y)
