"""deploy/rabbitmq in a real broker: imported first, then declared again by ragsonde itself."""

import json
import re
import runpy
import shlex
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from amqp.exceptions import AccessRefused, AMQPError
from kombu import Connection, Producer

from ragsonde.intake.publisher import Publisher
from ragsonde.intake.topology import OUR_QUEUES, TRACE_EXCHANGE, WORK_EXCHANGE
from services.deployments import Deployment
from services.rabbitmq import HOST, PORT, rabbitmqctl, require_rabbitmq
from services.rabbitmq_node import RabbitmqNode, find_scripts

pytestmark = pytest.mark.integration

FOLDER = Path(__file__).parents[3] / "deploy" / "rabbitmq"
FILL = runpy.run_path(str(FOLDER / "fill_passwords.py"), run_name="fill_passwords")["main"]


class Imported:
    """A virtual host as the definitions make it, under names of its own.

    Attributes:
        vhost: its name.
        users: names here, by those in the file.
    """

    def __init__(self, folder):
        suffix = uuid.uuid4().hex[:8]
        self.vhost = f"ragsonde-test-{suffix}"
        text = (FOLDER / "definitions.json").read_text()
        definitions = json.loads(text)
        self.users = {user["name"]: f"{user['name']}-{suffix}" for user in definitions["users"]}
        definitions["vhosts"] = [{"name": self.vhost}]
        for kind in ("permissions", "policies", "exchanges", "queues", "bindings"):
            for one in definitions[kind]:
                one["vhost"] = self.vhost
        for one in (*definitions["users"], *definitions["permissions"]):
            key = "user" if "user" in one else "name"
            one[key] = self.users[one[key]]
        (folder / "definitions.json").write_text(json.dumps(definitions))
        (folder / "password").write_text(f"of-{suffix}\n")
        self.unfilled = folder / "definitions.json"
        named = [f"{user}={folder / 'password'}" for user in self.users.values()]
        FILL([str(folder / "definitions.json"), str(folder / "filled.json"), *named])
        for file in (self.unfilled, folder / "filled.json"):
            file.chmod(0o644)
        self._password = f"of-{suffix}"
        self.file = folder / "filled.json"

    def url(self, user):
        return f"amqp://{self.users[user]}:{self._password}@{HOST}:{PORT}/{self.vhost}"

    def ask(self, command, *columns):
        answer = rabbitmqctl(command, "-p", self.vhost, "--quiet", "--formatter", "json", *columns)
        return json.loads(answer.stdout)

    def remove(self):
        rabbitmqctl("delete_vhost", self.vhost, check=False)
        for user in self.users.values():
            rabbitmqctl("delete_user", user, check=False)


@pytest.fixture
def imported():
    require_rabbitmq()
    # not pytest's own folder: rabbitmqctl works as a user who may not enter that
    with TemporaryDirectory(prefix="ragsonde-test-") as folder:
        Path(folder).chmod(0o755)
        one = Imported(Path(folder))
        try:
            rabbitmqctl("import_definitions", str(one.file))
            yield one
        finally:
            one.remove()


def list_queues(imported):
    columns = ("name", "type", "durable", "arguments", "policy")
    return {queue["name"]: queue for queue in imported.ask("list_queues", *columns)}


def test_what_ragsonde_declares_passes_over_what_was_imported(imported):
    before = list_queues(imported), imported.ask("list_bindings"), imported.ask("list_exchanges")
    assert set(before[0]) == set(OUR_QUEUES)
    assert {queue["type"] for queue in before[0].values()} == {"quorum"}
    publisher = Publisher(imported.url("ragsonde"))
    try:
        publisher.declare_topology()  # with other arguments: 406, precondition failed
    finally:
        publisher.close()
    assert (list_queues(imported), imported.ask("list_bindings"), imported.ask("list_exchanges")) == before
    assert {name for name, queue in before[0].items() if queue["policy"] == "ragsonde-limit"} == {
        "ragsonde.traces"
    }


def test_a_worker_scores_on_it_with_the_rights_of_its_user(imported, database_url, tmp_path):
    deployment = Deployment(
        "rabbitmq", broker_url=imported.url("ragsonde"), database_url=database_url, folder=tmp_path
    )
    try:
        worker = deployment.start_ready_worker()
        monitor = deployment.start("monitor")
        trace = {"trace_id": "of-a-producer", "query": "q", "contexts": ["a", "b"], "answer": "a"}
        with Connection(imported.url("producer"), transport_options={"confirm_publish": True}) as connection:
            Producer(connection, exchange=TRACE_EXCHANGE, auto_declare=False).publish(
                json.dumps(trace), routing_key="any", content_type="application/json"
            )
        deployment.wait_until_scored(1)
        assert "ACCESS_REFUSED" not in worker.read_log() + monitor.read_log()
    finally:
        deployment.stop()


def test_a_producer_may_publish_traces_and_nothing_else(imported):
    with Connection(imported.url("producer"), transport_options={"confirm_publish": True}) as connection:
        producer = Producer(connection, exchange=WORK_EXCHANGE, auto_declare=False)
        with pytest.raises(AccessRefused):
            producer.publish("{}", routing_key="ragsonde.work")
    with Connection(imported.url("producer")) as connection, pytest.raises(AccessRefused):
        connection.channel().basic_get("ragsonde.traces")


@pytest.fixture
def otlp_spans(imported):
    """A queue of the collector's exporter, which only the default exchange leads to."""
    rights = (".*", ".*", ".*")
    rabbitmqctl("set_permissions", "-p", imported.vhost, imported.users["ragsonde"], *rights)
    with Connection(imported.url("ragsonde")) as connection:
        connection.channel().queue_declare("otlp_spans", durable=True, auto_delete=False)
    return "otlp_spans"


def publish_by_the_default_exchange(imported, queue):
    with Connection(imported.url("producer"), transport_options={"confirm_publish": True}) as connection:
        Producer(connection, auto_declare=False).publish(b"{}", routing_key=queue)


def test_with_the_right_that_the_page_gives_a_producer_reaches_a_queue_of_its_own(imported, otlp_spans):
    with pytest.raises(AccessRefused):
        publish_by_the_default_exchange(imported, otlp_spans)
    page = (FOLDER.parents[1] / "docs" / "how-to" / "send-from-otel-collector.md").read_text()
    (rights,) = re.findall(r"`rabbitmqctl set_permissions -p ragsonde producer ([^`]+)`", page)
    rabbitmqctl("set_permissions", "-p", imported.vhost, imported.users["producer"], *shlex.split(rights))
    publish_by_the_default_exchange(imported, otlp_spans)
    lengths = imported.ask("list_queues", "name", "messages")
    assert {"name": otlp_spans, "messages": 1} in lengths


def test_without_a_password_nobody_logs_in(imported):
    definitions = json.loads((FOLDER / "definitions.json").read_text())
    assert {user["password_hash"] for user in definitions["users"]} == {""}
    rabbitmqctl("import_definitions", str(imported.unfilled))
    with Connection(imported.url("producer")) as connection, pytest.raises(AccessRefused):
        connection.connect()


class OwnNode(RabbitmqNode):
    """A node on the settings of deploy/rabbitmq, where nobody is `guest`."""

    url: str

    def _lets_in(self):
        assert self._node.poll() is None, (self._folder / "node.log").read_text()
        try:
            with Connection(self.url, connect_timeout=5) as connection:
                return bool(connection.connect())
        except (OSError, AMQPError):
            return False


def test_a_node_on_these_settings_makes_all_of_it_at_its_start(tmp_path):
    require_rabbitmq()
    scripts = find_scripts()
    if scripts is None:
        pytest.skip("RabbitMQ's own scripts are not here")
    (tmp_path / "password").write_text("of-a-node")
    definitions = tmp_path / "definitions.json"
    FILL([str(FOLDER / "definitions.json"), str(definitions), f"ragsonde={tmp_path / 'password'}"])
    conf = (FOLDER / "rabbitmq.conf").read_text()
    assert "/etc/rabbitmq/ragsonde/definitions.json" in conf
    (tmp_path / "rabbitmq.conf").write_text(
        conf.replace("/etc/rabbitmq/ragsonde/definitions.json", str(definitions))
    )
    node = OwnNode(tmp_path, scripts=scripts)
    node.url = f"amqp://ragsonde:of-a-node@{HOST}:{node.port}/ragsonde"
    with node:
        publisher = Publisher(node.url)
        try:
            publisher.declare_topology()
        finally:
            publisher.close()
        users = json.loads(node.ctl("list_users", "--quiet", "--formatter", "json"))
        assert {user["user"] for user in users} == {"ragsonde", "producer"}
        asked = "application:get_env(rabbit, consumer_timeout)."
        assert node.ctl("eval", asked).strip() == "{ok,1800000}"
        queues = node.ctl("list_queues", "-p", "ragsonde", "--quiet", "--formatter", "json", "name", "policy")
        assert {one["name"]: one["policy"] for one in json.loads(queues)}[
            "ragsonde.traces"
        ] == "ragsonde-limit"
