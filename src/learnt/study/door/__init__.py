"""The study from Python and notebooks.

_callable      the module `learnt.study` itself, which can be called
_study         `study` and `open_study`: a table or a folder becomes a Study
_object        Study: what a finished study answers
_report_file   its report as a file, and inside a notebook
_judged_rows   its part that speaks of rows: the worst ones, errors by group, partial dependence (_answers)
_estimators    StudyClassifier, StudyRegressor: the same as scikit-learn estimators
_compare       two studies on the same test rows
_profile       a table looked through, before any study
_leaderboard   its models as a data frame
_html          its first screen in a notebook
_sentences     sentences of the command in the words of Python
"""
