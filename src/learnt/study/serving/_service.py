"""A request becomes an answer. Options of the command are query parameters here: ``?lenient=yes``, ``?header=no``."""

from __future__ import annotations

import json
import logging
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from learnt._version import __version__
from learnt.study._errors import StudyError, did_you_mean
from learnt.study._model import UNLIKE, SavedModel
from learnt.study._reasons import reason_columns, reason_records, row_reasons
from learnt.study.serving._bodies import Rows, rows_from_csv, rows_from_json
from learnt.study.serving._openapi import docs_page, openapi
from learnt.study.serving._schema import columns_wanted, describe, example_row

JSON, CSV, HTML = "application/json", "text/csv", "text/html"
ROUTES = {
    "/": "GET",
    "/predict": "POST",
    "/schema": "GET",
    "/health": "GET",
    "/openapi.json": "GET",
    "/docs": "GET",
}
MOST_EXPLAINED = 1_000  # rows of a request, which may ask for their reasons
_YES, _NO = ("yes", "true", "1", ""), ("no", "false", "0")
_LOG = logging.getLogger("learnt")


class Request(NamedTuple):
    """What of a request matters."""

    method: str
    path: str
    query: dict[str, str]
    kind: str = ""  # of the body
    accept: str = ""
    body: bytes = b""


class Answer(NamedTuple):
    """Status, type and bytes; for a wrong method also the one that is allowed."""

    status: int
    kind: str
    body: bytes
    allow: str = ""
    rows: int = 0


def refusal(status: int, sentence: str, allow: str = "") -> Answer:
    """An error as one sentence in JSON."""
    return Answer(status, JSON, _json({"error": sentence}), allow)


class Service:
    """A model with everything that is the same for all requests made once; threads may share it."""

    def __init__(self, model: SavedModel) -> None:
        self.model = model
        self.columns = columns_wanted(model)
        self.schema = describe(model)
        self._schema = _json(self.schema)
        self._health = _json({"status": "ok", "model": self.schema["model"], "learnt": __version__})
        self._page = _page(self.schema)
        self._api = openapi(self.schema)

    def warm(self) -> None:
        """Predict an example, so that what is loaded or compiled once is there before the first request."""
        try:
            self._predict(Request("POST", "/predict", {}, JSON, "", _json([example_row(self.schema["columns"])])))
        except Exception as error:  # requests will say it to those who ask
            _LOG.debug("the example could not be predicted: %s", error)

    def answer(self, request: Request) -> Answer:
        """The answer to a request; whatever goes wrong is one sentence."""
        wanted = ROUTES.get(request.path)
        if wanted is None:
            there = ", ".join(f"{method} {path}" for path, method in ROUTES.items())
            return refusal(404, f"There is no {request.path} here; there is {there}.")
        if request.method != wanted and not (request.method == "HEAD" and wanted == "GET"):
            allow = wanted + (", HEAD" if wanted == "GET" else "")
            return refusal(405, f"{request.path} takes {wanted}, not {request.method}.", allow)
        if request.path == "/predict":
            return self._answered(request)
        if request.path == "/docs":
            return Answer(200, HTML, docs_page(self._api))
        body, kind = {
            "/": (self._page, HTML),
            "/schema": (self._schema, JSON),
            "/health": (self._health, JSON),
            "/openapi.json": (_json(self._api), JSON),
        }[request.path]
        return Answer(200, kind, body)

    def _answered(self, request: Request) -> Answer:
        if request.kind not in (JSON, CSV):
            held = f"it is “{request.kind}”" if request.kind else "it is not given"
            return refusal(415, f"The Content-Type must be {JSON} or {CSV}; {held}.")
        try:
            return self._predict(request)
        except MemoryError:
            return refusal(413, "There is not enough memory for so many rows; send fewer at a time.")
        except ValueError as error:  # a sentence of ours
            return refusal(400, _for_programs(str(error)))

    def _predict(self, request: Request) -> Answer:
        options = _options(request.query)
        if request.kind == CSV:
            rows = Rows(rows_from_csv(request.body, options["header"]), single=False)
        else:
            rows, options["header"] = rows_from_json(request.body, self.columns), None
        said: list[str] = []
        explain = options.pop("explain") or rows.explain
        if explain and rows.table.height > MOST_EXPLAINED:
            raise StudyError(f"Reasons are given for {MOST_EXPLAINED:,} rows at a time; send fewer, or do not explain.")
        X = self.model.columns_of(rows.table, say=said.append, **options)
        decided = self.model.decided(self.model.output(X)).with_columns(self.model.unlike(X))
        reasons = row_reasons(self.model, X, decided) if explain else None
        if CSV in request.accept or (request.kind == CSV and JSON not in request.accept):
            words = [] if reasons is None else reason_columns(reasons, X)
            return Answer(200, CSV, decided.with_columns(words).write_csv().encode(), rows=decided.height)
        records = _records(decided, self.model.classes)
        for record, why in zip(records, [] if reasons is None else reason_records(reasons)):
            record["reasons"] = why
        found: dict[str, Any] = records[0] if rows.single else {"predictions": records}
        return Answer(200, JSON, _json(found | ({"notes": said} if said else {})), rows=decided.height)


def open_service(model: str | Path) -> Service:
    """Open the service of a model file, or of the folder of a study: what answers requests.

    Parameters
    ----------
    model : str or Path
        A model file, or the folder of a study.

    Returns
    -------
    service : Service
        The service, which threads may share.

    See Also
    --------
    ModelServer : Serves it over HTTP.
    predict_table : Predicts without a server.
    """
    return Service(SavedModel.open(model))


def _records(decided: pl.DataFrame, classes: list | None) -> list[dict[str, Any]]:
    """Predictions as objects, probabilities by the name of their class."""
    if classes is None:
        return decided.to_dicts()
    names = [str(name) for name in classes[: decided.width - 2]]
    return [
        {"prediction": row[0], "probabilities": dict(zip(names, row[1:-1])), UNLIKE: row[-1]}
        for row in decided.iter_rows()
    ]


def _options(query: dict[str, str]) -> dict[str, Any]:
    """`lenient`, `header` and `explain` from the query."""
    found: dict[str, Any] = {"lenient": False, "header": None, "explain": False}
    for name, value in query.items():
        if name not in found:
            hint = did_you_mean(name, found).replace("the columns are", "there are")
            raise StudyError(f"There is no option “{name}”; {hint}")
        if value.lower() not in (*_YES, *_NO):
            raise StudyError(f"The option “{name}” can be yes or no; it is “{value}”.")
        found[name] = value.lower() in _YES
    return found


def _for_programs(sentence: str) -> str:
    """A sentence of the command in the words of this server."""
    sentence = " ".join(sentence.split())
    for option, query in (("--lenient", "?lenient=yes"), ("--no-header", "?header=no"), ("--header", "?header=yes")):
        sentence = sentence.replace(option, query)
    return sentence[:1].upper() + sentence[1:]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _page(schema: dict[str, Any]) -> bytes:
    """The page; the schema goes in as data, in which no markup can begin."""
    source = (files("learnt.study") / "templates" / "serve.html").read_text(encoding="utf-8")
    data = _json(schema).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return source.replace("__SCHEMA__", data).encode()
