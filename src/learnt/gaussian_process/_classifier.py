"""Gaussian process classification by Laplace's approximation."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.classification.labels import distinct_labels
from learnt.engine.estimator import Estimator, Trial
from learnt.engine.mixins import ClassifierMixin, clone
from learnt.engine.params import check_choice, check_flag, check_number
from learnt.engine.random import random_state_of
from learnt.engine.threads import single_blas
from learnt.engine.validation import NOT_FITTED
from learnt.gaussian_process._inputs import check_gp_kernel, fit_rows, no_factor, predict_rows, prior_kernel
from learnt.gaussian_process._laplace import find_mode, likelihood_gradient, mean_probability
from learnt.gaussian_process._schema import CLASSIFIER
from learnt.gaussian_process._search import best_theta, check_optimizer, warn_at_bounds
from learnt.gaussian_process.kernels import CompoundKernel
from learnt.kernels import CompoundKernel as AnyCompound
from learnt.kernels import require_room, sample_places, warn_unless_positive
from learnt.linalg.tiles import solve_rows


class GaussianProcessClassifier(ClassifierMixin, Estimator):
    """Classes by a latent Gaussian process: the logistic function of f, averaged over what f may be.

    Probabilities are well calibrated, since the uncertainty of f is in them: far from all training rows they go back
    towards equal ones. Take it for small tables (up to a few thousand rows) where probabilities matter.

    Parameters
    ----------
    kernel : kernel object or None, default=None
        What says how alike the latent function is at two rows: one of `learnt.gaussian_process.kernels`,
        `learnt.kernels` or scikit-learn. None means `1.0 * RBF(1.0)`, kept fixed. Parameters of a kernel that is given
        are learnt by `fit`, but for those whose bounds are "fixed".
    optimizer : "fmin_l_bfgs_b", callable or None, default="fmin_l_bfgs_b"
        What maximises the approximate marginal likelihood over the parameters of the kernel. A function is called as
        `optimizer(objective, start, bounds=bounds)` and returns θ and −likelihood. None keeps the kernel as it is.
    n_restarts_optimizer : int, default=0
        Number of random starts besides the kernel's own parameters. Raise it where the fitted kernel looks wrong, since
        the likelihood can have several maxima. Time grows with it.
    max_iter_predict : int, default=100
        Newton steps to the mode of the latent function, at most. Fewer are faster and less accurate.
    warm_start : bool, default=False
        Whether Newton's method begins at the mode of the last fit to as many rows.
    copy_X_train : bool, default=True
        Whether to keep a copy of the training rows; with False they must not be written to after `fit`.
    random_state : int, RandomState, Generator or None, default=None
        Draws the random starts. Pass an integer to get the same result every time.
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        What is done with more than two classes. "one_vs_rest" fits each class against all others, on all rows.
        "one_vs_one" fits each pair, on the rows of the pair alone: faster for many classes, but without probabilities.
    n_jobs : int or None, default=None
        Kept for scikit-learn's signature: matrices are computed on all threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order.
    n_classes_ : int
        Number of classes.
    X_train_ : ndarray of shape (n_samples, n_features) or list of objects
        The training rows, which predictions need.
    kernel_ : kernel object
        The kernel, with the parameters that were learnt; a `CompoundKernel` for more than two classes.
    log_marginal_likelihood_value_ : float
        The approximate log p(y | X) of two classes; of more, the mean over the problems.
    problems_ : list of dict
        The problems of two classes: kernel, rows, labels, mode of the latent function, factor.
    base_estimator_ : object
        The same by scikit-learn's names: kernel_, X_train_, y_train_, pi_, W_sr_, L_; of more than two classes, one
        such object for each problem in its `estimators_`.

    See Also
    --------
    GaussianProcessRegressor : The same for numbers, also for many rows.
    learnt.linear_model.LogisticRegression : Linear, with probabilities, for any number of rows.
    learnt.svm.SVC : A kernel classifier that keeps few of the rows.

    Notes
    -----
    Laplace's approximation: the posterior of f is replaced by a normal distribution at its mode, found by Newton's
    method. Time in n³ for every step of the search over kernel parameters and each problem of two classes, memory some
    n × n matrices. Rows may also be other objects, such as texts, where the kernel takes them.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", chapters 3 and 5, MIT Press,
       2006.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = GaussianProcessClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [2.5]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[1.5], [2.5]]).round(2)
    array([[0.5 , 0.5 ],
           [0.39, 0.61]])
    """

    __learnt_schema__ = CLASSIFIER
    __learnt_trial__ = Trial(quick={"optimizer": None}, most_rows=300)

    def __init__(
        self,
        kernel: Any = None,
        *,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: Any = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.max_iter_predict = max_iter_predict
        self.warm_start = warm_start
        self.copy_X_train = copy_X_train
        self.random_state = random_state
        self.multi_class = multi_class
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> GaussianProcessClassifier:
        """Learn the kernel's parameters, and find the mode of the latent function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
            The rows to learn from; objects of any kind where the kernel takes them.
        """
        if isinstance(self.kernel, AnyCompound):
            raise ValueError("kernel cannot be a CompoundKernel")
        check_gp_kernel(self)
        check_optimizer(self)
        check_number(self, "n_restarts_optimizer", 0, integer=True)
        check_number(self, "max_iter_predict", 1, integer=True)
        check_flag(self, "warm_start", "copy_X_train")
        check_choice(self, "multi_class", ("one_vs_rest", "one_vs_one"))
        kernel = prior_kernel(self)
        X, y = fit_rows(self, X, y, kernel, "label")
        classes = distinct_labels(y)
        if len(classes) < 2:
            raise ValueError(
                f"GaussianProcessClassifier requires 2 or more distinct classes; got {len(classes)} class (only class "
                f"{classes[0]} is present)"
            )
        require_room("GaussianProcessClassifier", len(X), len(X), copies=4)
        if not getattr(kernel, "proven", False):
            places = sample_places(len(X))
            warn_unless_positive(kernel(X[places]), places, "GaussianProcessClassifier")
        before = getattr(self, "problems_", []) if self.warm_start else []
        self.X_train_ = X.copy() if self.copy_X_train else X
        self.classes_, self.n_classes_ = classes, len(classes)
        codes = np.searchsorted(classes, y) if classes.dtype.kind in "biufU" else _places(classes, y)
        random = random_state_of(self.random_state)
        self.problems_ = [
            self._fit_pair(pair, codes, random, before[i] if i < len(before) else None)
            for i, pair in enumerate(self._pairs())
        ]
        self.log_marginal_likelihood_value_ = float(np.mean([p["likelihood"] for p in self.problems_]))
        return self

    def _pairs(self) -> list[tuple[int, int]]:
        """(class of 0, class of 1) of every problem; against all others both are the class itself."""
        c = self.n_classes_
        if c == 2:
            return [(0, 1)]
        return [(i, i) for i in range(c)] if self.multi_class == "one_vs_rest" else list(combinations(range(c), 2))

    def _fit_pair(self, pair: tuple[int, int], codes: np.ndarray, random: Any, before: Any) -> dict[str, Any]:
        one = pair[0] != pair[1]
        rows = np.flatnonzero((codes == pair[0]) | (codes == pair[1])) if one else np.arange(len(codes))
        target = (codes[rows] == pair[1]).astype(np.float64)
        kernel = clone(prior_kernel(self))
        start = None if before is None else before["latent"]
        objective = self._objective(kernel, rows, target, start)
        if self.optimizer is not None and kernel.n_dims:
            theta, _ = best_theta(objective, kernel, self.optimizer, self.n_restarts_optimizer, random)
            kernel = kernel.clone_with_theta(theta)
            warn_at_bounds(kernel)
        mode = find_mode(kernel(self.X_train_[rows]), target, self.max_iter_predict, start)
        if mode is None:
            raise no_factor(kernel, self.X_train_[rows], "Give GaussianProcessClassifier another one.")
        return {
            "pair": pair,
            "kernel": kernel,
            "rows": rows,
            "target": target,
            "latent": mode.latent,
            "probability": mode.probability,
            "root": mode.root,
            "L": mode.L,
            "likelihood": mode.likelihood,
        }

    def _objective(self, kernel: Any, rows: np.ndarray, target: np.ndarray, start: Any = None) -> Any:
        X = self.X_train_[rows]

        def objective(theta: np.ndarray, eval_gradient: bool = True) -> Any:
            own = kernel.clone_with_theta(theta)
            K = own(X)
            mode = find_mode(K, target, self.max_iter_predict, start)
            if mode is None:
                return (np.inf, np.zeros(own.n_dims)) if eval_gradient else np.inf
            if not eval_gradient:
                return -mode.likelihood
            return -mode.likelihood, -likelihood_gradient(own, X, K, target, mode)

        return objective

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """The approximate log p(y | X, θ); of more than two classes the mean over the problems.

        Parameters
        ----------
        theta : array-like of shape (n_kernel_params,) or None, default=None
            Logarithms of the kernel's parameters, of more than two classes one set for all problems or one for each.
            None means those that were learnt, whose value is known already.
        eval_gradient : bool, default=False
            Whether to return the gradient too; of two classes alone, and theta must be given.
        clone_kernel : bool, default=True
            Whether `kernel_` stays as it is; False also sets θ as that of `kernel_`.

        Returns
        -------
        log_likelihood : float
            The log marginal likelihood: larger is better.
        gradient : ndarray of shape (n_kernel_params,)
            Its derivatives in θ; only with `eval_gradient`.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        theta = np.asarray(theta, dtype=np.float64)
        if eval_gradient and self.n_classes_ > 2:
            raise NotImplementedError("Gradient of log-marginal-likelihood not implemented for multi-class GPC.")
        size = self.problems_[0]["kernel"].n_dims
        if theta.size not in (size, size * len(self.problems_)):
            raise ValueError(
                f"Shape of theta must be either {size} or {size * len(self.problems_)}. Obtained theta with shape "
                f"{theta.size}."
            )
        parts = [theta] * len(self.problems_) if theta.size == size else np.split(theta, len(self.problems_))
        found = []
        for problem, part in zip(self.problems_, parts, strict=True):
            objective = self._objective(problem["kernel"], problem["rows"], problem["target"])
            found.append(objective(part, eval_gradient))
            if not clone_kernel:
                problem["kernel"] = problem["kernel"].clone_with_theta(part)
        return (np.float64(-found[0][0]), -found[0][1]) if eval_gradient else -np.mean(found)

    @property
    def base_estimator_(self) -> SimpleNamespace:
        """The problem of two classes as scikit-learn names its parts; of more classes, one in each of `estimators_`."""
        parts = [
            SimpleNamespace(
                kernel_=p["kernel"],
                X_train_=self.X_train_[p["rows"]],
                y_train_=p["target"],
                classes_=self.classes_ if self.n_classes_ == 2 else np.array([0, 1]),
                pi_=p["probability"],
                W_sr_=p["root"],
                L_=p["L"],
                f_cached=p["latent"],
                log_marginal_likelihood_value_=p["likelihood"],
            )
            for p in self.problems_
        ]
        if len(parts) == 1:
            return parts[0]
        return SimpleNamespace(estimators_=parts, classes_=self.classes_, n_classes_=self.n_classes_)

    @property
    def kernel_(self) -> Any:
        """The kernel with the parameters that were learnt; a `CompoundKernel` for more than two classes."""
        kernels = [problem["kernel"] for problem in self.problems_]
        return kernels[0] if len(kernels) == 1 else CompoundKernel(kernels)

    def _latent(self, problem: dict[str, Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the latent function of one problem."""
        K = problem["kernel"](X, self.X_train_[problem["rows"]])
        with single_blas():
            mean = K @ (problem["target"] - problem["probability"])
        V = solve_rows(problem["L"], np.ascontiguousarray(K * problem["root"]))
        return mean, problem["kernel"].diag(X) - np.einsum("ij,ij->i", V, V)

    def latent_mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the latent function at each row; of two classes alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of objects
            Rows with the columns of those it was fitted to.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            The mean of f: above 0 where `classes_[1]` is the likelier.
        variance : ndarray of shape (n_samples,)
            The variance of f: large where training rows say little.
        """
        check_is_fitted(self, msg=NOT_FITTED)
        if self.n_classes_ > 2:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for binary classification, "
                f"received {self.n_classes_} classes."
            )
        return self._latent(self.problems_[0], predict_rows(self, X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class: the logistic function of f, averaged over f."""
        check_is_fitted(self, msg=NOT_FITTED)
        if self.n_classes_ > 2 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. Use one_vs_rest mode "
                "instead."
            )
        X = predict_rows(self, X)
        found = np.column_stack([mean_probability(*self._latent(problem, X)) for problem in self.problems_])
        if self.n_classes_ == 2:
            return np.column_stack([1.0 - found[:, 0], found[:, 0]])
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self, msg=NOT_FITTED)
        if self.n_classes_ > 2 and self.multi_class == "one_vs_rest":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        X = predict_rows(self, X)
        if self.n_classes_ == 2:
            problem = self.problems_[0]
            mean = problem["kernel"](X, self.X_train_) @ (problem["target"] - problem["probability"])
            return self.classes_[(mean > 0).astype(int)]
        votes = np.zeros((len(X), self.n_classes_))
        sure = np.zeros_like(votes)
        for problem in self.problems_:
            mean, variance = self._latent(problem, X)
            first, second = problem["pair"]
            votes[:, first] += mean <= 0
            votes[:, second] += mean > 0
            confidence = mean_probability(mean, variance)
            sure[:, first] -= confidence
            sure[:, second] += confidence
        # Less than one vote: it only breaks ties.
        return self.classes_[(votes + sure / (3.0 * (np.abs(sure) + 1.0))).argmax(axis=1)]


def _places(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    place = {label: i for i, label in enumerate(classes.tolist())}
    return np.array([place[label] for label in y.tolist()])
