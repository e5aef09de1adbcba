"""The page as browsers and scrapers see it, over real connections."""

from __future__ import annotations

import re
import socket
from contextlib import closing, suppress
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pytest
from pydantic import ValidationError

from fakes.watching import FakeWatching, make_activity, make_ledger, make_place
from ragsonde.exposition.http import Response
from ragsonde.page.application import REQUEST_MAX_BYTES, PageApplication
from ragsonde.page.authentication import COOKIE, SESSION_SECONDS, Authentication
from ragsonde.page.options import PageOptions
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.settings.secrets import build_token_reader
from ragsonde_schemas.errors import SetupError
from services.slow_clients import slow_clients

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "correct-horse-battery"
SLOW = 300
"""Connections; more than the page takes."""
HOSTILE = '<script>alert("x")</script>'


@pytest.fixture
def watching():
    return FakeWatching()


@pytest.fixture
def start(watching):
    """Starts a page; settings of readers and scrapers as given."""
    servers = []

    def start(*, metrics_token: str | None = None, token_file: Path | None = None, **options) -> PageServer:
        settings = PageOptions.model_validate({**options, "token_file": token_file})
        application = PageApplication(
            authentication=Authentication(
                options=settings, read_token=build_token_reader(settings, key="page")
            ),
            views=Views(watching=watching, scorers={}),
            machine_routes={
                "/metrics": lambda accept: Response(200, "text/plain", f"series for {accept}".encode()),
                "/health/live": lambda _accept: Response(200, "application/json", b"{}"),
            },
            read_metrics_token=lambda: metrics_token,
        )
        servers.append(PageServer(application, host="127.0.0.1", port=0))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def ask(server, path, *, method="GET", form=None, **headers):
    """Status, headers and body of one answer; redirects are not followed."""
    address = urlsplit(server.url)
    with closing(HTTPConnection(address.hostname, address.port, timeout=10)) as connection:
        body = urlencode(form) if form is not None else None
        if form is not None:
            headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=named)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def log_in(server, token=TOKEN, **form):
    return ask(server, "/login", method="POST", form={"token": token, **form})


def read_cookie(headers):
    return headers["Set-Cookie"].partition(";")[0]


def test_where_every_trace_went_is_shown(start, watching):
    watching.ledger = make_ledger(
        revisions=1250, judges={"lexical": {"scored": 1200, "not_evaluable": 50}}, parked={"invalid_json": 3}
    )
    status, headers, body = ask(start(), "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", body).split())
    assert "No trace in the last 24 hours" in text
    assert "judge scored not evaluable lexical 1,200 50" in text
    assert "3 invalid json." in text


def test_the_place_asked_for_is_shown_else_the_busiest(start, watching):
    busy, other = make_activity("shop"), make_activity("help", "staging", revisions=3)
    watching.places = [make_place(busy), make_place(other)]
    server = start()
    assert "<h1>shop, production</h1>" in ask(server, "/")[2]
    assert "<h1>help, staging</h1>" in ask(server, "/?app=help")[2]
    assert "<h1>shop, production</h1>" in ask(server, "/?app=unknown")[2]


@pytest.mark.parametrize("trace_id", ["nothing", "a/b", "..%2F..%2Fetc", "%00", "x" * 2000])
def test_a_trace_that_is_not_there_is_a_404(start, trace_id):
    assert ask(start(), f"/traces/{trace_id}")[0] == 404


def test_nothing_is_loaded_from_anywhere_and_nobody_may_frame_it(start):
    _, headers, body = ask(start(), "/")
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", body)


def test_names_are_escaped(start, watching):
    watching.places = [make_place(make_activity(HOSTILE))]
    watching.ledger = make_ledger(judges={HOSTILE: {"scored": 1}})
    _, _, body = ask(start(), "/")
    assert "<script" not in body
    assert "&lt;script&gt;" in body


def test_a_lost_database_is_told(start, watching):
    watching.is_away = True
    status, _, body = ask(start(), "/")
    assert status == 503
    assert "Postgres is away" in body


def test_a_fault_tells_no_details(start, watching):
    watching.ledger = None
    status, _, body = ask(start(), "/")
    assert status == 500
    assert "page_failed" in body
    assert "Traceback" not in body
    assert "None" not in body


@pytest.mark.parametrize(
    ("path", "method", "expected"), [("/nothing", "GET", 404), ("/", "POST", 405), ("/metrics", "PUT", 405)]
)
def test_other_paths_and_methods_are_refused(start, path, method, expected):
    assert ask(start(), path, method=method)[0] == expected


def test_a_large_body_is_refused(start):
    server = start(auth="token", token=TOKEN)
    assert log_in(server, "x" * (REQUEST_MAX_BYTES + 1))[0] == 413


def test_a_slow_client_holds_up_nobody(start):
    server = start()
    address = urlsplit(server.url)
    slow = [socket.create_connection((address.hostname, address.port)) for _ in range(20)]
    try:
        for one in slow:
            one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert ask(server, "/")[0] == 200
    finally:
        for one in slow:
            one.close()


class TestToken:
    def test_who_has_no_session_is_led_to_the_login_and_back(self, start):
        server = start(auth="token", token=TOKEN)
        status, headers, _ = ask(server, "/?days=3")
        assert status == 303
        assert headers["Location"] == "/login?next=/%3Fdays%3D3"
        _, _, body = ask(server, headers["Location"])
        assert 'name="next" value="/?days=3"' in body
        status, headers, _ = log_in(server, next="/?days=3")
        assert (status, headers["Location"]) == (303, "/?days=3")
        assert ask(server, "/", Cookie=read_cookie(headers))[0] == 200

    def test_the_cookie_holds_no_token_and_is_kept_from_scripts_and_other_sites(self, start):
        _, headers, _ = log_in(start(auth="token", token=TOKEN))
        cookie = headers["Set-Cookie"]
        assert TOKEN not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert f"Max-Age={SESSION_SECONDS}" in cookie

    def test_behind_a_proxy_that_encrypts_the_cookie_is_for_encrypted_connections_alone(self, start):
        server = start(auth="token", token=TOKEN)
        form = {"token": TOKEN}
        told = ask(server, "/login", method="POST", form=form, X_Forwarded_Proto="https")[1]
        assert "Secure" in told["Set-Cookie"]
        assert "Secure" not in log_in(server)[1]["Set-Cookie"]

    @pytest.mark.parametrize("shown", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ключ"])
    def test_another_token_is_refused(self, start, shown):
        status, headers, body = log_in(start(auth="token", token=TOKEN), shown)
        assert status == 401
        assert "Set-Cookie" not in headers
        assert "That is not the token." in body

    @pytest.mark.parametrize("forged", ["", "reader", "reader.abc.def", "x" * 5000])
    def test_a_forged_cookie_is_refused(self, start, forged):
        server = start(auth="token", token=TOKEN)
        assert ask(server, "/", Cookie=f"{COOKIE}={forged}")[0] == 303

    def test_a_replaced_token_ends_all_sessions(self, start, tmp_path):
        path = tmp_path / "token"
        path.write_text(TOKEN)
        server = start(auth="token", token_file=path)
        cookie = read_cookie(log_in(server)[1])
        assert ask(server, "/", Cookie=cookie)[0] == 200
        path.write_text("another-token-entirely")
        assert ask(server, "/", Cookie=cookie)[0] == 303

    def test_a_token_file_that_is_gone_lets_nobody_in(self, start, tmp_path):
        path = tmp_path / "token"
        path.write_text(TOKEN)
        server = start(auth="token", token_file=path)
        path.unlink()
        assert ask(server, "/")[0] == 503
        assert log_in(server)[0] == 401

    @pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "x"])
    def test_the_login_leads_to_no_other_site(self, start, target):
        _, headers, _ = log_in(start(auth="token", token=TOKEN), next=target)
        assert headers["Location"] == "/"

    def test_a_program_may_show_it_as_a_bearer(self, start):
        server = start(auth="token", token=TOKEN)
        assert ask(server, "/", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(server, "/", Authorization=f"Basic {TOKEN}")[0] == 303

    def test_who_leaves_loses_the_cookie(self, start):
        status, headers, _ = ask(
            start(auth="token", token=TOKEN), "/login", method="POST", form={"leave": "1"}
        )
        assert status == 303
        assert f"{COOKIE}=;" in headers["Set-Cookie"]

    def test_probes_are_open(self, start):
        assert ask(start(auth="token", token=TOKEN), "/health/live")[0] == 200


class TestProxyHeader:
    def test_a_proxy_names_the_reader(self, start):
        server = start(auth="proxy_header")
        assert ask(server, "/", X_Forwarded_User="ada")[0] == 200
        assert ask(server, "/")[0] == 403
        assert ask(server, "/", X_Forwarded_User=" ")[0] == 403

    def test_a_header_from_elsewhere_counts_for_nothing(self, start):
        server = start(auth="proxy_header", proxies=["10.0.0.0/8"])
        assert ask(server, "/", X_Forwarded_User="ada")[0] == 403

    def test_the_header_may_have_another_name(self, start):
        server = start(auth="proxy_header", header="X-Auth-Request-Email")
        assert ask(server, "/", X_Auth_Request_Email="ada@example.org")[0] == 200
        assert ask(server, "/", X_Forwarded_User="ada")[0] == 403


class TestSeries:
    def test_they_are_served_as_asked_for(self, start):
        status, _, body = ask(start(), "/metrics", Accept="application/openmetrics-text")
        assert (status, body) == (200, "series for application/openmetrics-text")

    def test_a_scraper_shows_its_own_token(self, start):
        server = start(auth="token", token=TOKEN, metrics_token="scrape-me")
        status, headers, _ = ask(server, "/metrics")
        assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="ragsonde"')
        assert ask(server, "/metrics", Authorization="Bearer scrape-me")[0] == 200
        assert ask(server, "/", Authorization="Bearer scrape-me")[0] == 303


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"auth": "token"}, "page.token_file"),
        ({"token": TOKEN}, "asks for none"),
        ({"auth": "proxy_header", "proxies": ["proxy.example"]}, "neither an address nor a network"),
        ({"auth": "proxy_header", "header": "X User"}, "pattern"),
        ({"auth": "token", "token": TOKEN, "token_file": "t"}, "keep one"),
    ],
)
def test_options_that_let_in_nobody_or_everybody_are_refused(options, problem):
    with pytest.raises(ValidationError, match=problem):
        PageOptions.model_validate(options)


def test_the_next_free_port_is_taken_and_told(start, caplog):
    first = start()
    port = urlsplit(first.url).port
    second = PageServer(first._server.application, host="127.0.0.1", port=port)
    try:
        got = urlsplit(second.url).port
        assert got > port
        told = [(one.asked, one.got) for one in caplog.records if one.msg == "port_taken"]
        assert told == [(port, got)]
    finally:
        second.close()


def test_an_address_of_another_machine_is_refused(start):
    with pytest.raises(SetupError, match=r"cannot listen on 203\.0\.113\.7"):
        PageServer(start()._server.application, host="203.0.113.7", port=0)


def test_everybody_is_answered_while_many_slow_connections_stay(start):
    server = start()
    with slow_clients(int(server.url.rpartition(":")[2]), SLOW):
        for path in ("/health/live", "/metrics", "/") * 3:
            assert ask(server, path)[0] == 200, path


def test_a_request_that_does_not_end_is_closed_though_bytes_of_it_keep_coming(start):
    server = PageServer(start()._server.application, host="127.0.0.1", port=0, request_seconds=0.5)
    port = int(server.url.rpartition(":")[2])
    with closing(server), slow_clients(port, 1) as (client,), suppress(ConnectionResetError):
        assert client.recv(1) == b""
