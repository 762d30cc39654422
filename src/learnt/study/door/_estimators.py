"""scikit-learn estimators whose fit is a study: a race of models inside a time budget."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from learnt.diagnosis import spread_columns
from learnt.engine.documentation import Documented
from learnt.engine.mixins import BaseEstimator, ClassifierMixin, RegressorMixin
from learnt.engine.random import random_state_of
from learnt.study._errors import TooFewRows
from learnt.study.door._object import Study
from learnt.study.door._sentences import python_sentences
from learnt.study.door._study import study
from learnt.study.table._frames import LIBRARIES, as_polars
from learnt.study.table._labels import MISSING
from learnt.study.table._problem import LEAST_PER_CLASS, LEAST_ROWS


class _StudyEstimator(Documented, BaseEstimator):
    """What both have in common: parameters, validation, and models for tables that are too small for a study."""

    _task: str

    def __init__(
        self,
        budget: str | float = "60s",
        *,
        metric: str | None = None,
        time: str | None = "none",
        drop: Any = None,
        prefer: str = "best",
        progress: bool | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.budget, self.metric, self.time, self.drop = budget, metric, time, drop
        self.prefer, self.progress, self.random_state, self.n_jobs = prefer, progress, random_state, n_jobs

    def _fit_study(self, X: Any, y: np.ndarray, column: pl.Series, **options: Any) -> None:
        """Run the study of a table and its target, or fit a plain model to too few rows."""
        frame = self._table(X, reset=True)
        check_consistent_length(frame, y)
        self.study_: Study | None = None
        self.model_: Any = None  # where there is no study
        if len(y) < LEAST_ROWS:
            self._fit_plain(frame, y, f"{len(y)} of at least {LEAST_ROWS}")
            return
        if self._hopeless(y):
            self._fit_plain(frame, y, "the target holds one value, or no two classes of five rows")
            return
        target = "target"
        while target in frame.columns:
            target += "_"
        dropped = [self.drop] if isinstance(self.drop, str) else list(self.drop or ())
        threads = None if self.n_jobs is None or self.n_jobs < 0 else self.n_jobs
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = int(random_state_of(seed).randint(2**31 - 1))
        try:
            self.study_ = study(
                frame.with_columns(column.alias(target)),
                target,
                budget=self.budget,
                metric=self.metric,
                task=self._task,
                time=self.time,
                keep=[column for column in frame.columns if column not in dropped],
                drop=dropped,
                prefer=self.prefer,
                progress=self.progress,
                seed=int(seed),
                threads=threads,
                **options,
            )
        except TooFewRows as error:
            self._fit_plain(frame, y, str(error).partition(";")[0])

    def _fit_plain(self, frame: pl.DataFrame, y: np.ndarray, why: str) -> None:
        said = f"Too few rows for a study ({why}): a plain model was fitted without a race."
        warnings.warn(said, UserWarning, stacklevel=4)
        self.model_ = self._plain_model(frame, y)

    def _hopeless(self, y: np.ndarray) -> bool:
        """Whether the target alone allows no study."""
        raise NotImplementedError

    def _plain_model(self, frame: pl.DataFrame, y: np.ndarray) -> Any:
        from learnt.preprocessing import StandardScaler, TableEncoder

        single, constant = self._plain()
        for model in (make_pipeline(TableEncoder(), StandardScaler(), single), constant):
            try:
                return model.fit(frame if model is not constant else np.zeros((len(y), 1)), y)
            except ValueError as error:  # nothing to learn from in these columns
                if model is constant:
                    raise error
        raise AssertionError("a constant can always be fitted")

    def _plain(self) -> tuple[Any, Any]:
        """A linear model and a constant."""
        raise NotImplementedError

    def _table(self, X: Any, *, reset: bool) -> pl.DataFrame:
        """The rows as a Polars data frame; arrays are checked as scikit-learn checks them."""
        if type(X).__module__.partition(".")[0] in LIBRARIES[:3]:
            frame = as_polars(X)
            validate_data(self, X, reset=reset, skip_check_array=True)
            if len(frame) == 0 or frame.width == 0:
                raise ValueError(
                    f"Found a table of {len(frame)} sample(s) and {frame.width} feature(s); both are needed."
                )
            return frame
        array = validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1
        )
        return as_polars(array, [f"x{k}" for k in range(array.shape[1])])

    def _output(self, X: Any) -> tuple[pl.DataFrame, Any]:
        """The rows as a table, and the study's saved model; None where there was no study."""
        check_is_fitted(self)
        frame = self._table(X, reset=False)
        return frame, None if self.study_ is None else self.study_._saved

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "study_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.target_tags.required = True
        tags.non_deterministic = True  # how many models a budget is enough for depends on the machine
        return tags


class StudyClassifier(ClassifierMixin, _StudyEstimator):
    """A classifier whose fit is a study: models race inside a time budget, the best is fitted on all rows.

    Tables come as they are: pandas, Polars or pyarrow data frames with numbers, text, dates and missing cells, or
    arrays. A fifth of the rows is held out and judges the winner once (`study_` has the report), before it is fitted
    again on all of them.

    Parameters
    ----------
    budget : str or float, default="60s"
        How long fit may take: "30s", "5m", "1h", or seconds. More time races more models and settings.
    metric : str or None, default=None
        What models are chosen by: "roc_auc", "f1", "log_loss", …. None is the log loss.
    cost : str, tuple of float or None, default=None
        Costs of a false alarm and of a missed positive, "fp=1,fn=10" or (1, 10), for two classes; `predict` then
        decides at the threshold of the lowest cost.
    time : str or None, default="none"
        A column that says when; the study's test set is then the most recent part. "none" shuffles the rows, None looks
        for such a column.
    drop : str, list of str or None, default=None
        Columns not to use. All others are, also those that a study of a whole table would set aside as a leak.
    prefer : {"best", "simple"}, default="best"
        Choose the lowest loss, or the simplest model within one standard error of it.
    progress : bool or None, default=None
        Whether progress is shown; None shows it in a notebook.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the study. How many models a budget is enough for still depends on the machine.
    n_jobs : int or None, default=None
        Number of threads; None and -1 take all.

    Attributes
    ----------
    study_ : Study or None
        The study: leaderboard, report, model, numbers. None where the rows were too few (a warning says so).
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    model_ : estimator or None
        The plain model, where there was no study.

    See Also
    --------
    StudyRegressor : The same for amounts.
    study : The study of a table, with its report.
    learnt.ensemble.HistGradientBoostingClassifier : One strong model without a race.

    Notes
    -----
    Where there are too few rows for a study, a plain model (a logistic regression, or a constant) is fitted with a
    warning. `fit` takes no `sample_weight`. The result of the same seed may differ between machines, since a quicker
    one races more models.

    Examples
    --------
    >>> from learnt.study import StudyClassifier
    >>> model = StudyClassifier(budget="30s").fit(X_train, y_train)           # doctest: +SKIP
    >>> model.predict_proba(X_test), model.study_.leaderboard                 # doctest: +SKIP
    """

    _task = "classify"

    def __init__(
        self,
        budget: str | float = "60s",
        *,
        metric: str | None = None,
        cost: Any = None,
        time: str | None = "none",
        drop: Any = None,
        prefer: str = "best",
        progress: bool | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            budget,
            metric=metric,
            time=time,
            drop=drop,
            prefer=prefer,
            progress=progress,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.cost = cost

    def fit(self, X: Any, y: Any, **refused: Any) -> StudyClassifier:
        """Run the study.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,)
            Class labels of at least two kinds.
        **refused : dict
            Other arguments that estimators take, such as `sample_weight`; refused unless they are None.

        Returns
        -------
        self : StudyClassifier
            The fitted estimator itself.
        """
        _refuse(self, refused, y)
        y = column_or_1d(_array(y), warn=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of at least 2 classes; y holds one class only.")
        self._written = _written(self.classes_)
        self._fit_study(X, y, pl.Series(self._written).gather(pl.Series(codes)), cost=self.cost)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: the likelier one, or from the study's threshold on (costs, rare classes).

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of those it was fitted to.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted label of each row.
        """
        probability, decided = self._decided(X)
        return self.classes_[probability.argmax(axis=1) if decided is None else decided]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class; 0 for classes that were too rare to be learnt.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of those it was fitted to.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            The probability of each class, in the order of `classes_`.
        """
        return self._decided(X)[0]

    def _decided(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Probabilities of all classes, and the numbers of those that are decided for."""
        frame, saved = self._output(X)
        everything = np.arange(len(self.classes_))
        if saved is None:
            single = frame if len(self.model_) > 1 else np.zeros((len(frame), 1))
            return self.model_.predict_proba(single), None
        with python_sentences():
            output = saved.output(saved.columns_of(frame))
        place = {str(label): k for k, label in enumerate(self._written)}
        learnt = np.array([place[str(label)] for label in saved.classes])
        decided = [place[str(label)] for label in saved.decided(output)["prediction"].to_list()]
        return spread_columns(output, learnt, everything), np.array(decided)

    def _hopeless(self, y: np.ndarray) -> bool:
        counts = np.unique(y, return_counts=True)[1]
        return int((counts >= LEAST_PER_CLASS).sum()) < 2

    def _plain(self) -> tuple[Any, Any]:
        from learnt.dummy import DummyClassifier
        from learnt.linear_model import LogisticRegression

        return LogisticRegression(), make_pipeline(DummyClassifier(strategy="prior"))


class StudyRegressor(RegressorMixin, _StudyEstimator):
    """A regressor whose fit is a study: models race inside a time budget, the best is fitted on all rows.

    Tables come as they are: pandas, Polars or pyarrow data frames with numbers, text, dates and missing cells, or
    arrays. A fifth of the rows is held out and judges the winner once (`study_` has the report), before it is fitted
    again on all of them.

    Parameters
    ----------
    budget : str or float, default="60s"
        How long fit may take: "30s", "5m", "1h", or seconds. More time races more models and settings.
    metric : str or None, default=None
        What models are chosen by: "mae", "rmse", "r2", …. None is the squared error.
    time : str or None, default="none"
        A column that says when; the study's test set is then the most recent part. "none" shuffles the rows, None looks
        for such a column.
    drop : str, list of str or None, default=None
        Columns not to use. All others are, also those that a study of a whole table would set aside as a leak.
    prefer : {"best", "simple"}, default="best"
        Choose the lowest loss, or the simplest model within one standard error of it.
    progress : bool or None, default=None
        Whether progress is shown; None shows it in a notebook.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the study. How many models a budget is enough for still depends on the machine.
    n_jobs : int or None, default=None
        Number of threads; None and -1 take all.

    Attributes
    ----------
    study_ : Study or None
        The study: leaderboard, report, model, numbers. None where the rows were too few (a warning says so).
    model_ : estimator or None
        The plain model, where there was no study.

    See Also
    --------
    StudyClassifier : The same for classes.
    study : The study of a table, with its report.
    learnt.ensemble.HistGradientBoostingRegressor : One strong model without a race.

    Notes
    -----
    Where there are too few rows for a study, a plain model (a ridge regression, or a constant) is fitted with a
    warning. `fit` takes no `sample_weight`. The result of the same seed may differ between machines, since a quicker
    one races more models.

    Examples
    --------
    >>> from learnt.study import StudyRegressor
    >>> model = StudyRegressor(budget="30s").fit(X_train, y_train)            # doctest: +SKIP
    >>> model.predict(X_test), model.study_.predict_interval(X_test)          # doctest: +SKIP
    """

    _task = "regress"

    def fit(self, X: Any, y: Any, **refused: Any) -> StudyRegressor:
        """Run the study.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,)
            The amount of each row.
        **refused : dict
            Other arguments that estimators take, such as `sample_weight`; refused unless they are None.

        Returns
        -------
        self : StudyRegressor
            The fitted estimator itself.
        """
        _refuse(self, refused, y)
        y = column_or_1d(_array(y), warn=True).astype(np.float64)
        assert_all_finite(y, input_name="y")
        self._fit_study(X, y, pl.Series(y))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The amount of each row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of those it was fitted to.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The predicted amount of each row.
        """
        frame, saved = self._output(X)
        if saved is None:
            return self.model_.predict(frame if len(self.model_) > 1 else np.zeros((len(frame), 1)))
        with python_sentences():
            return saved.output(saved.columns_of(frame))

    def _hopeless(self, y: np.ndarray) -> bool:
        return bool(np.ptp(y) == 0)

    def _plain(self) -> tuple[Any, Any]:
        from learnt.dummy import DummyRegressor
        from learnt.linear_model import Ridge

        return Ridge(), make_pipeline(DummyRegressor())


def _refuse(model: Any, refused: dict[str, Any], y: Any) -> None:
    """Arguments of fit that a study does not have."""
    given = [name for name, value in refused.items() if value is not None]
    name = type(model).__name__
    if given:
        raise ValueError(f"{name}.fit takes X and y only, a study has no {given[0]}; leave it out.")
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")


def _array(y: Any) -> Any:
    """Labels or amounts of any library as an array."""
    return y.to_numpy() if hasattr(y, "to_numpy") else y


def _written(classes: np.ndarray) -> list[Any]:
    """Classes as a study reads them: integers and plain text as they are, others by number."""
    if classes.dtype.kind in "iu":
        return classes.tolist()
    words = [str(label) for label in classes]
    plain = all(word == word.strip() and word not in MISSING for word in words) and len(set(words)) == len(words)
    return words if plain else list(range(len(classes)))
