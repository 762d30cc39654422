"""Non-negative matrix factorisation: the estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnt.decomposition.nmf._base import Factorisation, refuse_zeros
from learnt.decomposition.nmf._checks import check_not_negative
from learnt.decomposition.nmf._descent import Penalties, coordinate_descent, weights_of
from learnt.decomposition.nmf._divergence import LOSSES, beta_of, distance
from learnt.decomposition.nmf._updates import multiplicative_updates
from learnt.engine.arrays import is_lazy
from learnt.engine.estimator import Takes, Trial, Warm
from learnt.engine.params import check_choice, check_flag
from learnt.engine.progress import fit_loop, with_callbacks
from learnt.engine.rows import Block, transform
from learnt.engine.schema import FEATURES, Schema, anyof, choice, count, flag, number, real
from learnt.engine.threads import single_blas
from learnt.engine.validation import check_fit, check_predict
from learnt.engine.verbose import tell


class NMF(Factorisation):
    """Parts that add up:  X ≈ W H  with W ≥ 0, H ≥ 0: topics of texts, sources of spectra.

    min  D(X, W H) + α_W d (ρ ‖W‖₁ + (1 − ρ)/2 ‖W‖²) + α_H n (ρ ‖H‖₁ + (1 − ρ)/2 ‖H‖²),   ρ = l1_ratio

    D is half the squared Frobenius norm of X − W H, or another β-divergence. Take it for rows of amounts (counts,
    pixels, intensities) that nothing is subtracted from: parts are easier to interpret than the components of `PCA`.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        How many parts to find. "auto" is the number of columns, or as many as a given H has; None the number of
        columns. Usually far fewer than columns: too many make parts that mean nothing.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Where to start: "random" numbers; "nndsvd", non-negative parts of singular vectors, with zeros left, good for
        sparse factors; "nndsvda", the same with zeros filled with the mean of X; "nndsvdar", filled with small random
        numbers; "custom", the W and H given to `fit_transform`. None is "nndsvda", or "random" for more components than
        rows or columns.
    solver : {"cd", "mu"}, default="cd"
        "cd" is coordinate descent, quick, for beta_loss="frobenius" alone; "mu" multiplicative updates, which take any
        `beta_loss`, and never move an entry that starts at 0.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        The β-divergence between X and W H: "frobenius" (β = 2) is half the squared error; "kullback-leibler" (1) suits
        counts; "itakura-saito" (0) suits power spectra, and does not depend on scale. With 0 or less X must have no
        zeros.
    tol : float, default=1e-4
        Stopping tolerance. "cd": stop when the projected gradient is this share of what it was at first, and further
        iterations would, by how fast it falls, take no more than this share off the objective. "mu": when ten
        iterations lower the error by less than this share of what it was.
    max_iter : int, default=200
        The most iterations; raise it after a convergence warning.
    random_state : int, RandomState, Generator or None, default=None
        Where the start comes from, and the order of `shuffle`. Pass an integer for the same result every time.
    alpha_W : float, default=0.0
        Regularisation strength of W, at least 0; more makes it smaller, and sparser with l1_ratio above 0. It is
        multiplied by the number of columns, so that it means the same for tables of any size.
    alpha_H : float or "same", default="same"
        Regularisation strength of H, multiplied by the number of rows; "same" is `alpha_W`.
    l1_ratio : float, default=0.0
        Share of absolute values in the penalties, in [0, 1]: 0 shrinks all entries (ridge), 1 makes many of them 0
        (lasso).
    verbose : int, default=0
        Log each iteration to the logger "learnt" where it is more than 0.
    shuffle : bool, default=False
        Whether "cd" visits coordinates in a random order.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The parts H, one a row.
    n_components_ : int
        How many parts there are.
    reconstruction_err_ : float
        √(2 D(X, W H)) of the training rows; for "frobenius" ‖X − W H‖.
    n_iter_ : int
        The number of iterations.

    See Also
    --------
    MiniBatchNMF : In batches of rows, for many of them.
    LatentDirichletAllocation : Topics of counts, as a probability model.
    TruncatedSVD : The best approximation where entries may be negative.
    non_negative_factorization : The same as a function.

    Notes
    -----
    "cd" [1]_ reads X once an iteration, so that X may be an array, sparse, a memory map, a `learnt.scan` table or a
    Dask collection; W, a row for each of X's, is in memory. It goes over the factors several times for each product
    with X, and so needs fewer iterations than it would with one sweep each. An iteration takes O(nnz k) time for k
    parts and nnz entries that are not 0, and sweeps of O((n + d) k²). "mu" follows [2]_. Only a local minimum is found:
    other starts may give other parts.

    References
    ----------
    .. [1] A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor
       factorizations", IEICE Transactions on Fundamentals E92-A, 2009.
    .. [2] C. Févotte and J. Idier, "Algorithms for nonnegative matrix factorization with the β-divergence",
       Neural Computation 23, 2011.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 2.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0], [1.0, 3.0, 2.0]])
    >>> model = NMF(n_components=2, random_state=0, tol=1e-8, max_iter=1000)
    >>> W = model.fit_transform(X)
    >>> (W @ model.components_).round(2)
    array([[1., 0., 2.],
           [2., 0., 4.],
           [0., 3., 0.],
           [1., 3., 2.]])
    """

    __learnt_schema__ = Schema(
        params={
            "solver": choice("cd", "mu"),
            "beta_loss": anyof(choice(*LOSSES), number()),
            "tol": number(0),
            "max_iter": count(1),
            "alpha_W": number(0),
            "alpha_H": anyof(choice("same"), number(0)),
            "l1_ratio": number(0, 1),
            "shuffle": flag,
        },
        state={**FEATURES, "n_components_": count(1, name="k"), "components_": real("k", "d", low=0)},
        extra={"reconstruction_err_": number(0), "n_iter_": count()},
    )
    __learnt_trial__ = Trial(
        quick={"n_components": 2, "init": "nndsvda", "random_state": 0, "tol": 1e-10, "max_iter": 2000},
        warmup=(
            Warm("none", {"n_components": 2, "random_state": 0}),
            Warm("none", {"n_components": 2, "random_state": 0}, sparse=True),
        ),
    )

    @property
    def __learnt_takes__(self) -> Takes:
        return Takes(sparse=True, lazy=self.solver == "cd")

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        init: str | None = None,
        solver: str = "cd",
        beta_loss: Any = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle

    @with_callbacks
    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> np.ndarray:
        """Find the parts of X, and return how much of each is in every row.

        Parameters
        ----------
        W : array-like of shape (n_samples, n_components), default=None
            The weights to start from, with init="custom"; else ignored, with a warning.
        H : array-like of shape (n_components, n_features), default=None
            The parts to start from, with init="custom"; else ignored, with a warning.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
            The weights of the parts in each row.
        """
        self._check_parameters()
        X = check_fit(self, X, order="C").X
        with single_blas():
            W, H = self._first(X, W, H)
            W, H, self.n_iter_ = self._solve(X, W, H, update_H=True)
            self.reconstruction_err_ = distance(X, W, H, beta_of(self.beta_loss))
        self.n_components_, self.components_ = len(H), np.ascontiguousarray(H)
        return W

    def _check_parameters(self) -> None:
        self._check_common()
        check_choice(self, "solver", ("cd", "mu"))
        check_flag(self, "shuffle")
        if self.solver == "cd" and beta_of(self.beta_loss) != 2:
            raise ValueError(
                f"Invalid beta_loss parameter: solver {self.solver!r} does not handle beta_loss = {self.beta_loss!r}; "
                "use solver='mu'."
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so "
                "leads to poorer results when used jointly with init='nndsvd'. You may try init='nndsvda' or "
                "init='nndsvdar' instead.",
                UserWarning,
                stacklevel=4,
            )

    def _solve(self, X: Any, W: np.ndarray, H: np.ndarray, update_H: bool) -> tuple[np.ndarray, np.ndarray, int]:
        beta = beta_of(self.beta_loss)
        refuse_zeros(X, beta)
        with fit_loop(self, self.max_iter, X) as loop:

            def step(value: float) -> bool:
                if self.verbose:
                    tell("NMF: %.4g", value)
                return loop.step(f"{value:.3g}")

            common: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "step": step}
            penalties = self._penalties((W.shape[0], H.shape[1]))
            if self.solver == "cd":
                solve = coordinate_descent if update_H else weights_of
                W, H, n_iter = solve(X, W, H, penalties, **common, **self._shuffled())
            else:
                W, H, n_iter = multiplicative_updates(X, W, H, penalties, beta, update_H=update_H, **common)
        if n_iter == self.max_iter and self.tol > 0:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return W, H, n_iter

    def _shuffled(self) -> dict[str, Any]:
        return {"shuffle": self.shuffle, "random_state": self.random_state}

    def transform(self, X: Any) -> Any:
        """How much of each part is in every row: W for the parts H that were found.

        What is read in blocks is solved in blocks, each to the tolerance.
        """
        X = check_predict(self, X, order="C")
        if is_lazy(X):
            settings = {"tol": self.tol, "max_iter": self.max_iter, **self._shuffled()}
            H = np.asarray(self.components_, dtype=np.float64)
            return transform(
                X, self.get_feature_names_out, block_weights, H, self._penalties((1, H.shape[1])), settings
            )
        check_not_negative(X, "NMF (input X)")
        H = np.ascontiguousarray(self.components_, dtype=X.dtype)
        with single_blas():
            return self._solve(X, self._rows_for(X, H), H, update_H=False)[0]

    def _rows_for(self, X: Any, H: np.ndarray) -> np.ndarray:
        """W before the first iteration with a given H: 0, which multiplying would not change."""
        value = np.sqrt(X.mean() / len(H)) if self.solver == "mu" else 0.0
        return np.full((X.shape[0], len(H)), value, dtype=X.dtype)


def block_weights(block: Block, H: np.ndarray, penalties: Penalties, settings: dict[str, Any]) -> np.ndarray:
    """W of one block of what is read in blocks."""
    check_not_negative(block.X, "NMF (input X)", block.start)
    return weights_of(block.X, np.zeros((block.X.shape[0], len(H))), H, penalties, **settings)[0]
