"""The server: many at once, too much, too long, cut off; a process that starts, refuses and ends as it should."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from learnt.cli._run import run
from learnt.study import ModelServer, StudyError, open_service, predict_table
from learnt.study.serving import _http
from learnt.study.serving._service import CSV, JSON


def ask(server, path="predict", body=None, kind=JSON, method=None, **headers):
    """Status, headers and body of an answer."""
    body = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers |= {"Content-Type": kind} if body is not None else {}
    request = urllib.request.Request(server.address + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def raw(server, data):
    """What the server sends back to these bytes until it closes the connection."""
    with socket.create_connection(server.server_address[:2], timeout=60) as link:
        link.sendall(data)
        link.shutdown(socket.SHUT_WR)
        found = b""
        while piece := link.recv(65536):
            found += piece
    head, _, body = found.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


def test_rows_go_in_and_the_predictions_of_the_command_come_out(served, classifier, new_rows):
    want = predict_table(classifier, new_rows)
    status, headers, body = ask(served, body=new_rows.to_dicts())
    assert (status, headers["Content-Type"]) == (200, JSON)
    assert [row["probabilities"]["yes"] for row in json.loads(body)["predictions"]] == want["p(yes)"].to_list()
    status, headers, body = ask(served, body=new_rows.write_csv().encode(), kind="text/csv; charset=utf-8")
    assert (status, headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert body == want.write_csv().encode()
    assert ask(served, body=new_rows.to_dicts(), Accept=CSV)[2] == body


def test_many_at_once_get_the_answers_of_one_alone(served, new_rows):
    parts = [new_rows[k : k + 1 + k % 3].to_dicts() for k in range(37)]
    alone = [ask(served, body=part)[2] for part in parts]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            assert list(pool.map(lambda part: ask(served, body=part)[2], parts)) == alone


def test_a_connection_serves_many_requests(served, new_rows):
    link = http.client.HTTPConnection(*served.server_address[:2], timeout=60)
    bodies = set()
    for path in ("/predict", "/nowhere", "/predict"):
        link.request("POST", path, json.dumps(new_rows[:1].to_dicts()), {"Content-Type": JSON})
        reply = link.getresponse()
        bodies.add((reply.status, reply.read()))
    link.request("HEAD", "/health")
    head = link.getresponse()
    assert (head.status, head.read(), int(head.headers["Content-Length"]) > 0) == (200, b"", True)
    link.close()
    assert [status for status, _ in sorted(bodies)] == [200, 404]


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "nowhere", 404, "There is no /nowhere here"),
        ("GET", "predict", 405, "/predict takes POST, not GET."),
        ("POST", "health", 405, "/health takes GET, not POST."),
        ("PUT", "predict", 405, "not PUT"),
        ("DELETE", "", 405, "/ takes GET, not DELETE."),
        ("OPTIONS", "predict", 405, "not OPTIONS"),
        ("POST", "predict?lenient=perhaps", 400, "yes or no"),
    ],
)
def test_what_is_not_understood_is_refused(served, method, path, status, said):
    found, headers, body = ask(served, path, body=None if method == "GET" else b"[]", method=method)
    assert found == status
    assert said in json.loads(body)["error"]
    assert ("Allow" in headers) == (status == 405)


def test_bodies_have_a_size(served, monkeypatch, new_rows):
    monkeypatch.setattr(_http, "MOST_BYTES", 1000)
    status, _, body = ask(served, body=b"[" + b" " * 3000)
    assert status == 413
    assert "more than 1,000; send fewer rows" in json.loads(body)["error"]
    assert ask(served, body=new_rows[:1].to_dicts())[0] == 200
    head = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    early = head + b"Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n"
    assert raw(served, early)[0] == 413  # before anything of it was sent
    for length, status, said in (
        (b"Content-Length: many\r\n", 400, "must be a number of bytes"),
        (b"Content-Length: -1\r\n", 400, "must be a number of bytes"),
        (b"Content-Length: " + b"9" * 40 + b"\r\n", 413, "send fewer rows"),
        (b"Content-Length: 50\r\n", 400, "ended after 2 of 50 bytes"),
        (b"Transfer-Encoding: chunked\r\n", 411, "in one piece"),
    ):
        found = raw(served, head + length + b"\r\n[]")
        assert found[0] == status
        assert said in found[1]


@pytest.mark.parametrize(
    "data", [b"hello\r\n\r\n", b"GET / HTTP/9.9.9\r\n\r\n", b"GET /" + b"x" * 70_000 + b"\r\n\r\n"]
)
def test_what_is_no_http_gets_a_sentence(served, data):
    status, said = raw(served, data)
    assert 400 <= status < 600
    assert said.startswith("The request was not understood")


def test_a_client_that_goes_away_harms_nobody(served, new_rows, lines):
    for data in (b"", b"POST /predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n[", b"GET / HT"):
        with socket.create_connection(served.server_address[:2], timeout=60) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # gone at once
            link.sendall(data)
    assert ask(served, body=new_rows[:1].to_dicts())[0] == 200
    assert not [line for line in lines if "failed" in line]


def test_answers_are_logged_in_one_line_each(served, lines):
    ask(served, "health")
    ask(served, "no%0Awhere")
    assert re.fullmatch(r"\d\d:\d\d:\d\d GET /no%0Awhere 404, [\d.]+ ms", lines[-1])
    assert re.fullmatch(r"\d\d:\d\d:\d\d GET /health 200, [\d.]+ ms", lines[-2])


def test_what_nobody_foresaw_is_500_and_in_the_log(served, new_rows, lines, monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(type(served.service.model), "output", broken)
    status, _, body = ask(served, body=new_rows[:1].to_dicts())
    assert status == 500
    assert b"secret" not in body
    assert any("ZeroDivisionError: secret" in line for line in lines[-2:])


def test_only_this_machine_is_listened_to(served):
    assert served.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("host", "said"), [("nowhere.invalid", "no host"), ("203.0.113.7", "no address of this machine|can listen")]
)
def test_a_host_that_is_not_ours_gets_a_sentence(classifier, host, said):
    with pytest.raises(StudyError, match=said):
        ModelServer(open_service(classifier), host, 0)


# --- the command ---------------------------------------------------------------------------------------------


def start(path, *options):
    command = [sys.executable, "-m", "learnt.cli", "serve", str(path), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_interrupted(classifier, new_rows, how):
    process, address = start(classifier.parent)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    body = json.dumps(new_rows[:2].to_dicts()).encode()
    with urllib.request.urlopen(urllib.request.Request(address + "predict", body, {"Content-Type": JSON})) as reply:
        found = json.loads(reply.read())["predictions"]
    assert [row["prediction"] for row in found] == predict_table(classifier, new_rows[:2])["prediction"].to_list()
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    first, asked, last = err.strip().split("\n")
    assert first.startswith("learnt: model.learnt predicts “late” from 6 columns; POST rows to http://")
    assert "POST /predict 200, 2 rows" in asked
    assert last == "learnt: Stopped after 1 request."


def test_a_port_in_use_and_files_that_are_no_models_get_a_sentence(served, classifier, tmp_path, capfd):
    port = str(served.server_address[1])
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for arguments, said in (
        ([str(classifier), "--port", port], f"Port {port} of 127.0.0.1 is in use; .* --port"),
        ([str(tmp_path / "none.learnt")], "no such file"),
        ([str(tmp_path)], "no such file"),
        ([str(tmp_path / "t.csv")], "cannot be loaded"),
        ([str(classifier), "--port", "99999"], "65535"),
        ([str(classifier), "--port", "many"], "[Ii]nvalid"),
        ([str(classifier), "--host", "nowhere.invalid"], "no host"),
    ):
        assert run(["serve", *arguments]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert re.fullmatch(f"learnt: .*{said}.*\n", err), err
    assert os.listdir(tmp_path) == ["t.csv"]
