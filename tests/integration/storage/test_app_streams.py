"""What the monitor made of an app's scores goes with the app, and nothing of another app does."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from builders.score_counts import make_counts
from ragsonde.storage.app_streams import drop_streams
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
TABLES = ("score_stream", "score_block", "stream_arming", "alert", "alert_notice", "extraction_block")
_ARMING = text(
    "INSERT INTO stream_arming (stream_id, old_stream_id, way, begun_at) VALUES (:stream, 1, 'live', now())"
)
_ALERT = text(
    """
INSERT INTO alert (stream_id, app, environment, kind, opened_at, since, told_at, baseline_id, explanation)
VALUES (:stream, :app, 'prod', 'warn', now(), now(), now(), 1, '{}') RETURNING id
"""
)
_NOTICE = text(
    """
INSERT INTO alert_notice (notice_id, alert_id, sink, event, noted_at, due_at)
VALUES (:app, :alert, 'webhook', 'warn', now(), now())
"""
)
_RULES = text(
    "INSERT INTO extraction_block (app, environment, start, rules) VALUES (:app, 'prod', now(), '{}')"
)


@pytest.fixture
def ground(engine):
    made = RegressionGround(engine)
    for app in ("shop", "elsewhere"):
        stream = made.add_stream(app=app)
        made.count(stream, make_counts(days=1, per_block=1, seed=1))
        with engine.begin() as connection:
            connection.execute(_ARMING, {"stream": stream})
            alert = connection.execute(_ALERT, {"stream": stream, "app": app}).scalar_one()
            connection.execute(_NOTICE, {"alert": alert, "app": app})
            connection.execute(_RULES, {"app": app})
    return made


def test_all_of_an_app_goes_and_all_of_the_others_stays(ground):
    before = {table: ground.query(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}  # noqa: S608
    deleted = drop_streams(ground.engine, app="shop")
    after = {table: ground.query(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}  # noqa: S608
    assert {table: before[table] // 2 for table in TABLES} == after
    assert {table: deleted[table] for table in TABLES} == after
    assert min(after.values()) >= 1
