"""Coarse to fine: the best point of a grid without trying all of it.

Far-apart points of the grid first; then the neighbours of the best so far, at half the distance each time one has no
better neighbour, down to the grid's own. A loss with one valley along every parameter is followed to its bottom, which
takes in the order of the logarithm of the grid's points; what it ends with is never worse than any neighbour in the
grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GridSearchCV

from learnt.engine.params import ParameterError, check_number
from learnt.engine.validation import refuse_elsewhere

_BOX = 3  # parameters up to which all neighbours are tried, diagonal ones too: 3ⁿ − 1 of them, else 2n
Place = tuple[int, ...]


class Axes(NamedTuple):
    """A grid: the values of each parameter, and which parameters are in order (numbers) rather than a choice."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    ordered: tuple[bool, ...]

    def at(self, place: Place) -> dict[str, Any]:
        return {name: values[i] for name, values, i in zip(self.names, self.values, place)}


def axes_of(grid: Mapping[str, Any]) -> Axes:
    """The axes of a grid: numbers in rising order, anything else as it is.

    >>> axes_of({"alpha": [10, 1, 0.1], "solver": ["svd", "lsqr"]})
    Axes(names=('alpha', 'solver'), values=((0.1, 1, 10), ('svd', 'lsqr')), ordered=(True, False))
    """
    names, values, ordered = [], [], []
    for name, given in grid.items():
        some = list(given)
        numbers = all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in some)
        names.append(name)
        ordered.append(numbers)
        values.append(tuple(sorted(set(some))) if numbers else tuple(some))
    return Axes(tuple(names), tuple(values), tuple(ordered))


def first_places(axes: Axes, coarse: int) -> tuple[list[Place], list[int]]:
    """About `coarse` evenly spaced places of every ordered axis with all of the others, and their distances.

    >>> first_places(axes_of({"a": range(9)}), 3)
    ([(0,), (4,), (8,)], [4])
    """
    steps, lines = [], []
    for values, ordered in zip(axes.values, axes.ordered):
        last = len(values) - 1
        step = max(1, math.ceil(last / (coarse - 1))) if ordered else 0
        steps.append(step)
        lines.append(_spread(last, step) if ordered else range(last + 1))
    return list(itertools.product(*lines)), steps


def _spread(last: int, step: int) -> list[int]:
    """0, step, 2 step, … and the last, of which none is nearer to its neighbour than half a step but the last."""
    return sorted({*range(0, last + 1, step), last})


def neighbours(axes: Axes, place: Place, steps: Sequence[int]) -> Iterator[Place]:
    """The places around one: a step along each ordered axis, with every choice of the others."""
    lines: list[list[int]] = []
    for i, values, ordered, step in zip(place, axes.values, axes.ordered, steps):
        around = [i - step, i, i + step] if ordered else list(range(len(values)))
        lines.append(sorted({min(max(k, 0), len(values) - 1) for k in around}))
    if sum(axes.ordered) <= _BOX:
        yield from itertools.product(*lines)
        return
    choices = [line if not ordered else [i] for line, ordered, i in zip(lines, axes.ordered, place)]
    for at, (line, ordered) in enumerate(zip(lines, axes.ordered)):
        if ordered:
            yield from itertools.product(*choices[:at], line, *choices[at + 1 :])


def telescope(axes: Axes, coarse: int, evaluate: Callable[[list[Place]], Sequence[float]]) -> int:
    """Evaluate places until none of the neighbours of the best is better; how many stages that took."""
    seen: dict[Place, float] = {}

    def look(places: Iterator[Place] | list[Place]) -> bool:
        fresh = [place for place in dict.fromkeys(places) if place not in seen]
        if fresh:
            seen.update(zip(fresh, (-math.inf if math.isnan(s) else float(s) for s in evaluate(fresh))))
        return bool(fresh)

    places, steps = first_places(axes, coarse)
    look(places)
    stages = 1
    while True:
        best = max(seen, key=seen.__getitem__)  # the first of equals
        looked = look(neighbours(axes, best, steps))
        stages += looked
        if looked and max(seen, key=seen.__getitem__) != best:
            continue
        if max(steps, default=0) <= 1:
            return stages
        steps = [math.ceil(step / 2) for step in steps]


class TelescopicSearchCV(GridSearchCV):
    """Search a grid from coarse to fine, by cross-validation.

    Far-apart values of every parameter are tried first, then values around the best, at half the distance again and
    again, down to neighbours in the grid. Where the score has one peak it is the peak that `GridSearchCV` finds, after
    a fraction of the fits; where it has several, a larger `coarse` makes it more likely. The result is never worse than
    its neighbours in the grid. As after every search, the best score is the best of many and flatters: judge the model
    on rows that the search did not see.

    Parameters
    ----------
    estimator : estimator
        The model, or a pipeline that ends in one. A copy is fitted for each candidate and fold.
    param_grid : dict of str to list, or list of such dicts
        The values of each parameter by its name (`step__parameter` in a pipeline); make it fine. Numbers are taken in
        rising order and zoomed in on; of other values (names, booleans, None) all are tried at every stage. Of several
        dicts each is searched.
    coarse : int, default=5
        How many values of each number the first stage tries; at least 2. More make it less likely to end on a lower
        peak, and take more fits.
    scoring : str, callable, list, dict or None, default=None
        What to choose by, higher being better: the name of a score, such as "roc_auc" or "neg_log_loss", or a function
        of (estimator, X, y). None for the estimator's own `score`. Of several (a list or dict), `refit` names the one.
    n_jobs : int or None, default=None
        How many fits to run at once, in processes; None for one after another, -1 for all cores. Estimators of `learnt`
        use all cores for one fit already.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate on all rows at the end, so that the search itself predicts. The name of a
        score where there are several. A function of `cv_results_` that gives the number of the candidate to refit.
    cv : int, cross-validation splitter, iterable or None, default=None
        The folds. An integer for that many, stratified for classifiers; None for 5; a splitter such as
        `TimeSeriesSplit` where rows depend on each other.
    verbose : int, default=0
        How much to print: 1 for how many fits there are, 2 or more for each of them.
    pre_dispatch : int or str, default="2*n_jobs"
        How many fits to hand out in advance where several run at once; fewer save memory.
    error_score : "raise" or float, default=np.nan
        The score of a candidate whose fit fails, with a warning; "raise" stops the search.
    return_train_score : bool, default=False
        Whether to keep scores on the training rows too, which show overfitting and take time.

    Attributes
    ----------
    best_params_ : dict
        The values that scored best.
    best_score_ : float
        The mean score of the best candidate over the folds.
    best_index_ : int
        Its place in `cv_results_`.
    best_estimator_ : estimator
        The best candidate, fitted on all rows; only with `refit`.
    cv_results_ : dict of ndarray
        What was tried, in that order: parameters, scores of each fold, their mean and rank, times, and the `stage` of
        the search. Makes a data frame.
    refit_time_ : float
        Seconds that the last fit on all rows took; only with `refit`.
    scorer_ : callable or dict
        What scores were computed by.
    n_splits_ : int
        How many folds there were.
    multimetric_ : bool
        Whether there were several scores.
    classes_ : ndarray of shape (n_classes,)
        The class labels; only for classifiers and with `refit`.
    n_candidates_ : int
        How many points of the grid were tried.
    n_grid_ : int
        How many there are.
    n_features_in_ : int
        Number of columns seen during `fit`; only with `refit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during `fit`; only where X was a table whose columns all have names of text.

    See Also
    --------
    GridSearchCV : Tries every point of the grid.
    RandomizedSearchCV : Draws points, for many parameters.
    HalvingGridSearchCV : Tries many points on few rows first.
    learnt.linear_model.RidgeCV : A model that chooses its own penalty, faster.

    Notes
    -----
    For each number the fits grow with the logarithm of how many values it has. Around the best, all neighbours are
    tried up to 3 parameters that are numbers, diagonal ones too; with more parameters, those along one parameter each.

    Examples
    --------
    >>> import numpy as np
    >>> from learnt.linear_model import Ridge
    >>> from learnt.model_selection import TelescopicSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 20))
    >>> y = X @ rng.normal(size=20) + 3 * rng.normal(size=80)
    >>> search = TelescopicSearchCV(Ridge(), {"alpha": np.logspace(-4, 4, 81)}).fit(X, y)
    >>> search.n_grid_, search.n_candidates_ < 25
    (81, True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        coarse: int = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.coarse = coarse

    def fit(self, X: Any, y: Any = None, **params: Any) -> TelescopicSearchCV:
        """Search, then fit the best on all rows (unless `refit=False`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to learn from.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets; None where the estimator needs none.
        **params : dict
            More arguments of the estimator's `fit`, such as `sample_weight`, and of the splitter, such as `groups`.

        Returns
        -------
        self : TelescopicSearchCV
            The search itself, which predicts by its best candidate.
        """
        refuse_elsewhere(X, type(self).__name__)
        check_number(self, "coarse", 2, integer=True)
        self._grids()
        return super().fit(X, y, **params)

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        grids = [axes_of(grid) for grid in self._grids()]
        self.n_grid_ = sum(math.prod(len(values) for values in axes.values) for axes in grids)
        self.n_candidates_, stage = 0, 0
        for axes in grids:

            def evaluate(places: list[Place], axes: Axes = axes) -> Sequence[float]:
                nonlocal stage
                stages = {"stage": [stage] * len(places)}
                try:
                    found = evaluate_candidates([axes.at(place) for place in places], more_results=stages)
                except ValueError as error:
                    # scikit-learn gives up where all fits of one call fail; other stages had some that did not.
                    if stage == 0 or "fits failed" not in str(error):
                        raise
                    return [-math.inf] * len(places)
                stage += 1
                self.n_candidates_ += len(places)
                return found[self._score_name(found)][-len(places) :]

            telescope(axes, self.coarse, evaluate)

    def _grids(self) -> list[Mapping[str, Any]]:
        grids = [self.param_grid] if isinstance(self.param_grid, Mapping) else self.param_grid
        if not isinstance(grids, Sequence) or not grids or not all(isinstance(g, Mapping) for g in grids):
            raise ParameterError(
                "param_grid must be a dict of parameters and lists of their values, such as {'alpha': [0.1, 1, 10]}, "
                f"or a list of such dicts; got {self.param_grid!r}."
            )
        for name, values in itertools.chain.from_iterable(grid.items() for grid in grids):
            if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
                raise ParameterError(
                    f"param_grid must have a list of values for {name!r}, and one at least; got {values!r}."
                )
        return list(grids)

    def _score_name(self, found: dict[str, Any]) -> str:
        if "mean_test_score" in found:
            return "mean_test_score"
        if isinstance(self.refit, str):
            return f"mean_test_{self.refit}"
        raise ParameterError(
            "refit must name the score to search by where there are several: "
            f"{', '.join(repr(key[10:]) for key in found if key.startswith('mean_test_'))}; got {self.refit!r}."
        )
