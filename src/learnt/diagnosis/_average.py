"""Models that average models: they need no advice to become one."""

from __future__ import annotations

from typing import Any


def is_average(model: Any) -> bool:
    """Whether a model averages several of its kind or of others: forests, bagging, voting, stacking.

    Such a model needs no advice to become an average. It is read off the parameters: a model need not be fitted.

    Parameters
    ----------
    model : estimator
        Any model; the last step of a pipeline and the model inside a search, a calibration or the like are looked at.

    Returns
    -------
    average : bool
        True for models with a list of `estimators`, and for those with the parameters `bootstrap` and `n_estimators`,
        where the latter is more than 1.

    See Also
    --------
    diagnose : Uses it for its advice.

    Examples
    --------
    >>> from learnt.diagnosis import is_average
    >>> from learnt.ensemble import RandomForestRegressor
    >>> is_average(RandomForestRegressor()), is_average(RandomForestRegressor(n_estimators=1))
    (True, False)
    """
    settings = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if "estimators" in settings:
        return True
    if "bootstrap" in settings and "n_estimators" in settings:
        return settings["n_estimators"] > 1
    inside = settings["steps"][-1][1] if settings.get("steps") else settings.get("estimator", settings.get("regressor"))
    return inside is not None and is_average(inside)
