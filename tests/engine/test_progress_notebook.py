"""Progress in a notebook: a bar of the page that is updated and then removed, without widgets."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from learnt.engine import progress


class Handle:
    def __init__(self, first):
        self.shown = [first]

    def update(self, page, raw):
        assert raw
        self.shown.append(page)


@pytest.fixture
def pages(monkeypatch):
    """What a notebook that runs here would have been shown, one list a bar."""
    handles = []

    def display(page, raw, display_id):
        assert raw
        assert display_id
        handles.append(Handle(page))
        return handles[-1]

    shell = type("ZMQInteractiveShell", (), {})()
    package, part = ModuleType("IPython"), ModuleType("IPython.display")
    package.get_ipython, part.display = lambda: shell, display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", part)
    monkeypatch.setattr(progress, "_PAGE_SECONDS", 0.0)
    return handles


def test_a_bar_counts_and_then_goes(pages):
    assert progress.in_notebook()
    with progress.shown("auto"), progress.task("racing <models>", total=4) as bar:
        bar.advance(3, note="ridge & co")
    with progress.task("silent", total=2) as bar:
        bar.advance()
    (handle,) = pages
    first, last_but_one, last = handle.shown
    assert 'value="0" max="4"' in first["text/html"]
    assert 'value="3" max="4"' in last_but_one["text/html"]
    assert "racing &lt;models&gt; · 3/4 · ridge &amp; co" in last_but_one["text/html"]
    assert "racing <models> · 3/4 · ridge & co" in last_but_one["text/plain"]
    assert last == {"text/plain": "", "text/html": ""}


def test_progress_is_shown_as_before_after_an_error(pages):
    with pytest.raises(ZeroDivisionError), progress.shown("notebook"), progress.task("work"):
        raise ZeroDivisionError
    assert pages[0].shown[-1] == {"text/plain": "", "text/html": ""}
    with progress.task("work"):
        assert len(pages) == 1
    with progress.shown(None), progress.task("work"):
        assert len(pages) == 1


@pytest.mark.parametrize(("asked", "mode"), [(None, "notebook"), (True, "auto"), (False, "off")])
def test_a_study_shows_a_bar_in_a_notebook_unless_told_not_to(pages, asked, mode):
    from learnt.study.door._study import _mode

    assert _mode(asked) == mode


def test_without_a_notebook_a_study_changes_nothing(monkeypatch):
    from learnt.study.door._study import _mode

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert _mode(None) is None
    assert _mode(True) == "auto"
