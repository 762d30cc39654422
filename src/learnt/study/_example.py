"""The table shipped with the package: food deliveries, on time or late, drawn from a known probability.

The rows are generated, so the smallest possible error is known, and the bracket that a study reports can be checked
against it. `make_deliveries` writes exactly the file in ``data/``; a test compares them.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from learnt.engine.random import random_state_of

ROWS, SEED = 2000, 20250301
TARGET = "late"
_DISTRICTS = ("Old Town", "Harbour", "Station", "Hill", "Campus", "North", "South", "Airport")
_VEHICLES = ("bike", "scooter", "van")


class Example(NamedTuple):
    """The generated table as CSV text, the true probabilities, and the error of the best possible rule."""

    csv: str
    probability: np.ndarray
    late: np.ndarray
    bayes_error: float
    bayes_brier: float


def example_path() -> Path:
    """Return the path of the table that is shipped: food deliveries, on time or late.

    Returns
    -------
    path : Path
        A CSV file of 2,000 rows, with the target ``late``.

    See Also
    --------
    read_table : Reads it.
    study : Studies it where no table is given.
    """
    return Path(str(files("learnt.study"))) / "data" / "deliveries.csv"


def make_deliveries(rows: int = ROWS, seed: int = SEED) -> Example:
    """Draw the table; the stream of `RandomState` is frozen, so the same seed gives the same rows for ever.

    >>> example = make_deliveries(rows=50)
    >>> example.csv.splitlines()[0]
    'delivery_id,ordered_at,district,vehicle,distance_km,items,basket,kitchen_queue,rain_mm,courier_months,refund,late'
    """
    r = random_state_of(seed)
    minute = np.sort(r.randint(0, 120 * 24 * 60, size=rows))
    hour_weights = np.array([0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 7, 10, 8, 4, 3, 4, 7, 11, 12, 9, 5, 2, 1], dtype=float)
    hour = r.choice(24, size=rows, p=hour_weights / hour_weights.sum())
    order = np.lexsort((minute % 60, hour, minute // 1440))
    day, hour, minute = (minute // 1440)[order], hour[order], (minute % 60)[order]
    weekday = (day + 5) % 7  # 2025-03-01 is a Saturday
    district = r.randint(0, len(_DISTRICTS), size=rows)
    distance = np.round(0.4 + r.gamma(2.2, 0.9, size=rows) + 2.5 * (district == 7), 1)
    vehicle = np.where(distance > 6, 2, r.choice(3, size=rows, p=[0.5, 0.35, 0.15]))
    items = 1 + r.poisson(2.0, size=rows)
    basket = np.round(6 + 7.5 * items * r.uniform(0.7, 1.4, size=rows), 2)
    rush = np.isin(hour, (12, 13, 18, 19, 20))
    queue = r.poisson(3 + 6 * rush + 2 * (weekday >= 5))
    rain = np.round(np.where(r.uniform(size=rows) < 0.28, r.gamma(1.5, 2.2, size=rows), 0.0), 1)
    months = np.minimum(r.geometric(0.06, size=rows), 60)
    score = (
        -4.6
        + 0.62 * distance * np.where(vehicle == 0, 1.35, 1.0)
        + 0.30 * np.maximum(queue - 4, 0)
        + 0.42 * rain * (vehicle != 2)
        + 1.1 * (rush & np.isin(district, (0, 2)))
        + 0.15 * items
        - 0.9 * np.log1p(months / 6)
    )
    probability = 1 / (1 + np.exp(-1.8 * score))
    late = r.uniform(size=rows) < probability
    refund = np.where(late, np.round(np.maximum(2.0, 0.2 * basket), 2), 0.0)
    lost_rain, lost_distance, lost_vehicle = (r.uniform(size=rows) < share for share in (0.08, 0.03, 0.02))
    lines = [
        "delivery_id,ordered_at,district,vehicle,distance_km,items,basket,kitchen_queue,rain_mm,courier_months,refund,late"
    ]
    start = np.datetime64("2025-03-01T00:00")
    moment = start + day * np.timedelta64(1, "D") + hour * np.timedelta64(1, "h") + minute * np.timedelta64(1, "m")
    lines += [
        f"D{10_000 + 7 * k + k % 3},{str(moment[k]).replace('T', ' ')},{_DISTRICTS[district[k]]},"
        f"{'' if lost_vehicle[k] else _VEHICLES[vehicle[k]]},{'' if lost_distance[k] else distance[k]},{items[k]},"
        f"€{basket[k]:.2f},{queue[k]},{'' if lost_rain[k] else rain[k]},{months[k]},{refund[k]:g},"
        f"{'yes' if late[k] else 'no'}"
        for k in range(rows)
    ]
    return Example(
        "\n".join(lines) + "\n",
        probability,
        late,
        float(np.minimum(probability, 1 - probability).mean()),
        float((probability * (1 - probability)).mean()),
    )
