"""A server that sends a byte now and then is not waited for beyond the limit."""

from __future__ import annotations

import socket
import threading

import pytest

from fakes.score_events import make_event
from fakes.trickle import trickling
from ragsonde.sinks.delivery import DeliveryError
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde.sinks.otlp import OtlpSink
from ragsonde.sinks.time_limit import TimeLimit
from ragsonde.sinks.webhook import Webhook

OK = b"HTTP/1.1 200 OK\r\n"
A_TLS_RECORD_BEGINS = b"\x16\x03\x03\x40\x00"


@pytest.mark.parametrize("make", [Webhook, OtlpSink])
@pytest.mark.parametrize(
    ("scheme", "start", "part"),
    [
        ("http", b"HTTP/1.1 2", b"0"),
        ("http", OK, b"x-more: 1\r\n"),
        ("http", b"HTTP/1.1 503 Away\r\n", b"x"),
        ("http", OK + b"content-length: 60000\r\n\r\n", b"x"),
        ("http", OK + b"\r\n", b"x"),
        ("http", OK + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        ("https", A_TLS_RECORD_BEGINS, b"\x00"),
    ],
    ids=["status", "headers", "headers of an error", "body", "endless body", "chunks", "handshake"],
)
def test_a_trickled_answer_is_cut(make, scheme, start, part):
    with trickling(start, part) as trickle:
        sink = make(
            ScoreSinkOptions(kind="x", url=f"{scheme}://127.0.0.1:{trickle.port}/", timeout_seconds=0.4)
        )
        with pytest.raises(DeliveryError) as caught:
            sink.deliver([make_event()])
        assert not trickle.used_up.is_set()
        assert trickle.hung_up.wait(10)
    assert not caught.value.is_final
    assert str(caught.value) in {"no whole answer within 0.4 s", "answered 503"}


def test_what_is_held_after_the_time_is_over_is_cut_at_once():
    ours, theirs = socket.socketpair()
    with ours, theirs, TimeLimit(0.0) as limit:
        limit._timer.join(20)
        limit.hold(ours)
        assert limit.is_over
        assert ours.recv(1) == b""


def test_a_limit_leaves_no_thread_and_no_socket_behind():
    ours, theirs = socket.socketpair()
    before = threading.active_count()
    with ours, theirs:
        with TimeLimit(600.0) as limit:
            limit.hold(ours)
        limit._timer.join(20)
        assert threading.active_count() == before
        ours.close()
        assert theirs.recv(1) == b""
