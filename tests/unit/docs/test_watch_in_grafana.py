"""What docs/how-to/watch-in-grafana.md says is there."""

import re
from pathlib import Path

import yaml

from services.grafana import FOLDER, NAMES, read_dashboard

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "watch-in-grafana.md").read_text()
MAKEFILE = (Path(__file__).parents[3] / "Makefile").read_text()
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["grafana"]
PROVISIONED = "".join(path.read_text() for path in (FOLDER / "provisioning").rglob("*.yaml"))


def test_its_table_names_every_variable_that_the_files_ask_for():
    asked = set(re.findall(r"(?<!\$)\$\{(RAGSONDE_\w+)\}", PROVISIONED))
    assert set(re.findall(r"^\| `(RAGSONDE_\w+)`", PAGE, re.MULTILINE)) == asked


def test_the_composition_sets_each_of_them_and_mounts_what_is_there():
    asked = set(re.findall(r"(?<!\$)\$\{(RAGSONDE_\w+)\}", PROVISIONED))
    environment = COMPOSE["environment"]
    assert asked <= set(environment)
    mounted = dict(volume.split(":")[:2] for volume in COMPOSE["volumes"] if volume.startswith("./"))
    assert all((FOLDER / source).exists() for source in mounted)
    shown = {target for target in mounted.values() if target.endswith(".json")}
    assert shown == {f"{environment['RAGSONDE_DASHBOARDS']}/{name}.json" for name in NAMES}
    assert mounted["./provisioning"] == "/etc/grafana/provisioning"


def test_the_order_on_call_leads_to_rows_and_leaves_none_out():
    rows = {
        (name, panel["title"])
        for name in NAMES
        for panel in read_dashboard(name)["panels"]
        if panel["type"] == "row" and panel["title"] != "$scorer"
    }
    order = PAGE[PAGE.index("## On call") :]
    steps = re.findall(r'^\d\. \*\*(\w+), "([^"]+)"\*\*', order, re.MULTILINE)
    assert {(board.lower(), row) for board, row in steps} <= rows
    assert {row for _, row in rows} <= set(re.findall(r'"([^"]+)"', order))
    assert "**Quality, the row of that scorer**" in order


def test_its_command_is_a_target():
    (arguments,) = re.findall(r"^make dashboards ARGS='(.*)'$", PAGE, re.MULTILINE)
    assert not arguments.startswith("-"), "without a folder it would write what is committed"
    assert "dashboards: $(VENV)/.dev" in MAKEFILE


def test_the_role_is_made_by_hand_only_where_the_file_did_not_make_it():
    before, _, _ = PAGE.partition("CREATE ROLE grafana")
    assert "`deploy/postgres/roles.sql` makes it" in " ".join(before.split())
    assert "'grafana'" in (FOLDER.parent / "postgres" / "roles.sql").read_text()
