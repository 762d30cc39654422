"""The compiled loops of variational Bayes: shares of topics in a document, and exp ψ, without which they could not be.

What is needed of a document's words is copied side by side, a row for each topic, so that both its sums, over topics
and over words, go along rows in the cache. Rows are filled up to a whole number of vectors with words of count 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from learnt.engine.kernel import kernel
from learnt.linalg.exponential import exp_nonpositive

STEP = 16  # words of a row: as many as the compiler adds up at once


class Counts(NamedTuple):
    """Documents as rows of CSR."""

    indptr: np.ndarray
    words: np.ndarray
    counts: np.ndarray


class Rules(NamedTuple):
    """Of the shares of one document."""

    prior: float
    eps: float  # added to the chance of a word, which may be 0
    tol: float  # of the mean change of a share
    max_iter: int


@kernel
def exp_digamma(x):
    """exp ψ(x) for x > 0, with a relative error of some 1e-14: plain arithmetic, which the compiler vectorises.

    ψ(x) = ψ(x + 8) − Σ 1/(x + i), i < 8, the sum as one fraction in u = x (x + 7), since (x + i)(x + 7 − i) =
    u + i (7 − i). With z = x + 7½,  ψ(x + 8) = log z + Σ aₖ z⁻²ᵏ,  aₖ = −B₂ₖ(½) / 2k: the eighth term is below 5e-15.
    No logarithm is needed. What is below exp(−708) is exp(−708).
    """
    u, z = x * (x + 7.0), x + 7.5
    left, right = u * (u + 6.0), (u + 10.0) * (u + 12.0)
    fractions = (2.0 * x + 7.0) * (((2.0 * u + 6.0) / left) + ((2.0 * u + 22.0) / right))
    v = 1.0 / (z * z)
    rest = -127.0 / 30720.0 + v * (511.0 / 67584.0 + v * (-1414477.0 / 67092480.0 + v * (8191.0 / 98304.0)))
    series = v * (1.0 / 24.0 + v * (-7.0 / 960.0 + v * (31.0 / 8064.0 + v * rest)))
    return z * exp_nonpositive(series - fractions)


@kernel
def expected_chances(parameters, lo, hi, out):
    """exp E log p of the Dirichlet distributions whose parameters are the rows lo to hi."""
    for r in range(lo, hi):
        row, chances, total = parameters[r], out[r], 0.0
        for t in range(len(row)):
            total += row[t]
        inverse = 1.0 / exp_digamma(total)
        for t in range(len(row)):
            chances[t] = exp_digamma(np.float64(row[t])) * inverse


@kernel
def shares_of_documents(documents, lo, hi, topics, rules, shares, chances, ratios):
    """Iterate over the shares of each of the documents lo to hi until they stand still.

    `topics` has a row for each word: exp E log of its chance in every topic. `shares` (Dirichlet parameters, a row a
    document) are the start and the result, `chances` their exp E log, and `ratios` the count of every word over its
    chance in the document.
    """
    indptr, words, counts = documents
    k, longest = topics.shape[1], 0
    for d in range(lo, hi):
        longest = max(longest, indptr[d + 1] - indptr[d])
    width = (longest + STEP - 1) // STEP * STEP
    memory, count, ratio = np.empty(k * width), np.empty(width), np.empty(width)
    for d in range(lo, hi):
        first, m = indptr[d], indptr[d + 1] - indptr[d]
        width = (m + STEP - 1) // STEP * STEP
        block, n, r = memory[: k * width].reshape((k, width)), count[:width], ratio[:width]
        gather(words[first : first + m], counts[first : first + m], topics, block, n)
        share, chance = shares[d], chances[d]
        expected_chances(shares, d, d + 1, chances)
        for _ in range(rules.max_iter):
            counts_by_chance(block, chance, n, rules.eps, r)
            change = 0.0
            for t in range(k):
                new = rules.prior + chance[t] * dot(block[t], r)
                change += abs(new - share[t])
                share[t] = new
            expected_chances(shares, d, d + 1, chances)
            if change < rules.tol * k:
                break
        counts_by_chance(block, chance, n, rules.eps, r)
        ratios[first : first + m] = r[:m]


@kernel
def gather(words, counts, topics, block, n):
    """The chances of a document's words, a row for each topic, and their counts; 0 in the places after the last."""
    k, m = topics.shape[1], len(words)
    for j in range(m):
        row, n[j] = topics[words[j]], counts[j]
        for t in range(k):
            block[t, j] = row[t]
    for j in range(m, len(n)):
        n[j] = 0.0
        for t in range(k):
            block[t, j] = 0.0


@kernel
def counts_by_chance(block, chance, n, eps, r):
    """The count of each word over its chance, summed over the topics."""
    r[:] = eps
    for t in range(len(chance)):
        c, row = chance[t], block[t]
        for j in range(len(r)):
            r[j] += c * row[j]
    for j in range(len(r)):
        r[j] = n[j] / r[j]


@kernel(reassociate=True)
def dot(a, b):
    """Σ ab, vectorised."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total
