"""What docs/how-to/when-the-judge-is-away.md shows and says holds."""

import re
from pathlib import Path

from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.judging.options import CircuitOptions
from ragsonde.settings import read_settings

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "when-the-judge-is-away.md").read_text()


def test_its_settings_are_accepted_and_show_the_defaults_of_a_circuit(tmp_path):
    (block,) = re.findall(r"```yaml\n# ragsonde.yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "ragsonde.yaml"
    file.write_text(block)
    _, gpt = read_settings(file).judges
    assert gpt.circuit == CircuitOptions()
    assert [fallback.model for fallback in gpt.fallbacks] == ["anthropic/claude-haiku-4-5"]


def test_its_series_exist():
    exposed = {declared.full_name for declared in (*WORKER_SERIES, *MONITOR_SERIES)}
    named = set(re.findall(r"ragsonde_\w+", PAGE))
    assert len(named) == 4
    assert named <= exposed


def test_its_alerts_have_runbooks():
    linked = re.findall(r"\.\./runbooks/(\w+)\.md", PAGE)
    assert linked == ["RagsondeJudgePaused", "RagsondeJudgeDown"]
