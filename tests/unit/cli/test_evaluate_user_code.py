"""`evaluate` asks the functions of the settings, within the settings' limits."""

from pathlib import Path

import pytest

from ragsonde.cli.main import run


def evaluate(capsys):
    with pytest.raises(SystemExit):
        run(["evaluate", "a.json"])
    return capsys.readouterr().out


def test_a_function_may_give_as_much_as_a_message_may_hold(capsys, monkeypatch):
    Path("their_index.py").write_text("def contexts(trace): return ['A refund takes 14 days. ' * 3]")
    Path("a.json").write_text(
        '{"trace_id": "t", "query": "How long does a refund take?", "answer": "14 days."}'
    )
    Path("ragsonde.yaml").write_text("extraction: [{contexts: {function: 'their_index:contexts'}}]\n")
    assert "extraction_failed" not in evaluate(capsys).replace(" ", "_")

    monkeypatch.setenv("RAGSONDE_MAX_BODY_BYTES", "50")

    assert "extraction_failed" in evaluate(capsys).replace(" ", "_")
