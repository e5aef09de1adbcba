"""deploy/kubernetes: the form of its objects, how closed they are, and that what they name is there."""

import json
import runpy
from pathlib import Path

import pytest
import yaml

from builders.manifests import (
    DEPLOY,
    OURS,
    find_faults,
    find_kind_schema,
    find_pods,
    list_environment,
    list_manifest_files,
    read_manifests,
    read_schema,
)
from ragsonde.cli.main import COMMANDS
from ragsonde.exposition.routes import METRICS
from ragsonde.intake.topology import OUR_QUEUES
from ragsonde.monitor.loop import GRACE_SECONDS as MONITOR_GRACE_SECONDS
from ragsonde.receiver.http_server import GRACE_SECONDS as RECEIVER_GRACE_SECONDS
from ragsonde.settings import read_settings
from services.grafana import NAMES
from services.kustomize import build_overlay

FOLDER = DEPLOY / "kubernetes"
FILES = list_manifest_files()
MANIFESTS = read_manifests(*FILES)
PODS = find_pods(MANIFESTS)
SETTINGS = read_settings(FOLDER / "base" / "ragsonde.yaml", environ={})
PORTS = {
    "worker": SETTINGS.ports.worker_metrics,
    "monitor": SETTINGS.ports.monitor,
    "receiver": SETTINGS.ports.receiver,
}
NAMED = ("staging", "production")
OVERLAYS = (
    *(f"overlays/{name}" for name in NAMED),
    "migrate",
    *(f"overlays/{name}/migrate" for name in NAMED),
)
MOUNT = "/run/secrets/ragsonde/"


def name_object(manifest):
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def find_schema(kind):
    return find_kind_schema(kind) or read_schema("custom_resources")[kind]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=name_object)
def test_each_object_has_the_form_of_its_kind(manifest):
    assert find_faults(find_schema(manifest["kind"]), manifest) == []
    assert find_faults(find_schema(manifest["kind"]), {**manifest, "spec": {"no": "field"}}) != []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_each_overlay_is_built_of_objects_of_their_form(overlay):
    built = build_overlay(FOLDER / overlay)
    faults = {name_object(one): find_faults(find_schema(one["kind"]), one) for one in built}
    assert {name: found for name, found in faults.items() if found} == {}
    assert len({name_object(one) for one in built}) == len(built)


def test_production_has_all_parts_in_one_namespace():
    built = build_overlay(FOLDER / "overlays" / "production")
    kinds = [one["kind"] for one in built]
    assert (kinds.count("Deployment"), kinds.count("ServiceMonitor"), kinds.count("ScaledObject")) == (
        3,
        3,
        1,
    )
    spaces = {one["metadata"].get("namespace") for one in built if one["kind"] != "Namespace"}
    assert spaces == {"ragsonde-production"}
    pods = find_pods(built)
    for pod in pods.values():
        (container,) = pod["containers"]
        assert container["image"] == "registry.example.com/ragsonde:0.1.0"
    worker = next(one for one in built if name_object(one) == "Deployment ragsonde-worker")
    assert "replicas" not in worker["spec"]  # KEDA's
    environment = dict(list_environment(pods["monitor"]))
    assert environment["RAGSONDE_LINKS__PAGE"] == "https://ragsonde.example.com"
    shown = {
        next(iter(one["data"].items()))
        for one in built
        if one["kind"] == "ConfigMap" and one["metadata"].get("labels", {}).get("grafana_dashboard") == "1"
    }
    assert shown == {(f"{name}.json", (DEPLOY / "grafana" / f"{name}.json").read_text()) for name in NAMES}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_selectors_find_the_pods_and_nobody_else(overlay):
    """A transformer of labels that writes into selectors would ask producers to be ragsonde themselves."""
    built = build_overlay(FOLDER / overlay)
    labels = [
        one["spec"]["template"]["metadata"]["labels"] for one in built if "template" in one.get("spec", {})
    ]
    assert all(one["app.kubernetes.io/name"] == "ragsonde" for one in labels)
    for one in built:
        if one["kind"] in {"Service", "PodDisruptionBudget", "Deployment"}:
            selector = one["spec"]["selector"]
            wanted = selector.get("matchLabels", selector)
            assert sum(wanted.items() <= each.items() for each in labels) == 1, name_object(one)
    policies = {one["metadata"]["name"]: one["spec"] for one in built if one["kind"] == "NetworkPolicy"}
    if policies:
        (rule,) = policies["ragsonde-receiver"]["ingress"]
        assert rule["from"][0]["podSelector"]["matchLabels"] == {"ragsonde/sends-traces": "true"}
        everyone = policies["ragsonde-closed"]["podSelector"]["matchLabels"]
        assert all(everyone.items() <= each.items() for each in labels)


@pytest.mark.parametrize("name", PODS)
def test_each_pod_is_closed_and_bounded(name):
    pod = PODS[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"requests", "limits"} <= container["resources"].keys()
    writable = [one["mountPath"] for one in container["volumeMounts"] if not one.get("readOnly")]
    assert writable == ["/tmp"]


@pytest.mark.parametrize("name", PODS)
def test_each_pod_runs_a_command_with_settings_that_are_there(name, tmp_path):
    pod = PODS[name]
    (container,) = pod["containers"]
    assert container["args"] == [name]
    assert name in COMMANDS
    environ = dict(list_environment(pod))
    files = {value.removeprefix(MOUNT) for value in environ.values() if value.startswith(MOUNT)}
    assert files <= list_secret_items(pod).keys()
    (tmp_path / "broker-url").write_text("amqp://ragsonde@broker/ragsonde")
    (tmp_path / "database-url").write_text("postgresql://ragsonde@database/ragsonde")
    environ.pop("RAGSONDE_CONFIG", None)
    moved = {key: value.replace(MOUNT, f"{tmp_path}/") for key, value in environ.items()}
    settings = read_settings(FOLDER / "base" / "ragsonde.yaml", environ=moved)
    asks = {"migrate": (False, True), "receiver": (True, False)}
    expected = asks.get(name, (True, True))
    assert (settings.broker_url is not None, settings.database_url is not None) == expected


def list_secret_items(pod):
    (volume,) = (one for one in pod["volumes"] if one["name"] == "secrets")
    sources = volume["projected"]["sources"]
    return {
        item["path"]: (one["secret"]["name"], item["key"])
        for one in sources
        for item in one["secret"]["items"]
    }


def test_tokens_are_mounted_where_the_settings_look_for_them():
    for path, name in ((SETTINGS.page.token_file, "monitor"), (SETTINGS.metrics.token_file, "worker")):
        assert str(path).removeprefix(MOUNT) in list_secret_items(PODS[name])
    assert str(SETTINGS.metrics.token_file).removeprefix(MOUNT) in list_secret_items(PODS["monitor"])
    assert str(SETTINGS.receiver.token_file).removeprefix(MOUNT) in list_secret_items(PODS["receiver"])


def test_each_reads_the_secrets_that_it_needs_and_no_others():
    broker, metrics = ("ragsonde-broker", "url"), ("ragsonde-tokens", "metrics")
    assert {name: list_secret_items(pod) for name, pod in PODS.items()} == {
        "worker": {
            "broker-url": broker,
            "database-url": ("ragsonde-database", "worker-url"),
            "metrics": metrics,
        },
        "monitor": {
            "broker-url": broker,
            "database-url": ("ragsonde-database", "monitor-url"),
            "metrics": metrics,
            "page": ("ragsonde-tokens", "page"),
        },
        "receiver": {"broker-url": broker, "receiver": ("ragsonde-tokens", "receiver")},
        "migrate": {"database-url": ("ragsonde-database", "migrate-url")},
    }


@pytest.mark.parametrize("name", OURS)
def test_it_is_probed_where_it_listens(name):
    (container,) = PODS[name]["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": PORTS[name]}]
    asked = {kind: container[kind]["httpGet"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert asked == {
        "startupProbe": {"path": "/health/live", "port": "http"},
        "livenessProbe": {"path": "/health/live", "port": "http"},
        "readinessProbe": {"path": "/health/ready", "port": "http"},
    }
    # the addresses themselves answer within 4 s
    assert all(container[kind]["timeoutSeconds"] > 4 for kind in asked)
    (service,) = (one for one in MANIFESTS if name_object(one) == f"Service ragsonde-{name}")
    assert service["spec"]["ports"] == [{"name": "http", "port": PORTS[name], "targetPort": "http"}]


def test_each_has_the_time_that_it_needs_to_stop():
    grace = {name: PODS[name]["terminationGracePeriodSeconds"] for name in OURS}
    assert grace["worker"] > SETTINGS.lease_seconds
    assert grace["monitor"] > MONITOR_GRACE_SECONDS + 10
    (container,) = PODS["receiver"]["containers"]
    pause_seconds = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert grace["receiver"] > pause_seconds + RECEIVER_GRACE_SECONDS + 5


def test_workers_are_scaled_by_queues_that_are_there():
    (scaled,) = (one["spec"] for one in MANIFESTS if one["kind"] == "ScaledObject")
    assert {one["metadata"]["queueName"] for one in scaled["triggers"]} <= set(OUR_QUEUES)
    assert scaled["scaleTargetRef"]["name"] == "ragsonde-worker"
    assert scaled["minReplicaCount"] <= scaled["fallback"]["replicas"] <= scaled["maxReplicaCount"]
    (policy,) = scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]["policies"]
    assert policy["periodSeconds"] >= PODS["worker"]["terminationGracePeriodSeconds"]


def test_each_is_scraped_with_its_token_under_a_name_that_lasts():
    monitors = {one["metadata"]["name"]: one["spec"] for one in MANIFESTS if one["kind"] == "ServiceMonitor"}
    example = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    jobs = set()
    for name in OURS:
        (endpoint,) = monitors[f"ragsonde-{name}"]["endpoints"]
        assert (endpoint["port"], endpoint["path"]) == ("http", METRICS)
        token = "receiver" if name == "receiver" else "metrics"
        assert endpoint["authorization"] == {"credentials": {"name": "ragsonde-tokens", "key": token}}
        assert endpoint["relabelings"][0]["targetLabel"] == "instance"
        jobs.add(endpoint["relabelings"][1]["replacement"])
    assert jobs == {job["job_name"] for job in example["scrape_configs"]}


def test_the_rule_is_made_of_the_rule_files():
    program = runpy.run_path(str(FOLDER / "write_prometheus_rule.py"), run_name="write_prometheus_rule")
    assert program["write_rule"]() == program["TARGET"].read_text(), "run write_prometheus_rule.py"
    groups = [
        group
        for file in sorted((DEPLOY / "prometheus" / "rules").glob("*.yaml"))
        for group in yaml.safe_load(file.read_text())["groups"]
    ]
    (rule,) = (one for one in MANIFESTS if one["kind"] == "PrometheusRule")
    assert rule["spec"]["groups"] == groups
    assert len({group["name"] for group in groups}) == len(groups)


def test_what_is_long_still_fits_into_a_config_map():
    for name in NAMES:
        assert len(json.dumps((DEPLOY / "grafana" / f"{name}.json").read_text())) < 1024 * 1024


def test_a_kustomization_names_files_of_its_folder_only():
    """kustomize refuses others; folders above are allowed."""
    for file in [*FOLDER.rglob("kustomization.yaml"), DEPLOY / "grafana" / "kustomization.yaml"]:
        told = yaml.safe_load(file.read_text())
        names = [*told.get("resources", ()), *told.get("components", ())]
        names += [one for made in told.get("configMapGenerator", ()) for one in made["files"]]
        for name in names:
            there = (file.parent / name).resolve()
            assert there.exists(), f"{file}: {name}"
            assert there.is_dir() or there.parent == Path(file).resolve().parent
