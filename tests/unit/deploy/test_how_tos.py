"""What the three how-to pages of deploy/ say holds."""

import json
import re

import pytest
import yaml

from builders.manifests import (
    DEPLOY,
    count_seconds,
    find_pods,
    list_manifest_files,
    read_composition,
    read_manifests,
)
from ragsonde.cli.main import COMMANDS
from ragsonde.settings import read_settings

ROOT = DEPLOY.parent
HOW_TO = ROOT / "docs" / "how-to"
PAGES = {
    name: (HOW_TO / f"{name}.md").read_text()
    for name in ("run-with-compose", "run-on-kubernetes", "set-up-rabbitmq-and-postgres")
}
COMPOSE, KUBERNETES, SERVERS = PAGES.values()
ROLES = (DEPLOY / "postgres" / "roles.sql").read_text()
SERVICES = read_composition()["services"]


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_it_names_are_there(page):
    named = set(re.findall(r"\bdeploy/[\w./-]*\w", PAGES[page])) - {"deploy/ragsonde-monitor"}
    made = {"deploy/compose/secrets", "deploy/kubernetes/overlays/production/dashboards"}
    gone = [name for name in named if not (ROOT / name).exists() and not name.startswith(tuple(made))]
    assert gone == []


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_that_it_shows_are_ours(page):
    called = re.findall(
        r"(?:exec [\w/-]+ (?:-- )?|^RAGSONDE_\S+ )ragsonde ([\w-]+)", PAGES[page], re.MULTILINE
    )
    assert called
    assert set(called) <= COMMANDS.keys()


def test_the_addresses_of_compose_are_those_that_are_opened():
    shown = set(re.findall(r"127\.0\.0\.1:(\d+)", COMPOSE))
    opened = {port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", ())}
    assert shown == opened
    secrets = set(re.findall(r"`secrets/(\w+)`", COMPOSE))
    assert secrets <= read_composition()["secrets"].keys()


def test_grace_and_numbers_are_those_of_the_files():
    lease = read_settings(DEPLOY / "compose" / "ragsonde.yaml", environ={}).lease_seconds
    assert lease == 120 + 30
    assert count_seconds(SERVICES["worker"]["stop_grace_period"]) == 180
    assert find_pods(read_manifests(*list_manifest_files()))["worker"]["terminationGracePeriodSeconds"] == 180
    assert "`stop_grace_period` is 180 s" in COMPOSE
    assert "`terminationGracePeriodSeconds` of a worker is 180" in KUBERNETES
    for text in (COMPOSE, KUBERNETES):
        assert "120 s by default" in text
    (scaled,) = (
        one["spec"] for one in read_manifests(*list_manifest_files()) if one["kind"] == "ScaledObject"
    )
    values = {one["metadata"]["queueName"]: one["metadata"]["value"] for one in scaled["triggers"]}
    assert values == {"ragsonde.traces": "1000", "ragsonde.work": "200"}
    assert (
        "1,000 messages that wait in `ragsonde.traces` or 200 in `ragsonde.work`, from 2 to 6" in KUBERNETES
    )
    assert (scaled["minReplicaCount"], scaled["maxReplicaCount"]) == (2, 6)


def test_the_secrets_of_kubernetes_have_the_keys_that_pods_mount():
    made = {
        name: set(re.findall(r"--from-literal=([\w-]+)=", body))
        for name, body in re.findall(r"create secret generic (\S+)((?:.*\\\n)*.*)", KUBERNETES)
    }
    mounted: dict[str, set[str]] = {}
    for pod in find_pods(read_manifests(*list_manifest_files())).values():
        (volume,) = (one for one in pod["volumes"] if one["name"] == "secrets")
        for one in volume["projected"]["sources"]:
            keys = {item["key"] for item in one["secret"]["items"]}
            mounted.setdefault(one["secret"]["name"], set()).update(keys)
    assert made == mounted


def test_the_table_of_roles_names_each():
    listed = re.search(r"ARRAY\[(.*?)\]", ROLES, re.DOTALL)[1]
    made = set(re.findall(r"'(ragsonde_\w+|grafana)'", listed))
    made.add("ragsonde_owner")
    assert set(re.findall(r"^\| `(ragsonde_\w+|grafana)` \|", SERVERS, re.MULTILINE)) == made


def test_the_policy_that_it_shows_changes_the_one_that_is_imported():
    (policy,) = json.loads((DEPLOY / "rabbitmq" / "definitions.json").read_text())["policies"]
    shown = re.search(r"set_policy -p ragsonde .*?--priority (\d+) (\S+) '(\S+)' \\\n\s+'(.*)'", SERVERS)
    assert (int(shown[1]), shown[2], shown[3]) == (policy["priority"], policy["name"], policy["pattern"])
    assert json.loads(shown[4]).keys() == policy["definition"].keys()
    assert policy["definition"]["max-length"] == 1_000_000
    assert policy["definition"]["max-length-bytes"] == 8 * 1024**3


def test_grafana_gets_the_rights_of_its_own_page():
    page = (HOW_TO / "watch-in-grafana.md").read_text()
    shown = set()
    for rights, places in re.findall(r"^GRANT (SELECT.*?) ON ([\w, ]+) TO grafana;", page, re.MULTILINE):
        shown |= {(place.strip(), rights) for place in places.split(",")}
    given = re.findall(r"\(\s*'grafana',\s*'(SELECT[^']*)',\s*'(\w+)'\s*\)", ROLES)
    assert {(place, rights) for rights, place in given} == shown
    (timeout,) = re.findall(r"statement_timeout = '(\w+)'", page)
    assert f"statement_timeout = ''{timeout}''" in ROLES


def test_what_was_not_tried_is_said():
    images = {service["image"] for service in SERVICES.values()}
    assert {"postgres:17", "rabbitmq:3.13"} <= images
    assert "not the images' 3.13 and 17" in COMPOSE
    for text in (COMPOSE, KUBERNETES):
        assert "## What was tried, and what was not" in text
    overlays = yaml.safe_load(
        (DEPLOY / "kubernetes" / "overlays" / "production" / "kustomization.yaml").read_text()
    )
    assert len([name for name in overlays["components"] if name != "image"]) == 3
