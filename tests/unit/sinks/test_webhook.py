"""Results posted as JSON to a real server."""

from __future__ import annotations

import json

import pytest

from fakes.http_taker import Answer, serving
from fakes.score_events import make_event
from ragsonde.sinks.delivery import DeliveryError
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde.sinks.webhook import Webhook
from ragsonde_schemas.errors import ConfigError


def make_webhook(url, **fields):
    return Webhook(ScoreSinkOptions(kind="webhook", url=url, timeout_seconds=5, **fields))


def test_a_batch_is_one_post_with_all_that_is_known():
    with serving() as taker:
        make_webhook(f"{taker.url}/hook").deliver([make_event(1, link="https://x/t-1"), make_event(2)])
    (posted,) = taker.posted
    body = json.loads(posted.body)
    assert (posted.path, posted.headers["content-type"]) == ("/hook", "application/json")
    assert body["schema_version"] == "1"
    assert [one["trace_id"] for one in body["results"]] == ["t-1", "t-2"]
    first = body["results"][0]
    expected = {
        "app": "shop",
        "judge": "gpt",
        "judge_epoch": 2,
        "answered_model": "m-2",
        "scorer": "context_precision",
        "raw": 0.8,
        "value": 8.0,
        "band": "good",
        "passed": True,
        "reason": "1 of 2 contexts is relevant",
        "link": "https://x/t-1",
        "occurred_at": "2026-06-15T12:00:00Z",
    }
    assert {name: first[name] for name in expected} == expected


def test_what_has_no_number_is_null_and_never_0():
    unscored = make_event(status="error", cause="refused", raw=None, value=None, band=None, passed=None)
    with serving() as taker:
        make_webhook(taker.url).deliver([unscored])
    (result,) = json.loads(taker.posted[0].body)["results"]
    assert (result["raw"], result["value"], result["cause"]) == (None, None, "refused")


def test_headers_come_from_a_file_that_is_read_anew(tmp_path):
    file = tmp_path / "headers"
    file.write_text("# for the hook\nAuthorization: Bearer first\n")
    with serving() as taker:
        webhook = make_webhook(taker.url, headers_file=file)
        webhook.deliver([make_event()])
        file.write_text("Authorization: Bearer second\n")
        webhook.deliver([make_event()])
    assert [one.headers["authorization"] for one in taker.posted] == ["Bearer first", "Bearer second"]


def test_a_url_that_is_a_secret_comes_from_a_file(tmp_path):
    file = tmp_path / "url"
    with serving() as taker:
        file.write_text(f"{taker.url}/secret-path\n")
        Webhook(ScoreSinkOptions(kind="webhook", url_file=file)).deliver([make_event()])
    assert taker.posted[0].path == "/secret-path"


@pytest.mark.parametrize(
    ("status", "is_final"), [(400, True), (401, True), (404, True), (408, False), (429, False), (503, False)]
)
def test_a_refusal_tells_whether_it_may_pass(status, is_final):
    with serving(Answer(status)) as taker, pytest.raises(DeliveryError, match=f"answered {status}") as error:
        make_webhook(taker.url).deliver([make_event()])
    assert error.value.is_final is is_final


def test_retry_after_is_passed_on():
    answer = Answer(429, headers=(("retry-after", "17"),))
    with serving(answer) as taker, pytest.raises(DeliveryError) as error:
        make_webhook(taker.url).deliver([make_event()])
    assert error.value.retry_after_seconds == 17


def test_a_redirect_is_not_followed_with_the_headers():
    with serving() as other:
        answer = Answer(302, headers=(("location", f"{other.url}/elsewhere"),))
        with serving(answer) as taker, pytest.raises(DeliveryError, match="answered 302"):
            make_webhook(taker.url).deliver([make_event()])
    assert other.posted == []


def test_a_server_that_is_away_may_come_back_and_its_address_is_not_told():
    with serving() as taker:
        url = taker.url
    with pytest.raises(DeliveryError, match="cannot be reached") as error:
        make_webhook(url).deliver([make_event()])
    assert not error.value.is_final
    assert "127.0.0.1" not in str(error.value)


@pytest.mark.parametrize("text", ["no colon\n", "two words: x\n", ": x\n"])
def test_a_headers_file_that_is_none_is_found_at_the_start(tmp_path, text):
    file = tmp_path / "headers"
    file.write_text(f"ok: yes\n{text}")
    with pytest.raises(ConfigError, match=r"line 2 is no `Name: value`") as error:
        make_webhook("http://127.0.0.1:1/", headers_file=file)
    assert "x" not in str(error.value).rpartition("line 2")[2]


def test_a_headers_file_that_is_not_there_is_found_at_the_start(tmp_path):
    with pytest.raises(ConfigError, match="headers_file"):
        make_webhook("http://127.0.0.1:1/", headers_file=tmp_path / "missing")
