"""What every `learnt` estimator may hold in a file.

One entry for each class of the registry: the parameters that methods other than `fit` read, and the fitted attributes
with their kinds and shapes. "d" is the number of features, "c" of classes, "t" of targets, "k" of components or
clusters, "n" of training rows. What a compiled loop indexes with must have its range stated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import (
    CLASSES,
    FEATURES,
    ONE,
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    fields,
    flag,
    flags,
    labels,
    listof,
    none,
    number,
    one_plane_a_class,
    real,
    record,
    text,
    whole,
)
from learnt.persistence._boosting import BOOSTING_CLASSIFIER, BOOSTING_REGRESSOR, HIST_CLASSIFIER, HIST_REGRESSOR
from learnt.persistence._forests import FOREST_CLASSIFIER, FOREST_EMBEDDING, FOREST_REGRESSOR
from learnt.persistence._meta_ensembles import META_ENSEMBLES

_intercept = anyof(ONE, real(None))


def _linear_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    single = state["coef_"].ndim == 1
    reason = ONE(state["intercept_"], {})
    if reason is not None and not single:
        reason = real("t")(state["intercept_"], dims)
    return None if reason is None else f"has an intercept_ that {reason}"


_linear = {**FEATURES, "coef_": anyof(real("d"), real("t", "d")), "intercept_": _intercept}


_GLM = Schema(
    state={**FEATURES, "coef_": real("d"), "intercept_": _intercept}, extra={"n_iter_": count()}, rule=_linear_rule
)


_counts = anyof(none, count(), listof(count()), whole(None))
_gaps = anyof(number(finite=False), listof(number(finite=False)), real(None, finite=False))
_sweeps: dict[str, Check] = {"n_iter_": _counts, "dual_gap_": _gaps}
_chosen: dict[str, Check] = {"alpha_": number(0), "mse_path_": record, "alphas_": record, **_sweeps}


_EVIDENCE: dict[str, Check] = {"alpha_": number(above=0), "X_offset_": real("d"), "X_scale_": real("d")}
_EVIDENCE_EXTRA: dict[str, Check] = {"scores_": anyof(listof(number()), real(None)), "n_iter_": count()}


def _kept_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The covariance is that of the coefficients that were kept."""
    kept = int(np.count_nonzero(state["lambda_"] < model.threshold_lambda))
    return _linear_rule(model, state, dims) or (None if kept == dims["k"] else "has a covariance of other columns")


_stochastic = {
    "n_iter_": count(),
    "t_": number(1),
    **dict.fromkeys(("_standard_coef", "_average_coef"), real(None, "d")),
    **dict.fromkeys(("_standard_intercept", "_average_intercept"), real(None)),
    "_average_count": number(0),
}
_stochastic_classifier = {**CLASSES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")}

_ridge_labels = {
    **FEATURES,
    "classes_": labels("c"),
    "coef_": anyof(real("d"), real("r", "d")),
    "intercept_": anyof(number(), real(1), real("r")),
    "_multilabel": flag,
}


def _ridge_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """One row of coefficients for two classes, one a class for more, one a label where rows may have several."""
    coef, intercept = state["coef_"], state["intercept_"]
    rows = 1 if coef.ndim == 1 else len(coef)
    if np.size(intercept) not in (1, rows):
        return "has other intercepts than coefficients"
    wanted = rows if state["_multilabel"] else 1 if dims["c"] <= 2 else dims["c"]
    return None if rows == wanted else "has other coefficients than classes"


LEARNT_SCHEMAS: dict[str, Schema] = {
    **META_ENSEMBLES,
    "learnt.linear_model.ARDRegression": Schema(
        params={"threshold_lambda": number()},
        state={**_GLM.state, **_EVIDENCE, "lambda_": real("d"), "sigma_": real("k", "k")},
        extra=_EVIDENCE_EXTRA,
        rule=_kept_rule,
    ),
    "learnt.linear_model.BayesianLinearRegression": Schema(
        state={
            **_GLM.state,
            "covariance_": real("d", "d"),
            "offset_": real("d"),
            "noise_variance_": number(above=0),
            "prior_variance_": number(above=0),
        },
        extra={"log_evidence_": number(), "effective_dimension_": number()},
        rule=_linear_rule,
    ),
    "learnt.linear_model.BayesianRidge": Schema(
        state={**_GLM.state, **_EVIDENCE, "lambda_": number(0), "sigma_": real("d", "d")},
        extra=_EVIDENCE_EXTRA,
        rule=_linear_rule,
    ),
    "learnt.linear_model.GammaRegressor": _GLM,
    "learnt.linear_model.HuberRegressor": Schema(
        params={"epsilon": number(1)},
        state={**_GLM.state, "scale_": ONE},
        extra={"n_iter_": count(), "outliers_": flags(None)},
        rule=_linear_rule,
    ),
    "learnt.ensemble.HistGradientBoostingClassifier": HIST_CLASSIFIER,
    "learnt.ensemble.HistGradientBoostingRegressor": HIST_REGRESSOR,
    "learnt.ensemble.GradientBoostingClassifier": BOOSTING_CLASSIFIER,
    "learnt.ensemble.GradientBoostingRegressor": BOOSTING_REGRESSOR,
    "learnt.linear_model.ElasticNet": Schema(
        params={"fit_intercept": flag}, state=_linear, extra=_sweeps, rule=_linear_rule
    ),
    "learnt.linear_model.ElasticNetCV": Schema(
        params={"fit_intercept": flag}, state=_linear, extra={**_chosen, "l1_ratio_": number(0)}, rule=_linear_rule
    ),
    "learnt.linear_model.Lasso": Schema(
        params={"fit_intercept": flag}, state=_linear, extra=_sweeps, rule=_linear_rule
    ),
    "learnt.linear_model.LassoCV": Schema(
        params={"fit_intercept": flag}, state=_linear, extra=_chosen, rule=_linear_rule
    ),
    "learnt.linear_model.MultiTaskElasticNet": Schema(
        params={"fit_intercept": flag}, state=_linear, extra={**_sweeps, "eps_": number(0)}, rule=_linear_rule
    ),
    "learnt.linear_model.MultiTaskElasticNetCV": Schema(
        params={"fit_intercept": flag}, state=_linear, extra={**_chosen, "l1_ratio_": number(0)}, rule=_linear_rule
    ),
    "learnt.linear_model.MultiTaskLasso": Schema(
        params={"fit_intercept": flag}, state=_linear, extra={**_sweeps, "eps_": number(0)}, rule=_linear_rule
    ),
    "learnt.linear_model.MultiTaskLassoCV": Schema(
        params={"fit_intercept": flag}, state=_linear, extra=_chosen, rule=_linear_rule
    ),
    "learnt.linear_model.IterativelyReweightedLeastSquares": Schema(
        state=_GLM.state, extra={"n_iter_": count(), "variance_": real(None, low=0, finite=False)}, rule=_linear_rule
    ),
    "learnt.linear_model.LinearRegression": Schema(
        params={"fit_intercept": flag, "positive": flag},
        state=_linear,
        extra={
            "rank_": anyof(none, count()),
            "singular_": anyof(none, real(None, low=0)),
            "solver_": text,
            "_inference": fields(
                half=real("d", "d"),
                x_mean=real("d"),
                weight=number(above=0, finite=False),
                residual=real(None, low=0),
                total=real(None, low=0),
                n_rows=count(1),
                log_weight=number(),
            ),
        },
        rule=_linear_rule,
    ),
    "learnt.linear_model.LogisticRegression": Schema(
        params={"fit_intercept": flag},
        state={**FEATURES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")},
        extra={"n_iter_": whole(None), "converged_": flag, "optimality_": number(finite=False)},
        rule=one_plane_a_class,
    ),
    "learnt.linear_model.LogisticRegressionCV": Schema(
        params={"fit_intercept": flag},
        state={**FEATURES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")},
        extra={
            "Cs_": real(None, low=0, finite=False),
            "l1_ratios_": real(None, low=0, high=1),
            **dict.fromkeys(("C_", "l1_ratio_", "scores_", "coefs_paths_", "n_iter_"), record),
        },
        rule=one_plane_a_class,
    ),
    "learnt.linear_model.NonlinearLeastSquares": Schema(
        params={"model": none, "jac": choice(None, "2-point", "3-point", "torch", "jax")},
        state={
            **FEATURES,
            "coef_": real("p"),
            "stderr_": real("p", finite=False),
            "covariance_": real("p", "p", finite=False),
            "sigma_": number(finite=False),
            "dof_": count(),
            "r2_": number(finite=False),
            "message_": text,
            "parameter_names_": listof(text, "p"),
        },
        extra={
            "cost_": number(0),
            "n_iter_": count(),
            "n_evaluations_": count(),
            "optimality_": number(0),
            "converged_": flag,
        },
    ),
    "learnt.linear_model.Perceptron": Schema(
        state=_stochastic_classifier,
        extra={**_stochastic, "mistakes_": anyof(count(), whole("r")), "margin_": anyof(number(), real("r"))},
        rule=one_plane_a_class,
    ),
    "learnt.linear_model.PoissonRegressor": _GLM,
    "learnt.linear_model.ForwardStagewiseRegression": Schema(
        params={"fit_intercept": flag},
        state={
            **_linear,
            "n_iter_": count(0, name="s"),
            "path_features_": whole("s", below="d"),
            "path_moves_": real("s"),
        },
        rule=_linear_rule,
    ),
    "learnt.linear_model.MatchingPursuit": Schema(
        params={"fit_intercept": flag}, state={**_linear, "n_iter_": _counts}, rule=_linear_rule
    ),
    "learnt.linear_model.OrthogonalMatchingPursuit": Schema(
        params={"fit_intercept": flag},
        state={**_linear, "n_iter_": _counts, "n_nonzero_coefs_": anyof(none, count(1))},
        rule=_linear_rule,
    ),
    "learnt.linear_model.OrthogonalMatchingPursuitCV": Schema(
        params={"fit_intercept": flag},
        state={**_linear, "n_iter_": _counts, "n_nonzero_coefs_": count(1), "mse_path_": real(None, None, low=0)},
        rule=_linear_rule,
    ),
    "learnt.linear_model.QuantileRegressor": Schema(
        state=_GLM.state, extra={"n_iter_": count(), "gap_": number(finite=False)}, rule=_linear_rule
    ),
    "learnt.linear_model.Ridge": Schema(
        params={"fit_intercept": flag},
        state=_linear,
        extra={"n_iter_": anyof(none, count(), whole(None)), "solver_": text},
        rule=_linear_rule,
    ),
    "learnt.linear_model.RidgeClassifier": Schema(
        state=_ridge_labels, extra={"n_iter_": anyof(none, whole(None)), "solver_": text}, rule=_ridge_rule
    ),
    "learnt.linear_model.RidgeClassifierCV": Schema(
        state={**_ridge_labels, "alpha_": number(0), "best_score_": number()},
        extra={"cv_results_": anyof(real(None, None, finite=False), real(None, None, None, finite=False))},
        rule=_ridge_rule,
    ),
    "learnt.linear_model.RidgeCV": Schema(
        params={"fit_intercept": flag, "store_cv_results": flag, "alpha_per_target": flag},
        state={**_linear, "alpha_": anyof(number(0), real("t", low=0)), "best_score_": anyof(number(), real("t"))},
        extra={"cv_results_": anyof(real(None, None, finite=False), real(None, None, None, finite=False))},
        rule=_linear_rule,
    ),
    "learnt.linear_model.SGDClassifier": Schema(
        params={"loss": text}, state=_stochastic_classifier, extra=_stochastic, rule=one_plane_a_class
    ),
    "learnt.linear_model.SGDRegressor": Schema(
        state={**FEATURES, "coef_": real("d"), "intercept_": real(1)}, extra=_stochastic
    ),
    "learnt.linear_model.TotalLeastSquares": Schema(
        params={"fit_intercept": flag},
        state={
            **_linear,
            "covariance_": anyof(real("d", "d", finite=False), real("t", "d", "d", finite=False)),
            "stderr_": anyof(real("d", finite=False), real("t", "d", finite=False)),
            "sigma_": number(finite=False),
            "singular_": real(None, low=0),
        },
        rule=_linear_rule,
    ),
    "learnt.linear_model.TweedieRegressor": Schema(
        params={"power": number(), "link": choice("auto", "identity", "log")},
        state=_GLM.state,
        extra=_GLM.extra,
        rule=_linear_rule,
    ),
    "learnt.ensemble.ExtraTreesClassifier": FOREST_CLASSIFIER,
    "learnt.ensemble.ExtraTreesRegressor": FOREST_REGRESSOR,
    "learnt.ensemble.RandomForestClassifier": FOREST_CLASSIFIER,
    "learnt.ensemble.RandomForestRegressor": FOREST_REGRESSOR,
    "learnt.ensemble.RandomTreesEmbedding": FOREST_EMBEDDING,
}
