"""What docs/how-to/send-alerts-elsewhere.md shows holds, from its own blocks."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import get_type_hints

import pytest
import yaml

from ragsonde.exposition.series import ALERT_NOTICES_DROPPED, ALERT_NOTICES_FAILED, ALERT_NOTICES_SENT
from ragsonde.page.options import Links
from ragsonde.regression.options import RegressionOptions
from ragsonde.storage.alert_notices import DueNotice
from ragsonde.watching.notices import NoticeLinks, build_notice
from ragsonde_schemas import alert_explanation
from ragsonde_schemas.alert_notice import AlertEvent, AlertNotice
from ragsonde_schemas.score_stream import ScoreStream
from ragsonde_schemas.watched_fall import Fall


@pytest.fixture
def page(request):
    file = request.config.rootpath / "docs" / "how-to" / "send-alerts-elsewhere.md"
    return file.read_text(encoding="utf-8")


def find_block(page, language):
    (block,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return block


def test_the_settings_are_valid(page):
    given = yaml.safe_load(find_block(page, "yaml"))
    assert RegressionOptions(**given["regression"]).alert_sinks == ("webhook", "grafana")
    assert Links(**given["links"]).page == "https://ragsonde.example"


def build(shown):
    """The notice of an alert that holds what the page shows."""
    alert, explanation = shown["alert"], shown["explanation"]
    moments = {
        name: None if alert[name] is None else datetime.fromisoformat(alert[name])
        for name in ("since", "opened_at", "paged_at", "closed_at", "acked_at")
    }
    told = Fall(
        number=alert["number"],
        kind=alert["kind"],
        stream=ScoreStream(
            scorer="context_precision",
            version="1:answer",
            judge="lexical",
            fingerprint="3fa2c1aa",
            judge_epoch=1,
            app="shop",
            environment="production",
        ),
        told_at=datetime(2026, 6, 15, 5, tzinfo=UTC),
        accepted_at=None,
        false_at=None,
        reason="said by a person",
        explanation=explanation
        | {"traces": [{k: v for k, v in one.items() if k != "link"} for one in explanation["traces"]]},
        **moments,
    )
    noted = datetime.fromisoformat(shown["noted_at"])
    due = DueNotice(1, shown["notice_id"], told.number, AlertEvent(shown["event"]), noted, 0)
    links = NoticeLinks(page="https://ragsonde.example", trace="https://tracing.example/traces/{trace_id}")
    return build_notice(due, told, links=links)


def test_the_body_is_what_is_sent(page):
    shown = json.loads(find_block(page, "json"))
    assert build(shown).model_dump(mode="json") == shown
    AlertNotice.model_validate(shown)


def test_the_four_keys_have_the_shape_that_readers_are_written_against(page):
    found = json.loads(find_block(page, "json"))["explanation"]
    for name, kind in get_type_hints(alert_explanation.AlertCircumstances).items():
        keys = set(get_type_hints(kind))
        assert set(found[name]) <= keys
        assert kind.__required_keys__ <= set(found[name])
    (moved,) = found["extraction"]["moved"]
    assert set(moved) == set(get_type_hints(alert_explanation.MovedRule))
    assert set(found["contexts"]["count"]["before"]) == set(get_type_hints(alert_explanation.Spread))


def test_every_event_and_series_is_named(page):
    assert [one for one in AlertEvent if f"`{one}`" not in page] == []
    for one in (ALERT_NOTICES_SENT, ALERT_NOTICES_FAILED, ALERT_NOTICES_DROPPED):
        assert f"`{one.full_name}{{sink}}`" in page
