"""Charts as SVG text: no plotting library, no browser, no network; the same numbers give the same bytes.

    learning_curve  validation_curve  roc  precision_recall  calibration  cost_curve  time_to_loss      two axes
    density  histogram
    band  boundary  scatter                                              functions of one or two features
    distribution  partial_dependence  reasons  groups                    columns, and what they do
    ruler  race  importances  decomposition  confusion                   rows

Each takes numbers that are already computed and returns a `Chart`, which notebooks show, ``str`` prints and
``save`` writes. Colours are CSS variables (``--lt-accent`` …), so that a page can theme the charts it holds.
"""

from learnt.drawing.svg import Chart as Chart
from learnt.drawing.svg import number as number
from learnt.drawing.svg import percent as percent
from learnt.plots._columns import distribution as distribution
from learnt.plots._columns import groups as groups
from learnt.plots._columns import partial_dependence as partial_dependence
from learnt.plots._columns import reasons as reasons
from learnt.plots._curves import calibration as calibration
from learnt.plots._curves import cost_curve as cost_curve
from learnt.plots._curves import density as density
from learnt.plots._curves import histogram as histogram
from learnt.plots._curves import learning_curve as learning_curve
from learnt.plots._curves import precision_recall as precision_recall
from learnt.plots._curves import roc as roc
from learnt.plots._curves import time_to_loss as time_to_loss
from learnt.plots._curves import validation_curve as validation_curve
from learnt.plots._planes import band as band
from learnt.plots._planes import boundary as boundary
from learnt.plots._planes import scatter as scatter
from learnt.plots._rows import Row as Row
from learnt.plots._rows import confusion as confusion
from learnt.plots._rows import decomposition as decomposition
from learnt.plots._rows import importances as importances
from learnt.plots._rows import race as race
from learnt.plots._rows import ruler as ruler

__all__ = [
    "Chart",
    "Row",
    "band",
    "boundary",
    "calibration",
    "confusion",
    "cost_curve",
    "decomposition",
    "density",
    "distribution",
    "groups",
    "histogram",
    "importances",
    "learning_curve",
    "number",
    "partial_dependence",
    "percent",
    "precision_recall",
    "race",
    "reasons",
    "roc",
    "ruler",
    "scatter",
    "time_to_loss",
    "validation_curve",
]
