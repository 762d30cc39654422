"""Images as tables: read, refused with a sentence, seen in the columns, learnt from by convolutions, predicted."""

import numpy as np
import polars as pl
import pytest

from learnt.study import StudyError, predict_table, read_table, study
from learnt.study.race._candidates import candidates_for
from learnt.study.table._images import Grid, grid_of
from learnt.study.table._problem import pose


def bars(n=160, seed=0):
    """Images with an upright or a lying bar somewhere, and noise: no pixel alone tells which."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 60, (n, 6, 6)).astype(np.uint8)
    upright = rng.random(n) < 0.5
    for k, place in enumerate(rng.integers(0, 6, n)):
        images[(k, slice(None), place) if upright[k] else (k, place)] += 150
    return images, np.where(upright, "up", "across")


@pytest.mark.parametrize("shape", [(5, 3, 4), (5, 3, 4, 3), (5, 1, 1)])
def test_images_become_columns_in_the_order_of_their_pixels(tmp_path, shape):
    images = np.arange(np.prod(shape)).reshape(shape).astype(np.float32)
    np.savez(tmp_path / "t.npz", X=images, y=np.arange(5), site=list("abcde"))
    table = read_table(tmp_path / "t.npz")
    grid = grid_of(table.columns)
    assert grid == Grid(*shape[1:], *([1] * (4 - len(shape))))
    assert np.array_equal(table.select(grid.names).to_numpy().reshape(shape), images)
    assert table["site"].to_list() == list("abcde")
    np.save(tmp_path / "t.npy", images)
    assert read_table(tmp_path / "t.npy").equals(table.select(grid.names))


def test_channels_may_come_before_the_rows(tmp_path):
    images = np.random.default_rng(0).random((4, 3, 6, 5)).astype(np.float32)
    np.save(tmp_path / "t.npy", images)
    table = read_table(tmp_path / "t.npy")
    assert grid_of(table.columns) == Grid(6, 5, 3)
    assert np.array_equal(table.to_numpy().reshape(4, 6, 5, 3), images.transpose(0, 2, 3, 1))


def test_a_table_that_lacks_a_pixel_is_not_of_images():
    names = Grid(3, 4, 1).names
    assert grid_of([*names, "y"]) == Grid(3, 4, 1)
    assert grid_of(names[:5] + names[6:]) is None
    assert grid_of(["a", "b"]) is None


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"y": np.arange(3)}, "one array of images"),
        ({"A": np.zeros((3, 2, 2)), "B": np.zeros((3, 2, 2))}, "one array of images"),
        ({"X": np.zeros((3, 2, 2)), "y": np.arange(4)}, "one value an image"),
        ({"X": np.full((3, 2, 2), np.nan)}, "a pixel that is no number"),
        ({"X": np.full((3, 2, 2), "a")}, "images are numbers"),
        ({"X": np.zeros((3, 2, 2, 2, 2))}, "images are numbers"),
        ({"X": np.zeros((1, 200, 200), dtype=np.uint8)}, "make them smaller"),
        ({"X": np.array([[[None]]] * 3)}, "could not be read"),
    ],
)
def test_other_arrays_are_refused_with_a_sentence(tmp_path, arrays, said):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(StudyError, match=said):
        read_table(tmp_path / "t.npz")


def test_pixels_are_one_line_and_none_is_set_aside(tmp_path):
    images, y = bars()
    images[:, 0, 0] = 7  # a constant pixel has its place in the image
    np.savez(tmp_path / "t.npz", X=images, y=y)
    table = read_table(tmp_path / "t.npz")
    problem = pose(table.select(reversed(table.columns)), "y")
    assert problem.features == Grid(6, 6, 1).names
    assert problem.image == Grid(6, 6, 1)
    assert problem.set_aside == []
    ((column),) = problem.columns
    assert (column["name"], column["kind"], column["max"]) == ("pixels", "image", float(images.max()))
    more = pose(table.with_columns(pl.Series("age", np.arange(160) % 7 + 0.5)), "y")
    assert more.image is None
    assert more.features == [*Grid(6, 6, 1).names, "age"]


def test_a_convolutional_network_comes_early_on_images_and_never_on_tables():
    for task in ("classify", "regress"):
        of_images = candidates_for(task, image=(6, 6, 1))
        place = [c.family.name for c in of_images].index("convolutional network")
        before = [c.family.name for c in of_images[:place]]
        assert before in (["constant"], ["constant", "support vectors, one scale"])
        assert of_images[place].spec()["params"]["image_shape"] == [6, 6, 1]
        others = [c.id for c in of_images if not c.family.images]
        assert sorted(c.id for c in candidates_for(task)) == sorted(others)


@pytest.mark.long
def test_a_study_of_images_is_judged_saved_and_used(tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNT_STUDY_BRIEF", "1")
    monkeypatch.setenv("LEARNT_LEDGER", str(tmp_path / "ledger.jsonl"))
    images, y = bars(200)
    np.savez(tmp_path / "bars.npz", X=images, y=y)
    found = study(tmp_path / "bars.npz", "y", out=tmp_path / "out", budget=900)
    entries = {e["family"]: e for e in found.facts["race"]["entries"]}
    assert entries["convolutional network"]["error"] < 0.1 < entries["logistic regression"]["error"]
    assert found.beats_constant
    assert "images of 6×6 pixels" in found.report.path.read_text(encoding="utf-8")
    new, truth = bars(200, seed=1)
    np.save(tmp_path / "new.npy", new)
    predicted = predict_table(tmp_path / "out", read_table(tmp_path / "new.npy"))
    assert np.mean(predicted["y" if "y" in predicted.columns else predicted.columns[0]].to_numpy() == truth) > 0.85


def test_a_wrong_target_lists_the_columns_besides_pixels(tmp_path):
    images, y = bars(40)
    np.savez(tmp_path / "t.npz", X=images, y=y, site=y)
    with pytest.raises(StudyError, match=r"There is no column “zzz” \(the target\); the columns are “y”, “site”\."):
        study(tmp_path / "t.npz", "zzz", out=tmp_path / "out")
    with pytest.raises(StudyError, match=r"Name it with target=…; the columns are “y”, “site”\."):
        study(tmp_path / "t.npz", out=tmp_path / "out")
