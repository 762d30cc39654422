"""TableEncoder: any table in, numbers out, learned once and replayed exactly."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from learnt.engine.estimator import Estimator, Takes, Trial
from learnt.engine.mixins import TransformerMixin
from learnt.preprocessing._categories import Target, read_target
from learnt.preprocessing._coding import READ_KINDS, Learned, Options, encode, learn, unread_rows
from learnt.preprocessing._frame import Column, Table, read_table
from learnt.preprocessing._kinds import DROPPED, KINDS, Decision, decide
from learnt.preprocessing._table_schema import TABLE_ENCODER

N_FOLDS = 5  # of the cross-fitted target means


class TableEncoder(TransformerMixin, Estimator):
    """Any table in, numbers out: each column by what it holds, decided in `fit` and replayed in `transform`.

    =========  ====================================================  ================================================
    kind       what counts as it                                     what comes out
    =========  ====================================================  ================================================
    number     numbers; strings such as "$1,234.50", "12%", "(300)"  itself, missing cells filled by the median, and
                                                                     a 0/1 column for missing where any was
    boolean    true/false; strings such as "yes"/"no"                0/1, and missing as above
    category   strings and categoricals                              0/1 for each level seen at least `min_frequency`
                                                                     times and for all others; above `max_onehot`
                                                                     levels as `high_cardinality` says
    date       dates, times; strings such as "31/12/2020"            days since the first, year, and month, weekday
                                                                     and hour as points on a circle, where they vary
    text       long strings of many words                            TF-IDF of the `text_features` words that tell
                                                                     most, and the length
    =========  ====================================================  ================================================

    Identifiers, constants, empty columns and copies of another column are left out; `columns_` says why. Infinities
    and markers such as "NA", "?" or "-" count as missing. A cell that cannot be read as what its column was becomes
    missing, with one warning a call. Columns are found by name; further columns are ignored. pandas, Polars, pyarrow,
    a dict of columns or an array of the same cells give the same numbers. A scipy.sparse matrix passes through.

    Parameters
    ----------
    kinds : dict of str to str, optional
        The kind of columns that should not be guessed: "number", "boolean", "category", "date", "text", or "drop".
    max_onehot : int, default=20
        A category with more levels than this is coded as `high_cardinality` says.
    min_frequency : int or float, default=2
        Levels seen in fewer rows (a float: in a smaller share of rows) are pooled as "other".
    high_cardinality : {"target", "frequency", "drop"}, default="target"
        "target": the mean target of the level (the share of each class), shrunk by empirical Bayes; `fit_transform`
        gives each row the mean over other rows only. "frequency": how common the level is, and 0/1 columns for the
        commonest; also what "target" does when `fit` gets no y. "drop": nothing.
    text_features : int, default=64
        The number of words kept of a text column.
    numeric : {"raw", "squash"}, default="raw"
        "squash" centres numbers (and days, years and target means) at the median, divides them by their spread and
        bends them smoothly into (−3, 3), so that spikes neither rule a linear model nor a distance, and all columns
        are of the same size without a scaler.
    dtype : {None, "float32", "float64"}, default=None
        The type of the output; None keeps float32 where every column is float32, and is float64 otherwise.
    random_state : int, RandomState, Generator or None, default=0
        Makes the folds of the cross-fitted target means.

    Attributes
    ----------
    columns_ : list of dict
        For each column its "name", "kind", "reason", "statistics", the names of its "outputs", and its "coding": all
        that `transform` uses, as plain data.
    sparse_ : bool
        Whether `fit` saw a sparse matrix, which passes through.
    dtype_ : str
        The type of the output.

    See Also
    --------
    StandardScaler : Columns of one size, once all are numbers.
    OneHotEncoder : Categories as 0/1 columns, without guesses.
    profile : What a table holds, before anything is learnt from it.

    Examples
    --------
    >>> from learnt.preprocessing import TableEncoder
    >>> table = {"price": ["$1,200", "$950", None, "$3k"], "town": ["Rome", "Oslo", "Rome", "Oslo"]}
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['price', 'price missing', 'town=Oslo', 'town=Rome']
    >>> encoder.transform({"price": ["n/a"], "town": ["Paris"]})
    array([[1200., 1., 0., 0.]])
    """

    __learnt_schema__ = TABLE_ENCODER
    __learnt_takes__ = Takes(sparse=True, categories=True, missing=True)
    __learnt_trial__ = Trial(quick={"random_state": 0})

    def __init__(
        self,
        kinds: dict[str, str] | None = None,
        *,
        max_onehot: int = 20,
        min_frequency: float = 2,
        high_cardinality: str = "target",
        text_features: int = 64,
        numeric: str = "raw",
        dtype: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.kinds = kinds
        self.max_onehot = max_onehot
        self.min_frequency = min_frequency
        self.high_cardinality = high_cardinality
        self.text_features = text_features
        self.numeric = numeric
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Decide what each column holds and learn how to write it as numbers.

        Parameters
        ----------
        X : data frame, dict of columns, array-like or sparse matrix of shape (n_samples, n_features)
            The table to learn from.
        y : array-like of shape (n_samples,), optional
            The target; used only for the means of categories with many levels.
        """
        if sparse.issparse(X):
            return self._fit_sparse(X)
        self._learn(X, y, n_folds=0)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give the numbers of the same rows, with target means that no row's own target is part of.

        Parameters
        ----------
        X : data frame, dict of columns, array-like or sparse matrix of shape (n_samples, n_features)
            The table to learn from.
        y : array-like of shape (n_samples,), optional
            The target; used only for the means of categories with many levels.
        """
        if sparse.issparse(X):
            return self._fit_sparse(X).transform(X)
        table, held_out = self._learn(X, y, n_folds=N_FOLDS)
        out = self._encode(table.columns, table.height, warn=False)
        for start, values in held_out:
            out[:, start : start + values.shape[1]] = values
        return out

    def transform(self, X: Any) -> Any:
        """The numbers of new rows: a C-ordered array of shape (n_samples, n_features_out), always finite.

        Parameters
        ----------
        X : data frame, dict of columns, array-like or sparse matrix of shape (n_samples, n_features)
            New rows. Columns are found by name; further columns are ignored.
        """
        check_is_fitted(self)
        if sparse.issparse(X):
            return self._pass_sparse(X)
        table = read_table(X, type(self).__name__)
        if self.sparse_:
            return self._pass_dense(table)
        return self._encode(self._matched(table), table.height, warn=True)

    def unreadable(self, X: Any) -> list[dict[str, Any]]:
        """Columns of a new table with cells that `transform` would count as missing although something is in them.

        Only columns are named in which `fit` could read every cell, or met no infinite one.

        Parameters
        ----------
        X : data frame, dict of columns or array-like of shape (n_samples, n_features)
            The new table.

        Returns
        -------
        found : list of dict
            Each has ``column``, ``kind`` (what it held in `fit`), ``count``, and of the first such cell ``row`` (from
            0) and ``cell``.

        Examples
        --------
        >>> encoder = TableEncoder().fit({"age": [31, 42, 53]})
        >>> encoder.unreadable({"age": ["44", "old", None]})
        [{'column': 'age', 'kind': 'number', 'count': 1, 'row': 1, 'cell': 'old'}]
        """
        check_is_fitted(self)
        if sparse.issparse(X) or self.sparse_:
            return []
        found = []
        for record, column in zip(self.columns_, self._matched(read_table(X, type(self).__name__))):
            if record["kind"] in READ_KINDS:
                rows = unread_rows(record["kind"], record["coding"], record["statistics"], column)
                if len(rows):
                    cell = str(column.values[int(rows[0])]) if column.form != "nested" else column.values
                    entry = {"column": record["name"], "kind": record["kind"], "count": len(rows)}
                    found.append(entry | {"row": int(rows[0]), "cell": cell})
        return found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Readable names of the output columns, such as "age", "age missing", "job=Sales", "start: weekday sin"."""
        check_is_fitted(self)
        names = self._input_names(input_features)
        if self.sparse_:
            return np.array(names, dtype=object)
        return np.array(_output_names(self.columns_, names), dtype=object)

    # --- fitting ---------------------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Any, n_folds: int) -> tuple[Table, list[tuple[int, np.ndarray]]]:
        options = self._options(n_folds)
        table = read_table(X, type(self).__name__)
        if table.height < 2:
            raise ValueError(
                f"TableEncoder needs at least 2 rows to tell what varies, got {table.height} "
                f"sample{'' if table.height == 1 else 's'}."
            )
        target = self._target(y, table.height)
        wanted = self._wanted(table)
        columns, held_out, width = [], [], 0
        for column, copied in zip(table.columns, copies(table.columns)):
            decision = decide(column, named=table.named, max_onehot=self.max_onehot, wanted=wanted.get(column.name))
            if copied is not None and column.name not in wanted and decision.kind not in DROPPED:
                decision = Decision("duplicate", f"the same cells as {copied!r}")
            record, learned = _record(column, decision, options, target)
            columns.append(record)
            if learned is not None and learned.held_out is not None:
                held_out.append((width, learned.held_out))
            width += len(record["suffixes"])
        if width == 0:
            raise ValueError(
                f"TableEncoder found nothing to learn from in {len(columns)} columns and {table.height} samples: "
                + "; ".join(f"{c['name']!r} {c['reason']}" for c in columns[:3])
                + (" …" if len(columns) > 3 else "")
                + "."
            )
        self._record_input(table.names, table.named)
        for record, outputs in zip(columns, _split(_output_names(columns, table.names), columns)):
            record["outputs"] = outputs
        self.columns_ = columns
        self.sparse_ = False
        self.dtype_ = np.dtype(self.dtype or table.dtype).name
        return table, held_out

    def _options(self, n_folds: int) -> Options:
        _check_count("max_onehot", self.max_onehot, 1)
        _check_count("text_features", self.text_features, 0)
        _check_choice("high_cardinality", self.high_cardinality, ("target", "frequency", "drop"))
        _check_choice("numeric", self.numeric, ("raw", "squash"))
        share = isinstance(self.min_frequency, Real) and not isinstance(self.min_frequency, Integral | bool)
        if not (share and 0 <= self.min_frequency <= 1):
            _check_count("min_frequency", self.min_frequency, 0)
        if self.dtype is not None and np.dtype(self.dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be None, 'float32' or 'float64'; it is {self.dtype!r}.")
        frequency = float(self.min_frequency) if share else int(self.min_frequency)
        return Options(
            self.max_onehot,
            frequency,
            self.high_cardinality,
            self.text_features,
            self.numeric,
            n_folds,
            self.random_state,
        )

    def _target(self, y: Any, height: int) -> Target | None:
        if y is None:
            return None
        length = len(y) if hasattr(y, "__len__") else len(np.asarray(y))
        if length != height:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {height}, y has {length}."
            )
        return read_target(y)

    def _wanted(self, table: Table) -> dict[str, str]:
        wanted = dict(self.kinds or {})
        unknown = [name for name in wanted if name not in set(table.names)]
        if unknown:
            raise ValueError(f"kinds names columns that are not in the table: {_listed(unknown)}.")
        for name, kind in wanted.items():
            _check_choice(f"kinds[{name!r}]", kind, (*KINDS, "drop"))
        return wanted

    def _record_input(self, names: list[str], named: bool) -> None:
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # --- replaying -------------------------------------------------------------------------------------------

    def _matched(self, table: Table) -> list[Column]:
        """The columns of a new table in the order of `fit`: by name where both have names, else by place."""
        if table.named and hasattr(self, "feature_names_in_"):
            by_name = {column.name: column for column in table.columns}
            absent = [name for name in self.feature_names_in_ if name not in by_name]
            if absent:
                raise ValueError(f"The table lacks {_listed(absent)}, which TableEncoder was fitted with.")
            return [by_name[name] for name in self.feature_names_in_]
        self._check_width(len(table.columns))
        return table.columns

    def _encode(self, columns: list[Column], height: int, warn: bool) -> np.ndarray:
        width = sum(len(record["outputs"]) for record in self.columns_)
        out = np.empty((height, width), dtype=self.dtype_)
        start, unread = 0, {}
        for record, column in zip(self.columns_, columns):
            stop = start + len(record["outputs"])
            if stop == start:
                continue
            count = encode(record["kind"], record["coding"], column, out[:, start:stop])
            if count:
                unread[record["name"]] = count
            start = stop
        if warn and unread:
            shown = ", ".join(f"{name!r}: {count}" for name, count in list(unread.items())[:5])
            more = ", …" if len(unread) > 5 else ""
            warnings.warn(
                f"TableEncoder could not read {sum(unread.values())} cells as what their column held in fit "
                f"({shown}{more}) and treats them as missing.",
                UserWarning,
                stacklevel=3,
            )
        return out

    def _input_names(self, input_features: Any) -> list[str]:
        own = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return [f"x{j}" for j in range(self.n_features_in_)] if own is None else own.tolist()
        given = [str(name) for name in input_features]
        if own is not None and given != own.tolist():
            raise ValueError("input_features is not equal to feature_names_in_.")
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(given)}."
            )
        return given

    # --- sparse matrices -------------------------------------------------------------------------------------

    def _fit_sparse(self, X: Any) -> TableEncoder:
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise ValueError(f"TableEncoder got an empty sparse matrix of shape {X.shape}; it needs rows and columns.")
        if np.dtype(X.dtype).kind not in "biuf":
            raise ValueError(f"TableEncoder passes real sparse matrices through, got one of type {X.dtype}.")
        self._options(0)
        self._record_input([f"x{j}" for j in range(X.shape[1])], False)
        self.columns_ = []
        self.sparse_ = True
        self.dtype_ = np.dtype(self.dtype or (np.float32 if X.dtype == np.float32 else np.float64)).name
        return self

    def _pass_sparse(self, X: Any) -> Any:
        if not self.sparse_:
            raise TypeError("TableEncoder was fitted on a dense table and got a sparse matrix; pass X.toarray().")
        self._check_width(X.shape[1])
        if not np.isfinite(X.data if hasattr(X, "data") and X.format != "lil" else X.tocsr().data).all():
            raise ValueError("The sparse matrix has NaN or infinite entries; fill them before TableEncoder.")
        return X.astype(self.dtype_)

    def _pass_dense(self, table: Table) -> np.ndarray:
        self._check_width(len(table.columns))
        if any(column.form not in ("number", "boolean") for column in table.columns):
            raise ValueError("TableEncoder was fitted on a sparse matrix and takes only numbers now.")
        out = np.column_stack([column.values for column in table.columns]).astype(self.dtype_)
        if not np.isfinite(out).all():
            raise ValueError(
                "TableEncoder was fitted on a sparse matrix and cannot fill missing cells; fill them first."
            )
        return out

    def _check_width(self, width: int) -> None:
        if width != self.n_features_in_:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# --- helpers -------------------------------------------------------------------------------------------------


def _record(column: Column, decision: Decision, options: Options, target: Target | None) -> tuple[dict, Learned | None]:
    """The entry of a column in `columns_`; a kept kind without information becomes a dropped one."""
    kind, reason = decision.kind, decision.reason
    learned = None
    if kind not in DROPPED:
        learned = learn(column, decision, options, target)
        if not learned.suffixes:
            kind, reason = _why_nothing(kind, reason, learned.statistics, options)
    record = {
        "name": column.name,
        "kind": kind,
        "reason": reason,
        "statistics": learned.statistics if learned else {},
        "outputs": [],
        "suffixes": learned.suffixes if learned else [],
        "coding": learned.coding if learned and learned.suffixes else {},
    }
    return record, learned


def _why_nothing(kind: str, reason: str, statistics: dict, options: Options) -> tuple[str, str]:
    if kind in ("number", "boolean", "date"):
        if "min" not in statistics:
            return "empty", f"no cell could be read as a {kind} ({reason})"
        return "constant", f"every cell is {statistics['min']:g}" if kind != "date" else f"always {statistics['min']}"
    levels = statistics.get("levels", 0)
    if levels == 0:
        return "empty", "every cell is missing"
    if levels == 1:
        return "constant", f"every cell is {statistics['top'][0][0]!r}"
    if levels > options.max_onehot and options.high_cardinality == "drop":
        return "drop", f"{levels} levels, and high_cardinality is 'drop'"
    return "constant", f"no level is seen {options.min_frequency} times, so all are 'other'"


def copies(columns: list[Column]) -> list[str | None]:
    """For each column the name of an earlier one with the same cells, or None."""
    seen: dict[Any, list[Column]] = {}
    found: list[str | None] = []
    for column in columns:
        if column.form in ("empty", "nested"):
            found.append(None)
            continue
        alike = seen.setdefault(_fingerprint(column), [])
        original = next((other.name for other in alike if _same(column, other)), None)
        found.append(original)
        if original is None:
            alike.append(column)
    return found


def _fingerprint(column: Column) -> tuple:
    """What columns with the same cells share, and others hardly ever: the sum and some cells."""
    values = column.values
    if not isinstance(values, np.ndarray):
        values = values.hash(seed=0).to_numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.float64(values.sum(dtype=np.float64)) + 0.0
    some = values[:: max(1, len(values) // 64)].astype(np.float64) + 0.0
    return column.form, total.tobytes(), some.tobytes()


def _same(a: Column, b: Column) -> bool:
    if isinstance(a.values, np.ndarray):
        return a.form == b.form and np.array_equal(a.values, b.values, equal_nan=True)
    return bool(a.values.equals(b.values, null_equal=True))


def _output_names(columns: list[dict], names: list[str]) -> list[str]:
    """Name and suffix; a second column of the same name gets a number."""
    out: list[str] = []
    taken: set[str] = set()
    for record, name in zip(columns, names):
        for suffix in record["suffixes"]:
            label, k = name + suffix, 2
            while label in taken:
                label, k = f"{name}{suffix} ({k})", k + 1
            taken.add(label)
            out.append(label)
    return out


def _split(names: list[str], columns: list[dict]) -> list[list[str]]:
    stops = np.cumsum([len(record["suffixes"]) for record in columns]).tolist()
    return [names[start:stop] for start, stop in zip([0, *stops[:-1]], stops)]


def _listed(names: list) -> str:
    shown = ", ".join(repr(str(name)) for name in names[:5])
    noun = "the column" if len(names) == 1 else "the columns"
    return f"{noun} {shown}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; it is {value!r}.")


def _check_choice(name: str, value: Any, allowed: tuple) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; it is {value!r}.")
