"""The page in a real browser: a form with a field a column, a prediction when it is sent, nothing from elsewhere."""

import json
import urllib.request

import pytest

EVIL = '</script><script>alert("x")</script>'


def predicted(server, row):
    request = urllib.request.Request(
        server.address + "predict", json.dumps([row]).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())["predictions"][0]


def wide(page):
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_form_is_filled_in_and_a_prediction_is_seen(served, open_page, width, scheme):
    page = open_page(served.address, width, scheme)
    assert page.title() == "Predict “late”"
    assert page.locator("#fields label").all_inner_texts() == ["age", EVIL, "day", "price", "town", "member"]
    values = {"age": "33", EVIL: "0.4", "day": "2020-05-06 07:30", "price": "€1,250.50"}
    for name, value in values.items():
        page.get_by_label(name, exact=True).fill(value)
    page.get_by_label("town").select_option("Åre & co")
    page.get_by_label("member").select_option("")
    page.get_by_role("button", name="Predict").click()
    page.locator(".answer").wait_for()
    want = predicted(served, {**values, "age": 33, EVIL: 0.4, "town": "Åre & co", "member": None})
    assert page.locator(".answer").inner_text() == want["prediction"]
    shown = page.locator(".bar > div").all_inner_texts()
    shares = sorted(want["probabilities"].items(), key=lambda pair: -pair[1])
    assert [text.split("\n")[-1] for text in shown] == [f"{100 * p:.1f}%" for _, p in shares]
    page.get_by_text("From a program").click()
    assert "curl " + served.address[:-1] + "/predict" in page.locator("#request").inner_text()
    assert '"member":null' in page.locator("#request").inner_text()
    assert (page.trouble, wide(page), page.low_contrast()) == ([], 0, [])


def test_what_cannot_be_read_is_said_on_the_page(served, open_page):
    page = open_page(served.address, 1280, "light")
    page.get_by_label("age", exact=True).fill("old")
    page.get_by_role("button", name="Predict").click()
    page.locator(".wrong").wait_for()
    assert "Row 1 of the column “age” holds “old”" in page.locator(".wrong").inner_text()
    assert page.low_contrast() == []
    assert [text for text in page.trouble if "400" not in text] == []  # the browser notes the status


def test_amounts_are_shown_with_their_interval(served_amounts, open_page):
    page = open_page(served_amounts.address, 390, "light")
    page.get_by_role("button", name="Predict").click()
    page.locator(".answer").wait_for()
    assert page.locator("#result").inner_text().split("\n")[-1].startswith("between ")
    assert (page.trouble, wide(page), page.low_contrast()) == ([], 0, [])
