"""The description for programs is valid, and requests and answers are as it says."""

import json

import pytest

from learnt.study import open_service
from learnt.study.serving._service import CSV, JSON, ROUTES, Request

TYPES = {"object": dict, "array": list, "string": str, "number": int | float, "boolean": bool, "null": type(None)}


def resolved(schema, api):
    while "$ref" in schema:
        node = api
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        schema = node
    return schema


def fits(value, schema, api):
    """JSON Schema's words that the description uses."""
    schema = resolved(schema, api)
    assert set(schema) <= {
        "type", "enum", "anyOf", "properties", "required", "items", "minItems", "minimum", "maximum", "description",
        "examples",
    }  # fmt: skip
    if "anyOf" in schema and not any(fits(value, option, api) for option in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    types = schema.get("type", list(TYPES))
    types = [types] if isinstance(types, str) else types
    if not any(isinstance(value, TYPES[t]) and (t == "boolean" or not isinstance(value, bool)) for t in types):
        return False
    if isinstance(value, dict):
        inside = schema.get("properties", {})
        if not set(schema.get("required", ())) <= set(value):
            return False
        return all(fits(cell, inside[name], api) for name, cell in value.items() if name in inside)
    if isinstance(value, list):
        return len(value) >= schema.get("minItems", 0) and all(fits(v, schema.get("items", {}), api) for v in value)
    low, high = schema.get("minimum", -1e999), schema.get("maximum", 1e999)
    return low <= value <= high if isinstance(value, int | float) else True


@pytest.fixture(params=["classes", "amounts"])
def service(request, classifier, regressor):
    return open_service(classifier if request.param == "classes" else regressor)


@pytest.fixture
def api(service):
    answer = service.answer(Request("GET", "/openapi.json", {}))
    assert (answer.status, answer.kind) == (200, JSON)
    return json.loads(answer.body)


def references(node):
    if isinstance(node, dict):
        yield from ([node["$ref"]] if "$ref" in node else [])
        for part in node.values():
            yield from references(part)
    elif isinstance(node, list):
        for part in node:
            yield from references(part)


def test_every_route_is_described_and_every_reference_leads_somewhere(api):
    assert api["openapi"].startswith("3.1.")
    assert all(api["info"][part] for part in ("title", "version"))
    assert {path: method.upper() for path, methods in api["paths"].items() for method in methods} == ROUTES
    operations = [about for methods in api["paths"].values() for about in methods.values()]
    assert len({about["operationId"] for about in operations}) == len(operations)
    for about in operations:
        assert all(answer["description"] for answer in about["responses"].values())
        assert all({"name", "in", "schema"} <= set(option) for option in about.get("parameters", ()))
    found = set(references(api))
    assert {resolved({"$ref": name}, api)["type"] for name in found} == {"object", "array"}
    assert {name.split("/")[-1] for name in found} == set(api["components"]["schemas"])


def test_what_is_sent_and_answered_is_as_described(service, api, new_rows):
    body = api["paths"]["/predict"]["post"]["requestBody"]["content"][JSON]
    answers = api["paths"]["/predict"]["post"]["responses"]["200"]["content"]
    rows = new_rows.to_dicts()
    for sent in (body["example"], rows[0] | {"town": "Atlantis"}, rows, {"rows": rows}):
        assert fits(sent, body["schema"], api)
        answer = service.answer(Request("POST", "/predict", {}, JSON, "", json.dumps(sent).encode()))
        assert answer.status == 200
        assert fits(json.loads(answer.body), answers[JSON]["schema"], api)
    for wrong in (3, [], {"age": 3}, {"rows": []}, rows[0] | {"member": 3}):
        assert not fits(wrong, body["schema"], api)
    answer = service.answer(Request("POST", "/predict", {}, JSON, "", b"{}"))
    assert fits(json.loads(answer.body), api["components"]["schemas"]["Error"], api)
    assert CSV in answers


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_of_it_needs_nothing_from_elsewhere(served, open_page, width, scheme):
    page = open_page(served.address + "docs", width, scheme)
    page.set_default_timeout(10_000)
    assert page.title() == "late, predicted by model.learnt"
    text = page.locator("main").inner_text()
    assert all(f"{method} {path}" in text for path, method in ROUTES.items())
    assert "number, learnt from 20 to 69" in text
    assert "category, such as" in text
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert (page.trouble, overflow, page.low_contrast()) == ([], 0, [])
