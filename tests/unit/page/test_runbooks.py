"""Runbooks on the page: those of the documentation, whole and harmless."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ragsonde.page.alerts import ALERTS
from ragsonde.page.runbooks import read_runbook, show_markdown
from services.page_client import ask


def test_what_they_are_written_in_becomes_html():
    text = """# Title

## Meaning

More than `1 < 2`, see [the other](RagsondeQueueOld.md) and
[a how-to](../how-to/backfill.md).
- **one**
- two,
  still two

2. second

| a | b |
| --- | --- |
| x | *y* |

```sh
ragsonde doctor < file

# a comment
```
"""
    assert show_markdown(text).split("\n", 2)[2] == (
        "<p>More than <code>1 &lt; 2</code>, see "
        '<a href="/runbooks/RagsondeQueueOld">the other</a> and a how-to.</p>\n'
        "<ul><li><strong>one</strong></li><li>two, still two</li></ul>\n"
        '<ol start="2"><li>second</li></ol>\n'
        '<table class="stack"><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody>'
        '<tr><td data-name="a">x</td><td data-name="b"><em>y</em></td></tr></tbody></table>\n'
        '<pre tabindex="0" role="region" aria-label="Commands">'
        "<code>ragsonde doctor &lt; file\n\n# a comment</code></pre>"
    )


@pytest.mark.parametrize("name", ALERTS)
def test_every_alert_has_one_and_all_of_its_words_are_shown(name):
    text = read_runbook(name)
    shown = re.sub(r"<[^>]*>", " ", show_markdown(text))
    assert "Mitigation" in shown
    assert "```" not in shown
    assert "](" not in shown
    assert "| --" not in shown


def test_the_page_leads_to_it_and_shows_it(start):
    server = start()
    assert 'href="/runbooks/RagsondeQueueOld"' in ask(server, "/alerts/RagsondeQueueOld")[2]
    status, _, body = ask(server, "/runbooks/RagsondeQueueOld")
    assert status == 200
    assert "Start more workers" in body


def test_a_file_beside_them_is_none(start, monkeypatch):
    monkeypatch.delitem(ALERTS, "RagsondeParked")
    assert ask(start(), "/runbooks/RagsondeParked")[0] == 404


@pytest.mark.parametrize("name", ["Unknown", "..", "..%2F..%2FREADME"])
def test_there_are_no_others(start, name):
    assert ask(start(), f"/runbooks/{name}")[0] == 404


def test_in_a_wheel_they_lie_beside_the_package(tmp_path, monkeypatch):
    (tmp_path / "ragsonde/page").mkdir(parents=True)
    (tmp_path / "ragsonde_runbooks").mkdir()
    (tmp_path / "ragsonde_runbooks/RagsondeParked.md").write_text("# Parked\n\nsay so\n")
    monkeypatch.setattr("ragsonde.page.runbooks.__file__", str(tmp_path / "ragsonde/page/runbooks.py"))
    assert read_runbook("RagsondeParked") == "# Parked\n\nsay so\n"
    assert read_runbook("RagsondeQueueOld") is None
    packed = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    wheel = packed["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["docs/runbooks"] == "ragsonde_runbooks"
