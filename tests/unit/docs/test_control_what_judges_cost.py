"""What docs/how-to/control-what-judges-cost.md shows and says holds."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from fakes.judged_traces import make_trace
from ragsonde.budget_forecast import NEARLY_SPENT
from ragsonde.cli.cost import TRACES_TO_SEE
from ragsonde.cli.main import load_command
from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.options import BudgetOptions, JudgeOptions
from ragsonde.pipeline.asking import BUSY_DELAY, LONGEST_PACED_WAIT, PACED_DELAY
from ragsonde.pipeline.waiting import LONGEST_WAIT
from ragsonde.sampling import RateCause
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "control-what-judges-cost.md").read_text()
TEXT = " ".join(PAGE.split())
BY_PROCESS = {
    "monitor": {declared.full_name: declared for declared in MONITOR_SERIES},
    "worker": {declared.full_name: declared for declared in WORKER_SERIES},
}
SERIES = re.findall(r"^\| `(\w+)\{(.*?)\}` \| (\w+) \|", PAGE, re.MULTILINE)
COMMANDS = re.findall(r"^ragsonde (\w+)(.*)$", PAGE, re.MULTILINE)


def test_its_settings_are_accepted(tmp_path):
    (block,) = re.findall(r"```yaml\n# ragsonde.yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "ragsonde.yaml"
    file.write_text(block)
    _, gpt = read_settings(file).judges
    assert (gpt.sample, gpt.min_per_hour) == (0.05, 20)
    assert gpt.budget == BudgetOptions(usd_per_day=25, calls_per_hour=2000)


def test_it_names_every_option_of_a_budget():
    assert set(re.findall(r"`(\w+_per_(?:hour|day))`", PAGE)) == {*BudgetOptions.model_fields, "min_per_hour"}


@pytest.mark.parametrize(("name", "labels", "process"), SERIES)
def test_its_series_are_exposed_where_it_says_with_these_labels(name, labels, process):
    named = {label.partition("=")[0] for label in labels.split(", ")}
    assert named <= set(BY_PROCESS[process][name].labels)


def test_it_names_no_other_series():
    assert len(SERIES) == 6
    assert set(re.findall(r"ragsonde_judge\w+|ragsonde_eval\w+", PAGE)) == {name for name, *_ in SERIES}


@pytest.mark.parametrize(("name", "options"), COMMANDS)
def test_every_option_of_its_commands_is_one(name, options):
    app = typer.Typer()
    app.command()(load_command(name).callback)
    known = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"}).output
    assert [word for word in shlex.split(options) if word.startswith("--") and word not in known] == []


def test_its_figures_are_those_of_the_code():
    assert f"At {NEARLY_SPENT:.0%}".replace("%", " %") in TEXT
    assert TRACES_TO_SEE == {0.05: 4600, 0.10: 1000, 0.20: 160}
    assert "after about 4,600, 1,000 or 160 judged traces" in TEXT
    assert LONGEST_PACED_WAIT.total_seconds() == 2 * 3600
    assert all(f"`{cause}`" in TEXT for cause in RateCause)


def test_its_alert_is_one():
    (name,) = re.findall(r"\[\w+\]\(\.\./runbooks/(\w+)\.md\)", PAGE)
    assert (Path(__file__).parents[3] / "docs" / "runbooks" / f"{name}.md").is_file()


def test_its_times_of_waiting_are_those_in_force():
    assert f"asks again after {BUSY_DELAY.seconds} seconds, for {LONGEST_WAIT.days * 24} hours" in PAGE
    assert f"asks again after {PACED_DELAY.seconds // 60} minutes or" in PAGE
    assert f"`shed` {LONGEST_PACED_WAIT.seconds // 3600} hours after its birth" in PAGE


def test_its_reservation_is_what_is_reserved():
    context = "The torch runs for forty hours on one battery of the kind that is listed in the shop. " * 10
    trace = make_trace(*[context] * 5)
    judge = LitellmJudge(JudgeOptions(name="gpt", kind="litellm", model="openai/gpt-5-mini"))
    worst = judge.estimate(trace, needed_aspects(build_scorers(None), trace))
    assert f"about {100 * worst.cost_usd:.1f} cents" in TEXT
    assert worst.calls == 3
