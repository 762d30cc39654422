"""Charts are well-formed, bounded in size, deterministic, and never let data become markup."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from learnt import plots
from learnt.plots._planes import contour

EVIL = '<script>alert("1")</script>&'


def charts(n=50):
    t = np.linspace(0, 1, n)
    rows = [plots.Row(f"{EVIL}{k}", 0.1 * k, 0.1 * k - 0.02, 0.1 * k + 0.03, strong=k == 0) for k in range(6)]
    rng = np.random.default_rng(0)
    return {
        "learning_curve": plots.learning_curve(
            [50, 100, 200], [1, 1.1, 1.2], [3, 2, 1.5], floor=1.0, constant=4, loss=EVIL
        ),
        "validation_curve": plots.validation_curve(
            [100, 0.1, 1], [0.4, 0.1, 0.2], [0.5, 0.6, 0.3], valid_spread=[0.1] * 3, parameter=EVIL, loss=EVIL
        ),
        "roc": plots.roc(t, np.sqrt(t), 0.67, name=EVIL, point=(0.2, 0.4)),
        "precision_recall": plots.precision_recall(t, 1 - t / 2, 0.7, share=0.5, point=(0.9, 0.99), name=EVIL),
        "time_to_loss": plots.time_to_loss(20 * t, 1 / (1 + 9 * t), [EVIL] * len(t), loss=EVIL),
        "distribution": plots.distribution(
            ["0 to 1", "1 to 2", "2 to 3", EVIL],
            [5, 0, 9, 2],
            [0.1, None, 0.3, 1.0],
            [0.0, None, 0.2, None],
            [0.2, None, 0.5, None],
            overall=0.2,
            about=EVIL,
            title=EVIL,
        ),
        "partial_dependence": plots.partial_dependence(
            ["1", EVIL, "3"], [1, 2, 3], [0, 2, 2], [2, 2, 5], place=[1, 2, 3], y_label=EVIL, title=EVIL
        ),
        "reasons": plots.reasons([plots.Row(EVIL, 0.3), plots.Row("b", -0.1), plots.Row("c", 0.0)], x_label=EVIL),
        "groups": plots.groups(rows, overall=0.2, x_label=EVIL),
        "calibration": plots.calibration(
            [0.1, 0.5], [0.2, 0.5], [0.1, 0.4], [0.3, 0.6], [10, 90], name=EVIL, before=([0, 1], [0.2, 0.7])
        ),
        "cost_curve": plots.cost_curve(t, (t - 0.3) ** 2, chosen=0.3, interval=(0.2, 0.4), label=EVIL),
        "density": plots.density(
            rng.normal(size=n), rng.normal(size=n), x_label=EVIL, y_label="y", title=EVIL, zero=True
        ),
        "histogram": plots.histogram([1, 0, 4], title=EVIL),
        "band": plots.band(t, t, t / 3, rows=(t, t**2), truth=t, samples=[t], x_label=EVIL, y_label=EVIL, title=EVIL),
        "boundary": plots.boundary(
            rng.normal(size=(n, 2)),
            np.arange(n) % 2,
            (np.linspace(-3, 3, 30), np.linspace(-3, 3, 20)),
            np.tile(np.linspace(-2, 2, 30), (20, 1)),
            support=range(n // 2),
            names=(EVIL, "b"),
            labels=(EVIL, EVIL),
        ),
        "scatter": plots.scatter(rng.normal(size=(n, 2)), np.arange(n) % 3, names=[EVIL, "b", "c"]),
        "ruler": plots.ruler(0.2, (0.15, 0.25), constant=0.4, bracket=(0.1, 0.18), name=EVIL),
        "race": plots.race(rows, x_label=EVIL, reference=0.3),
        "importances": plots.importances(rows, x_label=EVIL),
        "decomposition": plots.decomposition([(EVIL, 0.1), ("bias", 0.2), ("variance", 0.0)]),
        "confusion": plots.confusion([[5, 1, 0], [2, 7, 1], [0, 0, 9]], [EVIL, "b", "c"]),
    }


@pytest.mark.parametrize("name", sorted(charts()))
def test_every_chart_is_sound(name):
    chart = charts()[name]
    root = ET.fromstring(str(chart))
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert not [e for e in root.iter() if e.tag.endswith("script")]
    assert "nan" not in str(chart).lower().replace(EVIL, "")
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    for element in root.iter():
        for key, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
            if element.get(key) is not None:
                assert -1 <= float(element.get(key)) <= most + 1, (name, ET.tostring(element))
    assert str(charts()[name]) == str(chart)


def test_the_list_of_charts_is_complete():
    drawn = {n for n in plots.__all__ if n[0].islower()} - {"number", "percent"}
    assert drawn == set(charts())


def test_size_does_not_grow_with_the_data():
    small, large = charts(1_000), charts(40_000)
    for name in ("roc", "cost_curve", "density", "boundary", "scatter"):
        assert len(str(large[name])) < 100_000
        assert len(str(large[name])) < 2.5 * len(str(small[name]))


def test_columns_of_labels_are_drawn_below_each_other():
    parts = ([EVIL, "b" * 40, "(missing)"], [5, 0, 9], [0.1, None, 0.3], [0.0, None, 0.2], [0.2, None, 0.5])
    charts = [plots.distribution(*parts, ordered=False, overall=0.2, title="town")]
    charts.append(plots.partial_dependence(parts[0], [1.0, 2.0, 2.0], [0, 1, 1], [2, 3, 3], title="town"))
    for chart in charts:
        root = ET.fromstring(str(chart))
        assert sum(e.tag.endswith("circle") for e in root.iter()) >= 2
        assert "nan" not in str(chart)


@pytest.mark.parametrize("value", [0.0, 1.0, -5.0, 1e9])
def test_parts_and_effects_that_are_all_alike_are_drawn(value):
    same = [value] * 3
    for ordered in (True, False):
        ET.fromstring(str(plots.distribution(list("abc"), [0, 0, 0], same, same, same, ordered=ordered)))
    ET.fromstring(str(plots.partial_dependence(list("abc"), same, same, same, place=[0, 1, 2])))
    ET.fromstring(str(plots.time_to_loss([1.0], [value], ["a"])))
    ET.fromstring(str(plots.time_to_loss([1.0, 1.0], [value, value], ["a", "b"], greater=True)))


def test_a_chart_is_saved_as_a_file_of_its_own(tmp_path):
    path = plots.roc([0, 1], [0, 1], 0.5).save(tmp_path / "roc.svg")
    assert ET.parse(path).getroot().tag.endswith("svg")
    assert "prefers-color-scheme" in path.read_text()


@pytest.mark.parametrize("values", [[0.0], [], [np.nan], [1e300, -1e300]])
def test_odd_numbers_do_not_break_a_race(values):
    chart = plots.race([plots.Row("a", v) for v in values], x_label="loss")
    ET.fromstring(str(chart))


def test_contours_are_where_the_field_has_their_value():
    """Ends of segments are on the circle up to the square of a cell's size."""
    x = np.linspace(-2, 2, 61)
    field = np.hypot(x[None, :], x[:, None])
    segments = contour(x, x, field, 1.0)
    ends = np.array(segments).reshape(-1, 2)
    h = x[1] - x[0]
    assert len(segments) > 60
    assert np.abs(np.hypot(ends[:, 0], ends[:, 1]) - 1.0).max() < h**2
    length = np.hypot(*(ends[::2] - ends[1::2]).T).sum()
    assert abs(length - 2 * np.pi) < 10 * h**2
    assert contour(x, x, field, 5.0) == []


def test_the_line_of_the_constant_leaves_the_labels_and_numbers_of_a_race_alone():
    rows = [plots.Row(name, value, value - 0.01, value + 0.01) for name, value in (("a", 0.3), ("b", 0.4), ("c", 0.69))]
    chart = plots.race(rows, x_label="loss", reference=0.69)
    (dashed,) = re.findall(r'<path d="([^"]*)"[^>]*stroke-dasharray', str(chart))
    lines = [(float(y), float(y) + float(length)) for y, length in re.findall(r"M[\d.]+ ([\d.]+)v([\d.]+)", dashed)]
    assert len(lines) == len(rows)
    names = "|".join(row.label for row in rows)
    baselines = [float(y) for y in re.findall(rf'<text [^>]*y="([\d.]+)"[^>]*>(?:{names}|0\.\d+)</text>', str(chart))]
    assert len(baselines) >= 2 * len(rows)
    tops = [(y - 10, y) for y in baselines if y < lines[-1][1]]  # digits are ten pixels high and stand on the line
    assert not [pair for pair in tops for low, high in lines if pair[0] < high and low < pair[1]]


def test_a_validation_curve_names_its_best_value():
    values, train, valid = np.logspace(-2, 2, 5), np.linspace(0.1, 0.5, 5), np.array([0.6, 0.4, 0.3, 0.4, 0.6])
    assert "is least at alpha 1: 0.3" in str(plots.validation_curve(values, train, valid, parameter="alpha"))
    scores = plots.validation_curve(values, 1 - train, 1 - valid, parameter="alpha", loss="R²", higher_is_better=True)
    assert "is highest at alpha 1: 0.7" in str(scores)
    shuffled = [3, 0, 4, 1, 2]
    same = plots.validation_curve(values[shuffled], train[shuffled], valid[shuffled], parameter="alpha")
    assert str(same) == str(plots.validation_curve(values, train, valid, parameter="alpha"))
    with pytest.raises(ValueError, match=r"Average the folds first: scores.mean\(axis=1\)"):
        plots.validation_curve(values, np.ones((5, 3)), valid)


@pytest.mark.parametrize(("low", "high"), [(-124.3, -114.3), (1.1e5, 1.19e5), (1000, 1009), (0.12, 0.13), (0, 43)])
def test_ticks_say_their_numbers(low, high):
    """A tick of 122.5 is not labelled 122: text and number agree to a hundredth of a step."""
    from learnt.drawing.svg import tick_labels, ticks

    values = ticks(low, high)
    said = [float(label.replace(",", "").replace("k", "e3")) for label in tick_labels(values)]
    np.testing.assert_allclose(said, values, atol=0.01 * (values[1] - values[0]))
