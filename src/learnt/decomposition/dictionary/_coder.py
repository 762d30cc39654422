"""SparseCoder, and what all estimators with a dictionary share: rows to codes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from learnt.decomposition.dictionary._coding import ALGORITHMS, encode
from learnt.decomposition.dictionary._schema import CODING
from learnt.engine.estimator import Estimator
from learnt.engine.mixins import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.schema import ANY_FEATURES, Dims, Schema, anyof, count, integers, none, real
from learnt.engine.validation import check_fit, check_predict


class CodingTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform` and `inverse_transform` by a dictionary, for estimators with scikit-learn's coding parameters."""

    transform_algorithm: str
    transform_n_nonzero_coefs: int | None
    transform_alpha: float | None
    transform_max_iter: int
    split_sign: bool
    positive_code: bool
    n_jobs: int | None
    components_: Any

    def _check_coding(self) -> None:
        check_choice(self, "transform_algorithm", ALGORITHMS)
        check_number(self, "transform_n_nonzero_coefs", 1, integer=True, also=(None,))
        check_number(self, "transform_alpha", 0, also=(None,))
        check_number(self, "transform_max_iter", 0, integer=True)
        check_flag(self, "split_sign", "positive_code")

    def _code(self, X: np.ndarray, dictionary: np.ndarray) -> np.ndarray:
        alpha = self.transform_alpha
        code = encode(
            X,
            dictionary,
            self.transform_algorithm,
            self.transform_n_nonzero_coefs,
            getattr(self, "alpha", None) if alpha is None else alpha,
            max_iter=self.transform_max_iter,
            positive=bool(self.positive_code),
            n_jobs=self.n_jobs,
        )
        if not self.split_sign:
            return code
        return np.hstack([np.maximum(code, 0), -np.minimum(code, 0)])

    def transform(self, X: Any) -> np.ndarray:
        """The code of each row.

        Returns
        -------
        code : ndarray of shape (n_samples, n_components)
            How much of each atom is in every row; twice as many columns with `split_sign`.
        """
        X = check_predict(self, X)
        return self._code(X, self.components_)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The rows that codes stand for:  code @ dictionary."""
        check_is_fitted(self)
        return self._decode(X, self.components_)

    def _decode(self, X: Any, dictionary: np.ndarray) -> np.ndarray:
        code = check_array(X, dtype=[np.float64, np.float32])
        expected = len(dictionary) * (2 if self.split_sign else 1)
        if code.shape[1] != expected:
            raise ValueError(
                f"The number of components in the code is different from the number of components in the dictionary: "
                f"Expected {expected}, got {code.shape[1]}."
            )
        if self.split_sign:
            code = code[:, : len(dictionary)] - code[:, len(dictionary) :]
        return code @ dictionary

    @property
    def _n_features_out(self) -> int:
        return self._n_atoms() * (2 if self.split_sign else 1)

    def _n_atoms(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _as_many_as_atoms(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of its model files: as many components as atoms; without a dictionary every column is one."""
    fits = state["n_components_"] == (dims["d"] if model.dictionary is None else len(model.dictionary))
    return None if fits else "has other components than its dictionary"


class SparseCoder(CodingTransformer, Estimator):
    """Every row as a combination of few atoms of a dictionary that is given:  x ≈ w D,  w with few entries not 0.

    Take it where the atoms are known, such as wavelets; `DictionaryLearning` learns them.

    Parameters
    ----------
    dictionary : array-like of shape (n_components, n_features) or None, default=None
        One atom a row, best of norm 1. None is one atom for each column, so that a code keeps the largest entries.
    transform_algorithm : {"omp", "lasso_lars", "lasso_cd", "lars", "threshold"}, default="omp"
        How `transform` codes rows:
        "omp", orthogonal matching pursuit with a number of atoms for each row; "lasso_lars" and "lasso_cd", both the
        exact lasso  min ½‖x − wD‖² + alpha‖w‖₁;  "lars", least angle regression with a number of atoms; "threshold"
        shrinks the products with the atoms, the quickest and least exact.
    transform_n_nonzero_coefs : int or None, default=None
        How many atoms make up a row, for "omp" and "lars"; None is a tenth of the number of columns. More reconstruct
        rows better, with less sparse codes.
    transform_alpha : float or None, default=None
        Regularisation strength of the lassos, and threshold of "threshold"; None is 1.
    split_sign : bool, default=False
        Whether to return the positive and the negative part of a code in columns of their own, for classifiers that
        take the sign to mean something.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    positive_code : bool, default=False
        Whether to keep codes at 0 or more; not with "lars".
    transform_max_iter : int, default=1000
        The most rounds of the lassos, for one row.

    Attributes
    ----------
    n_components_ : int
        The number of atoms.

    See Also
    --------
    DictionaryLearning : Learns the atoms too.
    sparse_encode : The same as a function.

    Notes
    -----
    There is nothing to learn: a coder with a dictionary transforms rows without `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> topics = np.array([[0.8, 0.6, 0.0, 0.0], [0.0, 0.0, 0.6, 0.8]])
    >>> coder = SparseCoder(topics, transform_n_nonzero_coefs=1, positive_code=True)
    >>> coder.transform([[4.0, 3.0, 0.0, 0.0], [0.0, 1.0, 6.0, 8.0]])
    array([[ 5.,  0.],
           [ 0., 10.]])
    """

    __learnt_schema__ = Schema(
        params={**CODING, "dictionary": anyof(none, real(None, "d"), integers(None, "d", low=-(2**62)))},
        state={**ANY_FEATURES, "n_components_": count(1)},
        rule=_as_many_as_atoms,
    )

    def __init__(
        self,
        dictionary: Any = None,
        *,
        transform_algorithm: str = "omp",
        transform_n_nonzero_coefs: int | None = None,
        transform_alpha: float | None = None,
        split_sign: bool = False,
        n_jobs: int | None = None,
        positive_code: bool = False,
        transform_max_iter: int = 1000,
    ) -> None:
        self.dictionary = dictionary
        self.transform_algorithm = transform_algorithm
        self.transform_n_nonzero_coefs = transform_n_nonzero_coefs
        self.transform_alpha = transform_alpha
        self.split_sign = split_sign
        self.n_jobs = n_jobs
        self.positive_code = positive_code
        self.transform_max_iter = transform_max_iter

    def fit(self, X: Any, y: Any = None) -> SparseCoder:
        """Check that rows and atoms have the same columns; there is nothing to learn."""
        self._check_coding()
        X, _, _ = check_fit(self, X)
        atoms = self._atoms()
        if atoms.shape[1] != X.shape[1]:
            raise ValueError(f"Dictionary and X have different numbers of features: {atoms.shape[1]} and {X.shape[1]}.")
        self.n_components_ = len(atoms)
        return self

    def transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The code of each row; a coder with a dictionary need not be fitted first.

        Parameters
        ----------
        y : Ignored
            Not used; there so that all estimators can be called in the same way.

        Returns
        -------
        code : ndarray of shape (n_samples, n_components)
            How much of each atom is in every row; twice as many columns with `split_sign`.
        """
        fitted = self if self.dictionary is None or hasattr(self, "n_features_in_") else clone(self).fit(X)
        X = check_predict(fitted, X)
        return self._code(X, self._atoms() if self.dictionary is not None else np.eye(X.shape[1]))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The rows that codes stand for:  code @ dictionary."""
        if self.dictionary is None:
            check_is_fitted(self)
        return self._decode(X, self._atoms())

    def _atoms(self) -> np.ndarray:
        if self.dictionary is None:
            return np.eye(self.n_features_in_)
        try:
            return check_array(self.dictionary, dtype=[np.float64, np.float32])
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"The 'dictionary' parameter of SparseCoder must be a matrix of numbers, one atom a row ({error})."
            ) from None

    def _n_atoms(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.dictionary is None
        return tags
