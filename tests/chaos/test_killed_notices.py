"""kill -9 of a monitor while a sink has a notice and has not answered: it comes again, none is lost."""

import json

import pytest

from fakes.http_taker import serving
from ragsonde.regression.options import RegressionOptions
from services.planted_falls import planting
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

APPS = ("shop", "bank")
OPEN = "SELECT count(*) FROM alert_notice WHERE delivered_at IS NULL"
NOTED = "SELECT notice_id FROM alert_notice ORDER BY id"


def test_a_monitor_killed_while_it_sends_a_notice_loses_none(rabbitmq_deployment):
    deployment = rabbitmq_deployment
    with serving() as taker:
        place = {"webhook": {"url": f"{taker.url}/hook"}}
        deployment.settings["RAGSONDE_REGRESSION"] = json.dumps(place)
        with planting(deployment.database_url, options=RegressionOptions(**place)) as planted:
            for app in APPS:
                planted.add(has_fallen=True, app=app)
            planted.ground.chores.judge()
        noted = [number for (number,) in deployment.query(NOTED)]
        taker.hang()
        first = deployment.start("monitor")
        taker.wait_for(1, seconds=60)
        first.kill()
        assert len(noted) >= len(APPS)
        assert deployment.count(OPEN) == len(noted), "nobody has taken any yet"
        assert deployment.query("SELECT max(attempts) FROM alert_notice") == [(0,)]

        taker.go_on()
        second = deployment.start("monitor")
        wait_for(lambda: deployment.count(OPEN) == 0, seconds=60, what="an empty outbox")

        posted = [json.loads(one.body) for one in taker.posted]
        assert [one["notice_id"] for one in posted] == [noted[0], *noted]
        assert posted[0] == posted[1], "what came twice is the same"
        assert {one["stream"]["app"] for one in posted} == set(APPS)
        assert [number for (number,) in deployment.query(NOTED)] == noted
        assert deployment.count("SELECT count(*) FROM alert_notice WHERE dropped_at IS NOT NULL") == 0
        assert second.terminate() == 0
