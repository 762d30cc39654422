"""The server: one thread a connection, every request with a limit of size and time, every answer in one piece."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from learnt._version import __version__
from learnt.study._counting import counted
from learnt.study._errors import StudyError, one_line
from learnt.study.serving._service import HTML, Answer, Request, Service, refusal

MOST_BYTES = 16 * 2**20  # of a body
IDLE = 60  # seconds a connection may be silent
_PIECE = 1 << 16
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Say = Callable[[str], None]


class ModelServer(ThreadingHTTPServer):
    """Answers requests with a model; `with` it, `serve_forever` until it is interrupted."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would share the port with another server
    request_queue_size = 128

    def __init__(self, service: Service, host: str, port: int, log: Say = lambda text: None) -> None:
        self.service, self.log = service, log
        self.answered, self._at_work, self._changed = 0, 0, threading.Condition()
        try:
            self.address_family, _, _, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            super().__init__(address[:2], _Handler)  # type: ignore[arg-type]
        except OSError as error:
            raise StudyError(_why_not(error, host, port)) from None

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        host, port = str(self.server_address[0]), self.server_address[1]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    def server_bind(self) -> None:
        """Bind without asking the network for the host's full name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of ours."""
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.log(f"A connection failed ({one_line(error) if error else '?'}).")

    def run(self) -> None:
        """Answer until Ctrl-C, then let requests under way end."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unreadable cells count as missing, where that is asked for
            try:
                self.serve_forever()
            except KeyboardInterrupt:
                pass
            finally:
                self.socket.close()
                self._wait(5.0)

    def _wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._at_work == 0, timeout=seconds)

    def reply(self, request: Request) -> Answer:
        """The answer of the service; what nobody foresaw is status 500."""
        with self._changed:
            self._at_work += 1
        try:
            return self.service.answer(request)
        except Exception as error:
            self.log(f"Something unforeseen happened ({one_line(error)}).")
            return refusal(500, f"Something unforeseen happened ({type(error).__name__}); the server's log says more.")

    def done(self) -> None:
        """One more request has its answer."""
        with self._changed:
            self._at_work -= 1
            self.answered += 1
            self._changed.notify_all()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = f"learnt/{__version__}", ""
    timeout = IDLE
    wbufsize = -1  # head and body go out together
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        started = time.perf_counter()
        body = self._body()
        if isinstance(body, Answer):
            self.close_connection = True  # the rest of the body may still be coming
            self._log(body, started)
            return self._send(body)
        url = urlsplit(self.path)
        answer = self.server.reply(
            Request(
                self.command,
                url.path,
                dict(parse_qsl(url.query, keep_blank_values=True)),
                self.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
                self.headers.get("Accept", "").lower(),
                body,
            )
        )
        try:
            self._log(answer, started)  # first: who has an answer finds its line in the log
            self._send(answer)
            self.wfile.flush()
        finally:
            self.server.done()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve

    def _length(self) -> int | Answer:
        """How many bytes follow, or why they are not wanted."""
        if "Transfer-Encoding" in self.headers:
            return refusal(411, "Send the body in one piece, with its Content-Length.")
        given = self.headers.get("Content-Length", "0").strip()
        if not (given.isascii() and given.isdigit()):
            return refusal(400, f'The Content-Length must be a number of bytes; it is "{given[:40]}".')
        if len(given) > 18 or int(given) > MOST_BYTES:
            return refusal(
                413, f"The body has {given[:30]} bytes, more than {MOST_BYTES:,}; send fewer rows at a time."
            )
        return int(given)

    def _body(self) -> bytes | Answer:
        length = self._length()
        if isinstance(length, Answer):
            if length.status == 413:
                self._discard()
            return length
        body = self.rfile.read(length) if length else b""
        if len(body) < length:
            return refusal(400, f"The body ended after {len(body):,} of {length:,} bytes; send all of it.")
        return body

    def _discard(self) -> None:
        """Take some of what is too long, so that its sender, who may not listen before, hears the answer."""
        left = min(int(self.headers["Content-Length"]), 4 * MOST_BYTES)
        while left > 0 and (piece := self.rfile.read(min(left, _PIECE))):
            left -= len(piece)

    def handle_expect_100(self) -> bool:
        """Whoever asks before sending hears at once that it is too much."""
        length = self._length()
        if isinstance(length, Answer):
            self.close_connection = True
            self._send(length)
            return False
        return super().handle_expect_100()

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        text = "; charset=utf-8" if answer.kind.startswith("text/") else ""
        self.send_header("Content-Type", answer.kind + text)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        if answer.kind == HTML:
            self.send_header("Content-Security-Policy", _POLICY)
        if answer.allow:
            self.send_header("Allow", answer.allow)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library refuses (no HTTP, a line too long) in one sentence too."""
        self.close_connection = True
        self.command, self.request_version = self.command or "GET", self.protocol_version
        self._send(refusal(int(code), f"The request was not understood ({message or 'it is malformed'})."))

    def _log(self, answer: Answer, started: float) -> None:
        rows = f", {counted(answer.rows, 'row')}" if answer.rows else ""
        took = f"{1e3 * (time.perf_counter() - started):.1f} ms"
        shown = "".join(c if c.isprintable() else "?" for c in self.path[:80])
        self.server.log(f"{time.strftime('%H:%M:%S')} {self.command} {shown} {answer.status}{rows}, {took}")

    def log_message(self, format: str, *args: Any) -> None:
        """Every answer has its own line already."""


def _why_not(error: OSError, host: str, port: int) -> str:
    """One sentence on why nothing can listen there."""
    if isinstance(error, socket.gaierror):
        return f'There is no host "{host}"; 127.0.0.1 is this machine alone, 0.0.0.0 all its addresses.'
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use; end what listens there, or choose another with --port (0: any free)."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine; 127.0.0.1 is this machine alone, 0.0.0.0 all its addresses."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} may not be listened on ({error.strerror}); choose one above 1023 with --port."
    return f"Nothing can listen on port {port} of {host} ({error.strerror}); choose another with --port."
