"""The server for scrapers and probes, over real connections."""

import json
import socket
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse

import pytest

from ragsonde.exposition import http
from ragsonde.exposition.health import Health
from ragsonde.exposition.http import Response, serve
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import build_routes
from ragsonde.exposition.series import WORKER_SERIES
from ragsonde.web.host_names import HostNames
from ragsonde_schemas.errors import ConfigError, SetupError
from services.slow_clients import slow_clients


def fail_route(_accept: str) -> Response:
    raise RuntimeError("secret")


@pytest.fixture
def problems():
    return {"broker": None, "database": None, "loop": None}


@pytest.fixture
def server(problems):
    live = Health({"consumer_loop": lambda: problems["loop"]})
    ready = Health({"broker": lambda: problems["broker"], "database": lambda: problems["database"]})
    routes = build_routes(Series(WORKER_SERIES), live=live, ready=ready)
    server = serve("127.0.0.1", 0, routes={**routes, "/broken": fail_route})
    yield server
    server.close()


def ask(
    server: http.HttpServer, path: str, *, method: str = "GET", accept: str = "*/*", **headers: str
) -> tuple[HTTPResponse, bytes]:
    with closing(HTTPConnection(server.host, server.port, timeout=10)) as connection:
        connection.request(method, path, headers={"Accept": accept, **headers})
        response = connection.getresponse()
        return response, response.read()


def send(server: http.HttpServer, data: bytes) -> bytes:
    with closing(socket.create_connection((server.host, server.port), timeout=10)) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def test_series_are_served_in_the_format_asked_for(server):
    response, body = ask(server, "/metrics")
    assert (response.status, response.headers["Content-Type"]) == (
        200,
        "text/plain; version=0.0.4; charset=utf-8",
    )
    assert b"ragsonde_in_flight 0.0\n" in body
    response, body = ask(server, "/metrics?x=1", accept="application/openmetrics-text;version=1.0.0")
    assert response.headers["Content-Type"].startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")


def test_a_healthy_process_is_live_and_ready(server):
    for path in ("/health/live", "/health/ready"):
        response, body = ask(server, path)
        assert response.status == 200
        assert json.loads(body)["status"] == "ok"


def test_a_lost_broker_makes_it_unready_but_not_dead(server, problems):
    problems["broker"] = "connection refused"
    response, body = ask(server, "/health/ready")
    assert response.status == 503
    assert json.loads(body) == {
        "status": "failing",
        "parts": {"broker": "connection refused", "database": "ok"},
    }
    assert ask(server, "/health/live")[0].status == 200


def test_a_loop_that_stands_makes_it_dead(server, problems):
    problems["loop"] = "has not turned for 61 s"
    response, body = ask(server, "/health/live")
    assert response.status == 503
    assert json.loads(body)["parts"] == {"consumer_loop": "has not turned for 61 s"}


def test_head_answers_without_a_body(server):
    response, body = ask(server, "/metrics", method="HEAD")
    assert (response.status, body) == (200, b"")
    assert int(response.headers["Content-Length"]) > 0


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9321", "localhost.evil.example"])
def test_a_web_page_reads_nothing_by_a_name_of_its_own(server, host):
    response, body = ask(server, "/metrics", Host=host)
    assert response.status == 421
    assert b"host_names" in body
    assert b"ragsonde_in_flight" not in body
    assert ask(server, "/health/live", Host=host)[0].status == 200


def test_with_a_token_any_name_will_do_and_without_one_those_that_are_configured():
    asked = {"Host": "worker.rag.example:9321", "authorization": "Bearer correct"}
    routes = {"/metrics": lambda _accept: Response(200, http.PLAIN, b"ok")}
    named = HostNames(names=("worker.rag.example",))
    for more in ({"read_token": lambda: "correct"}, {"hosts": named}):
        with closing(serve("127.0.0.1", 0, routes=routes, **more)) as server:
            assert ask(server, "/metrics", **asked)[0].status == 200


@pytest.mark.parametrize("path", ["/", "/metrics/", "/health", "/../etc/passwd", "//metrics"])
def test_other_paths_are_not_found(server, path):
    response, body = ask(server, path)
    assert (response.status, body) == (404, b"404 Not Found\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_other_methods_are_not_allowed(server, method):
    response, _ = ask(server, "/metrics", method=method)
    assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET metrics HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00 \xff\xfe\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(server, data):
    assert send(server, data).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert ask(server, "/metrics")[0].status == 200


def test_a_failing_page_says_nothing_of_its_fault_and_leaves_the_others(server, caplog):
    response, body = ask(server, "/broken")
    assert (response.status, body) == (500, b"500 Internal Server Error\n")
    assert [record.message for record in caplog.records] == ["http_route_failed"]
    assert ask(server, "/metrics")[0].status == 200


def test_a_client_that_trickles_is_let_go_in_time(server, monkeypatch):
    monkeypatch.setattr(http, "REQUEST_TIMEOUT_SECONDS", 0.3)
    begun = time.monotonic()
    with closing(socket.create_connection((server.host, server.port), timeout=10)) as connection:
        connection.settimeout(0.05)
        is_open = True
        while is_open and time.monotonic() - begun < 5:
            try:
                connection.send(b"G")
                is_open = connection.recv(1) != b""
            except TimeoutError:
                continue
            except ConnectionError:
                is_open = False
    assert not is_open
    assert time.monotonic() - begun < 2


def test_idle_clients_do_not_keep_a_scraper_out(server, monkeypatch):
    monkeypatch.setattr(http, "REQUEST_TIMEOUT_SECONDS", 0.3)
    idle = [socket.create_connection((server.host, server.port)) for _ in range(http.MAX_THREADS)]
    try:
        assert ask(server, "/metrics")[0].status == 200
    finally:
        for connection in idle:
            connection.close()


def test_the_next_free_port_is_taken_and_told(server, caplog):
    with closing(serve("127.0.0.1", server.port, routes={})) as second:
        assert server.port < second.port <= server.port + 100
        (told,) = caplog.records
        assert (told.msg, told.asked, told.got) == ("port_taken", server.port, second.port)


def test_a_taken_port_is_an_error_that_says_what_to_do(server):
    with pytest.raises(
        SetupError, match=rf"port {server.port} is taken on 127\.0\.0\.1: stop .* or set another"
    ):
        serve("127.0.0.1", server.port, routes={}, search_free_port=False)


def test_other_machines_are_kept_out_unless_allowed():
    with pytest.raises(SetupError, match="reached by other machines"):
        serve("0.0.0.0", 0, routes={})
    serve("0.0.0.0", 0, routes={}, allow_remote=True).close()


def test_an_address_of_another_machine_is_an_error():
    with pytest.raises(SetupError, match=r"cannot listen on 192\.0\.2\.1 port 9321"):
        serve("192.0.2.1", 9321, routes={}, allow_remote=True)


def test_a_closed_server_gives_its_port_back():
    server = serve("127.0.0.1", 0, routes={})
    server.close()
    serve("127.0.0.1", server.port, routes={}, search_free_port=False).close()


def test_a_token_is_asked_for_by_all_but_probes():
    routes = build_routes(Series(WORKER_SERIES), live=Health({}), ready=Health({}))
    server = serve("127.0.0.1", 0, routes=routes, read_token=lambda: "scrape-me")
    try:
        refused, _ = ask(server, "/metrics")
        assert (refused.status, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="ragsonde"')
        assert ask(server, "/metrics", authorization="Bearer scrape-you")[0].status == 401
        assert ask(server, "/metrics", authorization="Bearer scrape-me")[0].status == 200
        assert ask(server, "/health/live")[0].status == 200
    finally:
        server.close()


def test_a_token_that_cannot_be_read_lets_nobody_in():
    def fail() -> str:
        raise ConfigError("metrics.token_file: gone")

    server = serve("127.0.0.1", 0, routes={"/metrics": fail_route}, read_token=fail)
    try:
        assert ask(server, "/metrics", authorization="Bearer x")[0].status == 503
    finally:
        server.close()


def test_everybody_is_answered_while_many_slow_connections_stay(server):
    with slow_clients(server.port, 300):
        begun = time.monotonic()
        for path in ("/health/live", "/metrics") * 5:
            assert ask(server, path)[0].status == 200, path
        assert time.monotonic() - begun < http.REQUEST_TIMEOUT_SECONDS, "nobody waited for them"
