"""The server described for programs (OpenAPI 3.1), and the same as a page."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from learnt._version import __version__
from learnt.study.serving._schema import example_row

_TYPES = {
    "number": ["number", "string", "null"],  # "€1,250.50" is read as in the learnt table
    "boolean": ["boolean", "string", "null"],
    "date": ["string", "null"],
    "text": ["string", "null"],
}
_ANY = ["string", "number", "boolean", "null"]
_REFUSALS = {
    "400": "Rows that the model cannot take, said in one sentence.",
    "413": "Too much at a time.",
    "415": "A body that is neither JSON nor CSV.",
    "503": "Too many connections; ask again in a moment.",
}


def openapi(schema: dict[str, Any]) -> dict[str, Any]:
    """An OpenAPI 3.1 description from the schema of a model (`describe`).

    >>> found = openapi({"model": "m.learnt", "target": "late", "task": "regress", "columns": []})
    >>> found["openapi"], found["info"]["title"], sorted(found["paths"])[:2]
    ('3.1.0', 'late, predicted by m.learnt', ['/', '/docs'])
    """
    title = f"{schema['target'] or 'Predictions'}, predicted by {schema['model']}"
    about = "Send rows, get predictions. Null cells count as missing; columns that the model does not know are ignored."
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__, "description": about},
        "paths": {
            "/predict": {"post": _predict(schema)},
            "/schema": {"get": _get("schema", "What the model takes and gives", _json_of({"type": "object"}))},
            "/health": {"get": _get("health", "Whether the server answers", _json_of({"type": "object"}))},
            "/": {"get": _get("form", "A page with a form", {"text/html": {"schema": {"type": "string"}}})},
            "/docs": {"get": _get("docs", "This description as a page", {"text/html": {"schema": {"type": "string"}}})},
            "/openapi.json": {"get": _get("openapi", "This description", _json_of({"type": "object"}))},
        },
        "components": {"schemas": _schemas(schema)},
    }


def _predict(schema: dict[str, Any]) -> dict[str, Any]:
    row, rows = {"$ref": "#/components/schemas/Row"}, {"$ref": "#/components/schemas/Rows"}
    wrapped = {"type": "object", "required": ["rows"], "properties": {"rows": rows, "explain": {"type": "boolean"}}}
    example = example_row(schema["columns"])
    body = {
        "application/json": {"schema": {"anyOf": [row, rows, wrapped]}, "example": example},
        "text/csv": {"schema": {"type": "string", "description": "A line of column names, and rows below it."}},
    }
    answers = [{"$ref": f"#/components/schemas/{name}"} for name in ("Prediction", "Predictions")]
    found = {"application/json": {"schema": {"anyOf": answers}}, "text/csv": {"schema": {"type": "string"}}}
    refused = _json_of({"$ref": "#/components/schemas/Error"})
    return {
        "operationId": "predict",
        "summary": "Predictions for one row or several",
        "description": "One object gets one prediction, a list a list of them, CSV a table (or what Accept asks for).",
        "parameters": [
            _option("lenient", "Whether cells that cannot be read count as missing; they are refused without it."),
            _option("header", "Whether the first line of a CSV holds names."),
            _option("explain", "Whether to say what each column adds to the prediction of each row."),
        ],
        "requestBody": {"required": True, "content": body},
        "responses": {
            "200": {"description": "A prediction for each row, in their order.", "content": found},
            **{status: {"description": said, "content": refused} for status, said in _REFUSALS.items()},
        },
    }


def _option(name: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "query",
        "description": description,
        "schema": {"type": "string", "enum": ["yes", "no"]},
    }


def _get(name: str, summary: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"operationId": name, "summary": summary, "responses": {"200": {"description": summary, "content": content}}}


def _json_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schemas(schema: dict[str, Any]) -> dict[str, Any]:
    columns = {column["name"]: _cell(column) for column in schema["columns"]}
    unlike = {
        "type": ["string", "null"],
        "description": "What in the row is unlike all that the model was learnt from.",
    }
    notes = {"type": "array", "items": {"type": "string"}, "description": "What was counted as missing."}
    if "classes" in schema:
        share = {"type": "number", "minimum": 0, "maximum": 1}
        names = [str(name) for name in schema["classes"][:50]]
        chances = {"type": "object", "required": names, "properties": dict.fromkeys(names, share)}
        found: dict[str, Any] = {"prediction": {"enum": schema["classes"]}, "probabilities": chances}
    else:
        ends = ("low", "high") if "interval" in schema else ()
        found = {name: {"type": "number"} for name in ("prediction", *ends)}
    amounts = {"type": "object", "additionalProperties": {"type": "number"}}
    adds = {"baseline": {"type": "number"}, "adds": amounts, "standard_error": amounts}
    reasons = {
        "type": "object",
        "description": "Where asked for: what each column adds, from the baseline to the prediction.",
        "required": ["baseline", "adds"],
        "properties": ({"of": {"enum": schema["classes"]}} if "classes" in schema else {}) | adds,
    }
    told = {**found, "unlike": unlike, "reasons": reasons}
    prediction: dict[str, Any] = {"type": "object", "required": [*found, "unlike"], "properties": told}
    several = {"type": "array", "items": {"$ref": "#/components/schemas/Prediction"}}
    return {
        "Row": {"type": "object", "required": list(columns), "properties": columns},
        "Rows": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Row"}},
        "Prediction": {**prediction, "properties": {**prediction["properties"], "notes": notes}},
        "Predictions": {
            "type": "object",
            "required": ["predictions"],
            "properties": {"predictions": several, "notes": notes},
        },
        "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
    }


def _cell(column: dict[str, Any]) -> dict[str, Any]:
    """The type of a cell, and what was learnt from in words."""
    said = column["kind"]
    if column.get("min") is not None:
        low, high = (f"{v:g}" if isinstance(v, float) else v for v in (column["min"], column["max"]))
        said += f", learnt from {low} to {high}"
    elif levels := column.get("levels"):
        said += ", such as " + ", ".join(map(str, levels[:10])) + (", …" if column["n_levels"] > 10 else "")
    cell = {"type": _TYPES.get(column["kind"], _ANY), "description": said}
    return cell | ({} if column["example"] is None else {"examples": [column["example"]]})


# --- the page ---


def docs_page(api: dict[str, Any]) -> bytes:
    """The description as a page that needs nothing from elsewhere."""
    schemas = api["components"]["schemas"]
    operations = [
        {"path": path, "method": method.upper(), **about}
        for path, methods in api["paths"].items()
        for method, about in methods.items()
    ]
    body = operations[0]["requestBody"]["content"]["application/json"]["example"]
    example = json.dumps(body, indent=1, ensure_ascii=False)
    text = _template().render(api=api, operations=operations, row=schemas["Row"], schemas=schemas, example=example)
    return text.encode()


@cache
def _template() -> Any:
    from jinja2 import Environment  # nobody who asks for predictions needs it

    source = (files("learnt.study") / "templates" / "docs.html").read_text(encoding="utf-8")
    return Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
