"""What docs/how-to/send-scores-elsewhere.md and watch-the-judge.md show holds, from their own blocks."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from fakes.score_events import make_event
from ragsonde.cli.check_set import DEFAULT_SIZE
from ragsonde.cli.main import COMMANDS
from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.monitor.check_jobs import FEWEST_ANSWERS, MAJORITY
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde.sinks.otlp import build_request
from ragsonde.sinks.table import build_destinations
from ragsonde_schemas.score_event import ScoreEvent


@pytest.fixture
def page(request):
    def read(name):
        return (request.config.rootpath / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8")

    return read


def list_blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_settings_are_valid_and_the_own_kind_works(page, tmp_path):
    text = page("send-scores-elsewhere")
    first, own = (yaml.safe_load(block)["score_sinks"] for block in list_blocks(text, "yaml"))
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer x\n")
    options = [ScoreSinkOptions(**one) for one in first]
    readable = [one.model_copy(update={"headers_file": one.headers_file and headers}) for one in options]
    assert len(build_destinations(readable, added={})) == 2

    names = {}
    exec(list_blocks(text, "python")[0], names)  # noqa: S102 - the page's own code
    (shelf,) = build_destinations([ScoreSinkOptions(**own[0])], added={"shelf": names["Shelf"]})
    assert shelf.deliver([make_event(number) for number in range(7)]) == 2
    assert len(shelf.kept) == 5


def test_the_body_is_that_of_an_event(page):
    (block,) = list_blocks(page("send-scores-elsewhere"), "json")
    (shown,) = json.loads(block)["results"]
    assert set(shown) == set(ScoreEvent.model_fields)
    assert ScoreEvent(**shown).raw == 0.8


def test_the_attributes_are_those_that_are_sent(page):
    told = set(re.findall(r"^\| `((?:gen_ai|error)[\w.]+)` \|", page("send-scores-elsewhere"), re.MULTILINE))
    events = [
        make_event(response_id="r"),
        make_event(status="error", cause="refused", raw=None, value=None, band=None, passed=None),
    ]
    ((records,),) = [
        [scope.log_records for scope in one.scope_logs] for one in build_request(events).resource_logs
    ]
    sent = {attribute.key for record in records for attribute in record.attributes}
    assert told == {name for name in sent if not name.startswith("ragsonde.")}


@pytest.mark.parametrize("name", ["send-scores-elsewhere", "watch-the-judge"])
def test_the_series_exist(page, name):
    known = {f"ragsonde_{one.name}" for one in (*WORKER_SERIES, *MONITOR_SERIES)}
    told = set(re.findall(r"ragsonde_(?!schemas)\w+", page(name)))
    assert told
    assert told <= known


def test_the_figures_of_watching_are_those_of_the_code(page):
    text = " ".join(page("watch-the-judge").split())
    assert (FEWEST_ANSWERS, MAJORITY) == (20, 2 / 3)
    assert "two thirds of the last 24 hours' answers, and these are at least 20" in text
    assert f"copies {DEFAULT_SIZE} recorded traces" in text
    commands = re.findall(r"^ragsonde (\S+)", page("watch-the-judge"), re.MULTILINE)
    assert set(commands) <= set(COMMANDS)
