"""The shipped table is what its generator makes, small, and honest about its best possible error."""

import numpy as np
from sklearn.metrics import roc_auc_score

from learnt.study import example_path, read_table
from learnt.study._example import make_deliveries


def test_the_file_is_what_the_generator_makes():
    assert example_path().read_text(encoding="utf-8") == make_deliveries().csv
    assert example_path().stat().st_size < 150_000


def test_the_stated_truth_is_the_truth():
    made = make_deliveries()
    readme = (example_path().parent / "README.md").read_text(encoding="utf-8")
    assert f"{100 * made.bayes_error:.1f} %" in readme
    assert f"{100 * made.late.mean():.1f} %" in readme
    # A rule that knows the probabilities errs about as often as they say, on these rows and on many more.
    many = make_deliveries(rows=60_000, seed=1)
    assert abs(np.mean((many.probability > 0.5) != many.late) - many.bayes_error) < 0.005
    assert roc_auc_score(made.late, made.probability) > 0.93


def test_it_has_what_a_first_report_should_show():
    table = read_table(example_path())
    assert table.height == 2000
    assert table["delivery_id"].n_unique() == 2000
    assert table["rain_mm"].null_count() > 100
    assert table["ordered_at"].is_sorted()
    assert ((table["refund"] > 0) == (table["late"] == "yes")).all()
