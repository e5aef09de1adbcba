"""What the page refuses, and in which words."""

from __future__ import annotations

import pytest

from fakes.watching import make_place
from ragsonde.page.application import REQUEST_MAX_BYTES
from ragsonde_schemas.errors import DatabaseLostError, GivenUpError, LockedOutError, RagsondeError
from services.page_client import TOKEN, ask, log_in


@pytest.mark.parametrize("trace_id", ["nothing", "a/b", "a//b", "..%2F..%2Fetc", "%00", "x" * 2000])
def test_a_trace_that_is_not_there_is_a_404(start, trace_id):
    assert ask(start(), f"/traces/{trace_id}")[0] == 404


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/traces/%00", 404),
        ("/traces/a%00b?app=shop", 404),
        ("/alerts/%00", 404),
        (f"/traces/{'x' * 600}", 404),
        ("/?app=%00", 400),
        ("/?app=shop&environment=a%00", 400),
        ("/?%00=1", 400),
        ("/?app=a&app=%00", 400),
        (f"/?app={'x' * 600}", 400),
        ("/traces/t-1?app=%00", 400),
        ("/traces/t-1?judge=%00", 400),
        ("/alerts/RagsondeNoTraces?app=%00", 400),
    ],
)
def test_what_cannot_be_stored_reaches_no_view(start, watching, path, expected):
    watching.refuses_all = True
    assert ask(start(), path)[0] == expected


def test_a_lost_database_is_told(start, watching):
    watching.is_away = True
    status, _, body = ask(start(), "/")
    assert status == 503
    assert "Postgres is away" in body


@pytest.mark.parametrize(
    ("error", "told", "untold"),
    [
        (LockedOutError("x"), "somebody keeps a table locked", "away"),
        (GivenUpError("secret"), "it takes too long", "secret"),
        (DatabaseLostError("x"), "Postgres is away", "locked"),
        (RagsondeError("secret"), "page_unreadable", "secret"),
    ],
)
def test_why_nothing_can_be_read_is_told_in_true_words(start, watching, error, told, untold):
    watching.error = error
    status, headers, body = ask(start(), "/")
    assert (status, headers["Retry-After"]) == (503, "5")
    assert told in body
    assert untold not in body
    assert "A fault of ragsonde" not in body


def test_while_postgres_is_away_an_alert_has_its_runbook_and_the_monitors_own_numbers(start, watching):
    watching.is_away = True
    failures = {"monitor_job_failures_total": {("gathered",): 4.0}}
    for name in ("RagsondeDatabaseErrors", "RagsondeJudgeDown"):
        status, headers, body = ask(start(series=failures), f"/alerts/{name}")
        assert (status, headers["Retry-After"]) == (503, "5")
        assert f'href="/runbooks/{name}"' in body
        assert "Postgres is away" in body
    watching.is_away, watching.error = False, LockedOutError("x")
    assert "somebody keeps a table locked" in ask(start(series=failures), "/alerts/RagsondeJudgeDown")[2]
    watching.is_away, watching.error = True, None
    assert "gathered" in ask(start(series=failures), "/alerts/RagsondeDatabaseErrors")[2]


def test_an_address_of_nothing_is_told_in_our_words(start):
    assert "has nothing under this address" in ask(start(), "/alerts/Unknown")[2]


def test_a_fault_tells_no_details(start, watching):
    watching.places, watching.spending = [make_place()], None
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
