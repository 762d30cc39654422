"""Naive Bayes: every feature independent of the others within a class.

    GaussianNB      each feature normal within each class
    MultinomialNB   counts, of words say
    ComplementNB    counts, where classes are of unequal size
    BernoulliNB     features that are present or absent
    CategoricalNB   categories 0, 1, 2, …
    HistogramNB     a histogram of each feature in each class
    MixedNB         each column its own kind; text too

All fit from sums over rows, in memory or wherever rows are stored. Implementation: `_density` (log densities of normal
features), `_counts` (what the models of counts share), `_one_hot` (categories and bins as columns of 0 and 1), and a
file for each estimator; sums by class are `statistics.moments` and `statistics.column_sums`.
"""

from learnt.naive_bayes._bernoulli import BernoulliNB
from learnt.naive_bayes._categorical import CategoricalNB
from learnt.naive_bayes._complement import ComplementNB
from learnt.naive_bayes._gaussian import GaussianNB
from learnt.naive_bayes._histogram import HistogramNB
from learnt.naive_bayes._mixed import MixedNB
from learnt.naive_bayes._multinomial import MultinomialNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "HistogramNB", "MixedNB", "MultinomialNB"]
