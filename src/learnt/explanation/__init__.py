"""Reasons: what each column of a table adds to a model's prediction.

contributions      of any fitted model, in the user's columns; Reasons is the answer
Explained          the same as a method of an estimator
shapley_exact      Shapley values of any function by their definition, for few columns
shapley_sampled    the same from drawn orders of the columns, with a standard error

_reasons   the door: columns, background, links, words        _shapley   the values of a function
_models    how each kind of model is explained                _parts     sums that are averaged and carried through maps
_rows      rows on their way through a pipeline               _method    the method

Nothing is imported from the rooms of estimators, which are above: models are gone through by their fitted attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used

if TYPE_CHECKING:
    from learnt.explanation._method import Explained as Explained
    from learnt.explanation._reasons import Reason as Reason
    from learnt.explanation._reasons import Reasons as Reasons
    from learnt.explanation._reasons import contributions as contributions
    from learnt.explanation._shapley import ShapleyValues as ShapleyValues
    from learnt.explanation._shapley import shapley_exact as shapley_exact
    from learnt.explanation._shapley import shapley_sampled as shapley_sampled

__all__ = ["Explained", "Reason", "Reasons", "ShapleyValues", "contributions", "shapley_exact", "shapley_sampled"]

_FILES = {
    "Explained": "_method",
    "Reason": "_reasons",
    "Reasons": "_reasons",
    "ShapleyValues": "_shapley",
    "contributions": "_reasons",
    "shapley_exact": "_shapley",
    "shapley_sampled": "_shapley",
}

__getattr__, __dir__ = names_when_used("learnt.explanation", _FILES)
