"""Text as numbers: the most distinctive words, weighted as TF-IDF, one readable column each.

With n cells, a word in d of them and t times in this one, its weight is (1 + log t)·(1 + log((1 + n)/(1 + d))), each
row scaled to length 1. Kept are the words with the most weight in the whole column, d·log(n/d): neither those of
nearly every cell nor those of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from learnt.preprocessing._frame import Column
from learnt.preprocessing._strings import factor

_WORD = r"[\p{L}\p{N}][\p{L}\p{N}'’]+"
MIN_CELLS = 2


def learn_text(column: Column, n_words: int) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """Choose the words of a column."""
    strings = factor(column)
    counts = tokens(strings.labels, strings.counts)
    n = max(strings.present, 1)
    held = counts.group_by("word").agg(pl.col("rows").sum().alias("cells")).filter(pl.col("cells") >= MIN_CELLS)
    words = held["word"].to_numpy()
    cells = held["cells"].to_numpy().astype(np.float64)
    energy = cells * np.log(n / np.minimum(cells, n))
    order = np.lexsort((words.astype(str), -np.round(energy, 9)))[:n_words]
    order = order[energy[order] > 0]
    vocabulary = [str(words[k]) for k in order]
    missing = len(strings.codes) - strings.present
    coding = {
        "words": vocabulary,
        "idf": 1.0 + np.log((1.0 + n) / (1.0 + cells[order])),
        "missing": missing > 0,
    }
    suffixes = [f': "{word}"' for word in vocabulary] + [": length"] + [" missing"] * (missing > 0)
    return coding, suffixes, {"missing": missing, "words": len(held), "top": vocabulary[:10]}


def encode_text(coding: dict[str, Any], column: Column, out: np.ndarray) -> int:
    """Fill a column for each word, the length in words (log(1 + n)), and whether the cell is missing."""
    strings = factor(column)
    n_words = len(coding["words"])
    counts = tokens(strings.labels, strings.counts)
    length = np.zeros(len(strings.labels))
    np.add.at(length, counts["cell"].to_numpy(), counts["times"].to_numpy())
    weights = np.zeros((len(strings.labels), n_words), dtype=out.dtype)
    if n_words and len(counts):
        position = pl.Series(np.arange(n_words))
        known = counts.with_columns(
            pl.col("word").replace_strict(pl.Series(coding["words"]), position, default=None).alias("position")
        ).drop_nulls("position")
        cell, k = known["cell"].to_numpy(), known["position"].to_numpy()
        weights[cell, k] = (1.0 + np.log(known["times"].to_numpy())) * coding["idf"][k]
        norm = np.sqrt(np.einsum("ij,ij->i", weights, weights))
        weights /= np.where(norm > 0, norm, 1.0)[:, None]
    out[:, :n_words] = np.vstack([weights, np.zeros((1, n_words), dtype=out.dtype)])[strings.codes]
    out[:, n_words] = strings.spread(np.log1p(length), 0.0)
    if coding["missing"]:
        out[:, n_words + 1] = strings.spread(strings.labels.is_null().to_numpy().astype(float), 1.0)
    return 0


def tokens(labels: pl.Series, rows: np.ndarray) -> pl.DataFrame:
    """cell, word, times (the word is there), rows (that hold this cell), over the distinct strings."""
    frame = pl.DataFrame({"cell": np.arange(len(labels)), "rows": rows.astype(np.int64), "word": labels.alias("word")})
    return (
        frame.with_columns(pl.col("word").str.to_lowercase().str.extract_all(_WORD))
        .explode("word")
        .drop_nulls("word")
        .group_by("cell", "word")
        .agg(pl.len().alias("times"), pl.col("rows").first())
    )
