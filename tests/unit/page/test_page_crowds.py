"""The page while many ask it, slowly or at once."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from urllib.parse import urlsplit

import pytest

from ragsonde.page.reading_room import PLACES, ReadingRoom
from ragsonde.page.server import PageServer
from ragsonde_schemas.errors import SetupError
from services.page_client import ask
from services.slow_clients import slow_clients
from services.waiting import wait_for

SLOW = 300
"""Connections; more than the page takes."""


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


class TestManyReaders:
    """Views that wait for Postgres, more of them than the page has threads."""

    READERS = 24

    @pytest.fixture
    def gate(self, watching):
        watching.gate = Event()
        yield watching.gate
        watching.gate.set()

    def read_at_once(self, server, pool):
        return [pool.submit(ask, server, "/") for _ in range(self.READERS)]

    def test_scrapers_and_probes_are_answered_meanwhile(self, start, gate):
        server = start(room=ReadingRoom(seat_seconds=60, answer_seconds=60))
        with ThreadPoolExecutor(self.READERS) as pool:
            readers = self.read_at_once(server, pool)
            # those beyond the places are answered: so all others wait for the gate, or for a seat
            wait_for(lambda: sum(one.done() for one in readers) == self.READERS - PLACES, seconds=10)
            for path in ("/metrics", "/health/live") * 5:
                assert ask(server, path)[0] == 200
            gate.set()
        answers = [one.result() for one in readers]
        assert sorted(status for status, _, _ in answers) == [200] * PLACES + [503] * (self.READERS - PLACES)
        refused = [(headers["Retry-After"], body) for status, headers, body in answers if status == 503]
        assert all(retry == "5" and "Load it again in a few seconds" in body for retry, body in refused)

    def test_a_view_that_hangs_is_answered_in_time_and_the_page_is_back_after_it(self, start, gate):
        server = start(room=ReadingRoom(seats=1, seat_seconds=0.1, answer_seconds=0.1))
        status, _, body = ask(server, "/")
        assert (status, "does not answer" in body) == (503, True)
        status, _, body = ask(server, "/")
        assert (status, "Others read this page" in body) == (503, True)
        gate.set()
        wait_for(lambda: ask(server, "/")[0] == 200, seconds=10)
