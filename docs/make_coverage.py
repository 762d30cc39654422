"""Write the table of docs/coverage.md that says what every estimator takes, from what its class declares.

python docs/make_coverage.py
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from learnt.engine.estimator import Takes, takes_of, trial_of
from learnt.persistence._registry import estimators

PAGE = Path(__file__).with_name("coverage.md")
BEGIN, END = "<!-- estimators: begin -->\n", "<!-- estimators: end -->\n"
HEADINGS = {
    "sparse": "sparse",
    "tensors": "tensors",
    "lazy": "Dask, files in blocks",
    "categories": "categories",
    "missing": "missing cells",
}


def table() -> str:
    """The table as text: one row for every estimator that declares what it takes."""
    kinds = [field.name for field in fields(Takes)]
    rows = [["estimator", *(HEADINGS[kind] for kind in kinds)], ["---"] * (len(kinds) + 1)]
    for name, cls in estimators().items():
        if not hasattr(cls, "__learnt_takes__"):
            continue
        takes = takes_of(cls(**trial_of(cls).settings()))
        cells = ["yes" if getattr(takes, kind) else "" for kind in kinds]
        rows.append([f"`{name.partition('.')[2] if name.startswith('learnt.') else name}`", *cells])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    head, _, rest = page.partition(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
