"""AdaBoost for classes and for numbers.

_classifier  AdaBoost for classes: learners fitted one after another, each on the rows its predecessors got wrong
_draws       Rows drawn by weight, as NumPy's `RandomState.choice` draws them
_learners    One round of AdaBoost: fit a weak learner to weighted rows and find its errors
_regressor   AdaBoost for numbers (AdaBoost.R2)
_stumps      Boosted stumps: the columns are sorted once, and a round is one sweep over each
"""
