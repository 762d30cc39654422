"""Gradient boosting on binned columns.

_base        What both histogram boosting estimators share: checks, the fit around the loop, scores of rows
_classifier  Boosting of trees on binned columns, for classes
_columns     Columns as boosting takes them: cells of text as codes
_fit         The boosting loop: gradients, a tree for each output, new scores
_losses      Losses as boosting needs them: where to start, gradient and hessian of every row
_regressor   Boosting of trees on binned columns, for numbers
"""
