"""What the demo leaves when a paid judge sees it and a fall was told: a database, and a Prometheus."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from ragsonde.cli.demo_traffic import build_demo_message
from ragsonde.demo.corpus import read_demo_traces
from services.deployments import Deployment
from services.grafana import ALL, fill_statement
from services.mock_llm_process import running_llm
from services.planted_falls import planting
from services.prometheus_server import PrometheusServer, running_prometheus
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCORED, STORED, CHECKS = 54, 60, 4
GPT = {
    "name": "gpt",
    "kind": "litellm",
    "model": "openai/mock",
    "api_key_env": "MOCK_KEY",
    "sample": 1.0,
    "budget": {"usd_per_day": 1000},
    "prices": {"input_usd_per_million": 1, "output_usd_per_million": 4},
}
"""Beside the free one: without calls, cost and a second opinion some panels rightly show nothing."""


class DemoRun(NamedTuple):
    """What the demo leaves, with a paid judge: scores of a shop, and the series of its processes."""

    prometheus: PrometheusServer
    database_url: str
    since: float
    values: dict[str, list[str]]

    @property
    def lexical(self) -> str:
        """The label of the free judge."""
        (label,) = (one for one in self.values["judge"] if one.startswith("lexical@"))
        return label

    def ask_range(self, expression: str) -> list[float]:
        # in whole steps back from now: what was scraped just now is among the points
        now = time.time()
        return self.prometheus.query_range(expression, since=now - int(now - self.since), until=now, step=1)

    def ask_postgres(self, statement: str, values: dict[str, str]) -> list[tuple]:
        since = datetime.fromtimestamp(self.since, UTC) - timedelta(minutes=5)
        until = datetime.now(UTC) + timedelta(minutes=1)
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(fill_statement(statement, values, since=since, until=until)).fetchall()


@contextmanager
def running_demo(folder: Path, *, broker_url: str, database_url: str) -> Iterator[DemoRun]:
    """The shop's traces, judged by both judges; worker and monitor run until the end."""
    (folder / "prometheus").mkdir()
    with running_prometheus(folder / "prometheus") as prometheus, running_llm() as llm:
        deployment = Deployment("rabbitmq", broker_url=broker_url, database_url=database_url, folder=folder)
        judges = [{"name": "lexical", "kind": "lexical"}, {**GPT, "api_base": llm.url}]
        deployment.settings |= {"RAGSONDE_JUDGES": json.dumps(judges), "MOCK_KEY": "none"}
        try:
            begun = time.time()
            prometheus.scrape(deployment.start_ready_worker().url)
            with deployment.publisher() as publisher:
                for trace in read_demo_traces():
                    message = build_demo_message(trace, now=datetime.now(UTC))
                    publisher.publish_trace(message, content_type="application/json")
            _wait_until_judged(deployment)
            _plant_fall(deployment)
            # its first round of jobs finds all of it
            prometheus.scrape(deployment.start("monitor").url)
            _wait_until_scraped(prometheus)
            values = {
                label: prometheus.ask(f"label/{label}/values", **{"match[]": "ragsonde_score_count"})
                for label in ALL
            }
            yield DemoRun(prometheus, database_url, begun, values)
        finally:
            deployment.stop()


def _wait_until_scraped(prometheus: PrometheusServer) -> None:
    for series, number in (
        ('ragsonde_evaluations_total{state="scored",cause=""}', 2 * SCORED),
        ("ragsonde_ledger_evaluations", 2 * STORED),
        ("ragsonde_judge_paused == 0", 0),
        ("ragsonde_judge_model_epoch", 2),
        ('ragsonde_judge_budget_ratio{period="day"} < bool 1', 1),
        ("count(ragsonde_judge_agreement_ratio) >= bool 1", 1),
        ("count(ragsonde_judge_drift_stderr) >= bool 1", 1),
        ("count(ragsonde_regression_drop)", 1),
    ):
        wait_for(
            lambda series=series, number=number: sum(prometheus.query(series) or [-1]) == number,
            seconds=60,
            what=f"{number} in {series}",
        )


def _plant_fall(deployment: Deployment) -> None:
    """Ten days of one of the free judge's streams, with a fall that is open: what is new has no baseline."""
    ((version, fingerprint),) = deployment.query(
        "SELECT DISTINCT version, fingerprint FROM score "
        "WHERE scorer = 'context_position' AND judge = 'lexical'"
    )
    with planting(deployment.database_url) as planted:
        place = {"app": "demo", "environment": "production"}
        planted.add(
            has_fallen=True, scorer="context_position", version=version, fingerprint=fingerprint, **place
        )
        planted.ground.chores.judge()


def _wait_until_judged(deployment: Deployment) -> None:
    """By both judges; and the check set by the paid one, yesterday and today: drift is told from then on."""
    ended = "SELECT count(*) FROM evaluation WHERE state IN ('scored', 'not_evaluable')"
    wait_for(
        lambda: deployment.count(ended) == 2 * STORED, seconds=120, what=f"{2 * STORED} ended evaluations"
    )
    chosen = deployment.run("check-set", "choose", "--app", "demo", "--n", str(CHECKS))
    assert f"{CHECKS} traces added" in chosen.stdout, chosen
    judged = "SELECT count(*) FROM check_result WHERE judge = 'gpt' AND judged_at IS NOT NULL"
    for number in (CHECKS, 2 * CHECKS):
        deployment.query(
            "UPDATE check_result SET day = day - 1, judged_at = judged_at - interval '1 day' RETURNING true"
        )
        # a new monitor hands out what is due at once
        monitor = deployment.start("monitor")
        wait_for(
            lambda number=number: deployment.count(judged) == number, seconds=120, what=f"{number} checks"
        )
        monitor.terminate()
