"""From a table to a tested model, in seven steps.

    table        1  read and profile the table; set identifiers and leaks aside
                 2  seal a test set; folds of the rest; the ledger of openings
    judgement    3  the best constant; during the race, bounds on the best possible error
    race         4  cross-validation in processes that can be stopped, inside a budget
    choice       5  calibration, blends, the lowest loss, the final fit
    judgement    6  the test set opened once, every error with its interval; a refit on all rows; the learning curve
    report       7  report.html, model.learnt, study.json, predictions.parquet

door         the study from Python and notebooks: learnt.study(frame, target="late") and the object it returns
_run         the steps in order: up to the race            _conclude   and after it
_settings    the options of a study                            _errors     error messages
_counting    counts in sentences                               _clock     what the time went into
_journal     every result as soon as it is known, so that an interrupted study can resume
_folder      one study at a time in a folder, and no other files overwritten
_model       a saved model in memory                       _predict    used on a table
serving      the same behind an HTTP server                _evaluate   and judged on other rows
_unseal      the sealed test set opened later             _example    the table that is shipped
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from learnt.engine.late_import import names_when_used
from learnt.study.door._callable import CallableModule

if TYPE_CHECKING:
    from learnt.study._errors import StudyError as StudyError
    from learnt.study._evaluate import evaluate_table as evaluate_table
    from learnt.study._example import example_path as example_path
    from learnt.study._predict import predict_table as predict_table
    from learnt.study._settings import Settings as Settings
    from learnt.study._settings import parse_budget as parse_budget
    from learnt.study._settings import parse_cost as parse_cost
    from learnt.study._unseal import evaluate_study as evaluate_study
    from learnt.study.door._compare import Comparison as Comparison
    from learnt.study.door._compare import compare as compare
    from learnt.study.door._estimators import StudyClassifier as StudyClassifier
    from learnt.study.door._estimators import StudyRegressor as StudyRegressor
    from learnt.study.door._object import Study as Study
    from learnt.study.door._profile import TableProfile as TableProfile
    from learnt.study.door._profile import profile as profile
    from learnt.study.door._study import open_study as open_study
    from learnt.study.door._study import study as study
    from learnt.study.race._process import head_start as head_start
    from learnt.study.serving._http import ModelServer as ModelServer
    from learnt.study.serving._service import open_service as open_service
    from learnt.study.table._problem import labelled_rows as labelled_rows
    from learnt.study.table._read import read_table as read_table

__all__ = [
    "Comparison",
    "ModelServer",
    "Settings",
    "Study",
    "StudyClassifier",
    "StudyError",
    "StudyRegressor",
    "TableProfile",
    "compare",
    "evaluate_study",
    "evaluate_table",
    "example_path",
    "head_start",
    "labelled_rows",
    "open_service",
    "open_study",
    "parse_budget",
    "parse_cost",
    "predict_table",
    "profile",
    "read_table",
    "study",
]

# Imported when first used: predicting should not wait for imports that only a race needs.
_FILES = {
    "TableProfile": "door._profile",
    "profile": "door._profile",
    "Comparison": "door._compare",
    "compare": "door._compare",
    "ModelServer": "serving._http",
    "Settings": "_settings",
    "Study": "door._object",
    "StudyClassifier": "door._estimators",
    "StudyRegressor": "door._estimators",
    "StudyError": "_errors",
    "evaluate_study": "_unseal",
    "evaluate_table": "_evaluate",
    "example_path": "_example",
    "head_start": "race._process",
    "open_study": "door._study",
    "labelled_rows": "table._problem",
    "open_service": "serving._service",
    "parse_budget": "_settings",
    "parse_cost": "_settings",
    "predict_table": "_predict",
    "read_table": "table._read",
    "study": "door._study",
}

__getattr__, __dir__ = names_when_used("learnt.study", _FILES)
sys.modules[__name__].__class__ = CallableModule  # learnt.study(frame, target="late") is learnt.study.study
