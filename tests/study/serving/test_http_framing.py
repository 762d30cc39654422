"""Clients that are slow, many, or say two things about where their request ends: an answer, and places for others."""

import json
import socket
import threading
import time
from contextlib import ExitStack

import pytest
from tests.study.serving.conftest import running

HEAD = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
PATIENCE = 1.0  # seconds, of the servers here
LATEST = 20.0  # by which a busy machine has noticed that they passed


@pytest.fixture(scope="module")
def hasty(classifier):
    """A server of little patience and few places."""
    with running(classifier, patience=PATIENCE, most_connections=8) as server:
        yield server


def connected(server):
    return socket.create_connection(server.server_address[:2], timeout=LATEST)


def received(link):
    """All that comes until the other side ends."""
    found = b""
    while piece := link.recv(65536):
        found += piece
    return found


def statuses(data):
    return [int(part.split()[0]) for part in data.split(b"HTTP/1.1 ")[1:]]


def sentence(data):
    return json.loads(data.rpartition(b"\r\n\r\n")[2])["error"]


def answers_to(server, data):
    """What comes back on a connection that its client leaves open."""
    with connected(server) as link:
        link.sendall(data)
        return received(link)


def drip(link, data, every=0.05):
    """Send a byte now and then, until the other side has ended; how many seconds that took, and what it said."""
    started, said = time.monotonic(), []
    reader = threading.Thread(target=lambda: said.append(received(link)))
    reader.start()
    for k in range(int(LATEST / every)):
        if not reader.is_alive():
            break
        try:
            link.sendall(data[k : k + 1] or b" ")
        except OSError:
            break
        time.sleep(every)
    reader.join(LATEST)
    return time.monotonic() - started, said[0]


def send_on(link):
    ended = time.monotonic() + LATEST
    while time.monotonic() < ended:
        link.sendall(b" ")
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("at_once", "slowly"),
    [
        (HEAD + b"Content-Length: 1000000\r\n\r\n", b""),
        (b"GET / HTTP/1.1\r\n", b"X-a: " + b"b" * 10_000),
        (b"", b"GET /" + b"x" * 10_000),
        (HEAD + b"Content-Length: 70\r\n\r\n[", b""),
    ],
    ids=["body", "head", "first line", "short body"],
)
def test_one_deadline_holds_for_a_whole_request(hasty, at_once, slowly):
    with connected(hasty) as link:
        link.sendall(at_once)
        seconds, said = drip(link, slowly)
    assert statuses(said) == [408]
    assert sentence(said) == "The request was not there after 1 seconds; send head and body at once."
    assert 0.5 * PATIENCE <= seconds < LATEST


def test_a_refused_request_ends_too_though_its_bytes_go_on(hasty):
    with connected(hasty) as link:
        link.sendall(HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n")
        assert statuses(received(link)) == [400]
        with pytest.raises(OSError):  # the server has closed
            send_on(link)


def test_a_silent_connection_is_closed_without_a_word(hasty):
    with connected(hasty) as link:
        assert received(link) == b""
    with connected(hasty) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert statuses(received(link)) == [200]  # and nothing after it


def test_who_does_not_read_the_answer_holds_no_thread(classifier, new_rows):
    """The answer is longer than what two sockets hold, and its reader takes nothing of it."""
    head, _, lines = new_rows.write_csv().encode().partition(b"\n")
    body = head + b"\n" + lines * 1500
    kinds = b"Content-Type: text/csv\r\nAccept: application/json\r\n"
    with running(classifier, patience=2.0, most_connections=1) as server, socket.socket() as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.connect(server.server_address[:2])
        link.sendall(b"POST /predict HTTP/1.1\r\n" + kinds + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert link.recv(12) == b"HTTP/1.1 200"  # and not a byte more
        assert until_free(server) == [200]


def until_free(server):
    """The status for another client, once it is no more that there is no place, or at last."""
    ended, found = time.monotonic() + LATEST, [503]
    while found == [503] and time.monotonic() < ended:
        found = statuses(answers_to(server, b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"))
    return found


def test_beyond_a_number_of_connections_all_get_503_and_places_come_free(hasty):
    def threads():
        return sum("process_request_thread" in thread.name for thread in threading.enumerate())

    with ExitStack() as stack:
        held = [stack.enter_context(connected(hasty)) for _ in range(8)]
        for link in held:
            link.sendall(b"GET / HT")  # a place each
        time.sleep(0.2)
        for _ in range(40):
            with connected(hasty) as link:
                link.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                said = received(link)
            assert statuses(said) == [503]
            assert b"Retry-After: 1" in said
            assert sentence(said) == "The server is busy with 8 connections; ask again in a moment."
        assert threads() <= 8
        held[0].sendall(b"TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert statuses(received(held[0])) == [200]
        assert until_free(hasty) == [200]


NEXT = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (b"Content-Length: 2\r\nContent-Length: 2\r\n", "has 2 Content-Lengths; send one"),
        (b"Content-Length: 2\r\nContent-Length: 40\r\n", "has 2 Content-Lengths; send one"),
        (b"Content-Length: 2\r\ncontent-length: 0\r\n", "has 2 Content-Lengths; send one"),
        (b"Content-Length: 2, 2\r\n", "must be a number of bytes"),
        (b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "contradict each other"),
        (b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n", "contradict each other"),
        (b"Content-Length: -2\r\n", "must be a number of bytes"),
        (b"Content-Length: +2\r\n", "must be a number of bytes"),
        (b"Content-Length: 0x2\r\n", "must be a number of bytes"),
        (b"Content-Length: 2_0\r\n", "must be a number of bytes"),
        (b"Content-Length: 2 0\r\n", "must be a number of bytes"),
        (b"Content-Length: 2.0\r\n", "must be a number of bytes"),
        (b"Content-Length: \xb2\r\n", "must be a number of bytes"),
        (b"Content-Length:\r\n", "must be a number of bytes"),
        (b"Content-Length : 2\r\n", "no “Name: value”"),
        (b" Content-Length: 2\r\n", "no “Name: value”"),
        (b"Content-Length: 2\r\n 0\r\n", "no “Name: value”"),
        (b"X-a: b\rContent-Length: 2\r\n", "no “Name: value”"),
        (b"X-a: b\0\r\nContent-Length: 2\r\n", "no “Name: value”"),
        (b"no field\r\nContent-Length: 2\r\n", "no “Name: value”"),
        (b"Content\xa0Length: 2\r\n", "no “Name: value”"),
    ],
)
@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"])
def test_a_doubtful_end_of_a_request_is_refused_and_nothing_after_it_is_read(served, fields, said, expect):
    found = answers_to(served, HEAD + expect + fields + b"\r\n[]" + NEXT)
    assert statuses(found) == [400]
    assert said in sentence(found)


@pytest.mark.parametrize(
    "fields", [b"Content-Length: 2\r\n", b"content-length:2\n", b"Content-Length: \t2 \r\nX-a: \xe5\r\n"]
)
def test_what_is_a_length_is_taken_and_the_next_request_too(served, fields):
    found = answers_to(served, HEAD + fields + b"\r\n[]" + NEXT.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert statuses(found) == [400, 200]
    assert b"The body has no rows" in found


@pytest.mark.parametrize("address", [b"http://[", b"http://[x]y/", b"//[", b"http://a]/"])
def test_an_address_that_is_none_gets_a_sentence(served, address):
    found = answers_to(served, b"GET " + address + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert statuses(found)[0] in (400, 404)
    assert address.decode().lstrip("/") in sentence(found)


def test_a_head_that_ends_early_is_no_request(served):
    with connected(served) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        link.shutdown(socket.SHUT_WR)
        found = received(link)
    assert statuses(found) == [400]
    assert "ended early" in sentence(found)
