"""What recipes and pages say to producers and operators is of the deployments that deploy/ makes."""

import json
import re

import pytest
import yaml

from builders.manifests import DEPLOY
from ragsonde.settings import Ports

ROOT = DEPLOY.parent
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
RECIPES = sorted((DEPLOY / "otel-collector").glob("*.yaml"))
DEFINITIONS = json.loads((DEPLOY / "rabbitmq" / "definitions.json").read_text())
(VHOST,) = (one["name"] for one in DEFINITIONS["vhosts"])
USERS = {one["name"] for one in DEFINITIONS["users"]}


def name_file(path):
    return str(path.relative_to(ROOT))


def list_code(page):
    """Blocks and spans of code of a page."""
    text = page.read_text()
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    return [*blocks, *re.findall(r"`([^`\n]+)`", text)]


@pytest.mark.parametrize("path", [*PAGES, *RECIPES], ids=name_file)
def test_the_virtual_host_is_the_deployments(path):
    """`/` is told of as what to change on a broker as it comes, and never stands in a recipe."""
    recipe = path.read_text() if path in RECIPES else "\n".join(list_code(path))
    named = re.findall(r"^ +vhost: (\S+)", recipe, re.MULTILINE)
    assert set(named) <= {VHOST}
    tuned = re.findall(r"rabbitmqctl set_\w+ (.*)", recipe)
    assert [line for line in tuned if not line.startswith(f"-p {VHOST} ")] == []


def test_a_recipe_names_a_virtual_host_at_all():
    exporter = yaml.safe_load((DEPLOY / "otel-collector" / "rabbitmq.yaml").read_text())["exporters"][
        "rabbitmq"
    ]
    assert exporter["connection"]["vhost"] == VHOST
    page = (ROOT / "docs" / "how-to" / "send-from-otel-collector.md").read_text()
    assert set(re.findall(r"RABBITMQ_USERNAME=(\w+)", page)) == {"producer"}
    assert "producer" in USERS
    assert "write `vhost: /`" in page


@pytest.mark.parametrize("path", PAGES, ids=name_file)
def test_nothing_is_installed_from_an_index_that_has_it_not(path):
    code = "\n".join(list_code(path))
    assert re.findall(r"pip install [^\n]*?(?<![\w./-])ragsonde(?:\[|'|\s|$)", code, re.MULTILINE) == []
    assert ":latest" not in code


@pytest.mark.parametrize("path", PAGES, ids=name_file)
def test_scores_are_not_sent_to_our_own_receiver(path):
    assert f":{Ports().receiver}/v1/logs" not in path.read_text()
