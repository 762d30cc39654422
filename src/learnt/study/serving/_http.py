"""The server: one thread a connection, and not too many; every request with a limit of size and of time as a whole."""

from __future__ import annotations

import errno
import io
import os
import socket
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from learnt._version import __version__
from learnt.study._counting import counted
from learnt.study._errors import StudyError, one_line
from learnt.study.serving._framing import body_length, read_head
from learnt.study.serving._link import Link, TooSlow
from learnt.study.serving._service import HTML, Answer, Request, Service, refusal

MOST_BYTES = 16 * 2**20  # of a body
PATIENCE = 60.0  # seconds for a request, head and body, from its first byte; for the wait between two; for the answer
MOST_CONNECTIONS = 128  # at a time
_MOST_TURNED_AWAY = 128  # that still have a second to read why
_PIECE = 1 << 16
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Say = Callable[[str], None]


class ModelServer(ThreadingHTTPServer):
    """Answers requests with a model; `with` it, `serve_forever` until it is interrupted.

    Parameters
    ----------
    service : Service
        The model and its answers, from `open_service`.
    host : str
        The name or address to listen on; "127.0.0.1" for this machine alone.
    port : int
        The port to listen on; 0 takes a free one.
    log : callable, default=lambda text: None
        Called with a sentence on what happens; by default nothing is said.
    patience : float, default=PATIENCE
        Seconds for a request to arrive, for the wait between two, and for its answer.
    most_connections : int, default=MOST_CONNECTIONS
        Most connections at a time; more are turned away with status 503.

    See Also
    --------
    open_service : Opens the service of a model.
    predict_table : Predicts without a server.
    """

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would share the port with another server
    request_queue_size = 128

    def __init__(
        self,
        service: Service,
        host: str,
        port: int,
        log: Say = lambda text: None,
        *,
        patience: float = PATIENCE,
        most_connections: int = MOST_CONNECTIONS,
    ) -> None:
        self.service, self.log, self.patience = service, log, patience
        self.answered, self._at_work, self._changed = 0, 0, threading.Condition()
        self._most, self._places = most_connections, threading.BoundedSemaphore(most_connections)
        self._turned_away: deque[tuple[socket.socket, float]] = deque()
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

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for the connection, where there is a place.

        Parameters
        ----------
        request : socket
            The connection.
        client_address : tuple
            Where it comes from.

        Returns
        -------
        None
            Nothing; where there is no place, the connection is turned away.
        """
        if not self._places.acquire(blocking=False):
            return self._turn_away(request)
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, then give its place back.

        Parameters
        ----------
        request : socket
            The connection.
        client_address : tuple
            Where it comes from.
        """
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def _turn_away(self, request: socket.socket) -> None:
        """Say 503 without waiting; the connection is closed a little later, when its client has had time to read."""
        said = f"The server is busy with {counted(self._most, 'connection')}; ask again in a moment."
        answer = refusal(503, said)
        head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
        head += f"Content-Type: {answer.kind}\r\nContent-Length: {len(answer.body)}\r\n\r\n"
        try:
            request.setblocking(False)
            request.send(head.encode() + answer.body)
            request.shutdown(socket.SHUT_WR)
        except OSError:  # gone already
            pass
        self._turned_away.append((request, time.monotonic()))
        self.log(f"{time.strftime('%H:%M:%S')} 503, {counted(self._most, 'connection')} already")

    def service_actions(self) -> None:
        """Close what was turned away a second ago, or before too many others; called between connections."""
        while self._turned_away and (
            len(self._turned_away) > _MOST_TURNED_AWAY or time.monotonic() - self._turned_away[0][1] > 1.0
        ):
            self._close_first()

    def server_close(self) -> None:
        """Listen no more, and let go of whom was turned away."""
        super().server_close()
        while self._turned_away:
            self._close_first()

    def _close_first(self) -> None:
        request, _ = self._turned_away.popleft()
        try:
            for _ in range(64):  # bytes that nobody took would make the system withdraw the answer
                if not request.recv(_PIECE):
                    break
        except OSError:
            pass
        self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error of ours.

        Parameters
        ----------
        request : socket
            The connection.
        client_address : tuple
            Where it comes from.
        """
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
        """Return the answer of the service; what nobody foresaw is status 500.

        Parameters
        ----------
        request : Request
            Method, path, query and body.

        Returns
        -------
        answer : Answer
            Status, type and bytes.
        """
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
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Read and write by the deadline; head and body of an answer go out together."""
        super().setup()
        self.link = Link(self.connection)
        self.requests = io.BufferedReader(self.link)
        self.rfile, self.wfile = self.requests, io.BufferedWriter(self.link)

    def handle_one_request(self) -> None:
        """Wait for a request, then take it whole by one deadline."""
        patience = self.server.patience
        self.command, self.path, self.requestline = "GET", "?", ""  # until they are known
        self.request_version, self.close_connection = self.protocol_version, True
        self.link.until(patience)
        try:
            waiting = self.requests.peek(1)
        except TooSlow:
            return
        if waiting:
            self.started = time.perf_counter()
            self.link.until(patience)
            try:
                super().handle_one_request()
            except TooSlow:
                self._refuse(
                    refusal(408, f"The request was not there after {patience:g} seconds; send head and body at once.")
                )

    def parse_request(self) -> bool:
        """Keep the head as it came: what the parser makes of it hides lines that it does not understand."""
        rest, self.head = self.rfile, read_head(self.rfile)
        self.rfile = io.BytesIO(self.head)
        try:
            return super().parse_request()
        finally:
            self.rfile = rest

    def _serve(self) -> None:
        request = self._request()
        if isinstance(request, Answer):
            return self._refuse(request)
        answer = self.server.reply(request)
        try:
            self._log(answer)  # first: who has an answer finds its line in the log
            self._send(answer)
            self.wfile.flush()
        finally:
            self.server.done()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve

    def _request(self) -> Request | Answer:
        """The request with its body, or why it is refused."""
        length = body_length(self.head, self.headers, MOST_BYTES)
        if isinstance(length, Answer):
            return length
        body = self.rfile.read(length) if length else b""
        if len(body) < length:
            return refusal(400, f"The body ended after {len(body):,} of {length:,} bytes; send all of it.")
        try:
            url = urlsplit(self.path)
            query = dict(parse_qsl(url.query, keep_blank_values=True))
        except ValueError:
            return refusal(400, f"The address “{self._shown_path()}” cannot be read; ask for one such as /predict.")
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        return Request(self.command, url.path, query, kind, self.headers.get("Accept", "").lower(), body)

    def handle_expect_100(self) -> bool:
        """Whoever asks before sending hears at once that it is too much."""
        length = body_length(self.head, self.headers, MOST_BYTES)
        if isinstance(length, Answer):
            self._refuse(length)
            return False
        return super().handle_expect_100()

    def _refuse(self, answer: Answer) -> None:
        """Answer and end the connection, since nobody knows where the next request would begin.

        What still comes is taken and thrown away: its sender may not listen before, and bytes that nobody took make the
        system withdraw the answer.
        """
        self.close_connection = True
        self._log(answer)
        self._send(answer)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        if answer.status == 408:
            return
        left = 4 * MOST_BYTES
        try:
            while left > 0 and (piece := self.link.read(_PIECE)):
                left -= len(piece)
        except TooSlow:
            pass

    def _send(self, answer: Answer) -> None:
        self.link.until(self.server.patience)
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
        self.command, self.request_version = self.command or "GET", self.protocol_version
        self._refuse(refusal(int(code), f"The request was not understood ({message or 'it is malformed'})."))

    def _log(self, answer: Answer) -> None:
        rows = f", {counted(answer.rows, 'row')}" if answer.rows else ""
        took = f"{1e3 * (time.perf_counter() - self.started):.1f} ms"
        self.server.log(
            f"{time.strftime('%H:%M:%S')} {self.command} {self._shown_path()} {answer.status}{rows}, {took}"
        )

    def _shown_path(self) -> str:
        return "".join(c if c.isprintable() else "?" for c in self.path[:80])

    def log_message(self, format: str, *args: Any) -> None:
        """Every answer has its own line already."""


def _why_not(error: OSError, host: str, port: int) -> str:
    """One sentence on why nothing can listen there."""
    if isinstance(error, socket.gaierror):
        return f"There is no host “{host}”; 127.0.0.1 is this machine alone, 0.0.0.0 all its addresses."
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use; end what listens there, or choose another with --port (0: any free)."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine; 127.0.0.1 is this machine alone, 0.0.0.0 all its addresses."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} may not be listened on ({error.strerror}); choose one above 1023 with --port."
    return f"Nothing can listen on port {port} of {host} ({error.strerror}); choose another with --port."
