"""The folder of a study: locked by one study at a time, and no other study's files overwritten unless asked to."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from learnt.study._errors import StudyError
from learnt.study._settings import FREE, Settings

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

OUTPUTS = ("report.html", "model.learnt", "judged.learnt", "study.json", "predictions.parquet", "train.py")
JOURNAL, WORK, LOCK = "journal.jsonl", ".work-", ".lock"
PREPARED = ("table", "fresh", "folds")  # kinds of records in the journal that nothing was computed for
_HELD = (BlockingIOError, PermissionError)


@contextmanager
def folder_of_a_study(folder: Path) -> Iterator[None]:
    """Make the folder and hold it; where the study fails before its first result, all is as it was before."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]  # the innermost first
    try:
        _make(folder)
        with held(folder):
            before = {path.name for path in folder.iterdir()}
            written = _size(folder / JOURNAL)
            try:
                yield
            except BaseException:
                if not _has_results(folder / JOURNAL, written):
                    _restore(folder, before, written)
                raise
    except BaseException:
        for path in made:
            with suppress(OSError):  # another study began there meanwhile
                path.rmdir()
        raise


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _has_results(journal: Path, start: int) -> bool:
    """Whether what was written into the journal since it had so many bytes would have to be computed again."""
    if _size(journal) <= start:
        return False
    lines = journal.read_bytes()[start:].splitlines()
    return any(json.loads(line)["kind"] not in PREPARED for line in lines if line.endswith(b"}"))


def _restore(folder: Path, before: set[str], written: int) -> None:
    """Remove what this study has put into its folder."""
    for path in [path for path in folder.iterdir() if path.name not in before]:
        if path.name.startswith(WORK):
            shutil.rmtree(path, ignore_errors=True)
    journal = folder / JOURNAL
    if journal.name not in before:
        journal.unlink(missing_ok=True)
    elif _size(journal) > written:
        os.truncate(journal, written)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise StudyError(
            f"The folder {folder} cannot be written ({error.strerror}); choose another with --out."
        ) from None


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder; a second study gets an error. A study that was killed no longer holds its lock."""
    path = folder / LOCK
    file = _take(path)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # while it is still locked, so that no other process's file is removed
        os.close(file)


def _take(path: Path) -> int:
    for _ in range(100):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            mine = _lock(file, path) and os.fstat(file).st_ino == path.stat().st_ino
        except FileNotFoundError:  # its holder has ended and removed it
            mine = False
        except BaseException:
            os.close(file)
            raise
        if mine:
            who = {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now().isoformat("T", "seconds")}
            os.ftruncate(file, 0)
            os.write(file, json.dumps(who).encode())
            return file
        os.close(file)
    raise _busy(path)


def _lock(file: int, path: Path) -> bool:
    """Lock an open file; where the system has no locks, rely on the process id written in it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except _HELD:
            raise _busy(path) from None
        except OSError:
            pass  # a file system without locks
    if _alive(_holder(path)):
        raise _busy(path)
    return True


def _holder(path: Path) -> dict[str, Any]:
    try:
        who = json.loads(path.read_text(encoding="utf-8"))
        return who if isinstance(who, dict) else {}
    except (OSError, ValueError):
        return {}


def _alive(who: dict[str, Any]) -> bool:
    """Whether the process that wrote this still runs; a process of another machine is assumed to."""
    if not isinstance(who.get("pid"), int):
        return False
    if who.get("host") != socket.gethostname():
        return True
    try:
        os.kill(who["pid"], 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _busy(path: Path) -> StudyError:
    who = _holder(path)
    named = f"process {who['pid']} on {who.get('host', '?')}, since {who.get('since', '?')}" if "pid" in who else "?"
    far = f", or delete {path} if it has ended" if who.get("host") not in (None, socket.gethostname()) else ""
    return StudyError(
        f"Another study is writing to {path.parent} ({named}); wait for it{far}, or choose another folder with --out."
    )


# --- whose files are there -------------------------------------------------------------------------------------


def check_nothing_is_lost(folder: Path, settings: Settings, data_hash: str) -> None:
    """Raise a sentence where this study would replace files of another one, or files that are not ours."""
    there = [name for name in OUTPUTS if (folder / name).exists()]
    if settings.overwrite or not there:
        return
    facts = _facts(folder)
    foreign = [name for name in there if facts is None or (name == "report.html" and not _ours(folder / name))]
    remedy = "add --overwrite to replace it, or choose another folder with --out"
    if foreign:
        raise StudyError(f"{folder / foreign[0]} was not written by a study of this folder; {remedy}.")
    assert facts is not None
    if what := _difference(facts, settings, data_hash):
        raise StudyError(f"{folder} holds the study of {what}; {remedy}.")


def _facts(folder: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        return facts if facts["learnt"] and facts["settings"] and facts["data"]["hash"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ours(report: Path) -> bool:
    try:
        with report.open("rb") as file:
            return b'<meta name="generator" content="learnt ' in file.read(2000)
    except OSError:
        return False


def _difference(facts: dict[str, Any], settings: Settings, data_hash: str) -> str:
    """How the finished study in a folder differs from this one, in a few words."""
    if facts["data"]["hash"] != data_hash:
        return f"another table ({facts.get('table', '?')}, {facts['data'].get('rows', 0):,} rows) or of other contents"
    before, now = facts["settings"], json.loads(json.dumps(asdict(settings)))
    if before.get("target") != now["target"]:
        return f"another target, “{before.get('target')}”"
    usual = {f.name: f.default for f in fields(Settings)}
    for name in usual:
        if name in FREE or name == "target":
            continue
        old, new = before.get(name, usual[name]), now[name]
        if (list(old) if isinstance(old, tuple) else old) != new:
            return f"the same table with other settings (--{name.replace('_', '-')} {_shown(old)}, now {_shown(new)})"
    return ""


def _shown(value: Any) -> str:
    if value in (None, [], ()):
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
