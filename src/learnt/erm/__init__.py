"""Empirical risk minimisation:  min over w, b of  mean loss(y, xᵀw + b) + alpha · penalty(w).

    losses      what a wrong score costs
    penalties   penalties of large, many or negative coefficients; added to the loss or as a constraint
    solvers     minimisation methods
    Problem     the three together with the data, as a function of the coefficients
    RowsProblem the same over rows that are read in blocks
    minimize    runs a solver on a problem: the loop, early stopping, the path, and a Result
    ERMClassifier, ERMRegressor
                the same as estimators

A custom loss is an object with `value(y, score)` and `gradient(y, score)`: see docs/erm.md.
"""

from learnt.erm import losses as losses
from learnt.erm import penalties as penalties
from learnt.erm import solvers as solvers
from learnt.erm._classifier import ERMClassifier as ERMClassifier
from learnt.erm._gap import duality_gap as duality_gap
from learnt.erm._minimize import Result as Result
from learnt.erm._minimize import minimize as minimize
from learnt.erm._problem import Problem as Problem
from learnt.erm._regressor import ERMRegressor as ERMRegressor
from learnt.erm._rows_problem import RowsProblem as RowsProblem

__all__ = [
    "ERMClassifier",
    "ERMRegressor",
    "Problem",
    "Result",
    "RowsProblem",
    "duality_gap",
    "losses",
    "minimize",
    "penalties",
    "solvers",
]
