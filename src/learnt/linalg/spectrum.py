"""The spectrum of a scatter matrix XᵀX whose columns may have very different units.

An eigendecomposition is exact relative to the largest eigenvalue: of a column of fractions beside one of amounts of
money, whose squares are 1e18 times as large, no digit is left. In units where every column has length 1 nothing is
lost. So where lengths differ much, a Cholesky factor is taken in those units, and the one-sided Jacobi method, whose
errors are relative to the columns themselves, finds the singular values of that factor.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from learnt.engine.threads import single_blas
from learnt.linalg import decompositions

_EPS = float(np.finfo(np.float64).eps)
UNEQUAL = 1e-8  # smallest square of a column's length over the largest: below it, digits of small columns would be lost
# Codes of LAPACK's gejsv: columns and rows in any units; left vectors; no right ones.
_GRADED, _VECTORS, _NONE = 2, 0, 3
_OPERATIONS = 8.0  # rounding errors of a decomposition of d columns, over d


def rounding(d: int) -> float:
    """The size, relative to the largest, of a singular value of d columns that is nothing but rounding in float64.

    It does not grow with the number of rows, over which sums are float64.
    """
    return _OPERATIONS * _EPS * max(d, 4)


@single_blas()
def scatter_spectrum(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, largest first, with those that are rounding errors set to 0; and eigenvectors as columns.

    >>> values, vectors = scatter_spectrum(np.diag([1.0, 1e20, 0.0]))
    >>> values.tolist(), abs(vectors).tolist()
    ([1e+20, 1.0, 0.0], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    """
    if _unequal(gram) and (found := _graded(gram)) is not None:
        return found
    values, vectors = decompositions.eigh(gram)
    values = np.clip(values[::-1], 0.0, None)
    values[values <= values.max(initial=0.0) * len(values) * _EPS] = 0.0
    return values, np.ascontiguousarray(vectors[:, ::-1])


@single_blas()
def singular_values(gram: np.ndarray) -> np.ndarray:
    """Of X, largest first, from XᵀX.

    >>> singular_values(np.diag([4.0, 9.0])).tolist()
    [3.0, 2.0]
    """
    values = scatter_spectrum(gram)[0] if _unequal(gram) else np.clip(np.linalg.eigvalsh(gram)[::-1], 0.0, None)
    return np.sqrt(values)


def _unequal(gram: np.ndarray) -> bool:
    squares = np.diag(gram)
    return bool(squares.min(where=squares > 0, initial=np.inf) < UNEQUAL * squares.max(initial=0.0))


def _graded(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Of the columns that vary, by the singular values of a factor; None where LAPACK finds none."""
    d, those = len(gram), np.flatnonzero(np.diag(gram) > 0)
    lengths = np.sqrt(np.diag(gram)[those])
    equal = gram[np.ix_(those, those)] / lengths / lengths[:, None]
    triangle, order, rank, _ = lapack.dpstrf(equal, tol=len(those) * _EPS, lower=1)
    factor = np.tril(triangle)[:, :rank]  # of the rows in `order`
    factor *= lengths[order - 1, None]
    if rank == 0 or not np.isfinite(factor).all():
        return None
    singular, vectors, _, work, _, info = lapack.dgejsv(factor, joba=_GRADED, jobu=_VECTORS, jobv=_NONE)
    if info:
        return None
    singular = singular * (work[0] / work[1])
    basis = np.zeros((d, d))
    basis[those[order - 1], :rank] = vectors[:, :rank]
    if rank < d:
        basis[:, rank:] = np.linalg.qr(basis[:, :rank], mode="complete")[0][:, rank:]
    return np.append(singular**2, np.zeros(d - rank)), basis
