"""What docs/how-to/judge-with-an-llm.md shows and says holds."""

import re
from pathlib import Path

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


def test_its_numbers_are_the_defaults():
    options = JudgeOptions(name="gpt", kind="litellm", model="openai/m")
    assert f"`max_context_tokens` ({options.max_context_tokens:,})" in PAGE
    assert f"`max_calls` ({options.max_calls})" in PAGE
    assert f"`max_tokens` ({options.max_tokens:,})" in PAGE


def test_it_names_every_reply_format():
    assert [name for name in ReplyFormat if f"| `{name}` |" not in PAGE] == []
