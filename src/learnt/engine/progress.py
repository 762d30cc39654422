"""Progress of long work: silent by default, bars in a terminal or notebook, plain lines in a log.

    with progress.task("racing models", total=10) as bar:      # in our code
        bar.advance(note="ridge")

    learnt.engine.progress.show("auto")                        # in the user's, or LEARNT_PROGRESS=auto

An iterative fit reports through `fit_loop`, which also speaks scikit-learn's callback protocol (1.9 and later):
`KMeans().set_callbacks(ProgressBar())` works, and a callback that returns True stops the fit at that iteration.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from learnt.engine.forks import hold_while_forking

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:  # scikit-learn's decorator has no types, and would hide those of every `fit` it stands above
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin

    def with_callbacks(method: Method) -> Method: ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn before 1.9 has no callbacks

        class CallbackSupportMixin:
            """Replaces scikit-learn's class where the installed version has no callback protocol."""

        def with_callbacks(method):
            return method


_MODES = ("off", "auto", "rich", "plain", "notebook")
_PLAIN_SECONDS = 2.0
_PAGE_SECONDS = 0.25
_lock = threading.RLock()
hold_while_forking(lambda: [_lock])


class Bar:
    """One piece of work under way; does nothing while progress is off."""

    def __init__(self, label: str, total: int | None, display: Any = None) -> None:
        self.label, self.total, self.done, self.text = label, total, 0, ""
        self.started = time.monotonic()
        self.until: float | None = None  # the deadline at which it ends, however much is left to do
        self._display = display

    def advance(self, n: int = 1, note: str = "") -> None:
        """`n` more steps are done; `note` is a word on the last one."""
        self.done += n
        if note:
            self.text = note
        if self._display is not None:
            with _lock:
                self._display.update(self)

    def note(self, text: str) -> None:
        """Show a note without advancing."""
        self.advance(0, text)


class _PlainDisplay:
    """A line now and then: for logs, where bars would fill the file."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._last: dict[int, float] = {}

    def begin(self, bar: Bar) -> None:
        self._last[id(bar)] = time.monotonic()
        self._write(bar)

    def update(self, bar: Bar) -> None:
        now = time.monotonic()
        if now - self._last.get(id(bar), 0.0) >= _PLAIN_SECONDS:
            self._last[id(bar)] = now
            self._write(bar)

    def end(self, bar: Bar) -> None:
        self._last.pop(id(bar), None)
        self._write(bar, f"done in {time.monotonic() - bar.started:.1f} s")

    def _write(self, bar: Bar, ending: str = "") -> None:
        count = f" {bar.done}/{bar.total}" if bar.total else (f" {bar.done}" if bar.done else "")
        parts = [f"{bar.label}{count}", bar.text, ending or _remaining(bar)]
        print("learnt: " + " · ".join(p for p in parts if p), file=self._stream or sys.stderr, flush=True)


def _remaining(bar: Bar) -> str:
    if not bar.total or not 0 < bar.done < bar.total:
        return ""
    now = time.monotonic()
    seconds = (now - bar.started) * (bar.total - bar.done) / bar.done
    if bar.until is not None:
        seconds = min(seconds, max(bar.until - now, 0.0))
    return f"about {seconds:.0f} s left"


class _RichDisplay:
    """Live bars, in a terminal or a notebook, by rich."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[int, Any] = {}

    def begin(self, bar: Bar) -> None:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
            from rich.text import Text

            class Remaining(ProgressColumn):
                def render(self, task: Task) -> Text:
                    return Text(_remaining(task.fields["bar"]), style="progress.remaining")

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                Remaining(),
                TextColumn("[dim]{task.fields[text]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
        self._tasks[id(bar)] = self._progress.add_task(bar.label, total=bar.total, text="", bar=bar)

    def update(self, bar: Bar) -> None:
        if (task := self._tasks.get(id(bar))) is not None:
            self._progress.update(task, completed=bar.done, text=bar.text)

    def end(self, bar: Bar) -> None:
        self._progress.remove_task(self._tasks.pop(id(bar)))
        if not self._tasks:
            self._progress.stop()
            self._progress = None


class _NotebookDisplay:
    """A bar of the page for each piece of work, in a notebook; removed when it is done. Needs no widgets."""

    def __init__(self) -> None:
        self._shown: dict[int, tuple[Any, float]] = {}

    def begin(self, bar: Bar) -> None:
        from IPython.display import display

        self._shown[id(bar)] = (display(_as_page(bar), raw=True, display_id=True), time.monotonic())

    def update(self, bar: Bar) -> None:
        shown = self._shown.get(id(bar))
        if shown is not None and time.monotonic() - shown[1] >= _PAGE_SECONDS:
            shown[0].update(_as_page(bar), raw=True)
            self._shown[id(bar)] = (shown[0], time.monotonic())

    def end(self, bar: Bar) -> None:
        handle, _ = self._shown.pop(id(bar))
        handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _as_page(bar: Bar) -> dict[str, str]:
    """A bar for a page, and for a front end that shows text only."""
    count = f"{bar.done}/{bar.total}" if bar.total else ""
    said = " · ".join(part for part in (bar.label, count, bar.text, _remaining(bar)) if part)
    known = f' value="{bar.done}" max="{bar.total}"' if bar.total else ""
    style = "font: .875rem system-ui, sans-serif; opacity: .85"
    return {"text/plain": said, "text/html": f'<div style="{style}"><progress{known}></progress> {escape(said)}</div>'}


_display: Any = None
_configured = False


def show(mode: str = "auto", stream: TextIO | None = None) -> None:
    """Choose how progress is shown in this process: "off", "auto", "rich", "plain" or "notebook".

    "auto" shows bars in a terminal or notebook and lines elsewhere. Everything but a notebook's bars goes to standard
    error.
    """
    global _display, _configured
    _display, _configured = _display_of(mode, stream), True


@contextmanager
def shown(mode: str | None) -> Iterator[None]:
    """Show progress so while the block runs, and as before after it; None leaves it as it is."""
    global _display, _configured
    if mode is None:
        yield
        return
    before = _display, _configured
    _display, _configured = _display_of(mode, None), True
    try:
        yield
    finally:
        _display, _configured = before


def _display_of(mode: str, stream: TextIO | None) -> Any:
    if mode not in _MODES:
        raise ValueError(f"progress can be {', '.join(_MODES)}; it got {mode!r}.")
    if mode == "auto":
        mode = "notebook" if in_notebook() else "rich" if sys.stderr.isatty() else "plain"
    displays = {"off": lambda: None, "rich": _RichDisplay, "notebook": _NotebookDisplay}
    return (displays | {"plain": lambda: _PlainDisplay(stream)})[mode]()


def in_notebook() -> bool:
    """Whether the cells of a notebook are being run, whatever the front end."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ in ("ZMQInteractiveShell", "Shell")


@contextmanager
def task(label: str, total: int | None = None) -> Iterator[Bar]:
    """A piece of work of `total` steps (None where that is not known).

    >>> with task("counting", total=2) as bar:
    ...     bar.advance()
    """
    if not _configured and (mode := os.environ.get("LEARNT_PROGRESS")):
        show(mode)
    display = _display
    bar = Bar(label, total, display)
    if display is not None:
        with _lock:
            display.begin(bar)
    try:
        yield bar
    finally:
        if display is not None:
            with _lock:
                display.end(bar)


def track(items: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
    """Iterate over `items`, reporting each."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    with task(label, total) as bar:
        for item in items:
            yield item
            bar.advance()


class FitLoop:
    """What an iterative fit reports to: the bar, and scikit-learn's callbacks where some are set."""

    def __init__(self, estimator: Any, bar: Bar, context: Any, data: dict[str, Any]) -> None:
        self._estimator, self._bar, self._context, self._data = estimator, bar, context, data

    def step(self, note: str = "", state: Callable[[], dict[str, Any]] | None = None) -> bool:
        """One iteration is done. True means: a callback asks to stop here.

        `state` gives the fitted attributes as they would be if the fit stopped now; it is only called when asked for.
        """
        self._bar.advance(1, note)
        if self._context is None:
            return False
        child = self._context.subcontext(task_name="iteration")
        child.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(
            child.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=state, **self._data)
        )


@contextmanager
def fit_loop(estimator: Any, total: int | None, X: Any = None, y: Any = None) -> Iterator[FitLoop]:
    """Around the iterations of a fit; `fit` itself must be decorated with `with_callbacks`."""
    context = None
    data = {"X": X, "y": y}
    if hasattr(estimator, "_init_callback_context") and (
        hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")
    ):
        context = estimator._init_callback_context(max_subtasks=total)
        context.call_on_fit_task_begin(estimator=estimator, **data)
    with task(f"{type(estimator).__name__} fit", total) as bar:
        yield FitLoop(estimator, bar, context, data)
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, **data)
