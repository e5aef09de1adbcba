"""Overlays as docs/how-to/run-on-kubernetes.md shows people to make them, built."""

import re
import shlex
import shutil

import pytest
import yaml

from builders.manifests import DEPLOY, find_pods, read_manifests
from dashboards.written import DEFAULT_PAGE, write_dashboards
from services.kustomize import build_overlay

NAMED = ("staging", "production")
PAGE = (DEPLOY.parent / "docs" / "how-to" / "run-on-kubernetes.md").read_text()
BLOCKS = [
    yaml.safe_load(re.sub(r"^    ", "", block, flags=re.MULTILINE) if block.startswith("    ") else block)
    for block in re.findall(r"^ *```yaml\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)
]
DIGEST = f"sha256:{'a1' * 32}"


@pytest.fixture
def copied(tmp_path):
    """The folders of deploy/ that an overlay is made of, somewhere else."""
    for name in ("kubernetes", "grafana"):
        shutil.copytree(DEPLOY / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "kubernetes" / "overlays"


def list_images(built):
    return {container["image"] for pod in find_pods(built).values() for container in pod["containers"]}


@pytest.mark.parametrize("name", NAMED)
def test_the_job_is_of_the_overlays_image_in_its_namespace(name):
    folder = DEPLOY / "kubernetes" / "overlays" / name
    (job,) = build_overlay(folder / "migrate")
    built = build_overlay(folder)
    assert job["kind"] == "Job"
    assert job["metadata"]["namespace"] == f"ragsonde-{name}"
    assert {one["metadata"].get("namespace") for one in built} - {None} == {f"ragsonde-{name}"}
    assert list_images([job]) == list_images(built) == {"registry.example.com/ragsonde:0.1.0"}


@pytest.mark.parametrize("name", NAMED)
def test_an_image_by_digest_reaches_every_pod_and_the_job(copied, name):
    file = copied / name / "image" / "kustomization.yaml"
    file.write_text(file.read_text().replace("newTag: 0.1.0", f"digest: {DIGEST}"))
    built = [*build_overlay(copied / name), *build_overlay(copied / name / "migrate")]
    assert set(find_pods(built)) == {"worker", "monitor", "receiver", "migrate"}
    assert list_images(built) == {f"registry.example.com/ragsonde@{DIGEST}"}


def test_the_page_applies_folders_that_are_there_and_rewrites_nothing_by_hand():
    applied = re.findall(r"kubectl apply .*?-k (\S+)", PAGE)
    assert applied == [f"deploy/kubernetes/overlays/production{part}" for part in ("/migrate", "")]
    assert "| sed" not in PAGE
    (fourth,) = re.findall(r"\*\*4\..*?```sh\n(.*?)```", PAGE, re.DOTALL)
    assert len(fourth.splitlines()) == 5
    assert "the same five lines" in PAGE


def test_dashboards_of_ones_own_take_the_place_of_ours(copied):
    (block,) = (one for one in BLOCKS if "components" in one)
    (arguments,) = re.findall(r"^make dashboards ARGS='(.*)'$", PAGE, re.MULTILINE)
    folder, option, address = shlex.split(arguments)
    assert option == "--page"
    overlay = copied / "production"
    target = overlay / folder.removeprefix("deploy/kubernetes/overlays/production/")
    target.mkdir()
    write_dashboards(target, page=address)
    assert f"cp deploy/grafana/kustomization.yaml {folder}/" in PAGE
    shutil.copy(DEPLOY / "grafana" / "kustomization.yaml", target)
    file = overlay / "kustomization.yaml"
    told = yaml.safe_load(file.read_text())
    assert [name for name in told["components"] if name not in block["components"]] == ["../../../grafana"]
    file.write_text(yaml.safe_dump({**told, **block}))
    shown = {
        one["metadata"]["name"]: one
        for one in build_overlay(overlay)
        if one["metadata"]["name"].startswith("ragsonde-dashboard-")
    }
    assert len(shown) == 3
    for one in shown.values():
        assert one["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert DEFAULT_PAGE not in str(one["data"])
    assert address in shown["ragsonde-dashboard-quality"]["data"]["quality.json"]


def test_only_quality_leads_out_of_grafana():
    led = {file.stem for file in (DEPLOY / "grafana").glob("*.json") if DEFAULT_PAGE in file.read_text()}
    assert led == {"quality"}


def read_policies(manifests):
    return {one["metadata"]["name"]: one["spec"] for one in manifests if one["kind"] == "NetworkPolicy"}


def test_ports_of_ones_own_are_opened_as_the_page_shows(copied):
    (block,) = (one for one in BLOCKS if "patches" in one)
    file = copied / "production" / "kustomization.yaml"
    told = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**told, "patches": [*told["patches"], *block["patches"]]}))
    policies = read_policies(build_overlay(copied / "production"))
    (rule,) = policies["ragsonde-providers"]["egress"]
    assert [one["port"] for one in rule["ports"]] == [443, 14318, 8000]


def test_names_are_found_wherever_the_cluster_answers_for_them():
    policies = read_policies(read_manifests(DEPLOY / "kubernetes" / "base" / "network-policies.yaml"))
    (rule,) = policies["ragsonde-closed"]["egress"]
    assert "to" not in rule  # a node's own cache is no pod, and not every cluster has its DNS in kube-system
    assert {(one["port"], one["protocol"]) for one in rule["ports"]} == {
        (port, protocol) for port in (53, 5353) for protocol in ("UDP", "TCP")
    }
