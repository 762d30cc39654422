"""docs/_static/speed.svg: how much faster than the best peer, from the tables of benchmarks/README.md.

python docs/_charts/speed.py

Every bar names the line that its number stands in; a line that is no longer there is an error. Text and axes have the
colour of the page (`currentColor`), so that one picture serves light and dark.
"""

from __future__ import annotations

import math
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONDITIONS = "Intel Xeon at 2.5 GHz with AVX-512, a virtual machine of two cores"
BARS = [  # what is said, the number, how the row of benchmarks/README.md begins that it is in, and its numbers
    ("Naive Bayes, 100k × 50", 8.3, "`GaussianNB` 100k × 50; 1M × 10, fit; fit and predict", "8.3, 9.7; 15, 9.3"),
    ("Linear discriminants, 100k × 20", 7.7, "LDA, LDA with shrinkage, QDA 100k × 20: fit; predict", "7.7, 5.4, 2.8;"),
    ("PCA, 100k × 100", 3.2, "`PCA` 100k × 100, all; 10k × 5k, 20; `NMF` 10k × 1k", "3.2 (3.1–4.3); 3.7; 4.0"),
    ("k-means, 200k × 32, k = 10", 2.08, "`KMeans` 200k × 32, k = 10, 100, 1000", "2.08, 5.1, 1.49"),
    ("Gaussian mixture, 50k × 16", 3.5, "`GaussianMixture` 50k × 16, k = 10: full, diagonal, tied", "3.5, 4.3, 11"),
    (
        "Isolation forest, 100k × 20",
        4.0,
        "`IsolationForest` 100k × 20; `MinCovDet` 5k × 10; `GraphicalLasso` 1k × 50",
        "4.0;",
    ),
    ("Linear SVM, 200k × 50", 4.2, "`LinearSVC` 200k × 50; sparse 20k × 50k; ten classes; 500 × 5000", "4.2;"),
    ("SVM with RBF kernel, 10k × 20", 7.2, "`SVC` RBF 10k × 20; 20k × 20; ten classes; `SVR` 10k × 20", "7.2;"),
    ("Gaussian process, 2k × 10, fit", 8.0, "GP of 2k × 10 rows: fit, 12 parameters learnt;", "8.0;"),
    (
        "Perceptron of two layers, 50k × 50",
        2.5,
        "`MLPClassifier` 2 × 100, 50k × 50, 20 epochs, float32, float64",
        "2.5,",
    ),
    ("Ward clusters, 10k × 10", 1.2, "`AgglomerativeClustering` 10k × 10: ward, average, complete, single", "1.2,"),
    ("Imputing by neighbours, 5k × 20", 14, "`KNNImputer` 5k × 20; `IterativeImputer` 20k × 15", "14; 2.2"),
]
WIDTH, LEFT, ROW, TOP, BOTTOM, MOST = 760, 270, 27, 26, 34, 16
FONT = 'font-family="system-ui, sans-serif" font-size="14" fill="currentColor"'


def check(readme: str) -> None:
    """Raise where a number is no longer in the tables."""
    rows = [line for line in readme.splitlines() if line.startswith("| ")]
    for name, _, start, numbers in BARS:
        if not any(row.startswith(f"| {start}") and f" {numbers}" in row for row in rows):
            raise SystemExit(f"{name}: benchmarks/README.md has no row «{start} … {numbers}» any more.")
    if CONDITIONS not in readme:
        raise SystemExit("benchmarks/README.md no longer names the machine.")


def at(ratio: float) -> float:
    """Where a ratio lies on the axis, which is logarithmic: twice and half are as far from 1."""
    return LEFT + (WIDTH - LEFT - 50) * math.log2(ratio) / math.log2(MOST)


def svg() -> str:
    """The picture."""
    height = TOP + ROW * len(BARS) + BOTTOM
    ratios = [bar[1] for bar in BARS]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'style="max-width: 100%; height: auto" '
        f'aria-label="Time of the best peer over ours, from {min(ratios):g} to {max(ratios):g}">'
    ]
    for ratio in (1, 2, 4, 8, 16):
        x = at(ratio)
        out.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - BOTTOM + 2}" '
            'stroke="currentColor" stroke-opacity="0.25"/>'
        )
        words = "as fast" if ratio == 1 else f"{ratio}×"
        out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle" {FONT} opacity="0.8">{words}</text>')
    for k, (name, ratio, *_) in enumerate(sorted(BARS, key=lambda bar: -bar[1])):
        y = TOP + ROW * k
        out.append(f'<text x="{LEFT - 12}" y="{y + 15}" text-anchor="end" {FONT}>{name}</text>')
        out.append(f'<rect x="{LEFT}" y="{y + 2}" width="{at(ratio) - LEFT:.1f}" height="17" rx="2" fill="#3b82c4"/>')
        out.append(f'<text x="{at(ratio) + 7:.1f}" y="{y + 15}" {FONT}>{ratio:g}</text>')
    return "\n".join([*out, "</svg>\n"])


if __name__ == "__main__":
    check((ROOT / "benchmarks/README.md").read_text())
    (ROOT / "docs/_static/speed.svg").write_text(svg())
