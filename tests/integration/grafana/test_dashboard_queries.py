"""Every query of the dashboards, asked of a real Prometheus and Postgres after a demo run."""

from __future__ import annotations

import re
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from ragsonde.demo.corpus import read_demo_traces
from services.demo_run import CHECKS, running_demo
from services.grafana import NAMES, fill_expression, fill_statement, list_asked, list_marks, read_dashboard
from services.planted_falls import FALLEN, WELL
from services.postgres import own_database
from services.rabbitmq import own_vhost, require_rabbitmq

pytestmark = pytest.mark.integration

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
    pytest.param(mark, id=f"{name}-{mark.panel['name']}")
    for name, board in BOARDS.items()
    for mark in list_marks(board)
]


@pytest.fixture(scope="module")
def demo(postgres_server, postgres_template, tmp_path_factory):
    require_rabbitmq()
    with (
        own_database(postgres_server, template=postgres_template) as database_url,
        own_vhost() as broker_url,
        running_demo(
            tmp_path_factory.mktemp("demo"), broker_url=broker_url, database_url=database_url
        ) as demo_run,
    ):
        yield demo_run


def ask(demo, asked, values):
    values = {"one_judge": demo.lexical, **values}
    if asked.statement:
        return demo.ask_postgres(asked.statement, values)
    expression = fill_expression(asked.expression, values)
    return demo.prometheus.query(expression) if asked.is_instant else demo.ask_range(expression)


@pytest.mark.parametrize("asked", ASKED)
def test_each_query_of_a_panel_finds_something(demo, asked):
    found = ask(demo, asked, {})
    assert found, fill_expression(asked.expression or asked.statement)


OF_FALLS = {"quality-501-", "quality-502-", "quality-503-", "quality-504-"}
"""Of a stream with a baseline, which is one of the demo's."""
OF_SCORERS = [
    one
    for one in ASKED
    if ("$scorer" in str(one.values) or "${scorer:regex}" in str(one.values)) and one.id[:-1] not in OF_FALLS
]
SIDE_BY_SIDE = 304
BOUNDS = {"quality-301-B", "quality-301-C", "quality-304-C", "quality-304-D"}


@pytest.mark.parametrize("asked", [one for one in OF_SCORERS if one.id not in BOUNDS])
def test_rows_of_each_scorer_are_not_empty(demo, asked):
    assert len(demo.values["scorer"]) == 6
    empty = [name for name in demo.values["scorer"] if not ask(demo, asked, {"scorer": re.escape(name)})]
    assert empty == []


@pytest.mark.parametrize("asked", [one for one in OF_SCORERS if one.id in BOUNDS])
def test_an_interval_is_shown_of_twenty_scores_and_more(demo, asked):
    shown, judged = {}, 'ragsonde_score_count{scorer="%s",judge="%s"}'
    for name in demo.values["scorer"]:
        of_releases = demo.prometheus.query(judged % (name, demo.lexical))
        number = max(of_releases) if asked.panel["id"] == SIDE_BY_SIDE else sum(of_releases)
        chosen = {"scorer": re.escape(name), "judge": re.escape(demo.lexical)}
        shown[name] = (bool(ask(demo, asked, chosen)), number >= 20)
    assert {is_shown for is_shown, _ in shown.values()} == {True, False}
    assert all(is_shown == is_enough for is_shown, is_enough in shown.values()), shown


@pytest.mark.parametrize("variable", VARIABLES)
def test_each_variable_has_something_to_choose(demo, variable):
    found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
    match = {"match[]": fill_expression(found[1])}
    assert demo.prometheus.ask(f"label/{found[2]}/values", **match)


@pytest.mark.parametrize("mark", MARKS)
def test_each_change_is_marked_where_it_is_first_seen(demo, mark):
    assert ask(demo, mark, {})


def test_a_fall_is_marked_from_its_beginning_with_its_size_and_its_alert(demo):
    (statement,) = (mark.values[0].statement for mark in MARKS if mark.values[0].statement)
    ((began, ended, words, tags),) = demo.ask_postgres(statement, {})
    with psycopg.connect(demo.database_url) as connection:
        ((number, since, told),) = connection.execute("SELECT id, since, explanation FROM alert").fetchall()
    assert began == since
    assert ended > datetime.now(UTC)  # the right edge: it is open
    assert words.startswith(f"context_position by {demo.lexical} fell by {told['drop']:.2f} (")
    assert f'<a href="http://127.0.0.1:8321/falls/{number}"' in words
    assert tags == "fallen,open"
    assert demo.ask_postgres(statement, {"app": "dem"}) == []
    assert demo.ask_postgres(statement, {"scorer": "context_relevance"}) == []
    assert demo.ask_postgres(statement, {"judge": re.escape(demo.lexical), "environment": "production"})


def test_the_baseline_and_the_mean_now_are_of_the_same_stream(demo):
    now, baseline, lower, upper = (
        demo.prometheus.query(fill_expression(param.values[0].expression))
        for param in ASKED
        if param.id.startswith("quality-504-")
    )
    assert baseline == [pytest.approx(WELL, abs=0.02)]
    with psycopg.connect(demo.database_url) as connection:
        (mean,) = connection.execute(
            "SELECT avg(raw) FROM score WHERE scorer = 'context_position' AND judge = 'lexical'"
        ).fetchone()
    assert now == [pytest.approx(mean, abs=1e-4)]
    assert lower[0] < upper[0] < lower[0] + 0.1
    assert [lower[0], upper[0]] == pytest.approx([FALLEN, FALLEN], abs=0.05)  # of the last 24 hours


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
    found = {}
    with psycopg.connect(demo.database_url) as connection:
        for judge in demo.values["judge"]:
            chosen = {"scorer": "context_position", "one_judge": judge}
            mean, lower, upper = (
                demo.prometheus.query(fill_expression(asked[ref_id].expression, chosen)) for ref_id in "ABC"
            )
            number, average, deviation = connection.execute(
                "SELECT count(raw), avg(raw), stddev_pop(raw) FROM score "
                "WHERE scorer = 'context_position' AND judge = %s",
                [judge.partition("@")[0]],
            ).fetchone()
            half = 1.96 * deviation / number**0.5
            assert [*mean, *lower, *upper] == pytest.approx(
                [average, average - half, average + half], abs=1e-4
            )
            found[judge] = average
    assert len(found) == len(set(found.values())) == 2, "the judges differ, so a mean of both would show"


def test_spent_today_is_what_calls_of_today_cost_and_no_more(demo):
    (spent,) = (param.values[0] for param in ASKED if param.id == "judges-301-A")
    with psycopg.connect(demo.database_url, autocommit=True) as connection:
        # calls of the check set that are called yesterday's here were made today, too
        ((calls, cost),) = connection.execute(
            "SELECT sum(calls), sum(cost_usd) FROM (SELECT calls, cost_usd FROM evaluation "
            "WHERE judge = 'gpt' UNION ALL SELECT calls, cost_usd FROM check_result) all_runs"
        ).fetchall()
    rows = {row[0]: row for row in demo.ask_postgres(spent.statement, {})}
    assert rows["lexical"][1:3] == (0, 0)
    assert (rows["gpt"][1], float(rows["gpt"][2])) == (calls, pytest.approx(cost))
    assert cost > 0
    assert [row[0] for row in demo.ask_postgres(spent.statement, {"judge": re.escape(demo.lexical)})] == [
        "lexical"
    ]


def test_what_was_judged_today_of_yesterdays_traces_is_money_of_today(demo):
    (spent,) = (param.values[0] for param in ASKED if param.id == "judges-301-A")
    before = {row[0]: row[1:3] for row in demo.ask_postgres(spent.statement, {})}
    with psycopg.connect(demo.database_url) as connection:
        connection.execute("UPDATE evaluation SET created_at = created_at - interval '1 day'")
        filled = fill_statement(spent.statement, since=FAR, until=FAR)
        after = {row[0]: row[1:3] for row in connection.execute(filled).fetchall()}
        connection.execute("DELETE FROM judge_spend")
        unbudgeted = {row[0]: row[1:3] for row in connection.execute(filled).fetchall()}
        connection.rollback()
    assert after == before
    # without a budget the runs themselves tell; those of the check set that are yesterday's here are none
    assert 0 < unbudgeted["gpt"][0] <= before["gpt"][0] - CHECKS
    assert 0 < unbudgeted["gpt"][1] < before["gpt"][1]


def test_shares_are_of_all_stored_traces_and_of_all_that_were_assessed(demo):
    asked = {param.id: param.values[0] for param in ASKED}
    traces = read_demo_traces()
    empty = sum(trace.get("contexts") == [] for trace in traces) / len(traces)
    assert 0 < empty < 1
    assert ask(demo, asked["quality-104-A"], {}) == [pytest.approx(empty)]
    with psycopg.connect(demo.database_url) as connection:
        lacking = connection.execute(
            "SELECT avg((verdicts ->> 'insufficient')::boolean::int)::float8 FROM assessment "
            "WHERE verdicts ->> 'insufficient' IS NOT NULL GROUP BY judge"
        ).fetchall()
    assert len(lacking) == 2
    assert sorted(ask(demo, asked["quality-103-A"], {})) == pytest.approx(sorted(one for (one,) in lacking))


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
        query=fill_expression(heatmap.expression, {"one_judge": demo.lexical}),
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
    asked += [mark.values[0].statement for mark in MARKS if mark.values[0].statement]
    assert len(asked) == 6
    with psycopg.connect(demo.database_url, autocommit=True) as connection:
        connection.execute(f"SET ROLE {reader}")
        for statement in asked:
            filled = fill_statement(statement, since=datetime.fromtimestamp(demo.since, UTC), until=FAR)
            assert connection.execute(filled).fetchall()
        for table in ("trace_text", "judge_reply", "parked_message", "trace", "check_set", "baseline"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(SQL("SELECT * FROM {}").format(Identifier(table)))
