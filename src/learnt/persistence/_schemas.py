"""What every `learnt` estimator may hold in a file.

One entry for each class of the registry: the parameters that methods other than `fit` read, and the fitted attributes
with their kinds and shapes. "d" is the number of features, "c" of classes, "t" of targets, "k" of components or
clusters, "n" of training rows. What a compiled loop indexes with must have its range stated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.schema import (
    ANY_FEATURES,
    CLASSES,
    FEATURES,
    ONE,
    Check,
    Dims,
    Schema,
    anyof,
    choice,
    count,
    either,
    fields,
    flag,
    flags,
    instance,
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
from learnt.persistence._containers import SCALER
from learnt.persistence._forests import FOREST_CLASSIFIER, FOREST_EMBEDDING, FOREST_REGRESSOR
from learnt.persistence._meta_ensembles import META_ENSEMBLES
from learnt.persistence._neighbors import NEAREST_NEIGHBORS, NEIGHBORS_CLASSIFIER
from learnt.persistence._partitions import DYADIC, MODEL_TREE
from learnt.persistence._tables import TABLE_ENCODER
from learnt.persistence._trees import TREE_CLASSIFIER, TREE_REGRESSOR

_intercept = anyof(ONE, real(None))


def _linear_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    single = state["coef_"].ndim == 1
    reason = ONE(state["intercept_"], {})
    if reason is not None and not single:
        reason = real("t")(state["intercept_"], dims)
    return None if reason is None else f"has an intercept_ that {reason}"


_linear = {**FEATURES, "coef_": anyof(real("d"), real("t", "d")), "intercept_": _intercept}


def _shares_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """One output: arrays. Several: lists of them, one item an output."""
    keys = ("classes_", "class_prior_", "n_classes_")
    single = state["n_outputs_"] == 1
    outputs = [tuple(state[key] for key in keys)] if single else None
    if outputs is None:
        if any(type(state[key]) is not list or len(state[key]) != state["n_outputs_"] for key in keys):
            return "does not have one list of classes for each output"
        outputs = list(zip(*(state[key] for key in keys)))
    for values in outputs:
        sizes: Dims = {}
        for key, check, value in zip(keys, (labels("c"), real("c", low=0, high=1), count(1, name="c")), values):
            reason = check(value, sizes)
            if reason is not None:
                return f"has {key} that {reason}"
    return None


def _rest_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    return None if state["residual_quantiles_"].shape[0] else "has no residuals"


_GLM = Schema(
    state={**FEATURES, "coef_": real("d"), "intercept_": _intercept}, extra={"n_iter_": count()}, rule=_linear_rule
)


_risk = {
    "n_iter_": count(),
    "objective_": number(finite=False),
    "gradient_norm_": number(finite=False),
    "gap_": anyof(none, number(finite=False)),
    "converged_": flag,
    "loss_curve_": real(None, finite=False),
    "solver_": text,
    "path_": record,
    "validation_losses_": real(None, finite=False),
}

_counts = anyof(none, count(), listof(count()), whole(None))
_gaps = anyof(number(finite=False), listof(number(finite=False)), real(None, finite=False))
_sweeps: dict[str, Check] = {"n_iter_": _counts, "dual_gap_": _gaps}
_chosen: dict[str, Check] = {"alpha_": number(0), "mse_path_": record, "alphas_": record, **_sweeps}


_EVIDENCE: dict[str, Check] = {"alpha_": number(above=0), "X_offset_": real("d"), "X_scale_": real("d")}
_EVIDENCE_EXTRA: dict[str, Check] = {"scores_": anyof(listof(number()), real(None)), "n_iter_": count()}


def _atoms(value: Any, dims: Dims) -> str | None:
    """A dictionary: at least one row."""
    reason = real("k", "d")(value, dims)
    return reason or (None if len(value) else "has no rows")


def _dictionary_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """As many components as atoms; without a dictionary every column is one."""
    fits = state["n_components_"] == (dims["d"] if model.dictionary is None else len(model.dictionary))
    return None if fits else "has other components than its dictionary"


def _kept_rule(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The covariance is that of the coefficients that were kept."""
    kept = int(np.count_nonzero(state["lambda_"] < model.threshold_lambda))
    return _linear_rule(model, state, dims) or (None if kept == dims["k"] else "has a covariance of other columns")


_coding = {
    "split_sign": flag,
    "positive_code": flag,
    "transform_algorithm": choice("omp", "lasso_lars", "lasso_cd", "lars", "threshold"),
    "transform_n_nonzero_coefs": anyof(none, count(1)),
    "transform_alpha": anyof(none, number(0)),
    "transform_max_iter": count(),
}


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
    "learnt.baseline.ConstantClassifier": Schema(
        params={"strategy": choice("prior", "most_frequent", "constant")},
        state={
            "n_outputs_": count(1),
            "classes_": either(labels(None)),
            "class_prior_": either(real(None, low=0, high=1)),
            "n_classes_": either(count(1)),
        },
        rule=_shares_rule,
    ),
    "learnt.baseline.ConstantRegressor": Schema(
        params={"strategy": choice("mean", "median", "quantile", "constant")},
        state={
            "n_outputs_": count(1, name="t"),
            "constant_": real(1, "t"),
            "residual_quantiles_": real(None, "t"),
            "residual_count_": number(above=0),
        },
        rule=_rest_rule,
    ),
    "learnt.cluster.KMeans": Schema(
        state={**FEATURES, "cluster_centers_": real("k", "d"), "inertia_": anyof(number(0), real(low=0))},
        extra={"labels_": whole(None, low=-1, below="k"), "n_iter_": count(), "converged_": flag},
    ),
    "learnt.decomposition.DictionaryLearning": Schema(
        params=_coding,
        state={**FEATURES, "components_": _atoms, "error_": listof(number()), "n_iter_": count()},
    ),
    "learnt.decomposition.MiniBatchDictionaryLearning": Schema(
        params=_coding,
        state={**FEATURES, "components_": _atoms, "n_steps_": count()},
        extra={
            "n_iter_": count(),
            "_A": real("k", "k"),
            "_B": real("k", "d"),
            "_random_state": instance(np.random.RandomState, "a source of random numbers"),
        },
    ),
    "learnt.decomposition.PCA": Schema(
        params={"whiten": flag},
        state={
            **FEATURES,
            "n_components_": count(0, name="k"),
            "components_": real("k", "d"),
            "mean_": real("d"),
            **dict.fromkeys(("explained_variance_", "explained_variance_ratio_", "singular_values_"), real("k", low=0)),
            "noise_variance_": anyof(number(0), real()),
            "n_samples_": number(1),
        },
    ),
    "learnt.decomposition.SparseCoder": Schema(
        params={**_coding, "dictionary": anyof(none, real(None, "d"), whole(None, "d", low=-(2**62)))},
        state={**ANY_FEATURES, "n_components_": count(1)},
        rule=_dictionary_rule,
    ),
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
    "learnt.erm.ERMClassifier": Schema(
        params={"fit_intercept": flag},
        state={**FEATURES, "classes_": labels("c", low=2), "coef_": real("r", "d"), "intercept_": real("r")},
        extra=_risk,
        rule=one_plane_a_class,
    ),
    "learnt.erm.ERMRegressor": Schema(
        params={"fit_intercept": flag},
        state={**FEATURES, "coef_": real("d"), "intercept_": ONE},
        extra=_risk,
    ),
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
    "learnt.neighbors.KNeighborsClassifier": NEIGHBORS_CLASSIFIER,
    "learnt.neighbors.NearestNeighbors": NEAREST_NEIGHBORS,
    "learnt.preprocessing.AnscombeTransformer": Schema(
        params={
            "gain": anyof(number(), real("d"), listof(number())),
            "offset": anyof(number(), real("d"), listof(number())),
            "inverse": choice("exact", "algebraic", "asymptotic"),
        },
        state=ANY_FEATURES,
    ),
    "learnt.preprocessing.FourierFeatures": Schema(
        params={"n_harmonics": count(1, 10**6), "include_bias": flag},
        state={**FEATURES, "period_": real("d", above=0)},
    ),
    "learnt.preprocessing.FunctionFeatures": Schema(
        params={"include_original": flag},
        state={**ANY_FEATURES, "_widths": listof(count(0)), "n_output_features_": count(1)},
    ),
    "learnt.preprocessing.GaussianFeatures": Schema(
        params={"include_bias": flag}, state={**FEATURES, "centers_": _atoms, "width_": number(above=0)}
    ),
    "learnt.preprocessing.PolynomialFeatures": Schema(
        params={"interaction_only": flag, "include_bias": flag, "order": choice("C", "F")},
        state={
            **ANY_FEATURES,
            "n_output_features_": count(0),
            "_min_degree": count(0, 1000),
            "_max_degree": count(0, 1000),
        },
    ),
    "learnt.preprocessing.StandardScaler": SCALER,
    "learnt.preprocessing.TableEncoder": TABLE_ENCODER,
    "learnt.ensemble.ExtraTreesClassifier": FOREST_CLASSIFIER,
    "learnt.ensemble.ExtraTreesRegressor": FOREST_REGRESSOR,
    "learnt.ensemble.RandomForestClassifier": FOREST_CLASSIFIER,
    "learnt.ensemble.RandomForestRegressor": FOREST_REGRESSOR,
    "learnt.ensemble.RandomTreesEmbedding": FOREST_EMBEDDING,
    "learnt.tree.DecisionTreeClassifier": TREE_CLASSIFIER,
    "learnt.tree.DecisionTreeRegressor": TREE_REGRESSOR,
    "learnt.tree.ExtraTreeClassifier": TREE_CLASSIFIER,
    "learnt.tree.ExtraTreeRegressor": TREE_REGRESSOR,
    "learnt.tree.DyadicPartitionRegressor": DYADIC,
    "learnt.tree.ModelTreeRegressor": MODEL_TREE,
}
