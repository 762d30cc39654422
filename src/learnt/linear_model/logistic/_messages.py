"""What logistic regression says, beginning with the words of scikit-learn's solvers."""

from __future__ import annotations

# How scikit-learn's warnings about too few iterations begin, by the solver asked for; people filter on these words.
_UNFINISHED = {
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
    "newton-cholesky": "Newton solver did not converge after {n_iter} iterations.",
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "sag": "The max_iter was reached which means the coef_ did not converge.",
    "saga": "The max_iter was reached which means the coef_ did not converge.",
}


def unfinished(solver: str, n_iter: int) -> str:
    """The first words of a warning that `max_iter` ended the fit."""
    return _UNFINISHED.get(solver, "lbfgs failed to converge after {n_iter} iteration(s).").format(n_iter=n_iter)


def too_few_classes(only: str) -> ValueError:
    """The error for rows of one class."""
    return ValueError(
        f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: {only}. A "
        "constant needs no model, see learnt.baseline.ConstantClassifier; rows of weight 0 do not count."
    )
