"""The receiver's server over real connections; what it receives is put into a list."""

import json
import logging
import re
import resource
import socket
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from typing import NamedTuple

import pytest
from google.rpc.status_pb2 import Status

from fakes.receiver import CountingTally
from fakes.receiver_clients import Poster
from ragsonde.receiver import http_server
from ragsonde.receiver.answers import Answer
from ragsonde.receiver.application import Application
from ragsonde.receiver.exchange_log import ExchangeLog
from ragsonde.receiver.gate import POSTED_PATHS, Gate
from ragsonde.receiver.http_server import HttpReceiver
from ragsonde.receiver.request_parser import Reception
from ragsonde_schemas.errors import SetupError
from services.slow_clients import slow_clients
from services.waiting import wait_for

LIMIT = 100_000
CHUNKED = b"POST /traces HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


class Page(NamedTuple):
    status: int
    content_type: str
    body: bytes


class Server:
    """A running server.

    Attributes:
        bodies: what was received.
        may_answer: requests wait for it.
    """

    def __init__(self, *, token=None, request_seconds=30.0, connections=None):
        self.bodies, self.turns, self.tally = [], [0], CountingTally()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.working = threading.Semaphore(0)
        pages = {"/metrics": lambda accept: Page(200, "text/plain", accept.encode()), "/broken": self._fail}
        log = ExchangeLog(known_paths=(*POSTED_PATHS, *pages), tally=self.tally)
        self.receiver = HttpReceiver(
            Application(receivers=dict.fromkeys(POSTED_PATHS, self._receive), pages=pages, log=log),
            reception=Reception(
                gate=Gate(pages=tuple(pages), max_body_bytes=LIMIT, read_token=lambda: token),
                log=log,
                request_seconds=request_seconds,
            ),
            host="127.0.0.1",
            port=0,
            on_turn=self._turn,
            connections=connections,
        )
        self.port = int(self.receiver.url.rpartition(":")[2])
        self.thread = threading.Thread(target=self.receiver.run)
        self.thread.start()

    def stop(self):
        self.may_answer.set()
        self.receiver.stop()
        self.thread.join(timeout=40)
        assert not self.thread.is_alive()

    def post(self, body, *, path="/traces", headers=None):
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("POST", path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response, response.read()

    def ask(self, path, *, method="GET", headers=None):
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return response, response.read()

    def connect(self):
        return closing(socket.create_connection(("127.0.0.1", self.port), timeout=20))

    def send(self, *parts):
        """Everything that comes back until the server closes."""
        with self.connect() as connection:
            for part in parts:
                connection.sendall(part)
            return read_all(connection)

    def _receive(self, request):
        self.working.release()
        self.may_answer.wait(timeout=20)
        self.bodies.append(request.body)
        return Answer(HTTPStatus.ACCEPTED, "application/json", b"{}")

    def _turn(self):
        self.turns[0] += 1

    def _fail(self, _accept):
        raise RuntimeError("hunter2")


def read_all(connection):
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


@contextmanager
def running(**options):
    server = Server(**options)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def server():
    with running() as one:
        yield one


def test_a_body_arrives_whole_and_the_connection_is_kept(server):
    bodies = [b"x" * LIMIT, b"", b"y"]
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        for body in bodies:
            connection.request("POST", "/traces", body=body)
            response = connection.getresponse()
            assert (response.status, response.read()) == (202, b"{}")
    assert server.bodies == bodies


def test_a_chunked_body_arrives_whole(server):
    response, _ = server.post(iter([b"ab", b"cd"]))
    assert response.status == 202
    assert server.bodies == [b"abcd"]


def test_pages_are_read_with_get_and_head(server):
    assert server.ask("/metrics", headers={"Accept": "x"})[1] == b"x"
    response, body = server.ask("/metrics", method="HEAD", headers={"Accept": "x"})
    assert (response.status, response.headers["Content-Length"], body) == (200, "1", b"")


def test_a_fault_of_ours_is_a_500_without_its_words(server, caplog):
    response, body = server.ask("/broken")
    assert response.status == 500
    assert b"hunter2" not in body
    assert "request_failed" in caplog.messages
    assert server.ask("/metrics")[0].status == 200


def test_a_body_that_is_too_large_is_read_to_its_end_so_that_the_answer_is_seen(server):
    response, body = server.post(
        b"x" * 20_000_000, path="/v1/traces", headers={"Content-Type": "application/json"}
    )
    assert response.status == 413
    assert "20000000 bytes, expected at most 100000" in json.loads(body)["message"]
    assert server.bodies == []


def test_so_is_a_chunked_one(server):
    chunks = (b"x" * 50_000 for _ in range(100))
    response, _ = server.post(chunks)
    assert response.status == 413
    assert server.bodies == []


def test_a_huge_one_is_refused_at_once(server):
    head = b"POST /traces HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
    assert server.send(head).startswith(b"HTTP/1.1 413 ")


def test_who_asks_whether_to_continue_is_told_no(server):
    head = b"POST /traces HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\nExpect: 100-continue\r\n\r\n"
    assert server.send(head).startswith(b"HTTP/1.1 413 ")


def test_or_yes(server):
    head = b"POST /traces HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head)
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"ok")
        assert read_all(connection).startswith(b"HTTP/1.1 202 ")
    assert server.bodies == [b"ok"]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /traces HTTP/1.1\r\nHost: x\r\n\r\n", 411),
        (b"POST /traces HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST /traces HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /traces HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST /traces HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"POST /traces HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST /traces HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST /traces HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 900\r\n\r\n5", 400),
        (b"POST /traces HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (CHUNKED + b"1" * 2000, 400),
        (CHUNKED + b"0\r\n" + b"x" * 20_000, 400),
        (CHUNKED + b"f" * 500 + b"\r\n", 413),
        (CHUNKED + b"7fffffff\r\n", 413),
        (CHUNKED + b"1\r\nx\r\nfffffffffff\r\n", 413),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET / /metrics HTTP/1.1\r\n\r\n", 400),
        (b"POST /traces HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 16_354 + b"\r\n\r\n", 431),
        (b"GET /v1/traces HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    ],
)
def test_what_breaks_http_or_finds_nothing_is_told_and_the_server_goes_on(server, head, status):
    answer = server.send(head)
    assert int(answer.split(b" ", 2)[1]) == status
    told = json.loads(answer.partition(b"\r\n\r\n")[2])
    problem = told.get("problem") or told["message"]
    assert re.match(r"found .*, expected .*; ", problem) or status == 404
    assert re.match("found .*, expected ", problem)
    assert server.post(b"ok")[0].status == 202


def test_what_follows_where_a_body_has_two_lengths_is_no_request(server):
    head = b"POST /traces HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    hidden = b"POST /traces HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"
    answer = server.send(head + b"0\r\n\r\n" + hidden)
    assert answer.count(b"\r\nDate: ") == 1
    assert server.tally.requests == {("/traces", 400): 1}
    assert server.bodies == []


def test_chunks_as_large_together_as_a_body_may_be_are_taken(server):
    chunks = [b"x" * 10_000] * (LIMIT // 10_000)
    assert server.post(iter(chunks))[0].status == 202
    assert server.post(iter([*chunks, b"x"]))[0].status == 413
    assert server.bodies == [b"x" * LIMIT]


def test_chunks_of_a_byte_each_are_too_much_work(server):
    assert server.send(CHUNKED + b"1\r\nx\r\n" * (LIMIT // 2) + b"0\r\n\r\n").startswith(b"HTTP/1.1 413 ")


def test_a_refusal_of_an_export_is_written_in_its_encoding():
    with running(token="s3cret") as server:
        response, body = server.post(
            b"x", path="/v1/traces", headers={"Content-Type": "application/x-protobuf"}
        )
        assert (response.status, response.headers["WWW-Authenticate"]) == (401, 'Bearer realm="ragsonde"')
        assert Status.FromString(body).code == 16
        response, body = server.post(b"x", path="/v1/traces", headers={"Content-Type": "application/json"})
        assert json.loads(body)["code"] == 16
        assert server.bodies == []
        headers = {"Content-Type": "application/json", "Authorization": "Bearer s3cret"}
        assert server.post(b"x", path="/v1/traces", headers=headers)[0].status == 202


def test_a_body_that_trickles_in_is_cut_off_with_a_408():
    with running(request_seconds=0.5) as server, server.connect() as connection:
        connection.sendall(b"POST /traces HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        connection.settimeout(0.1)
        answer = b""
        ends_at = time.monotonic() + 10
        while not answer and time.monotonic() < ends_at:
            connection.sendall(b"x")
            try:
                answer = connection.recv(1000)
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("begun", [b"POST /tra", b"POST /traces HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc"])
def test_a_silent_one_is_closed(begun):
    with running(request_seconds=0.5) as server, server.connect() as connection:
        connection.sendall(begun)
        assert read_all(connection) == b""


def test_slow_bodies_take_no_thread(server):
    head = b"POST /traces HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    try:
        for connection in slow:
            connection.sendall(head)
        assert server.post(b"ok")[0].status == 202
    finally:
        for connection in slow:
            connection.close()


def post_many(server, number):
    threads = [threading.Thread(target=server.post, args=(b"x",)) for _ in range(number)]
    for thread in threads:
        thread.start()
    return threads


def test_while_all_threads_wait_pages_and_refusals_still_answer_and_more_posts_are_asked_to_come_again():
    with running() as server:
        server.may_answer.clear()
        waiting = http_server.THREADS + http_server.WAITING_AT_MOST
        threads = post_many(server, waiting)
        wait_for(lambda: server.receiver.is_busy, seconds=10, what="a full house")
        assert server.ask("/metrics")[0].status == 200
        assert server.ask("/nothing")[0].status == 404
        response, _ = server.post(b"one too many")
        assert (response.status, response.headers["Retry-After"]) == (503, "5")
        server.may_answer.set()
        for thread in threads:
            thread.join(timeout=20)
        assert server.bodies == [b"x"] * waiting


@contextmanager
def connected(server, number, *, begun=b""):
    """That many connections, on which nothing more comes."""
    with ExitStack() as stack:
        idle = [stack.enter_context(server.connect()) for _ in range(number)]
        for connection in idle:
            connection.sendall(begun)
        yield idle


@pytest.mark.parametrize("begun", [b"", b"POST /tra", b"POST /traces HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"])
def test_however_many_are_connected_and_silent_everybody_else_is_answered(begun, caplog):
    with running(connections=20) as server, connected(server, 200, begun=begun) as idle:
        assert server.ask("/metrics")[0].status == 200
        assert server.post(b"ok")[0].status == 202
        assert read_all(idle[0]) == b"", "the one that was silent for the longest goes"
        assert server.receiver.open_connections <= 20
        wait_for(lambda: "connections_full" in caplog.messages, seconds=10, what="an event")
    event = next(record for record in caplog.records if record.getMessage() == "connections_full")
    assert event.closed > 0


def test_a_request_that_is_worked_on_and_a_body_on_its_way_are_not_closed_for_the_silent():
    with running(connections=20) as server, server.connect() as sending:
        server.may_answer.clear()
        (thread,) = post_many(server, 1)
        assert server.working.acquire(timeout=10)
        sending.sendall(b"POST /traces HTTP/1.1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nab")
        assert server.ask("/metrics")[0].status == 200
        with connected(server, 100):
            assert server.ask("/metrics")[0].status == 200
            server.may_answer.set()
            thread.join(timeout=10)
            sending.sendall(b"cd")
            assert read_all(sending).startswith(b"HTTP/1.1 202 ")
        assert server.bodies == [b"x", b"abcd"]


def test_as_many_may_be_connected_as_half_of_the_files_that_may_be_open(monkeypatch):
    for files, connections in ((256, 128), (1024, 500), (resource.RLIM_INFINITY, 500)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert http_server.count_connections() == connections


def test_stopping_finishes_what_is_in_flight_and_takes_no_more():
    server = Server()
    server.may_answer.clear()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(server.post(b"in flight")[0].status))
    thread.start()
    assert server.working.acquire(timeout=10)
    idle = HTTPConnection("127.0.0.1", server.port, timeout=10)
    with closing(idle):
        idle.request("GET", "/metrics")
        idle.getresponse().read()
        server.receiver.stop()
        wait_for(lambda: is_refused(server.port), seconds=10, what="the end of listening")
        assert read_all(idle.sock) == b""
    server.stop()
    thread.join(timeout=10)
    assert (answers, server.bodies) == ([202], [b"in flight"])


def start_posters(server, *, keeps_connection):
    """Six clients that have posted for a while."""

    def write(name, number):
        return f"{name}-{number}".encode()

    posters = [
        Poster(server.port, partial(write, name), keeps_connection=keeps_connection) for name in range(6)
    ]
    for poster in posters:
        poster.start()
    wait_for(lambda: all(len(poster.told) > 20 for poster in posters), seconds=20, what="many requests")
    return posters


def test_who_posts_all_the_time_sees_no_reset_when_it_stops():
    server = Server()
    posters = start_posters(server, keeps_connection=True)
    server.stop()
    for poster in posters:
        poster.join(timeout=20)
    assert {type(poster.end) for poster in posters} == {ConnectionRefusedError}
    assert {status for poster in posters for status in poster.told.values()} == {202}
    assert sorted(server.bodies) == sorted(body for poster in posters for body in poster.told)


def test_so_it_is_with_a_new_connection_for_each_request():
    server = Server()
    posters = start_posters(server, keeps_connection=False)
    server.stop()
    for poster in posters:
        poster.join(timeout=20)
    # between the last look at who connects and the end of listening the kernel may let one more in
    assert all(isinstance(poster.end, ConnectionError) for poster in posters)
    assert sorted(server.bodies) == sorted(body for poster in posters for body in poster.told)


def test_a_request_on_a_kept_connection_that_comes_just_after_the_end_is_answered_as_the_last_one():
    server = Server()
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.request("POST", "/traces", body=b"before")
        assert "Connection" not in drop_body(connection.getresponse()).headers
        server.receiver.stop()
        wait_for(lambda: is_refused(server.port), seconds=10, what="the end of listening")
        connection.request("POST", "/traces", body=b"after")
        response = drop_body(connection.getresponse())
        assert (response.status, response.headers["Connection"]) == (202, "close")
    server.stop()
    assert server.bodies == [b"before", b"after"]


@pytest.mark.parametrize("later", [(), (b"4",)])
def test_of_requests_sent_together_every_one_is_answered(later):
    server = Server()
    server.may_answer.clear()
    request = b"POST /traces HTTP/1.1\r\nContent-Length: 1\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(request + b"1" + request + b"2" + request + b"3")
        assert server.working.acquire(timeout=10)
        server.receiver.stop()
        wait_for(lambda: is_refused(server.port), seconds=10, what="the end of listening")
        for body in later:
            connection.sendall(request + body)
        server.may_answer.set()
        assert read_all(connection).count(b"HTTP/1.1 202 ") == 3 + len(later)
    server.stop()
    assert server.bodies == [b"1", b"2", b"3", *later]


def drop_body(response):
    response.read()
    return response


def is_refused(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_stopping_waits_for_nobody_who_is_idle():
    server = Server()
    with server.connect(), server.connect() as begun:
        begun.sendall(b"POST /tra")
        assert server.ask("/metrics")[0].status == 200
        begin = time.monotonic()
        server.stop()
    assert time.monotonic() - begin < 10


def test_the_loop_tells_that_it_turns(server):
    before = server.turns[0]
    wait_for(lambda: server.turns[0] > before, seconds=10, what="a turn")


def test_a_taken_port_is_told_with_the_option():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"port {port} is taken on 127.0.0.1.*--port"):
            make_receiver("127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.name.invalid"])
def test_an_address_that_is_not_ours_is_told(host):
    with pytest.raises(SetupError, match=f"cannot listen on {host}"):
        make_receiver(host, 4318)


def make_receiver(host, port):
    log = ExchangeLog(known_paths=(), tally=CountingTally())
    gate = Gate(pages=(), max_body_bytes=LIMIT, read_token=lambda: None)
    return HttpReceiver(
        Application(receivers={}, pages={}, log=log),
        reception=Reception(gate=gate, log=log),
        host=host,
        port=port,
    )


def test_every_answer_is_counted_and_logged_without_what_was_posted(server, caplog):
    caplog.set_level(logging.DEBUG, logger="ragsonde.receiver.exchange_log")
    server.post(b"hunter2")
    server.post(b"hunter2" * LIMIT)
    server.ask("/metrics")
    server.ask("/nothing%0aelse?hunter2")
    server.send(b"nonsense hunter2\r\n\r\n")
    assert server.tally.requests == {
        ("/traces", 202): 1,
        ("/traces", 413): 1,
        ("/metrics", 200): 1,
        ("other", 404): 1,
        ("other", 400): 1,
    }
    events = [record for record in caplog.records if record.getMessage() == "request_answered"]
    assert [(event.status, event.levelname) for event in events] == [
        (202, "DEBUG"),
        (413, "INFO"),
        (200, "DEBUG"),
        (404, "INFO"),
        (400, "INFO"),
    ]
    assert events[3].path == "'/nothing\\nelse'"
    assert not any("hunter2" in str(vars(event)) for event in events)


@pytest.mark.parametrize("connections", [None, 200], ids=["room for all", "more than it takes"])
def test_everybody_is_answered_while_many_slow_connections_stay(connections):
    with running(connections=connections) as server, slow_clients(server.port, 300):
        for _ in range(5):
            assert server.ask("/metrics")[0].status == 200
            assert server.post(b"ok")[0].status == 202
