"""What names mean that stand in many signatures: one entry each, in the form of numpydoc."""

from __future__ import annotations

from collections.abc import Mapping

# Parameters of functions and methods, whatever the estimator.
ANYWHERE: Mapping[str, str] = {
    "sample_weight": """array-like of shape (n_samples,), default=None
    What each row counts: 2 as two rows, 0 as none. None counts every row once.""",
    "random_state": """int, RandomState, Generator or None, default=None
    Where random numbers come from. Pass an integer to get the same result every time.""",
    "n_jobs": """int or None, default=None
    The most threads to use; None or -1 for all that this process may. The result does not depend on it.""",
    "verbose": """int, default=0
    Log each step to the logger "learnt" where it is more than 0.""",
    "warm_start": """bool, default=False
    Whether the next `fit` goes on from what the last one learnt, instead of starting afresh.""",
    "copy": """bool, default=True
    Whether to work on a copy; False may write into what was passed.""",
    "copy_X": """bool, default=True
    Whether to work on a copy of X; False may write into X.""",
    "class_weight": """dict, "balanced" or None, default=None
    Weights of the classes, which multiply those of the rows. "balanced" gives every class the same total, so
    that a rare class counts as much as a common one.""",
    "input_features": """array-like of str or None, default=None
    Names of the columns that went in; None for those seen during `fit`, or x0, x1 and so on.""",
    "deep": """bool, default=True
    Whether to include the parameters of estimators that it holds, as `name__parameter`.""",
    "check_input": """bool, default=True
    Kept for scikit-learn's signature: what is passed is checked in any case.""",
    "y_true": """array-like of shape (n_samples,) or (n_samples, n_outputs)
    The true values.""",
    "y_pred": """array-like of shape (n_samples,) or (n_samples, n_outputs)
    The predicted values.""",
    "multioutput": """{"raw_values", "uniform_average"} or array-like of shape (n_outputs,), default="uniform_average"
    What several outputs become: a score for each, their mean, or their mean with these weights.""",
    "pos_label": """int, float, bool or str, default=1
    The label of the positive class, where there are two; None is 1 where labels are 0 and 1, or -1 and 1.""",
    "y_score": """array-like of shape (n_samples,) or (n_samples, n_classes)
    Scores, probabilities of the positive class, or those of every class: the higher, the surer.""",
    "drop_intermediate": """bool, default=True
    Whether to leave out points of the curve that lie on a straight line between others.""",
    "labels_true": """array-like of shape (n_samples,)
    The true groups of the rows.""",
    "labels_pred": """array-like of shape (n_samples,)
    The groups that were found.""",
    "zero_division": """{"warn", 0.0, 1.0, np.nan}, default="warn"
    The score where a denominator is 0, as that of precision is where nothing was predicted positive; "warn" is 0
    and a warning.""",
    "average": """{"binary", "micro", "macro", "weighted", "samples"} or None
    How the scores of several classes become one: "macro" is their plain mean, "weighted" their mean by how often
    each class is true, "micro" counts over all classes at once, "samples" is the mean over rows of several
    labels, "binary" is the score of `pos_label` alone, None a score for each class.""",
    "return_n_iter": """bool, default=False
    Whether to return the number of iterations too.""",
}

# Attributes that every fitted estimator has.
ATTRIBUTES: Mapping[str, str] = {
    "n_features_in_": """int
    Number of columns seen during `fit`.""",
    "feature_names_in_": """ndarray of shape (n_features_in_,)
    Names of the columns seen during `fit`; only where X was a table whose columns all have names of text.""",
}

X_PREDICTED = """array-like of shape (n_samples, n_features)
    Rows to {verb}, with the columns of those it was fitted to."""
X_OTHER = """array-like of shape (n_samples, n_features)
    Rows of the columns it was fitted to."""
Y = {
    "labels": """array-like of shape (n_samples,)
    Class labels: numbers, text or booleans.""",
    "numbers": """array-like of shape (n_samples,)
    The number to predict for each row.""",
    "ignored": """Ignored
    Not used; there so that all estimators can be called in the same way.""",
    "any": """array-like of shape (n_samples,) or (n_samples, n_outputs)
    The target of each row.""",
}
VERBS = {
    "predict": "predict",
    "predict_proba": "predict",
    "predict_log_proba": "predict",
    "predict_joint_log_proba": "predict",
    "predict_interval": "predict",
    "decision_function": "score",
    "score_samples": "score",
    "transform": "transform",
    "apply": "pass down the trees",
    "decision_path": "pass down the trees",
    "staged_predict": "predict",
    "staged_predict_proba": "predict",
    "staged_decision_function": "score",
    "contributions": "explain",
}

# What methods return, where the kind of estimator does not matter.
RETURNS: Mapping[str, str] = {
    "fit": """self : object
    The fitted estimator itself.""",
    "partial_fit": """self : object
    The estimator itself, with these rows learnt too.""",
    "predict_proba": """proba : ndarray of shape (n_samples, n_classes)
    The probability of each class, in the order of `classes_`; a row adds up to 1.""",
    "predict_log_proba": """log_proba : ndarray of shape (n_samples, n_classes)
    The logarithm of the probability of each class, in the order of `classes_`.""",
    "predict_joint_log_proba": """joint : ndarray of shape (n_samples, n_classes)
    log p(x, class), in the order of `classes_`: the log-probabilities before they are normalised.""",
    "decision_function": """scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
    One score for two classes, more than 0 for `classes_[1]`; else one for each class, the highest of which is
    predicted.""",
    "transform": """X_new : ndarray of shape (n_samples, n_features_out)
    The transformed rows; the kind of table that `set_output` asks for.""",
    "fit_transform": """X_new : ndarray of shape (n_samples, n_features_out)
    The rows it was fitted to, transformed.""",
    "inverse_transform": """X_original : ndarray of shape (n_samples, n_features)
    The rows in the original columns again, as far as they can be told.""",
    "score_samples": """scores : ndarray of shape (n_samples,)
    One number a row: the log-density, or how usual the row is; the lower, the more unusual.""",
    "fit_predict": """labels : ndarray of shape (n_samples,)
    What `predict` would say of the rows it was fitted to.""",
    "get_feature_names_out": """names : ndarray of str
    The names of the columns that `transform` returns.""",
    "apply": """leaves : ndarray of shape (n_samples,) or (n_samples, n_trees)
    The number of the leaf that each row ends in, tree by tree.""",
    "decision_path": """path : sparse matrix
    Which nodes each row passes: 1 where it does.""",
    "get_metadata_routing": """routing : MetadataRouter or MetadataRequest
    Which metadata, such as `sample_weight`, go to which method.""",
    "get_covariance": """covariance : ndarray of shape (n_features, n_features)
    The covariance of the columns under the model.""",
    "get_precision": """precision : ndarray of shape (n_features, n_features)
    The inverse of the covariance under the model.""",
    "sparsify": """self : object
    The fitted estimator itself.""",
    "densify": """self : object
    The fitted estimator itself.""",
    "get_params": """params : dict
    Names of parameters and their values.""",
}
YIELDS: Mapping[str, str] = {
    "staged_predict": """y_pred : ndarray of shape (n_samples,)
    The prediction after each iteration, from the first on.""",
    "staged_predict_proba": """proba : ndarray of shape (n_samples, n_classes)
    The probabilities after each iteration, from the first on.""",
    "staged_decision_function": """scores : ndarray
    The scores after each iteration, from the first on.""",
    "staged_score": """score : float
    The score after each iteration, from the first on.""",
}
PREDICTED = {
    "classifier": """y_pred : ndarray of shape (n_samples,)
    The predicted label of each row.""",
    "regressor": """y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    The predicted number of each row.""",
    "clusterer": """labels : ndarray of shape (n_samples,)
    The number of the cluster that each row belongs to.""",
    "outlier_detector": """is_inlier : ndarray of shape (n_samples,)
    1 for rows like those it was fitted to, -1 for outliers.""",
    "any": """y_pred : ndarray of shape (n_samples,)
    The prediction for each row.""",
}
DECIDED = {
    "outlier_detector": """scores : ndarray of shape (n_samples,)
    How far each row is from being called an outlier: negative for those that `predict` calls one.""",
}
SCORED = {
    "classifier": """score : float
    The share of rows whose class is predicted (accuracy), by weight.""",
    "regressor": """score : float
    R²: 1 at best, 0 for a constant that predicts the mean of y, negative for worse than that.""",
    "any": """score : float
    The higher, the better the model describes the rows.""",
}

# Which tables an estimator takes (`engine.estimator.Takes`), as words of its notes.
TAKES: Mapping[str, str] = {
    "sparse": "SciPy sparse matrices",
    "missing": "missing cells (NaN, None)",
    "categories": "columns of text and categories",
    "tensors": "tensors of PyTorch, CuPy and JAX, computed on the device they are on",
    "lazy": "`learnt.scan` tables larger than memory and Dask collections, read in blocks",
}
