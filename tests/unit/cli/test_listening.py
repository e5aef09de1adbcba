"""What `doctor` finds listening on this machine."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from ragsonde.cli import listening
from ragsonde.cli.finding import Verdict
from ragsonde.cli.listening import examine_listening
from ragsonde.exposition.health import Health
from ragsonde.exposition.http import serve
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import build_routes
from ragsonde.exposition.series import WORKER_SERIES
from ragsonde.settings import Settings


@pytest.fixture
def look(monkeypatch):
    """What is found where the worker's first port is this one."""
    monkeypatch.setattr(listening, "PORTS_LOOKED_AT", 1)

    def examine(port):
        settings = Settings.model_validate({"ports": {"worker_metrics": port}})
        url = f"http://127.0.0.1:{port}"
        found = examine_listening(settings, answer_seconds=0.3)
        return [finding for finding in found if finding.check == f"worker {url}"]

    return examine


def answering(problem):
    routes = build_routes(Series(WORKER_SERIES), live=Health({"loop": lambda: problem}), ready=Health({}))
    return closing(serve("127.0.0.1", 0, routes=routes))


@pytest.mark.parametrize(
    ("problem", "verdict", "found"),
    [(None, Verdict.OK, "alive"), ("has not turned", Verdict.WARNING, "loop: has not turned")],
)
def test_a_process_of_ours_is_named_with_its_port_and_how_it_is(look, problem, verdict, found):
    with answering(problem) as server:
        assert [one[1:3] for one in look(server.port)] == [(verdict, found)]


def test_one_that_takes_connections_and_does_not_answer_may_hang(look):
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        (finding,) = look(silent.getsockname()[1])
    assert (finding.verdict, finding.found) == (Verdict.WARNING, "no answer within 0.3 s")
    assert "start it again" in finding.advice


def test_a_stranger_and_a_free_port_are_not_told(look):
    with closing(serve("127.0.0.1", 0, routes={})) as stranger:
        assert look(stranger.port) == []
    assert look(stranger.port) == []
