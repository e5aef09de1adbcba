"""Every query of the dashboards, asked of a real Prometheus and Postgres after a demo run."""

from __future__ import annotations

import re
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from ragsonde.cli.demo_traffic import build_demo_message, read_demo_traces
from services.deployments import Deployment
from services.grafana import ALL, NAMES, fill_expression, fill_statement, list_asked, read_dashboard
from services.postgres import own_database
from services.prometheus_server import PrometheusServer, running_prometheus
from services.rabbitmq import own_vhost, require_rabbitmq
from services.waiting import wait_for

pytestmark = pytest.mark.integration

SCORED, STORED = 54, 60
FAR = datetime(2100, 1, 1, tzinfo=UTC)
BOARDS = {name: read_dashboard(name) for name in NAMES}
ASKED = [
    pytest.param(asked, id=f"{name}-{asked.panel['id']}-{asked.ref_id}")
    for name, board in BOARDS.items()
    for asked in list_asked(board)
]
VARIABLES = [
    pytest.param(variable, id=f"{name}-{variable['name']}")
    for name, board in BOARDS.items()
    for variable in board["templating"]["list"]
    if variable["type"] == "query"
]
MARKS = [
    pytest.param(mark, id=f"{name}-{mark['name']}")
    for name, board in BOARDS.items()
    for mark in board["annotations"]["list"]
]


class DemoRun(NamedTuple):
    """What `ragsonde up --demo` leaves: scores of an invented shop, and the series of its processes."""

    prometheus: PrometheusServer
    database_url: str
    since: float
    values: dict[str, list[str]]

    def ask_range(self, expression: str) -> list[float]:
        # in whole steps back from now: what was scraped just now is among the points
        now = time.time()
        return self.prometheus.query_range(expression, since=now - int(now - self.since), until=now, step=1)

    def ask_postgres(self, statement: str, values: dict[str, str]) -> list[tuple]:
        since = datetime.fromtimestamp(self.since, UTC) - timedelta(minutes=5)
        until = datetime.now(UTC) + timedelta(minutes=1)
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(fill_statement(statement, values, since=since, until=until)).fetchall()


@pytest.fixture(scope="module")
def demo(postgres_server, postgres_template, tmp_path_factory):
    require_rabbitmq()
    folder = tmp_path_factory.mktemp("demo")
    with (
        own_database(postgres_server, template=postgres_template) as database_url,
        own_vhost() as broker_url,
        running_prometheus(tmp_path_factory.mktemp("prometheus")) as prometheus,
    ):
        deployment = Deployment("rabbitmq", broker_url=broker_url, database_url=database_url, folder=folder)
        try:
            begun = time.time()
            prometheus.scrape(deployment.start_ready_worker().url)
            with deployment.publisher() as publisher:
                for trace in read_demo_traces():
                    message = build_demo_message(trace, now=datetime.now(UTC))
                    publisher.publish_trace(message, content_type="application/json")
            deployment.wait_until_scored(SCORED)
            # its first round of jobs finds all of it
            prometheus.scrape(deployment.start("monitor").url)
            for series, number in (
                ('ragsonde_evaluations_total{state="scored",cause=""}', SCORED),
                ("ragsonde_ledger_evaluations", STORED),
                ("ragsonde_judge_paused == 0", 0),
                ("ragsonde_judge_model_epoch", 1),
            ):
                wait_for(
                    lambda series=series, number=number: sum(prometheus.query(series) or [-1]) == number,
                    seconds=60,
                    what=f"{number} in {series}",
                )
            values = {
                label: prometheus.ask(f"label/{label}/values", **{"match[]": "ragsonde_score_count"})
                for label in ALL
            }
            yield DemoRun(prometheus, database_url, begun, values)
        finally:
            deployment.stop()


def ask(demo, asked, values):
    if asked.statement:
        return demo.ask_postgres(asked.statement, values)
    expression = fill_expression(asked.expression, values)
    return demo.prometheus.query(expression) if asked.is_instant else demo.ask_range(expression)


@pytest.mark.parametrize("asked", ASKED)
def test_each_query_of_a_panel_finds_something(demo, asked):
    found = ask(demo, asked, {})
    assert found, fill_expression(asked.expression or asked.statement)


@pytest.mark.parametrize(
    "asked",
    [one for one in ASKED if "$scorer" in str(one.values) or "${scorer:regex}" in str(one.values)],
)
def test_rows_of_each_scorer_are_not_empty(demo, asked):
    assert len(demo.values["scorer"]) == 6
    empty = [name for name in demo.values["scorer"] if not ask(demo, asked, {"scorer": re.escape(name)})]
    assert empty == []


@pytest.mark.parametrize("variable", VARIABLES)
def test_each_variable_has_something_to_choose(demo, variable):
    found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
    match = {"match[]": fill_expression(found[1])}
    assert demo.prometheus.ask(f"label/{found[2]}/values", **match)


@pytest.mark.parametrize("mark", MARKS)
def test_each_change_is_marked_where_it_is_first_seen(demo, mark):
    assert demo.ask_range(fill_expression(mark["expr"]))


def test_a_choice_leaves_the_rest_out(demo):
    (worst,) = (param.values[0] for param in ASKED if param.id == "quality-401-A")
    assert len(demo.ask_postgres(worst.statement, {"app": "demo", "environment": "production"})) == 50
    assert demo.ask_postgres(worst.statement, {"app": "dem"}) == []
    assert demo.ask_postgres(worst.statement, {"environment": "staging"}) == []
    assert demo.ask_postgres(worst.statement, {"judge": "lexical"}) == []


def test_the_worst_traces_are_those_of_the_lowest_scores(demo):
    (worst,) = (param.values[0] for param in ASKED if param.id == "quality-401-A")
    (scorer,) = (name for name in demo.values["scorer"] if name == "context_relevance")
    rows = demo.ask_postgres(worst.statement, {"scorer": scorer})
    with psycopg.connect(demo.database_url) as connection:
        lowest = connection.execute(
            "SELECT raw FROM score WHERE scorer = 'context_relevance' AND status = 'scored' "
            "ORDER BY raw LIMIT 50"
        ).fetchall()
    assert [row[6] for row in rows] == [raw for (raw,) in lowest]
    assert all(row[8].startswith("context_relevance: ") for row in rows)


def test_the_mean_and_its_interval_are_those_of_the_stored_scores(demo):
    asked = {
        param.values[0].ref_id: param.values[0] for param in ASKED if param.id.startswith("quality-301-")
    }
    scorer = {"scorer": "context_position"}
    mean, lower, upper = (
        demo.prometheus.query(fill_expression(asked[ref_id].expression, scorer))[0] for ref_id in "ABC"
    )
    with psycopg.connect(demo.database_url) as connection:
        number, average, deviation = connection.execute(
            "SELECT count(raw), avg(raw), stddev_pop(raw) FROM score WHERE scorer = 'context_position'"
        ).fetchone()
    half = 1.96 * deviation / number**0.5
    assert (mean, lower, upper) == pytest.approx((average, average - half, average + half), abs=1e-4)


def test_a_hostile_name_chosen_on_a_dashboard_stays_a_name(demo):
    (worst,) = (param.values[0] for param in ASKED if param.id == "quality-401-A")
    # as Grafana escapes it for a regular expression
    name = r"x\)\\Z\$\$; DROP TABLE score; -- '"
    assert demo.ask_postgres(worst.statement, {"app": name}) == []
    assert demo.ask_postgres(worst.statement, {})


def test_points_of_the_distribution_lead_to_traces(demo):
    (heatmap,) = (param.values[0] for param in ASKED if param.id == "quality-302-A")
    found = demo.prometheus.ask(
        "query_exemplars",
        query=fill_expression(heatmap.expression),
        start=str(demo.since),
        end=str(time.time()),
    )
    traces = {exemplar["labels"]["trace_id"] for line in found for exemplar in line["exemplars"]}
    assert traces
    assert all(trace.startswith("demo-") for trace in traces)


@pytest.fixture
def reader(demo):
    """The role that the how-to makes, under a name of its own."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "watch-in-grafana.md").read_text()
    statements = re.search(r"```sql\n(.*?)```", page, re.DOTALL)[1]
    name = f"grafana_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(demo.database_url, autocommit=True) as connection:
        connection.execute(re.sub(r"\bgrafana\b", name, statements))
        yield name
        connection.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_the_role_of_the_how_to_reads_what_the_dashboards_ask_and_no_text(demo, reader):
    asked = [param.values[0].statement for param in ASKED if param.values[0].statement]
    assert len(asked) == 5
    with psycopg.connect(demo.database_url, autocommit=True) as connection:
        connection.execute(f"SET ROLE {reader}")
        for statement in asked:
            filled = fill_statement(statement, since=datetime.fromtimestamp(demo.since, UTC), until=FAR)
            assert connection.execute(filled).fetchall()
        for table in ("trace_text", "judge_reply", "parked_message", "trace", "check_set"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(SQL("SELECT * FROM {}").format(Identifier(table)))
