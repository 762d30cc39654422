"""Files of every release keep loading and keep saying what they said; what was written once is never written again."""

import json
from pathlib import Path

import numpy as np
import pytest

import learnt
from learnt.persistence import _migrations, _registry, inspect
from learnt.persistence._files import load_bytes, to_bytes

HERE = Path(__file__).parent
FILES = sorted((HERE / "golden").glob("*/*.learnt"))


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.stem}" for path in FILES])
def test_a_file_of_a_release_loads_and_predicts_the_same(path, golden, cases):
    model = learnt.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    said = golden["answers"](model, cases[path.stem].data)
    assert said.keys() >= expected.keys()
    for method, result in expected.items():
        if said[method].dtype.kind == "f":
            tolerance = 1e-5 if said[method].dtype == np.float32 else 1e-12
            near = tolerance
            if path.stem == "neighbors-sparse":
                # This release took ‖x − x‖² from products, which are rounded by about 4ε‖x‖² on each machine in its own
                # way: what should be 0 was up to 2‖x‖√ε. It is 0 now.
                near = 2 * np.linalg.norm(cases[path.stem].data, axis=1).max() * np.sqrt(np.finfo(float).eps)
            np.testing.assert_allclose(said[method], np.array(result), rtol=tolerance, atol=near)
        else:
            np.testing.assert_array_equal(said[method].astype(str), np.array(result).astype(str))


def test_every_model_of_every_release_is_there(cases):
    assert {path.parent.name for path in FILES} >= {"0.1.0"}
    for name in cases:
        assert any(path.stem == name for path in FILES), f"{name}: run python tests/persistence/make_golden.py"


def test_every_estimator_has_a_golden_file():
    def classes(part):
        return {part.cls}.union(*map(classes, part.parts))

    held = set().union(*(classes(inspect(path).model) for path in FILES))
    lacking = _registry.estimators().keys() - held
    assert not lacking, f"add {sorted(lacking)} to tests/persistence/make_golden.py and run it"


def test_a_file_of_an_older_format_is_brought_up_to_date(models, monkeypatch):
    """Format 1 read by a release whose format 2 calls `alpha` `penalty`, here the other way round."""
    model, data = models["ridge"]
    old = to_bytes(model)

    def renamed(tree):
        tree["object"]["params"]["alpha"] = tree["object"]["params"].pop("alpha") * 2
        return tree

    monkeypatch.setattr("learnt.persistence._migrations.FORMAT_VERSION", 2)
    monkeypatch.setattr("learnt.persistence._files.FORMAT_VERSION", 2)
    with pytest.raises(learnt.persistence.LearntFileError, match="format 1"):
        load_bytes(old)
    monkeypatch.setitem(_migrations.MIGRATIONS, 1, renamed)
    again = load_bytes(old)
    assert again.alpha == 2 * model.alpha
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    monkeypatch.undo()
    assert load_bytes(old).alpha == model.alpha


def test_a_class_that_moved_is_found(models, monkeypatch):
    data = to_bytes(models["linear"][0])
    old = data.replace(b"learnt.linear_model.LinearRegression", b"learnt.linear_modem.LinearRegression")
    from learnt.persistence import _container as container

    digits = container.checksum(old, []).encode()
    old = old[: container._DIGITS.start] + digits + old[container._DIGITS.stop :]
    monkeypatch.setattr(
        _registry, "RENAMED", {"learnt.linear_modem.LinearRegression": "learnt.linear_model.LinearRegression"}
    )
    _registry.resolve.cache_clear()
    assert load_bytes(old).coef_.tolist() == models["linear"][0].coef_.tolist()
    _registry.resolve.cache_clear()
