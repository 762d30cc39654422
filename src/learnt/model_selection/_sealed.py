"""The test set is used once: a box that hands it out, writes down every time, and says so when it is not the first."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from learnt.engine.matrices import dense, in_numpy
from learnt.model_selection._take import count_rows


class TestSetReopenedWarning(UserWarning):
    """A sealed test set was opened more than once: scores on it are no longer those of unseen data.

    See Also
    --------
    SealedTestSet : Gives the warning.

    Examples
    --------
    >>> import warnings
    >>> from learnt.model_selection import SealedTestSet, TestSetReopenedWarning
    >>> box = SealedTestSet([[1.0], [2.0]], [0, 1])
    >>> X, y = box.open(reason="final score")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     X, y = box.open(reason="one more look")
    >>> caught[0].category is TestSetReopenedWarning
    True
    """

    __test__ = False  # pytest: this is no test


class Opening(NamedTuple):
    """One opening of a sealed test set."""

    when: str
    reason: str


class SealedTestSet:
    """Test rows that are handed out once, with a log of every opening.

    A score on a test set that has guided a choice is not the score on new data. The box keeps its rows out of sight
    (no indexing, no iteration, nothing in `repr`), asks for a reason, writes it down, and warns loudly from the second
    opening on.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The test rows: an array, a data frame or any other table.
    y : array-like of shape (n_samples,) or None
        Their targets; None where there are none.
    path : path-like, default=None
        A ledger file. Openings are appended to it under a fingerprint of the rows, whatever their order, so that
        another process that seals the same rows knows of them. Several test sets can share a file. None keeps the log
        in memory.

    Attributes
    ----------
    log : tuple of (when, reason)
        Every opening so far, those in the ledger included.
    opened : int
        How many there are.
    fingerprint : str
        A hash of the rows that does not depend on their order.

    See Also
    --------
    train_validation_test_split : Rows to train on, to choose by and to seal.
    learnt.diagnosis.bootstrap_interval : How far the score on the test may be from the truth.

    Notes
    -----
    A copy is the same box, with the same log. Where the ledger cannot be written, the rows stay sealed.

    Examples
    --------
    >>> from learnt.model_selection import SealedTestSet
    >>> box = SealedTestSet([[1.0], [2.0]], [0, 1])
    >>> box
    SealedTestSet(2 rows, never opened)
    >>> X, y = box.open(reason="final score of the chosen model")
    >>> box.opened, box.log[0].reason
    (1, 'final score of the chosen model')
    """

    def __init__(self, X: Any, y: Any, *, path: str | os.PathLike[str] | None = None) -> None:
        rows = count_rows(X, "X")
        if y is not None and count_rows(y, "y") != rows:
            raise ValueError(f"X has {rows} rows and y {count_rows(y, 'y')}; seal one target a row.")
        self.__contents = (X, y)
        self.__rows = rows
        self.__log: list[Opening] = []
        self.__path = None if path is None else Path(path)
        self.__hash: str | None = None
        self.__lock = threading.Lock()

    def open(self, reason: str) -> tuple[Any, Any]:
        """Hand out X and y, and write down when and why; from the second time on with a warning.

        Parameters
        ----------
        reason : str
            What the rows are used for; it goes into the log.

        Returns
        -------
        X : array-like of shape (n_samples, n_features)
            The test rows, as they were passed.
        y : array-like of shape (n_samples,) or None
            Their targets, as they were passed.

        Raises
        ------
        ValueError
            Without a reason.
        OSError
            Where the ledger cannot be written; the rows stay sealed.
        """
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError("A sealed test set is opened for a reason; say which, as in open(reason='final score').")
        opening = Opening(datetime.now(UTC).isoformat(timespec="seconds"), reason.strip())
        with self.__lock:
            earlier = self.__known()
            if self.__path is not None:
                _append(self.__path, self.fingerprint, opening)
            self.__log = [*earlier, opening]
        if earlier:
            warnings.warn(
                f"This test set is opened for the {_ordinal(len(earlier) + 1)} time; it was opened on "
                f"{earlier[-1].when} for {earlier[-1].reason!r}, so a score on it is no longer one on unseen data: "
                "report how often it was used, or hold out new rows.",
                TestSetReopenedWarning,
                stacklevel=2,
            )
        return self.__contents

    def __known(self) -> list[Opening]:
        """Openings of this box, and those of the same rows in the ledger, in order of time."""
        if self.__path is None:
            return list(self.__log)
        written = _read(self.__path, self.fingerprint)
        return written + [opening for opening in self.__log if opening not in written]

    @property
    def log(self) -> tuple[Opening, ...]:
        """Every opening so far, as (when, reason): those of this box and those in the ledger.

        Returns
        -------
        openings : tuple of (str, str)
            Named tuples with `when`, the time in UTC in ISO format, and `reason`.
        """
        with self.__lock:
            return tuple(self.__known())

    @property
    def opened(self) -> int:
        """How often these rows have been handed out, by the log.

        Returns
        -------
        count : int
            0 for rows that nobody has seen.
        """
        return len(self.log)

    @property
    def fingerprint(self) -> str:
        """A hash of the rows that does not depend on their order, nor, for numbers, on the kind of table.

        Returns
        -------
        fingerprint : str
            32 hexadecimal digits; the name of the rows in the ledger.
        """
        if self.__hash is None:
            self.__hash = _fingerprint(*self.__contents)
        return self.__hash

    def __len__(self) -> int:
        return self.__rows

    def __repr__(self) -> str:
        count = len(self.__log) if self.__path is None else self.opened
        state = "never opened" if count == 0 else f"opened {_times(count)}"
        return f"SealedTestSet({self.__rows:,} rows, {state})"

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("This test set is sealed: its rows come out by open(reason=…) alone, and every time is logged.")

    __getitem__ = __iter__ = __array__ = __dataframe__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name in ("X", "y", "data", "target"):
            raise AttributeError(f"This test set is sealed: there is no .{name}; use open(reason=…).")
        raise AttributeError(f"'SealedTestSet' object has no attribute {name!r}")

    # A copy is the same box: there is one test set, and one count.
    def __copy__(self) -> SealedTestSet:
        return self

    def __deepcopy__(self, memo: Any) -> SealedTestSet:
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_SealedTestSet__lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__lock = threading.Lock()


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _ordinal(n: int) -> str:
    if n % 100 in (11, 12, 13):
        return f"{n}th"
    return f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th') }"


def _append(path: Path, fingerprint: str, opening: Opening) -> None:
    """Write one line, whole or not at all; if that fails, nothing is handed out."""
    line = json.dumps({"test": fingerprint, "when": opening.when, "reason": opening.reason}) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(
            f"The ledger {path.name!r} cannot be written ({error.strerror}), so the test set stays sealed; "
            "give a path that can."
        ) from error


def _read(path: Path, fingerprint: str) -> list[Opening]:
    """Openings of these rows; a damaged line is passed over."""
    if not path.exists():
        return []
    openings = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
            if record["test"] == fingerprint:
                openings.append(Opening(str(record["when"]), str(record["reason"])))
        except (ValueError, KeyError, TypeError):
            continue
    return openings


def _fingerprint(X: Any, y: Any) -> str:
    """The sum of the rows' hashes: the same for the same rows in any order and, if they are numbers, any container."""
    parts = [_row_bytes(part) for part in (X, y) if part is not None]
    total = 0
    for pieces in zip(*parts, strict=True):
        digest = hashlib.blake2b(b"\x1f".join(pieces), digest_size=16).digest()
        total = (total + int.from_bytes(digest, "big")) % 2**128
    return f"{total:032x}"


def _row_bytes(table: Any) -> list[bytes]:
    """Every row as bytes: numbers as float64, anything else as text."""
    table = in_numpy(dense(table))
    if not isinstance(table, np.ndarray):
        table = _cells(table)
    if table.dtype.kind in "biuf":
        table = np.ascontiguousarray(table.reshape(table.shape[0], -1), dtype=np.float64) + 0.0
        return [row.tobytes() for row in table]
    return ["\x1e".join(map(_text, np.atleast_1d(row).ravel().tolist())).encode() for row in table]


def _cells(table: Any) -> np.ndarray:
    """A frame, series or sequence as one array; text and dates keep their kind within a table of objects."""
    import narwhals as nw

    native = nw.from_native(table, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        columns = [native[:, j].to_numpy() for j in range(native.shape[1])]
        if all(column.dtype.kind in "biuf" for column in columns):
            return np.column_stack([column.astype(np.float64) for column in columns])
        return np.column_stack([column.astype(object) for column in columns])
    return np.asarray(native.to_numpy() if isinstance(native, nw.Series) else table)


def _text(value: Any) -> str:
    if value is None or value != value:
        return "\x00"
    return repr(float(value)) if isinstance(value, int | float) else str(value)
