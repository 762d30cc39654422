"""The outer format: what is not a whole, unchanged file of ours is refused with one sentence, whatever it is."""

import gzip
import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import learnt
from learnt.persistence import LearntFileError, inspect
from learnt.persistence import _container as container
from learnt.persistence._files import load_bytes, to_bytes
from learnt.persistence._json import dump, parse

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.fixture(scope="module")
def data():
    return to_bytes(StandardScaler().fit(X))


def refused(data):
    """The sentence `load` gives for these bytes, which must be foreseen."""
    with pytest.raises(LearntFileError) as caught:
        load_bytes(data)
    message = str(caught.value)
    assert caught.value.__cause__ is None, message
    assert "\n" not in message
    assert message.endswith(".")
    return message


def opened(data):
    """The header of a file as JSON, and its body."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def sealed(header, body):
    """A file with this header and body, and a checksum that matches."""
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    head = struct.pack("<Q", len(text)) + text
    digits = container.checksum(head, [body]).encode()
    return head[: container._DIGITS.start] + digits + head[container._DIGITS.stop :] + body


def test_sealing_is_what_save_does(data):
    assert sealed(*opened(data)) == data


def test_one_changed_byte_anywhere_is_refused(data):
    for i in range(len(data)):
        for flip in (0x01, 0x20, 0x80):
            refused(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])


def test_a_file_cut_anywhere_or_made_longer_is_refused(data):
    for i in range(len(data)):
        refused(data[:i])
    for more in (b"\0", b" ", data):
        refused(data + more)


def test_the_same_model_gives_the_same_bytes(data):
    assert to_bytes(StandardScaler().fit(X)) == data
    assert to_bytes(load_bytes(data)) == data


def test_the_safetensors_package_reads_the_file(data, tmp_path):
    tensors = safetensors.numpy.load(data)
    np.testing.assert_array_equal(tensors["mean_"], X.mean(axis=0))
    path = tmp_path / "model.learnt"
    path.write_bytes(data)
    with safetensors.safe_open(path, "numpy") as file:
        assert file.metadata()["format"] == "learnt"
        assert json.loads(file.metadata()["tree"])["object"]["class"] == "sklearn.preprocessing.StandardScaler"


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def foreign_files():
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("model", b"0" * 100_000)
    array = io.BytesIO()
    np.save(array, X)
    yield from [(pickle.dumps(Bomb(), p), "pickle" if p > 1 else "another kind") for p in range(6)]
    yield zipped.getvalue(), "zip archive"
    yield gzip.compress(b"text"), "gzip archive"
    yield array.getvalue(), "NumPy array"
    yield safetensors.numpy.save({"coef_": X}), "safetensors file of another program"
    yield safetensors.numpy.save({"coef_": X}, {"checksum": "0" * 64}), "checksum"
    yield b"{}", "JSON"
    yield b"", "empty"
    yield b"a,b\n1,2\n", "another kind"
    yield b"\0" * 100, "another kind"
    yield "Grüße".encode(), "another kind"


@pytest.mark.parametrize(("data", "words"), list(foreign_files()), ids=lambda v: v if isinstance(v, str) else "")
def test_foreign_files_are_named_and_refused(data, words, tmp_path):
    assert words in refused(data)
    path = tmp_path / "model.learnt"
    path.write_bytes(data)
    for read in (learnt.load, inspect):
        with pytest.raises(LearntFileError) as caught:
            read(path)
        assert words in str(caught.value)
        assert str(path) in str(caught.value)


def test_lengths_are_checked_before_anything_is_read(data, monkeypatch):
    assert "claims" in refused(struct.pack("<Q", 2**63) + data[8:])
    assert "cut short" in refused(struct.pack("<Q", len(data)) + data[8:])
    assert "too short" in refused(struct.pack("<Q", 0) + data[8:])
    monkeypatch.setattr(container, "MAX_FILE_BYTES", len(data) - 1)
    assert "more than" in refused(data)


def with_tensor(data, **changes):
    header, body = opened(data)
    header["mean_"] |= changes
    return sealed(header, body)


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": "F32"},
        {"dtype": "BF16"},
        {"dtype": None},
        {"dtype": ["F64"]},
        {"shape": [4]},
        {"shape": [-3]},
        {"shape": [3.0]},
        {"shape": [True, 3]},
        {"shape": "3"},
        {"shape": [1] * 40 + [3]},
        {"shape": [2**63, 2**63, 0]},
        {"shape": [3, 2**61]},
        {"data_offsets": [0, 23]},
        {"data_offsets": [0, 24, 24]},
        {"data_offsets": [24, 0]},
        {"data_offsets": [24, 48]},
        {"data_offsets": [2**64, 2**64 + 24]},
        {"data_offsets": [-24, 0]},
        {"data_offsets": [0.0, 24.0]},
        {"data_offsets": None},
        {"more": 1},
    ],
    ids=str,
)
def test_impossible_tensors_are_refused(data, changes):
    refused(with_tensor(data, **changes))


def test_gaps_overlaps_and_loose_ends_are_refused(data):
    header, body = opened(data)
    assert "follow the header" in refused(sealed(header, body + b"\0" * 8))
    assert "overlap" in refused(sealed({**header, "extra": header["mean_"]}, body))
    more = {"dtype": "U8", "shape": [8], "data_offsets": [len(body), len(body) + 8]}
    assert "belongs to nothing" in refused(sealed({**header, "extra": more}, body + b"\0" * 8))
    del header["mean_"]
    refused(sealed(header, body))


def test_headers_that_are_not_ours_are_refused(data):
    header, body = opened(data)
    for key, value in [("format", "other"), ("format_version", "x"), ("format_version", "-1"), ("tree", "{"),
                       ("tree", "[]"), ("tree", "[" * 100_000), ("tree", "NaN"), ("tree", "1e999"),
                       ("tree", "9" * 5000), ("tree", "null"), ("tree", '{"object":{},"object":{}}'),
                       ("tree", '{"tuple":[]}'),
                       ("tree", '"\\ud800"')]:  # fmt: skip
        refused(sealed({**header, "__metadata__": {**header["__metadata__"], key: value}}, body))
    for key in ("format", "format_version", "tree"):
        metadata = {k: v for k, v in header["__metadata__"].items() if k != key}
        refused(sealed({**header, "__metadata__": metadata}, body))
    refused(sealed({**header, "__metadata__": {**header["__metadata__"], "tree": {}}}, body))
    newer = {**header["__metadata__"], "format_version": "99", "learnt": "7.0"}
    assert "upgrade learnt" in refused(sealed({**header, "__metadata__": newer}, body))


def test_truth_values_are_zero_or_one(holder):
    header, body = opened(to_bytes(holder().fit(np.array([True, False]))))
    assert body == b"\x01\x00"
    assert "other bytes" in refused(sealed(header, b"\x02\x00"))


def test_odd_addresses_are_made_even(holder):
    header, body = opened(to_bytes(holder(np.arange(3, dtype=np.uint8)).fit(np.array([0.5, 0.25]))))
    header["value"]["data_offsets"], header["fitted_"]["data_offsets"] = [0, 3], [3, 19]
    model = load_bytes(sealed(header, body[16:] + body[:16]))
    assert model.fitted_.tolist() == [0.5, 0.25]
    assert model.fitted_.flags.aligned


def test_a_packed_list_is_no_longer_than_its_stated_size(holder):
    import zlib

    data = to_bytes(holder([f"name {i}" for i in range(1000)]))
    header, body = opened(data)
    node = json.loads(header["__metadata__"]["tree"])
    packed = node["object"]["params"]["value"]["packed"]
    for claim in (packed["bytes"] - 1, packed["bytes"] + 1, 2**60, -1, None, 2.0):
        tree = json.loads(header["__metadata__"]["tree"])
        tree["object"]["params"]["value"]["packed"]["bytes"] = claim
        metadata = {**header["__metadata__"], "tree": json.dumps(tree)}
        refused(sealed({**header, "__metadata__": metadata}, body))
    bomb = zlib.compress(b"[" + b" " * 100_000_000 + b"]", 9)
    header[packed["tensor"]].update(shape=[len(bomb)], data_offsets=[0, len(bomb)])
    refused(sealed(header, bomb))
    packed["bytes"] = 100_000_002
    metadata = {**header["__metadata__"], "tree": json.dumps(node)}
    assert "memory" in refused(sealed({**header, "__metadata__": metadata}, bomb))


def test_metadata_requests_and_output_settings_come_back():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True).set_output(transform="pandas").fit(X)
        again = load_bytes(to_bytes(make_pipeline(scaler)))[0]
        assert again.get_metadata_routing().fit.requests == {"sample_weight": True}
    assert list(again.transform(X).columns) == ["x0", "x1", "x2"]


def test_strict_json_reads_what_it_writes():
    value = {"a": [1, -2.5, "é\u2028\x00", None, True, {"b": []}], "\ud800": "\udfff"}
    assert parse(dump(value)) == value
    assert parse(dump(value).encode()) == value
