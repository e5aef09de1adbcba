"""Commands that read files keep to the setting `redaction` as a worker does."""

from __future__ import annotations

import json

import pytest

from builders.private_texts import EMAIL
from ragsonde.cli.main import run

TRACE = {"trace_id": "t", "query": f"ask {EMAIL}", "contexts": [f"say {EMAIL}"], "answer": "14 days"}


@pytest.mark.parametrize(("command", "options"), [("extract", ()), ("evaluate", ("--judge", "lexical"))])
def test_what_is_shown_and_judged_is_redacted(command, options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces.jsonl").write_text(json.dumps(TRACE), encoding="utf-8")
    (tmp_path / "ragsonde.yaml").write_text("redaction: {patterns: [email]}", encoding="utf-8")

    with pytest.raises(SystemExit) as ended:
        run([command, "traces.jsonl", "--output", "json", *options])
    said = capsys.readouterr().out

    assert ended.value.code == 0
    assert EMAIL not in said
    if command == "extract":
        assert "ask [email]" in said
