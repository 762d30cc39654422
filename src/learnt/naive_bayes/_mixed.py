"""Naive Bayes on columns of different kinds: each has a model of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from learnt.engine.cells import is_frame
from learnt.engine.classification.class_labels import checked_priors
from learnt.engine.classification.labels import encode_labels
from learnt.engine.classification.posterior import log_posterior, posterior
from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.params import ParameterError, check_number
from learnt.engine.schema import CLASSES, Dims, Schema, choice, dictof, estimator, labels, listof, plain, real
from learnt.engine.scoring import RowsClassifier
from learnt.engine.targets import is_missing
from learnt.engine.validation import check_fit, check_predict
from learnt.naive_bayes._bernoulli import BernoulliNB
from learnt.naive_bayes._categorical import CategoricalNB
from learnt.naive_bayes._gaussian import GaussianNB
from learnt.naive_bayes._histogram import HistogramNB
from learnt.naive_bayes._multinomial import MultinomialNB

KINDS = ("gaussian", "categorical", "bernoulli", "multinomial", "histogram")
_FEW = 10  # different integers that are taken for categories


def one_model_a_kind(model: Any, state: dict[str, Any], dims: Dims) -> str | None:
    """The rule of model files: a model for each kind, for as many columns, and categories for each categorical one."""
    for kind in set(state["kinds_"]):
        part = state["models_"].get(kind)
        if type(part) is not _model_of(kind) or part.n_features_in_ != state["kinds_"].count(kind):
            return "has no model for a kind of its columns"
        if len(part.classes_) != dims["c"]:
            return "has a model of other classes"
    sizes = [len(c) for c, kind in zip(state["categories_"], state["kinds_"]) if kind == "categorical"]
    known = state["models_"]["categorical"].n_categories_.tolist() if sizes else []
    return None if sizes == known else "has other categories than counts"


class MixedNB(RowsClassifier, Estimator):
    """Naive Bayes on columns of different kinds, each with the model of its kind, all independent within a class.

    p(c | x) ∝ π_c Π_j p_cj(x_j)

    For tables as they are: text, truth values and numbers side by side, without encoding them first.

    Parameters
    ----------
    kinds : "auto", list of n_features, or dict from columns to kinds, default="auto"
        What each column is: "gaussian", "categorical" (text, or any numbers), "bernoulli" (there where above 0),
        "multinomial" (counts; those columns are one row of counts together) or "histogram". "auto", also for columns
        that a dict does not name: text, truth values and numbers with at most 10 different whole values are
        categorical, all others gaussian.
    alpha : float, default=1.0
        Smoothing of all models but the gaussian: rows counted beforehand of each category, bin or word in each class.
    priors : array-like of shape (n_classes,), default=None
        Probabilities π of the classes; None takes their frequencies.

    Attributes
    ----------
    kinds_ : list of str
        The kind of each column, as given or found.
    models_ : dict
        The fitted model of the columns of each kind, by the kind's name.
    categories_ : list of ndarrays
        The categories of each categorical column, empty for others; a missing cell is a category (None) if it was there
        in `fit`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        π: the probabilities of the classes.

    See Also
    --------
    GaussianNB : For numbers alone.
    CategoricalNB : For categories alone, numbered 0, 1, 2, ….
    learnt.ensemble.HistGradientBoostingClassifier : Takes such tables too, and finds interactions.

    Notes
    -----
    A category that was not there in `fit` says nothing: its column is left out of the product for that row.

    Examples
    --------
    >>> import pandas as pd
    >>> from learnt.naive_bayes import MixedNB
    >>> table = pd.DataFrame({"town": ["Rome", "Rome", "Oslo", "Oslo"], "degrees": [21.5, 24.0, 3.0, 4.5]})
    >>> model = MixedNB().fit(table, ["south", "south", "north", "north"])
    >>> model.kinds_
    ['categorical', 'gaussian']
    >>> model.predict(pd.DataFrame({"town": ["Lima"], "degrees": [20.0]}))
    array(['south'], dtype='<U5')
    """

    __learnt_schema__ = Schema(
        state={
            **CLASSES,
            "class_prior_": real("c", low=0, high=1),
            "kinds_": listof(choice(*KINDS), "d"),
            "models_": dictof(choice(*KINDS), estimator("predict_joint_log_proba")),
            "categories_": listof(labels(None, low=0, missing=True), "d"),
        },
        rule=one_model_a_kind,
    )
    __learnt_takes__ = Takes(categories=True)
    __learnt_trial__ = Trial(weight_unit_free=False)

    def __init__(self, kinds: Any = "auto", *, alpha: float = 1.0, priors: Any = None) -> None:
        self.kinds = kinds
        self.alpha = alpha
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MixedNB:
        """Fit the model of each kind; a weight of 2 counts a row twice, 0 not at all."""
        check_number(self, "alpha", 0)
        X, y, w = check_fit(self, X, y, sample_weight, target="label")
        classes, codes = encode_labels(y)
        weight = np.bincount(codes, w, minlength=len(classes)).astype(np.float64)
        prior = weight / weight.sum() if self.priors is None else checked_priors(self.priors, len(classes))
        columns = columns_of(X)
        kinds = self._kinds(columns, X)
        self.categories_ = [
            categories_of(x) if kind == "categorical" else np.empty(0) for x, kind in zip(columns, kinds, strict=True)
        ]
        self.kinds_, self.models_ = kinds, {}
        self.classes_, self.class_prior_ = classes, prior
        for kind in sorted(set(kinds)):
            self.models_[kind] = self._made(kind).fit(self._part(columns, kind), y, w)
        return self

    def _made(self, kind: str) -> Any:
        if kind == "gaussian":
            return GaussianNB(priors=self.class_prior_)
        return _model_of(kind)(alpha=self.alpha, class_prior=self.class_prior_)

    def _kinds(self, columns: list[np.ndarray], X: Any) -> list[str]:
        """The kind of each column, as given or inferred."""
        if isinstance(self.kinds, str) and self.kinds == "auto":
            given: dict[int, Any] = {}
        elif isinstance(self.kinds, Mapping):
            names = list(getattr(self, "feature_names_in_", range(len(columns))))
            unknown = [key for key in self.kinds if key not in names]
            if unknown:
                raise ParameterError(f"kinds names the column {unknown[0]!r}, which X does not have.")
            given = {names.index(key): kind for key, kind in self.kinds.items()}
        else:
            given = dict(enumerate(self.kinds if not isinstance(self.kinds, str) else [self.kinds]))
            if len(given) != len(columns):
                raise ParameterError(f"kinds has {len(given)} entries and X has {len(columns)} columns; give one each.")
        wrong = [kind for kind in given.values() if kind not in KINDS]
        if wrong:
            raise ParameterError(f"kinds must be of {', '.join(map(repr, KINDS))}; one is {wrong[0]!r}.")
        return [given.get(j) or guessed(x) for j, x in enumerate(columns)]

    def _part(self, columns: list[np.ndarray], kind: str) -> np.ndarray:
        """The columns of one kind as numbers; a category that is not known is one more than the last."""
        part = []
        for j, x in enumerate(columns):
            if self.kinds_[j] == kind:
                part.append(codes_in(self.categories_[j], x) if kind == "categorical" else numbers_of(x, j, kind))
        return np.column_stack(part)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(x, c) of each row (n × K)."""
        check_is_fitted(self)
        columns = columns_of(check_predict(self, X))
        with np.errstate(divide="ignore"):  # a prior of 0 has the logarithm −∞
            log_prior = np.log(self.class_prior_)
        joint = np.tile(log_prior, (len(columns[0]), 1))
        for kind, model in self.models_.items():
            part = self._part(columns, kind)
            if kind == "categorical":
                for x, table in zip(part.astype(np.int64).T, model.feature_log_prob_, strict=True):
                    joint += np.column_stack([table, np.zeros(len(table))]).T[x]
            else:
                with np.errstate(invalid="ignore"):  # −∞ less −∞: a class that cannot be stays so
                    own = model.predict_joint_log_proba(part) - log_prior
                joint += np.where(np.isfinite(log_prior), own, 0.0)
        return joint

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(c | x) of each row (n × K), columns as in `classes_`."""
        return posterior(self.predict_joint_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(c | x) of each row (n × K)."""
        return log_posterior(self.predict_joint_log_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def _model_of(kind: str) -> Any:
    models = (GaussianNB, CategoricalNB, BernoulliNB, MultinomialNB, HistogramNB)
    return dict(zip(KINDS, models, strict=True))[kind]


def columns_of(X: Any) -> list[np.ndarray]:
    """The columns of a table: numbers where they are, objects elsewhere."""
    if is_frame(X):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        columns = [frame[:, j].to_numpy() for j in range(frame.shape[1])]
    else:
        columns = [X[:, j] for j in range(X.shape[1])]
    return [_numbers_where_they_are(np.asarray(x)) for x in columns]


def _numbers_where_they_are(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind in "iuf":
        return x.astype(np.float64)
    if x.dtype.kind == "O" and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in x):
        return x.astype(np.float64)
    return x.astype(object)


def guessed(x: np.ndarray) -> str:
    """What a column is taken for."""
    if x.dtype == object:
        return "categorical"
    some = x[:1000]
    if not (np.floor(some) == some).all() or len(np.unique(some)) > _FEW:  # the first rows decide for most columns
        return "gaussian"
    return "categorical" if (np.floor(x) == x).all() and len(np.unique(x)) <= _FEW else "gaussian"


def categories_of(x: np.ndarray) -> np.ndarray:
    """The different values of a column, in order; a missing one last."""
    if x.dtype != object:
        return np.unique(x)
    values = set(_plain(x))
    known: list[Any] = sorted((v for v in values if v is not None), key=lambda v: (type(v).__name__, v))
    out = np.empty(len(values), dtype=object)
    out[:] = known + [None] * (None in values)
    return out


def codes_in(categories: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The place of each cell among the categories; one more than the last for what is not among them."""
    places = {value: i for i, value in enumerate(categories.tolist())}
    cells = _plain(x) if categories.dtype == object or x.dtype == object else x.tolist()
    return np.fromiter((places.get(value, len(places)) for value in cells), dtype=np.float64, count=len(x))


def _plain(x: np.ndarray) -> list[Any]:
    """The cells of a column of anything: strings, numbers, truth values, or None for a missing one."""
    cells = x.tolist()
    strange = next((v for v in cells if not (v is None or plain(v) or is_missing(v))), None)
    if strange is not None:
        raise TypeError(
            f"A category is a string or a number, and X holds a {type(strange).__name__}: argument must be a string "
            "or a number; make it one, or drop the column."
        )
    return [None if is_missing(value) else value for value in cells]


def numbers_of(x: np.ndarray, j: int, kind: str) -> np.ndarray:
    """A column of numbers, none of them missing."""
    if x.dtype == object:
        raise ValueError(
            f"Column {j} of X is {kind!r} in kinds and holds text or missing cells; make it 'categorical'."
        )
    if not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x)))
        raise ValueError(
            f"Input X contains NaN or infinity at row {row}, column {j}, which is {kind}; fill or drop it."
        )
    return x
