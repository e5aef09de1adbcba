"""deploy/compose: its form, its closedness, and that everything that it names is there."""

import inspect
import re
import stat
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from builders.manifests import (
    DEPLOY,
    OURS,
    count_seconds,
    find_faults,
    read_composition,
    read_schema,
)
from ragsonde.cli.main import COMMANDS
from ragsonde.monitor.loop import GRACE_SECONDS as MONITOR_GRACE_SECONDS
from ragsonde.receiver.http_server import GRACE_SECONDS as RECEIVER_GRACE_SECONDS
from ragsonde.settings import read_settings
from ragsonde.storage.engine import SPARE_CONNECTIONS, build_engine

FOLDER = DEPLOY / "compose"
COMPOSITION = read_composition()
SERVICES = COMPOSITION["services"]
SETTINGS = read_settings(FOLDER / "ragsonde.yaml", environ={})
PORTS = {
    "worker": SETTINGS.ports.worker_metrics,
    "monitor": SETTINGS.ports.monitor,
    "receiver": SETTINGS.ports.receiver,
}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compose") / "secrets"
    subprocess.run(["sh", FOLDER / "make-secrets.sh", folder], check=True, capture_output=True)
    return folder


def test_it_has_the_form_of_the_compose_specification():
    assert find_faults(read_schema("compose"), COMPOSITION) == []
    broken = {**COMPOSITION, "services": {"worker": {**SERVICES["worker"], "stop_grace": "1s"}}}
    assert find_faults(read_schema("compose"), broken) != []


@pytest.mark.parametrize("name", SERVICES)
def test_each_container_is_closed_and_bounded(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    limits = service["deploy"]["resources"]["limits"]
    assert {"cpus", "memory"} <= limits.keys()
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_open_on_loopback_alone(name):
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", ()))


@pytest.mark.parametrize("name", SERVICES)
def test_what_it_mounts_is_there(name):
    for volume in SERVICES[name].get("volumes", ()):
        source, _, _ = volume.partition(":")
        if source.startswith("."):
            assert (FOLDER / source).exists(), source
            assert volume.endswith(":ro"), volume
        else:
            assert source in COMPOSITION["volumes"]


@pytest.mark.parametrize("name", SERVICES)
def test_its_secrets_are_files_that_are_made(name, secrets):
    for secret in SERVICES[name].get("secrets", ()):
        assert COMPOSITION["secrets"][secret] == {"file": f"./secrets/{secret}"}
        assert (secrets / secret).read_text()
    mentioned = re.findall(r"/run/secrets/(\w+)", str(SERVICES[name]))
    assert set(mentioned) <= set(SERVICES[name].get("secrets", ()))


def test_each_secret_is_made_once_and_read_by_somebody(secrets):
    read = {secret for service in SERVICES.values() for secret in service.get("secrets", ())}
    assert read == COMPOSITION["secrets"].keys() == {file.name for file in secrets.iterdir()}
    before = {file.name: file.read_text() for file in secrets.iterdir()}
    subprocess.run(["sh", FOLDER / "make-secrets.sh", secrets], check=True, capture_output=True)
    assert {file.name: file.read_text() for file in secrets.iterdir()} == before
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    assert len({text for name, text in before.items() if not name.endswith("_url")}) == len(
        [name for name in before if not name.endswith("_url")]
    )


@pytest.mark.parametrize("name", SERVICES)
def test_whoever_is_waited_for_can_be_waited_for(name):
    for other, how in SERVICES[name].get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert SERVICES[other]["healthcheck"]["test"]
        else:
            assert how["condition"] == "service_completed_successfully"
            assert SERVICES[other]["restart"] == "no"


def test_tables_are_made_before_anybody_needs_them():
    order = ["postgres", "roles", "migrate", "grants"]
    for before, after in pairwise(order):
        assert before in SERVICES[after]["depends_on"]
    assert all("grants" in SERVICES[name]["depends_on"] for name in ("worker", "monitor", "grafana"))


@pytest.mark.parametrize("name", OURS)
def test_each_of_ours_runs_a_command_that_is_there(name):
    assert SERVICES[name]["command"] == [name]
    assert name in COMMANDS
    assert SERVICES["migrate"]["command"] == ["migrate"]
    assert "migrate" in COMMANDS


@pytest.mark.parametrize("name", OURS)
def test_its_health_is_asked_on_the_port_that_it_listens_on(name):
    check = SERVICES[name]["healthcheck"]["test"]
    assert check == ["CMD", "python", "/opt/ragsonde/health.py", str(PORTS[name]), "ready"]
    assert count_seconds(SERVICES[name]["healthcheck"]["timeout"]) > 5  # of health.py itself


@pytest.mark.parametrize("name", ["monitor", "receiver"])
def test_its_port_is_the_one_that_is_opened(name):
    assert SERVICES[name]["ports"] == [f"127.0.0.1:{PORTS[name]}:{PORTS[name]}"]


def test_each_has_the_time_that_it_needs_to_stop():
    grace = {name: count_seconds(SERVICES[name]["stop_grace_period"]) for name in OURS}
    assert grace["worker"] > SETTINGS.lease_seconds
    assert grace["monitor"] > MONITOR_GRACE_SECONDS + 10
    assert grace["receiver"] > RECEIVER_GRACE_SECONDS + 5


@pytest.mark.parametrize("name", [*OURS, "migrate"])
def test_its_settings_are_settings(name, secrets, tmp_path):
    """Each process reads what it is given, with the secrets' files where they would be mounted."""
    moved = tmp_path / "ragsonde.yaml"
    moved.write_text((FOLDER / "ragsonde.yaml").read_text().replace("/run/secrets", str(secrets)))
    environ = {
        key: value.replace("/run/secrets", str(secrets))
        for key, value in SERVICES[name].get("environment", {}).items()
    }
    settings = read_settings(moved, environ=environ)
    needs = {
        "worker": (True, True),
        "monitor": (True, True),
        "receiver": (True, False),
        "migrate": (False, True),
    }
    assert (settings.broker_url is not None, settings.database_url is not None) == needs[name]
    role = {"worker": "ragsonde_worker", "monitor": "ragsonde_monitor", "migrate": "ragsonde_migrate"}.get(
        name
    )
    if role:
        assert settings.database_url.get_secret_value().startswith(f"postgresql://{role}:")


def test_who_makes_roles_knows_their_passwords():
    script = (FOLDER / "set-roles.sh").read_text() + (FOLDER / "passwords.sql").read_text()
    assert set(re.findall(r"/run/secrets/(\w+)", script)) == set(SERVICES["roles"]["secrets"])
    roles = (DEPLOY / "postgres" / "roles.sql").read_text()
    for role in re.findall(r"ALTER ROLE (\w+) PASSWORD", script):
        assert f"'{role}'" in roles
    mounted = {volume.split(":")[1] for volume in SERVICES["roles"]["volumes"]}
    assert set(re.findall(r"/ragsonde/[\w.-]+", script)) <= mounted
    assert SERVICES["roles"]["entrypoint"][1] in mounted


def test_the_broker_gets_the_definitions_that_are_filled():
    conf = (DEPLOY / "rabbitmq" / "rabbitmq.conf").read_text()
    (loaded,) = re.findall(r"^load_definitions = (\S+)$", conf, re.MULTILINE)
    assert "definitions:/etc/rabbitmq/ragsonde:ro" in SERVICES["rabbitmq"]["volumes"]
    assert loaded == "/etc/rabbitmq/ragsonde/definitions.json"
    assert SERVICES["definitions"]["command"][1] == "/filled/definitions.json"
    assert "definitions:/filled" in SERVICES["definitions"]["volumes"]


def test_prometheus_is_told_what_the_example_tells_it():
    example = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    ours = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    assert [job["job_name"] for job in ours["scrape_configs"]] == [
        job["job_name"] for job in example["scrape_configs"]
    ]
    for told in (ours, example):
        for job in told["scrape_configs"]:
            for key in ("static_configs", "dns_sd_configs", "authorization"):
                job.pop(key, None)
        del told["alerting"]["alertmanagers"]
        told["global"]["external_labels"] = sorted(told["global"]["external_labels"])
    assert ours == example


def test_prometheus_asks_where_they_answer():
    text = (FOLDER / "prometheus.yaml").read_text()
    assert {"receiver:4318", "monitor:8321", "alertmanager:9093"} <= set(re.findall(r"[a-z]+:\d{4}", text))
    (workers,) = yaml.safe_load(text)["scrape_configs"][0]["dns_sd_configs"]
    assert (workers["names"], workers["port"]) == (["worker"], PORTS["worker"])


def test_grafana_is_that_of_its_own_composition():
    alone = yaml.safe_load((DEPLOY / "grafana" / "compose.yaml").read_text())["services"]["grafana"]
    ours = SERVICES["grafana"]
    assert ours["image"] == alone["image"]
    targets = [{volume.split(":")[1] for volume in one["volumes"]} for one in (ours, alone)]
    assert targets[0] == targets[1]
    variables = [
        {name for name in one["environment"] if name.startswith("RAGSONDE_")} for one in (ours, alone)
    ]
    assert variables[0] | {"RAGSONDE_POSTGRES_PASSWORD"} == variables[1]
    assert "RAGSONDE_POSTGRES_PASSWORD=" in ours["entrypoint"][-1]


def test_nothing_of_the_secrets_is_committed():
    assert Path(FOLDER / ".gitignore").read_text().splitlines()[-1] == "secrets/"


def test_postgres_lets_in_as_many_as_the_processes_open():
    text = (FOLDER / "compose.yaml").read_text()
    told = re.search(r"# (\d+) for each worker and (\d+) for the monitor", text)
    kept = inspect.signature(build_engine).parameters["pool_size"].default
    assert int(told[1]) == kept + SPARE_CONNECTIONS
    (limit,) = re.findall(r"-cmax_connections=(\d+)", text)
    workers = SERVICES["worker"]["deploy"]["replicas"]
    assert int(limit) > workers * int(told[1]) + int(told[2])
    scaling = " ".join((DEPLOY.parent / "docs" / "scaling.md").read_text().split())
    assert (
        f"up to {told[1]} a worker process ({kept} and {SPARE_CONNECTIONS} spare) and {told[2]} a monitor"
        in scaling
    )


def test_the_page_names_the_engine_that_knows_its_keys():
    used = [name for name in SERVICES if "start_interval" in SERVICES[name].get("healthcheck", {})]
    page = (DEPLOY.parent / "docs" / "how-to" / "run-with-compose.md").read_text()
    assert used
    assert "Docker Engine 25 or newer" in page
