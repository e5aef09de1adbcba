"""A deployment on a broker, a Postgres and networks that a test may do anything to, and the final count."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

import psycopg
from sqlalchemy import make_url

from services.deployments import Deployment
from services.network import Network
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ragsonde.servers.postgres import EmbeddedPostgres
    from services.chaos_report import ChaosReport
    from services.deployments import Running
    from services.mock_llm_process import LlmProcess
    from services.rabbitmq_node import RabbitmqNode

TIMEOUT_SECONDS, DEADLINE_SECONDS = 15, 20
"""Far above what a call takes even on a busy machine: one that is given up is one more at the provider."""
SCORERS = 5
LEFT = "SELECT count(*) FROM evaluation WHERE state IN ('waiting', 'running')"
ENDED = "('scored', 'not_evaluable', 'failed')"
RUNNING_NOW = "SELECT trace_id, judge FROM evaluation WHERE state = 'running'"
END_LEASE = """
UPDATE evaluation SET lease_until = now(), queued_until = NULL
WHERE state = 'running' AND trace_id = %s AND judge = %s
"""
RUNNING = "SELECT count(*) FROM evaluation WHERE state = 'running' AND judge <> 'lexical'"
DOUBLES = """
SELECT (SELECT count(*) - count(DISTINCT (trace_id, revision)) FROM trace)
     + (SELECT count(*) - count(DISTINCT (trace_id, revision, judge)) FROM evaluation)
     + (SELECT count(*) - count(DISTINCT (trace_id, revision, judge, scorer)) FROM score)
"""


class Ground:
    """Our own servers, what lies between them and a deployment's processes, and what was done to them.

    Attributes:
        deployment: its processes go through the networks, its questions and publishers do not.
        broker_network: between the processes and the broker; `database_network`: and Postgres.
        in_flight: evaluations of judges that are paid which ran when their worker was killed.
    """

    def __init__(
        self,
        node: RabbitmqNode,
        postgres: EmbeddedPostgres,
        *,
        broker_url: str,
        database_url: str,
        folder: Path,
        report: ChaosReport,
    ) -> None:
        self.node, self.postgres, self.report = node, postgres, report
        url = make_url(database_url)
        socket = f"{url.query['host']}/.s.PGSQL.{url.query['port']}"
        self.broker_network, self.database_network = Network(node.port), Network(socket)
        self.deployment = Deployment(
            "rabbitmq", broker_url=broker_url, database_url=database_url, folder=folder
        )
        self.in_flight = self.replayed = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for network in (self.broker_network, self.database_network):
            self._stack.enter_context(network)
        self._stack.callback(self.deployment.kill)
        broker = make_url(self.deployment.broker_url).set(port=self.broker_network.port)
        database = make_url(self.deployment.database_url).set(
            host="127.0.0.1", port=self.database_network.port, query={}
        )
        self.deployment.settings |= {
            "RAGSONDE_BROKER_URL": broker.render_as_string(hide_password=False),
            "RAGSONDE_DATABASE_URL": database.render_as_string(hide_password=False),
        }
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def use_llm_judge(self, llm: LlmProcess, *, more: Sequence[str] = (), **options: Any) -> None:  # noqa: ANN401 - any option of a judge
        """The free judge and one that is paid; more of the same provider, with a model of their own each."""
        gpt = {
            "name": "gpt",
            "kind": "litellm",
            "model": "openai/mock",
            "api_base": llm.url,
            "api_key_env": "MOCK_KEY",
            "timeout_seconds": TIMEOUT_SECONDS,
            "deadline_seconds": DEADLINE_SECONDS,
            **options,
        }
        others = [{**gpt, "name": name, "model": f"openai/{name}"} for name in more]
        judges = [{"name": "lexical", "kind": "lexical"}, gpt, *others]
        self.deployment.settings |= {"RAGSONDE_JUDGES": json.dumps(judges), "MOCK_KEY": "none"}

    def skip_networks(self) -> None:
        """The processes reach broker and Postgres directly: for a load that our networks would slow down."""
        for name in ("RAGSONDE_BROKER_URL", "RAGSONDE_DATABASE_URL"):
            del self.deployment.settings[name]

    def start_worker(self, *arguments: str) -> Running:
        """A worker of eight threads."""
        return self.deployment.start("worker", "--threads", "8", *arguments)

    def count_scored(self, judge: str = "lexical") -> int:
        """How many evaluations of a judge are done; 0 while Postgres is away."""
        try:
            return self.deployment.count(
                "SELECT count(*) FROM evaluation WHERE judge = %s AND state = 'scored'", judge
            )
        except psycopg.OperationalError:
            return 0

    def wait_until_scored(self, count: int, *, judge: str = "lexical", seconds: float = 180) -> None:
        """Returns when a judge has done so many."""
        wait_for(
            lambda: self.count_scored(judge) >= count, seconds=seconds, what=f"{count} scored by {judge}"
        )

    def kill(self, worker: Running) -> None:
        """Kills a worker with -9 and notes what it may have been paying for.

        Two deaths in a row around one message are what a deadly one looks like: it is parked, and
        a test replays it.
        """
        worker.kill()
        self.in_flight += self.deployment.count(RUNNING)
        self.report.survive("kill -9 of a worker")

    def terminate(self, worker: Running) -> None:
        """SIGTERM; it ends in order."""
        code = worker.terminate()
        assert code == os.EX_OK, worker.read_log()
        self.report.survive("SIGTERM of a worker")

    def restart_broker(self) -> None:
        """The broker is stopped in order and started."""
        self.node.stop()
        self.node.start()
        self.report.survive("restart of RabbitMQ")

    def kill_broker(self) -> None:
        """The broker is killed and started."""
        self.node.kill()
        self.node.start()
        self.report.survive("kill -9 of RabbitMQ")

    def restart_postgres(self) -> None:
        """Postgres is stopped, its sessions are ended, and started."""
        self.postgres.stop()
        self.postgres.start()
        self.report.survive("restart of Postgres")

    def kill_postgres(self) -> None:
        """Postgres is killed and recovers."""
        os.kill(self.postgres.pid, signal.SIGKILL)
        wait_for(lambda: not self.postgres.is_alive, what="the end of Postgres")
        self.postgres.start()
        self.report.survive("kill -9 of Postgres")

    def wait_until_done(
        self, *, traces: int, seconds: float, waits_for_leases: bool, replays_crashed: bool = False
    ) -> None:
        """Returns when all traces are there and none of their evaluations waits or runs.

        Args:
            waits_for_leases: False: what runs in no living worker is free at once, for a test that must not
                take as long as a lease.
            replays_crashed: what two kills in a row have hit may be parked, and is replayed.
        """

        def is_done() -> bool:
            if replays_crashed:
                self._replay_crashed()
            if not waits_for_leases:
                self._end_leases_of_the_dead()
            stored = self.deployment.count("SELECT count(DISTINCT trace_id) FROM trace")
            return stored == traces and self.deployment.count(LEFT) == 0

        try:
            wait_for(is_done, seconds=seconds, what=f"the last evaluation of {traces} traces")
        except AssertionError as error:
            error.add_note(self._tell_what_is_left())
            raise

    def count_up(
        self, *, traces: int, judges: Sequence[str], llm: LlmProcess | None = None, parked: int = 0
    ) -> None:
        """The final count: every trace is scored once by each judge, nothing twice, nothing elsewhere."""
        count = self.deployment.count
        current = (
            f"SELECT count(*) FROM (SELECT trace_id FROM evaluation WHERE judge = %s AND state IN {ENDED} "  # noqa: S608 - a constant
            "GROUP BY trace_id HAVING count(*) = 1) AS once"
        )
        lost = sum(traces - count(current, judge) for judge in judges)
        duplicated = count(DOUBLES)
        revisions = count("SELECT count(*) FROM trace")
        twice = 0 if llm is None else max(0, llm.total - revisions - self.in_flight)
        self.report.traces += traces
        self.report.lost += lost
        self.report.duplicated += duplicated
        self.report.judged_twice += twice
        assert (lost, duplicated, twice) == (0, 0, 0), f"{self.in_flight} in flight at kills"
        assert count("SELECT count(DISTINCT trace_id) FROM trace") == traces
        assert count("SELECT count(*) FROM score") == revisions * SCORERS * len(judges)
        found = self.deployment.query("SELECT reason, message FROM parked_message")
        assert len(found) == parked + self.replayed, found
        with self.deployment.publisher() as publisher:
            assert set(publisher.count_messages().values()) == {0}, "something is still queued or dead"

    def _replay_crashed(self) -> None:
        """What two kills in a row have hit is published again, as an operator would."""
        waiting = self.deployment.count(
            "SELECT count(*) FROM parked_message WHERE reason = 'repeated_crash' AND replayed_at IS NULL"
        )
        if waiting:
            replay = self.deployment.run("parked", "replay", "--reason", "repeated_crash")
            assert replay.returncode == 0, replay.stderr
            self.replayed += waiting

    def _tell_what_is_left(self) -> str:
        left = self.deployment.query("SELECT judge, state, cause, count(*) FROM evaluation GROUP BY 1, 2, 3")
        busy = [worker.read_series("in_flight") for worker in self.deployment.list_living("worker")]
        parked = self.deployment.query("SELECT reason, message, headers FROM parked_message LIMIT 5")
        suspects = self.deployment.query("SELECT * FROM suspect LIMIT 5")
        absent = self.deployment.query(
            "SELECT n FROM generate_series(0, (SELECT max(substr(trace_id, 3)::int) FROM trace)) AS n"
            " WHERE NOT EXISTS (SELECT FROM trace WHERE trace_id = 't-' || n) LIMIT 5"
        )
        with self.deployment.publisher() as publisher:
            queued = publisher.count_messages()
        return (
            f"evaluations {left}, in flight {busy}, queued {queued}, parked {parked}, suspects {suspects},"
            f" traces that are not there {absent}"
        )

    def _end_leases_of_the_dead(self) -> None:
        running = self.deployment.query(RUNNING_NOW)
        # asked afterwards: what ran before and runs nowhere now died with its worker
        if any(worker.read_series("in_flight") for worker in self.deployment.list_living("worker")):
            return
        with psycopg.connect(self.deployment.database_url, autocommit=True) as connection:
            for key in running:
                connection.execute(END_LEASE, key)
