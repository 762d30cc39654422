"""What a study knows: a frozen dataclass for every step, and one of them all.

`study.json`, the report, the sentences on the terminal and the object in Python are views of `Facts`.

_plain    dataclasses as plain data, as in a JSON file, and back
_data     steps 1 to 3: the table, the sealed test set, the constant and the bounds on the best possible error
_race     steps 4 and 5: every model that raced, the choice, the model
_test     step 6: what was settled before the test set was opened, and what it said
_sections what a data scientist looks for next: columns, thresholds, effects, rows, groups, drift
_facts    all of them, with the diagnosis, the summary and the clock
"""

from learnt.study.facts._data import BayesError, Ceiling, Constant, Data, Noise, Seal, Truth
from learnt.study.facts._facts import Curve, Diagnosis, Facts, Importance, Line, Part, Parts, RunFacts, Summary
from learnt.study.facts._plain import read_plain, to_plain
from learnt.study.facts._race import Calibrated, Candidate, Choice, Chosen, Member, ModelFile, Race, Racer, Timing
from learnt.study.facts._sections import Sections
from learnt.study.facts._test import (
    Area,
    Bracket,
    CalibrationBins,
    ClassRow,
    Coverage,
    Estimate,
    Judged,
    MetricTest,
    Rare,
    Rates,
    Roc,
    Settled,
    Test,
    TestOfAmounts,
    TestOfClasses,
    Threshold,
    ThresholdCurve,
    Usual,
)

__all__ = [
    "Area",
    "BayesError",
    "Bracket",
    "Calibrated",
    "CalibrationBins",
    "Candidate",
    "Ceiling",
    "Choice",
    "Chosen",
    "ClassRow",
    "Constant",
    "Coverage",
    "Curve",
    "Data",
    "Diagnosis",
    "Estimate",
    "Facts",
    "Importance",
    "Judged",
    "Line",
    "Member",
    "MetricTest",
    "ModelFile",
    "Noise",
    "Part",
    "Parts",
    "Race",
    "Racer",
    "Rare",
    "Rates",
    "Roc",
    "RunFacts",
    "Seal",
    "Sections",
    "Settled",
    "Summary",
    "Test",
    "TestOfAmounts",
    "TestOfClasses",
    "Threshold",
    "ThresholdCurve",
    "Timing",
    "Truth",
    "Usual",
    "read_plain",
    "to_plain",
]
