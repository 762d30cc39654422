"""
Topics of texts
===============

What is a text about? Topics as word histograms, by non-negative sparse regression.

A document's histogram of words y is explained by few topics, the columns of X:  y ≈ Xβ  with β ≥ 0 and few entries that
are not 0. First X is given: the mean histogram of each room of a library, and the texts are documentation that was not
used for X. Then nothing is given, and the topics are learned together with the β.

The texts are the documentation strings of scikit-learn's public classes and functions, which are installed with it.
"""

import re
from collections import Counter

import numpy as np
from sklearn.utils.discovery import all_estimators, all_functions

from learnt.decomposition import DictionaryLearning
from learnt.linear_model import OrthogonalMatchingPursuit

ROOMS = ("cluster", "covariance", "feature_extraction", "gaussian_process", "manifold", "neighbors", "svm", "tree")
NOT_TOPICS = {"array", "shape", "default", "parameters", "returns", "float", "sklearn", "scikit", "learn", "samples"}


def words(text):
    """The words of a text without its code, signatures and references."""
    prose = re.sub(r"^\s*(>>>|\.\.\.|\[\d+\]).*$|:\w+:`[^`]*`|``.*?``", " ", text, flags=re.M)
    return [w for w in re.findall(r"[a-z]{4,}", prose.lower()) if w not in NOT_TOPICS]


def library():
    """Names, rooms and word counts of everything public."""
    things = [thing for _, thing in [*all_estimators(), *all_functions()] if thing.__doc__]
    rooms = [thing.__module__.split(".")[1] for thing in things]
    return np.array([t.__name__ for t in things]), np.array(rooms), [Counter(words(t.__doc__)) for t in things]


def histograms(counts):
    """One row a document, of norm 1: square roots of counts, rare words weighted up; and the words."""
    spread = Counter(word for count in counts for word in count)
    vocabulary = sorted(w for w, n in spread.items() if 4 <= n <= 0.2 * len(counts))
    column = {word: j for j, word in enumerate(vocabulary)}
    table = np.zeros((len(counts), len(vocabulary)))
    for i, count in enumerate(counts):
        for word in count.keys() & column.keys():
            table[i, column[word]] = np.sqrt(count[word]) * np.log(len(counts) / spread[word])
    return table / np.linalg.norm(table, axis=1, keepdims=True).clip(1e-12), np.array(vocabulary)


names, rooms, counts = library()
table, vocabulary = histograms(counts)
print(f"{len(names)} documents, {len(vocabulary)} words\n")

# --- topics given: the mean histogram of the even documents of each room; the odd ones are new
known = np.isin(rooms, ROOMS)
even = np.arange(len(names)) % 2 == 0
X = np.column_stack([table[(rooms == room) & even].mean(axis=0) for room in ROOMS])
X /= np.linalg.norm(X, axis=0)
new = np.flatnonzero(known & ~even)
pursuit = OrthogonalMatchingPursuit(n_nonzero_coefs=2, positive=True, fit_intercept=False).fit(X, table[new].T)
found = pursuit.coef_.argmax(axis=1)
right = np.mean([ROOMS[k] == rooms[i] for i, k in zip(new, found, strict=True)])
print(f"Topics given: the strongest of at most 2 is the document's own room for {right:.0%} of {len(new)} new ones.")
for i, beta in list(zip(new, pursuit.coef_, strict=True))[::12]:
    parts = " + ".join(f"{beta[k]:.2f} {ROOMS[k]}" for k in np.argsort(-beta) if beta[k] > 0)
    print(f"  {names[i]:28s} = {parts}")

# --- topics learned
model = DictionaryLearning(
    12, alpha=0.1, max_iter=200, tol=1e-4, positive_code=True, positive_dict=True, random_state=0
)
codes = model.fit_transform(table)
share = (codes > 0).mean(axis=0)
print(f"\nTopics learned: a document is made of {np.mean((codes > 0).sum(axis=1)):.1f} of 12 on average.")
for k in np.argsort(-share):
    print(f"  {share[k]:4.0%}  {', '.join(vocabulary[np.argsort(-model.components_[k])[:7]])}")
