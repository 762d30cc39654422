"""What stacked classifiers and regressors share: out-of-fold predictions as columns, for a final estimator."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from learnt.engine.mixins import clone, is_classifier
from learnt.engine.progress import task
from learnt.engine.random import generator, random_state_of
from learnt.engine.weights import RowIndex, take_folds
from learnt.ensemble._common import fit_member, member_params, plain_columns, routing_enabled, run_members
from learnt.ensemble.stacking._named_members import NamedMembers, check_members
from learnt.explanation import Explained

METHODS = ("predict_proba", "decision_function", "predict")


def final_has(method: str) -> Any:
    """Whether the final estimator, fitted or as given, has a method."""

    def check(self: Any) -> bool:
        final = getattr(self, "final_estimator_", None)
        final = self._final() if final is None else final
        getattr(final, method)
        return True

    return check


class Stacking(NamedMembers, Explained):
    """Members, their out-of-fold predictions, and the final estimator fitted on these."""

    final_estimator: Any
    classes_: Any
    cv: Any
    passthrough: Any

    def _fit_stack(self, X: Any, y: np.ndarray, fit_params: dict[str, Any], method: str, present: RowIndex) -> Any:
        names = check_members(self, kind=not is_classifier(self))
        self.final_estimator_ = clone(self._final())
        params = member_params(self, names, fit_params)
        kept = self._kept()
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        with task(f"{type(self).__name__} fit", 2 * len(kept) + 1) as bar:

            def fit(name: str, member: Any) -> Any:
                if not prefit:
                    return fit_member(clone(member), X, y, params[name])
                check_is_fitted(member)
                return member

            self._fit_members(fit, bar)
            self.stack_method_ = [_method_of(name, member, method) for name, member in kept]
            if not prefit:
                folds = check_cv(take_folds(self.cv, present), y=y, classifier=is_classifier(self))
                if len(y) < getattr(folds, "n_splits", 0):
                    raise ValueError(
                        f"{type(self).__name__} cuts the rows into {folds.n_splits} folds, and X has n_samples="
                        f"{len(y)}; give more rows, a smaller cv, or fitted estimators and cv='prefit'."
                    )
                if getattr(folds, "random_state", 0) is None:
                    folds.random_state = random_state_of(generator(None))  # every member must get the same folds

            def unseen(m: int, name: str, member: Any) -> Any:
                """The out-of-fold predictions of a member."""
                if prefit:
                    answers = getattr(member, self.stack_method_[m])(X)
                else:
                    answers = cross_val_predict(
                        clone(member), X, y, cv=deepcopy(folds), method=self.stack_method_[m], params=params[name]
                    )
                bar.advance(note=name)
                return answers

            answers = run_members([partial(unseen, m, *named) for m, named in enumerate(kept)], self.n_jobs)
            columns = self._columns(answers)
            self._n_feature_outs = [column.shape[1] for column in columns]
            fit_member(self.final_estimator_, self._side_by_side(X, columns), y, fit_params)
            bar.advance(note="final estimator")
        return self

    def _columns(self, answers: list[Any]) -> list[np.ndarray]:
        """Each member's answers as a matrix, without the probability that the others determine."""
        columns: list[np.ndarray] = []
        for answer, method in zip(answers, self.stack_method_):
            if isinstance(answer, list):  # several outputs: the probability of each label
                columns.extend(np.asarray(part)[:, 1:] for part in answer)
                continue
            answer = np.asarray(answer)
            if answer.ndim == 1:
                answer = answer[:, None]
            elif method == "predict_proba" and is_classifier(self) and len(self.classes_) == 2:
                answer = answer[:, 1:]
            columns.append(answer)
        return columns

    def _side_by_side(self, X: Any, columns: list[np.ndarray]) -> Any:
        if not self.passthrough:
            return np.hstack(columns)
        if sparse.issparse(X):
            return sparse.hstack([*columns, X], format=X.format)
        return np.hstack([*columns, plain_columns(X)])

    def transform(self, X: Any) -> Any:
        """The members' predictions for X: the table of the final estimator.

        Returns
        -------
        X_new : ndarray or sparse matrix of shape (n_samples, n_answers)
            The answers of each member side by side, and X behind them with `passthrough`.
        """
        check_is_fitted(self)
        answers = [getattr(member, method)(X) for member, method in zip(self.estimators_, self.stack_method_)]
        return self._side_by_side(X, self._columns(answers))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` returns: the member's, with a number where it gives several.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, used with `passthrough`; None takes those seen during `fit`.
        """
        check_is_fitted(self)
        names = []
        for name, width in zip(self._kept_names(), self._n_feature_outs):
            names += [name] if width == 1 else [f"{name}{i}" for i in range(width)]
        if self.passthrough:
            if input_features is None:
                input_features = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
            names += [str(name) for name in input_features]
        return np.asarray(names, dtype=object)

    def _predict(self, X: Any, predict_params: dict[str, Any]) -> np.ndarray:
        check_is_fitted(self)
        if routing_enabled():
            predict_params = process_routing(self, "predict", **predict_params).final_estimator_["predict"]
        return self.final_estimator_.predict(self.transform(X), **predict_params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata goes to which member and to the final estimator, for scikit-learn's routing."""
        return (
            super()
            .get_metadata_routing()
            .add(
                final_estimator_=getattr(self, "final_estimator_", self.final_estimator),
                method_mapping=MethodMapping().add(caller="predict", callee="predict"),
            )
        )


def _method_of(name: str, member: Any, wanted: str) -> str:
    """The method whose answers are stacked."""
    for method in METHODS if wanted == "auto" else (wanted,):
        if hasattr(member, method):
            return method
    raise ValueError(
        f"Underlying estimator {name} does not implement the method {wanted}; choose another stack_method."
    )
