"""What docs/how-to/check-the-ledger.md and replay-parked-messages.md show and say holds."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.envelopes import wrap
from ragsonde.cli.main import load_command
from ragsonde.cli.parked import MANY
from ragsonde.decoding.body_names import read_names
from ragsonde.decoding.table import decode
from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.intake.deliveries import KEPT_BYTES_OF_OVERSIZE
from ragsonde.monitor.ledger_jobs import CHECKED_SPAN, LedgerChores
from ragsonde.settings.fields import RetentionDays
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.ledger import MEANINGS, Invariant, MessageEnd

FOLDER = Path(__file__).parents[3] / "docs" / "how-to"
LEDGER = (FOLDER / "check-the-ledger.md").read_text()
PARKED = (FOLDER / "replay-parked-messages.md").read_text()
SERIES = {declared.full_name for declared in (*WORKER_SERIES, *MONITOR_SERIES)}
COMMANDS = re.findall(r"^ragsonde (\w+)([^#\n]*)", LEDGER + PARKED, re.MULTILINE)


@pytest.mark.parametrize(("name", "options"), COMMANDS)
def test_every_option_and_reason_of_their_commands_is_one(name, options):
    app = typer.Typer()
    app.command()(load_command(name).callback)
    known = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"}).output
    words = shlex.split(options)
    assert [word for word in words if word.startswith("--") and word not in known] == []
    assert all(words[place + 1] in set(ParkReason) for place, word in enumerate(words) if word == "--reason")


def test_the_ledger_names_each_invariant_with_its_meaning_and_each_end_of_a_message():
    rows = re.findall(r"^\| (`[^|]+) \| (.+) \|$", LEDGER, re.MULTILINE)
    named = [name for cell, _ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert named == [*Invariant, *MessageEnd]
    told = dict(rows)
    for invariant in list(Invariant)[1:9]:
        assert told[f"`{invariant}`"] == MEANINGS[invariant]


def test_the_message_that_is_put_on_the_queue_to_try_it_is_parked_and_found(monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PARKED, re.DOTALL)
    published = []

    class Publisher:
        def __init__(self, broker_url):
            assert broker_url == "amqp://h/"

        def publish_trace(self, body, *, content_type):
            published.append((body, content_type))

        def close(self):
            published.append("closed")

    monkeypatch.setenv("RAGSONDE_BROKER_URL", "amqp://h/")
    monkeypatch.setattr("ragsonde.intake.publisher.Publisher", Publisher)
    exec(code, {})  # noqa: S102 - the page's own code
    (body, content_type), end = published
    assert (content_type, end) == (None, "closed")
    with pytest.raises(DecodeError) as refused:
        decode(wrap(body))
    assert refused.value.reason is ParkReason.INVALID_JSON
    assert "odd-1" in read_names(body).traces


def test_their_series_are_exposed():
    assert set(re.findall(r"ragsonde_\w+", LEDGER + PARKED)) <= SERIES
    assert "(../runbooks/RagsondeLedgerBroken.md)" in LEDGER


def test_their_figures_are_those_of_the_code():
    assert f"checks the last {CHECKED_SPAN.total_seconds() / 3600:.0f} hours every five minutes" in LEDGER
    assert LedgerChores.__dataclass_fields__["check_seconds"].default == 300
    assert f"More than {MANY} messages" in PARKED
    assert f"for {RetentionDays().parked_message} days" in PARKED
    assert f"the first {KEPT_BYTES_OF_OVERSIZE // 1024} KiB" in PARKED
