"""Dictionary learning: the atoms and the codes together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from learnt.decomposition.dictionary._coder import CodingTransformer
from learnt.decomposition.dictionary._coding import encode
from learnt.decomposition.dictionary._schema import CODING, atoms
from learnt.decomposition.dictionary._update import cost, leading_atoms, refresh, statistics
from learnt.engine.estimator import Estimator, Trial, Warm
from learnt.engine.params import ParameterError, check_choice, check_flag, check_number
from learnt.engine.progress import CallbackSupportMixin, fit_loop, with_callbacks
from learnt.engine.random import random_state_of
from learnt.engine.schema import FEATURES, Schema, count, listof, number
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit


class DictionaryLearning(CallbackSupportMixin, CodingTransformer, Estimator):
    """Atoms from which every row is made of few:  min over W, D of  ½‖X − WD‖² + α Σ|w|  with ‖dₖ‖ ≤ 1.

    Take it for features that are learnt, such as patches of images, and to remove noise. With non-negative codes and
    atoms of counts of words, atoms are topics.

    Parameters
    ----------
    n_components : int or None, default=None
        The number of atoms; None is the number of columns. There may be more atoms than columns.
    alpha : float, default=1
        Regularisation strength: the price of a code's absolute values. The larger, the sparser the codes.
    max_iter : int, default=1000
        The most rounds.
    tol : float, default=1e-8
        Stop when a round lowers the objective by less than this share of it.
    fit_algorithm : {"lars", "cd"}, default="lars"
        Kept for scikit-learn's signature: both find the same codes, in the same way.
    transform_algorithm : {"omp", "lasso_lars", "lasso_cd", "lars", "threshold"}, default="omp"
        How `transform` codes rows:
        "omp", orthogonal matching pursuit with a number of atoms for each row; "lasso_lars" and "lasso_cd", both the
        exact lasso  min ½‖x − wD‖² + alpha‖w‖₁;  "lars", least angle regression with a number of atoms; "threshold"
        shrinks the products with the atoms, the quickest and least exact.
    transform_n_nonzero_coefs : int or None, default=None
        How many atoms make up a row, for "omp" and "lars"; None is a tenth of the number of columns. More reconstruct
        rows better, with less sparse codes.
    transform_alpha : float or None, default=None
        Regularisation strength of the lassos in `transform`, and threshold of "threshold"; None is `alpha`.
    n_jobs : int or None, default=None
        The most threads to use; None or -1 for all that this process may. The result does not depend on it.
    code_init : array-like of shape (n_samples, n_components) or None, default=None
        Codes to start from; None takes singular vectors of X.
    dict_init : array-like of shape (n_components, n_features) or None, default=None
        Atoms to start from; None takes singular vectors of X.
    callback : callable or None, default=None
        Called every five rounds with a dict of `iteration`, `code`, `dictionary` and `errors`.
    verbose : bool, default=False
        Kept for scikit-learn's signature, and without effect.
    split_sign : bool, default=False
        Whether to return the positive and the negative part of a code in columns of their own, for classifiers that
        take the sign to mean something.
    random_state : int, RandomState, Generator or None, default=None
        Where rows come from that take the place of unused atoms. Pass an integer for the same result every time.
    positive_code : bool, default=False
        Whether to keep codes at 0 or more; not with "lars".
    positive_dict : bool, default=False
        Whether to keep atoms at 0 or more.
    transform_max_iter : int, default=1000
        The most rounds of the lassos, for one row.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, one a row.
    error_ : list of float
        The objective after every round.
    n_iter_ : int
        The number of rounds.

    See Also
    --------
    MiniBatchDictionaryLearning : In batches of rows, for many of them.
    SparseCoder : Codes by atoms that are known.
    SparsePCA : Components of few columns.
    NMF : Parts and weights that are never negative.

    Notes
    -----
    In turn, the codes W for the atoms (each row an exact lasso) and the atoms for the codes, until the objective stands
    still. A round costs about O(n d k + n k²) for n rows, d columns and k atoms. `transform` codes by
    `transform_algorithm`, which by default is not the lasso of `fit`.

    References
    ----------
    .. [1] J. Mairal, F. Bach, J. Ponce and G. Sapiro, "Online dictionary learning for sparse coding", ICML, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> atoms = np.array([[1.0, 0, 0, 0], [0, 0.6, 0.8, 0], [0, 0, 0, 1.0]])
    >>> codes = np.random.default_rng(0).exponential(size=(200, 3)) * (np.arange(200)[:, None] % 3 == np.arange(3))
    >>> model = DictionaryLearning(3, alpha=0.01, positive_code=True, positive_dict=True, random_state=0)
    >>> found = model.fit(codes @ atoms).components_
    >>> (found @ atoms.T).max(axis=0).round(3)
    array([1., 1., 1.])
    """

    __learnt_schema__ = Schema(
        params={**CODING, "alpha": number(0)},
        state={**FEATURES, "components_": atoms, "error_": listof(number()), "n_iter_": count()},
    )
    __learnt_trial__ = Trial(
        quick={"max_iter": 20, "transform_algorithm": "lasso_lars"},
        warmup=(Warm("none", {"n_components": 4, "max_iter": 2}),),
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        fit_algorithm: str = "lars",
        transform_algorithm: str = "omp",
        transform_n_nonzero_coefs: int | None = None,
        transform_alpha: float | None = None,
        n_jobs: int | None = None,
        code_init: Any = None,
        dict_init: Any = None,
        callback: Any = None,
        verbose: Any = False,
        split_sign: bool = False,
        random_state: Any = None,
        positive_code: bool = False,
        positive_dict: bool = False,
        transform_max_iter: int = 1000,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.fit_algorithm = fit_algorithm
        self.transform_algorithm = transform_algorithm
        self.transform_n_nonzero_coefs = transform_n_nonzero_coefs
        self.transform_alpha = transform_alpha
        self.n_jobs = n_jobs
        self.code_init = code_init
        self.dict_init = dict_init
        self.callback = callback
        self.verbose = verbose
        self.split_sign = split_sign
        self.random_state = random_state
        self.positive_code = positive_code
        self.positive_dict = positive_dict
        self.transform_max_iter = transform_max_iter

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> DictionaryLearning:
        """Learn the atoms from the rows of X."""
        self._learn(X)
        return self

    @with_callbacks
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the atoms, and return the codes of the last round, which are those of the lasso.

        Returns
        -------
        code : ndarray of shape (n_samples, n_components)
            How much of each atom is in every row.
        """
        return self._learn(X)

    def _learn(self, X: Any) -> np.ndarray:
        self._check_coding()
        check_number(self, "n_components", 1, integer=True, also=(None,))
        check_number(self, "alpha", 0)
        check_number(self, "max_iter", 0, integer=True)
        check_number(self, "tol", 0)
        check_choice(self, "fit_algorithm", ("lars", "cd"))
        check_flag(self, "positive_dict")
        X, _, _ = check_fit(self, X)
        wide = np.ascontiguousarray(X, dtype=np.float64)
        with single_blas():
            code, D = self._start(wide)
            self.error_: list[float] = []
            with fit_loop(self, self.max_iter, X) as loop:
                code = self._rounds(wide, code, D, loop, X.dtype)
        self.components_ = D.astype(X.dtype)
        self.n_iter_ = len(self.error_)
        return code.astype(X.dtype, copy=False)

    def _start(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = X.shape[1] if self.n_components is None else self.n_components
        if self.dict_init is None:
            code, D = leading_atoms(X, size)
        else:
            given = checked_start(self.dict_init, "dict_init", (None, X.shape[1]))[:size]
            code, D = np.zeros((len(X), size)), np.zeros((size, X.shape[1]))
            D[: len(given)] = given
        if self.code_init is not None:
            given = checked_start(self.code_init, "code_init", (len(X), None))[:, :size]
            code = np.zeros((len(X), size))
            code[:, : given.shape[1]] = given
        return code, D

    def _rounds(self, X: np.ndarray, code: np.ndarray, D: np.ndarray, loop: Any, dtype: Any) -> np.ndarray:
        """Codes and atoms in turn; D is changed in place."""
        random_state = random_state_of(self.random_state)
        for iteration in range(self.max_iter):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a code that is not exact yet is made better in the next round
                code = encode(
                    X, D, "lasso_cd", None, self.alpha, init=code, max_iter=self.transform_max_iter,
                    positive=bool(self.positive_code), n_jobs=self.n_jobs,
                )  # fmt: skip
            A, B = statistics(X, code)
            refresh(X, code, A, B, bool(self.positive_dict), random_state, D)
            self.error_.append(cost(X, code, D, self.alpha))
            state = lambda: {"components_": D.astype(dtype), "n_iter_": len(self.error_)}  # noqa: E731
            if loop.step(f"objective {self.error_[-1]:.6g}", state):
                break
            if iteration and self.error_[-2] - self.error_[-1] < self.tol * self.error_[-1]:
                break
            if self.callback is not None and iteration % 5 == 0:
                self.callback({"iteration": iteration, "code": code, "dictionary": D, "errors": self.error_})
        return code


def checked_start(values: Any, name: str, shape: tuple) -> np.ndarray:
    """A matrix to start from, of the given shape (None: any)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or any(n is not None and n != m for n, m in zip(shape, array.shape)):
        wanted = " × ".join("any" if n is None else str(n) for n in shape)
        raise ParameterError(f"{name} must be a matrix of {wanted} numbers; it has the shape {array.shape}.")
    return array
