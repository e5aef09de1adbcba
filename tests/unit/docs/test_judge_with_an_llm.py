"""What docs/how-to/judge-with-an-llm.md shows and says holds."""

import io
import json
import re
import shlex
from pathlib import Path

import pytest

from mock_llm.server import MockLlm, read_script
from ragsonde.cli.main import run
from ragsonde.judging.options import JudgeOptions, ReplyFormat
from ragsonde.settings import read_settings

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "judge-with-an-llm.md").read_text()


def test_its_settings_are_accepted(tmp_path):
    (block,) = re.findall(r"```yaml\n# ragsonde.yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "ragsonde.yaml"
    file.write_text(block)
    judges = {judge.name: judge for judge in read_settings(file).judges}
    assert list(judges) == ["lexical", "gpt", "own"]
    assert judges["gpt"].scorers == ("context_precision", "context_relevance")
    assert judges["own"].prices.input_usd_per_million == 0


def test_the_provider_without_a_key_judges_and_tells_each_call(tmp_path, monkeypatch, capsys):
    (block,) = re.findall(r"```yaml\n# mock.yaml\n(.*?)```", PAGE, re.DOTALL)
    (script,) = re.findall(r"mock_llm\.server --port 8089 --script (\S+)", PAGE)
    (arguments,) = re.findall(r"MOCK_KEY=any ragsonde (.*)", PAGE)
    told = io.StringIO()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOCK_KEY", "any")
    Path("tests/data").mkdir(parents=True)
    demo = Path(__file__).parents[2] / "data" / "demo.jsonl"
    first, *_ = demo.read_text(encoding="utf-8").splitlines(keepends=True)
    Path("tests/data/demo.jsonl").write_text(first, encoding="utf-8")
    assert read_script(script) == {"429": 0.1, "ok": 0.9}
    with MockLlm("ok", output=told) as llm:
        Path("mock.yaml").write_text(block.replace("http://127.0.0.1:8089/v1", llm.url))
        with pytest.raises(SystemExit) as ended:
            run(shlex.split(arguments))
        assert ended.value.code == 0, capsys.readouterr().err
    (line,) = map(json.loads, told.getvalue().splitlines())
    assert line == {"call": 1, "model": "mock", "answered": 200, "counts": {"ok": 1}}


def test_its_numbers_are_the_defaults():
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m")
    assert f"`max_context_tokens` ({options.max_context_tokens:,})" in PAGE
    assert f"`max_calls` ({options.max_calls})" in PAGE
    assert f"`max_tokens` ({options.max_tokens:,})" in PAGE


def test_it_names_every_reply_format():
    assert [name for name in ReplyFormat if f"| `{name}` |" not in PAGE] == []
