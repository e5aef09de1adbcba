"""The monitor says what is named; every worker of the deployment shows that, and none waits for it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import make_trace, plan_free
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import TRACES, WORKER_SERIES
from ragsonde.monitor.label_jobs import LabelChores
from ragsonde.storage import label_budget
from ragsonde.storage.engine import build_engine
from ragsonde.storage.label_budget import REFRESH_SECONDS, PostgresLabelNames, read_activity, read_named
from ragsonde_schemas.label_names import NO_NAMES, NamedLabel
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


class Deployment:
    """Traces as they were stored, and a monitor."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.clock = FakeClock(datetime.now(UTC))
        self.stores = PostgresStores(self.clock, engine)
        self.chores = LabelChores(engine=engine, clock=self.clock)
        self.stored = 0

    def store(self, app: str, release: str = "1", *, count: int = 1, environment: str = "production") -> None:
        for _ in range(count):
            self.stored += 1
            trace = make_trace(f"t-{self.stored}", app=app, occurred_at=self.clock.now())
            trace = trace.model_copy(update={"environment": environment, "release": release})
            self.stores.traces.admit(trace, (plan_free(),))

    def name_labels(self) -> None:
        (job,) = self.chores.build_jobs()
        assert job.is_exclusive
        job.run()


class Worker:
    """A worker's series, fed as its sink does."""

    def __init__(self, engine, clock) -> None:
        self.names = PostgresLabelNames(engine, clock=clock)
        self.series = Series(WORKER_SERIES, find_names=self.names.find)

    def count(self, app: str, release: str = "1", *, environment: str = "production") -> None:
        self.series.add(TRACES, app=app, environment=environment, release=release)

    def shown(self) -> set[tuple[str, str]]:
        lines = self.series.render().body.decode().splitlines()
        found = (line.split('"') for line in lines if line.startswith("ragsonde_traces_total{"))
        return {(parts[1], parts[5]) for parts in found}


@pytest.fixture
def deployment(engine):
    return Deployment(engine)


def test_two_workers_that_see_apps_in_another_order_show_the_same_ones(deployment, caplog):
    apps = [f"a{number}" for number in range(23)]
    for app in apps:
        deployment.store(app)
        deployment.clock.advance(1)
    deployment.name_labels()
    deployment.name_labels()
    workers = [Worker(deployment.engine, deployment.clock) for _ in range(2)]
    for worker, order in zip(workers, (apps, apps[::-1]), strict=True):
        for app in order:
            worker.count(app)
    expected = {(app, "1") for app in apps[:20]} | {("other", "other")}
    assert [worker.shown() for worker in workers] == [expected, expected]
    told = [vars(one) for one in caplog.records if one.msg == "labels_without_a_name"]
    assert [(one["label"], one["values"]) for one in told] == [("app", 3)]


def test_an_app_that_comes_all_day_takes_the_name_of_one_that_came_once(deployment):
    for number in range(20):
        deployment.store(f"junk{number}")
    deployment.name_labels()
    for _ in range(3):  # none of its hours has more of it than a name that was sent once
        deployment.clock.advance(4000)
        deployment.store("shop")
    deployment.name_labels()
    named = {one.value for one in read_named(deployment.engine) if one.label is NamedLabel.APP}
    assert len(named) == 20
    assert "shop" in named


def test_a_deploy_and_a_rollback_keep_their_names_in_every_worker(deployment):
    worker = Worker(deployment.engine, deployment.clock)
    seen = []
    for release, count in (("1", 8), ("2", 8), ("3", 8), ("2", 8), ("4", 1)):
        deployment.clock.advance(3600 + REFRESH_SECONDS)
        deployment.store("shop", release, count=count)
        deployment.name_labels()
        deployment.clock.advance(REFRESH_SECONDS)
        worker.count("shop", release)
        seen.append(set(worker.names.find().releases["shop", "production"]))
    assert seen == [{"1"}, {"1", "2"}, {"2", "3"}, {"2", "3"}, {"4", "2"}]
    assert ("shop", "other") not in worker.shown()


def test_what_is_named_is_read_once_in_a_while_and_held_while_postgres_is_away(
    deployment, caplog, monkeypatch
):
    deployment.store("shop")
    deployment.name_labels()
    reads = []

    def read(engine):
        reads.append(1)
        return read_named(engine)

    monkeypatch.setattr(label_budget, "read_named", read)
    names = PostgresLabelNames(deployment.engine, clock=deployment.clock)
    first = names.find()
    assert first.apps == ("shop",)
    for _ in range(100):
        assert names.find() is first
    assert len(reads) == 1
    deployment.clock.advance(REFRESH_SECONDS)
    assert names.find() is first, "it has not changed"
    assert len(reads) == 2
    names._engine = build_engine("postgresql://u@127.0.0.1:1/x", application_name="test")
    deployment.clock.advance(REFRESH_SECONDS)
    with caplog.at_level(logging.WARNING):
        assert names.find() is names.find() is first
    names._engine.dispose()
    assert [one.msg for one in caplog.records] == ["label_names_not_read"]
    assert len(reads) == 3


def test_without_the_table_a_worker_goes_by_what_it_sees(own_engine, caplog):
    with own_engine.begin() as connection:
        connection.execute(text("DROP TABLE label_budget"))
    worker = Worker(own_engine, FakeClock())
    worker.count("shop")
    assert worker.shown() == {("shop", "1")}
    assert worker.names.find() == NO_NAMES
    assert [one.msg for one in caplog.records] == ["label_names_not_read"]


def test_a_name_that_is_given_up_is_gone_from_the_table(deployment):
    deployment.store("shop", "1")
    deployment.name_labels()
    before = {one.key: one for one in read_named(deployment.engine)}
    deployment.clock.advance(4000)
    for release in ("2", "3", "4"):
        deployment.store("shop", release, count=int(release))
    deployment.name_labels()
    after = {one.key: one for one in read_named(deployment.engine)}
    assert {key[3] for key in after if key[0] == NamedLabel.RELEASE} == {"4", "3", "1"}
    app = (NamedLabel.APP, "", "", "shop")
    assert after[app].named_at == before[app].named_at
    assert after[app].last_seen_at > before[app].last_seen_at


def test_traces_of_files_name_nothing(deployment):
    old = make_trace("t-old", app="archive", occurred_at=deployment.clock.now() - timedelta(days=4))
    deployment.stores.traces.admit(old, (plan_free(),))
    deployment.store("shop")
    since = deployment.clock.now() - timedelta(hours=1)
    assert [one.app for one in read_activity(deployment.engine, since=since)] == ["shop"]
