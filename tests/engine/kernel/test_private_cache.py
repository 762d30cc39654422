"""Kernels on disk are code: nothing is read, kept or removed where somebody else could have put it."""

import hashlib
import logging
import os
import pickle
import stat
from pathlib import Path

import pytest

from learnt.cli import _info
from learnt.engine.kernel import Kernel, private_files
from learnt.engine.kernel import cache as kernel_cache
from learnt.engine.kernel.private_files import NotPrivate, private_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are of POSIX systems")
SOMEBODY = 54321


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch):
    monkeypatch.setattr(kernel_cache, "_refused", {})


@pytest.fixture
def give_away(monkeypatch):
    """Make a file or folder somebody else's: by its owner where we are root, by our own number where not."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, SOMEBODY, -1)
        else:
            monkeypatch.setattr(private_files.os, "geteuid", lambda: SOMEBODY)

    return give


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("LEARNT_CACHE_DIR", str(folder))
    monkeypatch.delenv("LEARNT_CACHE", raising=False)
    return folder


def shifted(x):
    return x + 0.25


def fresh():
    """The same kernel, as a new process would see it."""
    return Kernel(shifted, False)


class Planted:
    """What an intruder would write: unpickling it makes a file."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (Path.touch, (self.mark,))


def plant(path, mark):
    payload = pickle.dumps(Planted(mark))
    path.write_bytes(hashlib.sha256(payload).digest() + payload)
    path.chmod(0o600)


@pytest.fixture
def planted(cache, tmp_path):
    """A cache with one entry that runs code when it is read, and the file that shows that it ran."""
    assert fresh()(1.0) == 1.25
    (entry,) = cache.glob("*.kernel")
    mark = tmp_path / "code_of_somebody_else_ran"
    plant(entry, mark)
    return entry, mark


def test_an_entry_of_our_own_is_code_that_runs(planted):
    """Or the tests below would show nothing."""
    _, mark = planted
    assert fresh()(1.0) == 1.25
    assert mark.exists()


@pytest.mark.parametrize("what", ["folder", "file"])
@pytest.mark.parametrize("how", ["owner", "group", "others", "link"])
def test_code_of_somebody_else_never_runs(planted, cache, give_away, what, how, tmp_path):
    entry, mark = planted
    place = cache if what == "folder" else entry
    if how == "owner":
        give_away(place)
    elif how == "link":
        elsewhere = tmp_path / "elsewhere"
        place.rename(elsewhere)
        place.symlink_to(elsewhere)
    else:
        place.chmod(stat.S_IMODE(place.stat().st_mode) | (0o020 if how == "group" else 0o002))
    assert fresh()(1.0) == 1.25
    assert not mark.exists()


@pytest.mark.parametrize("how", ["owner", "group", "others", "link"])
def test_a_refused_folder_is_neither_written_to_nor_emptied(cache, give_away, how, tmp_path, caplog, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere if how == "link" else cache).mkdir(mode=0o700)
    if how == "link":
        cache.symlink_to(elsewhere)
    elif how == "owner":
        give_away(cache)
    else:
        cache.chmod(0o770 if how == "group" else 0o707)
    (cache / "of_somebody.kernel").write_bytes(b"x")
    with caplog.at_level(logging.WARNING, logger="learnt"):
        assert fresh()(1.0) == 1.25
        assert fresh()(1.0) == 1.25
        assert kernel_cache.clear() == 0
        found = kernel_cache.info()
    assert os.listdir(cache) == ["of_somebody.kernel"]
    assert (found.folder, found.entries) == (None, 0)
    (said,) = caplog.records  # once, in one sentence
    assert str(cache) in said.getMessage()
    assert "chmod 700" in said.getMessage()
    assert str(cache) in found.refused
    monkeypatch.setattr(_info, "_gpu", str)  # asking takes seconds
    assert found.refused in dict(_info.facts())["kernel cache"]


def test_a_link_among_the_entries_is_removed_and_not_what_it_leads_to(cache, tmp_path):
    cache.mkdir(mode=0o700)
    kept = tmp_path / "kept.kernel"
    kept.write_bytes(b"x")
    (cache / "link.kernel").symlink_to(kept)
    assert kernel_cache.clear() == 1
    assert kept.exists()
    assert not list(cache.iterdir())


def test_a_pipe_in_place_of_a_cache_entry_does_not_block(planted):
    entry, _ = planted
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert fresh()(1.0) == 1.25


def test_our_folder_is_ours_alone_whatever_the_mask(cache):
    before = os.umask(0o002)
    try:
        fresh()(1.0)
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o755
    entry, lock = sorted(cache.iterdir(), key=lambda path: path.suffix)
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600  # a lock of somebody else would make us wait
    assert stat.S_IMODE(entry.stat().st_mode) == 0o644


def test_where_the_first_place_is_open_to_a_group_the_next_is_used(tmp_path, monkeypatch, caplog):
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    shared.chmod(0o775)
    monkeypatch.delenv("LEARNT_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel_cache, "folders", lambda: [shared, own])
    with caplog.at_level(logging.WARNING, logger="learnt"):
        fresh()(1.0)
    assert not list(shared.iterdir())
    assert sorted(path.suffix for path in own.iterdir()) == [".kernel", ".lock"]
    assert not caplog.records  # nobody chose that folder


@pytest.mark.parametrize("how", ["ours", "root", "readable", "link"])
def test_the_name_in_the_temporary_folder_counts_only_where_we_made_it(tmp_path, monkeypatch, how):
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(kernel_cache, "folders", lambda: [kernel_cache._temporary()])
    place = kernel_cache._temporary()
    if how == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    elif how != "ours":
        place.mkdir(mode=0o700)
        place.chmod(0o755 if how == "readable" else 0o700)
    if how == "root":  # anywhere else a folder of root's is trusted
        monkeypatch.setattr(private_files.os, "geteuid", lambda: place.stat().st_uid + 1)
        monkeypatch.setattr(kernel_cache, "_temporary", lambda: place)
    assert (kernel_cache.info().folder == place) == (how == "ours")


def test_a_file_server_without_write_access_is_skipped(tmp_path, monkeypatch):
    """Root's writes are refused by some file servers, whatever the modes say."""
    server, own = tmp_path / "server", tmp_path / "own"
    monkeypatch.setattr(kernel_cache, "folders", lambda: [server, own])
    write = private_files.PrivateFolder.write

    def refuse(folder, name, content):
        if folder.path == server:
            raise PermissionError("squashed")
        write(folder, name, content)

    monkeypatch.setattr(private_files.PrivateFolder, "write", refuse)
    fresh()(1.0)
    assert len(list(own.iterdir())) == 1


def test_without_owners_entries_are_kept_and_links_refused(cache, monkeypatch, tmp_path):
    """As on Windows."""
    monkeypatch.setattr(private_files, "_HAS_OWNERS", False)
    assert fresh()(1.0) == 1.25
    (entry,) = cache.glob("*.kernel")
    plant(entry, tmp_path / "read")
    assert fresh()(1.0) == 1.25
    assert (tmp_path / "read").exists()
    assert kernel_cache.clear() == 1
    cache.rename(tmp_path / "elsewhere")
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotPrivate, match="link"), private_folder(cache):
        pass
