"""The usual table: estimate, standard error, t, p, interval."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from scipy import special

from learnt.linear_model.least_squares._inference import Inference

_HEADINGS = ("estimate", "std error", "t", "p")


class LinearSummary:
    """Estimates of least squares with what is known about them; prints as a table, also in notebooks.

    `LinearRegression().fit(X, y).summary()` makes one. With several targets each array has a first axis of targets, and
    each number is an array.

    Parameters
    ----------
    inference : Inference
        Sums over the rows: what the data say about noise and covariance.
    names : list of str
        The names of the coefficients.
    estimate : ndarray of shape (n_targets, n_names)
        The coefficients.
    level : float
        Probability of the confidence intervals.
    single : bool
        Whether y was one-dimensional, so that results have no axis of targets.

    Attributes
    ----------
    names : list of str
        "intercept" where there is one, then the columns.
    estimate : ndarray of shape (n_names,) or (n_targets, n_names)
        The coefficients.
    stderr : ndarray of shape (n_names,) or (n_targets, n_names)
        Their standard errors.
    t : ndarray of shape (n_names,) or (n_targets, n_names)
        Estimate over standard error.
    p : ndarray of shape (n_names,) or (n_targets, n_names)
        Probability of so large a |t| where the coefficient is 0.
    interval : ndarray of shape (n_names, 2) or (n_targets, n_names, 2)
        Confidence intervals at `level`.
    level : float
        Probability of the intervals.
    covariance : ndarray of shape (n_names, n_names) or (n_targets, n_names, n_names)
        Covariance of the estimates.
    n : int
        Number of rows.
    dof : int
        Degrees of freedom: rows less coefficients.
    noise_variance : float or ndarray of shape (n_targets,)
        σ², from the residuals.
    sigma : float or ndarray of shape (n_targets,)
        σ, the standard deviation of the noise.
    r2 : float or ndarray of shape (n_targets,)
        R²; without an intercept it compares with 0 instead of the mean.
    adjusted_r2 : float or ndarray of shape (n_targets,)
        R² with a deduction for the number of coefficients.
    f : float or ndarray of shape (n_targets,)
        F statistic of all slopes together.
    f_p : float or ndarray of shape (n_targets,)
        Probability of so large an F where all slopes are 0.
    log_likelihood : float or ndarray of shape (n_targets,)
        Log-likelihood at the estimates.
    aic : float or ndarray of shape (n_targets,)
        Akaike's information criterion; of two models the one with the lower value is preferred.
    bic : float or ndarray of shape (n_targets,)
        Bayesian information criterion, which punishes coefficients harder.
    """

    def __init__(
        self, inference: Inference, names: list[str], estimate: np.ndarray, level: float, single: bool
    ) -> None:
        one = inference
        centred = bool(np.isfinite(one.weight))
        self.names, self.level, self.n, self.dof = names, level, one.n_rows, one.dof
        covariance = one.covariance()
        noise = one.noise_variance
        with np.errstate(all="ignore"):
            stderr = np.sqrt(np.diag(covariance) * noise[:, None])
            t = estimate / stderr
            p = 2.0 * special.stdtr(one.dof, -np.abs(t))
            reach = special.stdtrit(one.dof, 0.5 + level / 2) * stderr
            r2 = 1.0 - one.residual / one.total
            slopes = len(names) - int(centred)
            f = (one.total - one.residual) / slopes / noise
            log_likelihood = 0.5 * (one.log_weight - one.n_rows * (np.log(2 * np.pi * one.residual / one.n_rows) + 1))
            values = {
                "estimate": estimate,
                "stderr": stderr,
                "t": t,
                "p": p,
                "interval": np.stack([estimate - reach, estimate + reach], axis=-1),
                "covariance": covariance * noise[:, None, None],
                "noise_variance": noise,
                "sigma": np.sqrt(noise),
                "r2": r2,
                "adjusted_r2": 1.0 - (1.0 - r2) * (one.n_rows - int(centred)) / one.dof,
                "f": f,
                "f_p": special.fdtrc(slopes, one.dof, f),
                "log_likelihood": log_likelihood,
                "aic": 2.0 * len(names) - 2.0 * log_likelihood,
                "bic": np.log(one.n_rows) * len(names) - 2.0 * log_likelihood,
            }
        self.estimate: Any
        self.p: Any
        for key, value in values.items():
            setattr(self, key, (float(value[0]) if value.ndim == 1 else value[0]) if single else value)
        self._values, self._single = values, single

    def _targets(self) -> list[dict[str, Any]]:
        return [{key: value[j] for key, value in self._values.items()} for j in range(len(self._values["r2"]))]

    def _lines(self, one: dict[str, Any]) -> list[list[str]]:
        columns = [one[key] for key in ("estimate", "stderr", "t", "p")]
        return [
            [name, *(_number(column[j]) for column in columns[:2]), f"{columns[2][j]:.3f}", _probability(columns[3][j])]
            + [_number(end) for end in one["interval"][j]]
            for j, name in enumerate(self.names)
        ]

    def _headings(self) -> list[str]:
        tail = 50 * (1 - self.level)
        return ["", *_HEADINGS, f"{tail:.4g}%", f"{100 - tail:.4g}%"]

    def _facts(self, one: dict[str, Any]) -> list[str]:
        return [
            f"R² {one['r2']:.4g}, adjusted {one['adjusted_r2']:.4g}; noise σ {_number(one['sigma'])} "
            f"from {self.n} rows, {self.dof} degrees of freedom",
            f"F {one['f']:.4g}, p {_probability(one['f_p'])}; log-likelihood {one['log_likelihood']:.6g}, "
            f"AIC {one['aic']:.6g}, BIC {one['bic']:.6g}",
        ]

    def __str__(self) -> str:
        parts = []
        for j, one in enumerate(self._targets()):
            table = [self._headings(), *self._lines(one)]
            widths = [max(len(line[c]) for line in table) for c in range(len(table[0]))]
            text = [
                "  ".join([line[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(line[1:], widths[1:])])
                for line in table
            ]
            heading = ["Least squares" if self._single else f"Least squares, target {j}"]
            parts.append("\n".join([*heading, *self._facts(one), "", *text]))
        return "\n\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = []
        for j, one in enumerate(self._targets()):
            head = "".join(f"<th>{escape(h)}</th>" for h in self._headings())
            body = "".join(
                f"<tr><th>{escape(line[0])}</th>" + "".join(f"<td>{cell}</td>" for cell in line[1:]) + "</tr>"
                for line in self._lines(one)
            )
            title = "Least squares" if self._single else f"Least squares, target {j}"
            facts = "<br>".join(escape(fact) for fact in self._facts(one))
            parts.append(
                f"<table><caption>{title}<br>{facts}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            )
        return "".join(parts)


def _number(value: float) -> str:
    return f"{value:.5g}"


def _probability(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 or value != value else f"{value:.1e}"
