"""Processes of a shipped deployment show one hash, else the alert on differing settings never ends."""

import pytest

from builders.manifests import DEPLOY, OURS, find_pods, list_manifest_files, read_composition, read_manifests
from ragsonde.settings import read_settings
from ragsonde.settings.effective import hash_settings

URLS = {
    "RAGSONDE_BROKER_URL_FILE": "amqps://{name}:secret@broker/ragsonde",
    "RAGSONDE_DATABASE_URL_FILE": "postgresql://ragsonde_{name}:secret@database/ragsonde",
}


def read_compose_environments():
    services = read_composition()["services"]
    return {name: services[name]["environment"] for name in OURS}


def read_kubernetes_environments():
    pods = find_pods(read_manifests(*list_manifest_files()))
    return {
        name: {one["name"]: one.get("value") for one in pods[name]["containers"][0]["env"]} for name in OURS
    }


DEPLOYMENTS = {
    "compose": (read_compose_environments, DEPLOY / "compose" / "ragsonde.yaml"),
    "kubernetes": (read_kubernetes_environments, DEPLOY / "kubernetes" / "base" / "ragsonde.yaml"),
}


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
def test_worker_monitor_and_receiver_share_a_hash(deployment, tmp_path):
    read_environments, config = DEPLOYMENTS[deployment]
    hashes = {}
    for name, given in read_environments().items():
        environ = {variable: value for variable, value in given.items() if variable.startswith("RAGSONDE_")}
        for variable in URLS.keys() & environ.keys():
            (tmp_path / f"{name} {variable}").write_text(URLS[variable].format(name=name))
            environ[variable] = str(tmp_path / f"{name} {variable}")
        environ.pop("RAGSONDE_CONFIG", None)
        hashes[name] = hash_settings(read_settings(config, environ=environ))
    assert set(hashes) == set(OURS)
    assert len(set(hashes.values())) == 1, hashes
