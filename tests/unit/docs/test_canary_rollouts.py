"""docs/how-to/canary-rollouts.md: its commands are read by the command line, its numbers are the code's."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from ragsonde.cli.compare import EXIT_CODES, read_names_of_rivals
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.main import load_command
from ragsonde.cli.moments import read_span
from ragsonde.cli.release_looks import PAUSE_SECONDS
from ragsonde.regression.arming import LEAST_PINNED, LEAST_PROVISIONAL
from ragsonde.regression.baseline import BASELINE_DAYS
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.release_comparison import ALPHA, Verdict
from ragsonde.regression.release_gate import MOST_FAILED_APART

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "canary-rollouts.md").read_text()
WORKFLOW, TEMPLATE, ROLLOUT = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
STEP = WORKFLOW["jobs"]["gate"]["steps"][-1]
METRIC = TEMPLATE["spec"]["metrics"][0]
JOB = METRIC["provider"]["job"]["spec"]
CONTAINER = JOB["template"]["spec"]["containers"][0]
SHELL_LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("ragsonde ")
]


def list_commands():
    """The words of every command of the page, as a shell or Argo makes them."""
    in_text = [" ".join(one.split()) for one in re.findall(r"`(ragsonde compare --[^`]+)`", PAGE)]
    ran = " ".join(STEP["run"].replace("\\\n", " ").split())
    in_step = re.sub(rf"^docker run .* {re.escape(CONTAINER['image'])} ", "ragsonde ", ran)
    in_step = in_step.replace("$NEW", "2.4").replace("$OLD", "2.3")
    argo = [one.replace("{{args.new}}", "2.4").replace("{{args.old}}", "2.3") for one in CONTAINER["args"]]
    return [
        *(shlex.split(line) for line in (*SHELL_LINES, *in_text, in_step)),
        [*CONTAINER["command"], *argo],
    ]


@pytest.mark.parametrize("words", list_commands(), ids=" ".join)
def test_each_command_is_read_as_it_is_meant(words):
    program, name, *arguments = words
    assert (program, name) == ("ragsonde", "compare")
    read = load_command(name).make_context(name, arguments).params
    assert read_names_of_rivals(read["new"], read["against"])[1:] == ("2.4", "2.3")
    assert read_span(read["wait"], option="--wait").total_seconds() in {0, 7200}


def test_there_are_commands_in_the_text_the_workflow_and_the_template():
    assert len(list_commands()) == 5


def test_a_wrong_option_would_be_seen():
    with pytest.raises(Exception, match="No such option"):
        load_command("compare").make_context("compare", ["--ap", "shop"])


def test_waiting_ends_before_the_job_and_the_step_are_ended():
    seconds = 7200
    assert JOB["activeDeadlineSeconds"] > seconds
    assert WORKFLOW["jobs"]["gate"]["timeout-minutes"] * 60 > seconds
    assert (JOB["backoffLimit"], METRIC["failureLimit"]) == (0, 0)
    assert JOB["template"]["spec"]["restartPolicy"] == "Never"


def test_what_the_template_takes_is_what_the_rollout_gives():
    asked = {one["name"] for one in TEMPLATE["spec"]["args"]}
    canary = ROLLOUT["strategy"]["canary"]
    assert {one["name"] for one in canary["analysis"]["args"]} == asked
    assert set(re.findall(r"\{\{args\.(\w+)\}\}", " ".join(CONTAINER["args"]))) == asked
    assert canary["analysis"]["templates"] == [{"templateName": TEMPLATE["metadata"]["name"]}]


def test_what_comes_from_outside_reaches_the_shell_by_variables_alone():
    assert "${{" not in STEP["run"]
    assert set(re.findall(r"\$(\w+)", STEP["run"])) == {"NEW", "OLD", "PWD"}
    (passed_on,) = re.findall(r"--env (\w+) ", STEP["run"])
    assert passed_on in STEP["env"]


def test_its_exit_codes_are_those_of_the_command():
    told = dict(re.findall(r"^\| (\d) \| ([^:|]+?)(?::| \|)", PAGE, re.MULTILINE))
    words = {Verdict.NOT_WORSE: "not worse", Verdict.WORSE: "worse", Verdict.UNDECIDED: "not known yet"}
    for verdict, code in EXIT_CODES.items():
        assert told.pop(str(code.value)) == words[verdict]
    assert set(told) == {str(ExitCode.BAD_INPUT.value), str(ExitCode.UNAVAILABLE.value)}


@pytest.mark.parametrize(
    "told",
    [
        f"(`--smallest-drop {SMALLEST_DROP:.2f}`)".replace("0.", "."),
        f"a wrong verdict is {100 * ALPHA:.0f} % each way",
        f"with five pairs of scorer and judge each has {100 * ALPHA / 5:.1f} %".replace("0.", "."),
        f"asks again every {PAUSE_SECONDS:.0f} seconds",
        f"{LEAST_PINNED} traces in {BASELINE_DAYS} days, or {LEAST_PROVISIONAL:,} that lie at least 24 hours",
        f"differ by more than {100 * MOST_FAILED_APART:.0f} points",
    ],
)
def test_its_numbers_are_those_of_the_code(told):
    assert told in " ".join(PAGE.split())


def test_both_run_the_image_of_the_deployment_as_a_role_that_only_reads():
    overlays = ROOT / "deploy" / "kubernetes" / "overlays"
    told = yaml.safe_load((overlays / "production" / "image" / "kustomization.yaml").read_text())
    (image,) = told["images"]
    assert CONTAINER["image"] == f"{image['newName']}:{image['newTag']}"
    assert f" {CONTAINER['image']} " in STEP["run"]
    (env,) = CONTAINER["env"]
    secret = env["valueFrom"]["secretKeyRef"]
    made = re.search(r"create secret generic (\S+) \\\n\s+--from-literal=(\w+)=\"(\S+?)://(\w+):", PAGE)
    assert (made[1], made[2], made[4]) == (secret["name"], secret["key"], "ragsonde_reader")
    assert env["name"] in STEP["env"]


def test_settings_lie_where_the_image_looks_for_them():
    (target,) = re.findall(r'--volume "\$PWD/ragsonde.yaml:(\S+):ro"', STEP["run"])
    (folder,) = re.findall(r"^WORKDIR (/etc\S+)$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    assert target == f"{folder}/ragsonde.yaml"
    assert STEP["run"].startswith("docker run --rm --env RAGSONDE_DATABASE_URL ")
