"""All that stands between a trace and the people who are told: our processes, Prometheus, Alertmanager.

The rules, Prometheus' and Alertmanager's settings are those of deploy/, with every time divided by `FACTOR`
and the addresses put in: a minute is a second (see builders.quick_rules for what is divided, and how). Other
than there, each target is scraped once a second, not four times, so that a slow machine answers in time. The
monitor's jobs pause as many times shorter. Worker, broker, database and judges keep their own time.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from builders.alert_rules import PROMETHEUS, read_rules
from builders.quick_rules import list_remembered, quicken_duration, quicken_routes, quicken_rule
from services.alertmanager import run_alertmanager
from services.load import Load
from services.past import Line, write_past
from services.prometheus_server import PrometheusServer, running_prometheus
from services.traffic import ENVIRONMENT, Traffic
from services.waiting import wait_for
from services.webhook import Webhook, serving_webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.deployments import Deployment, Running

FACTOR = 60
SCRAPE = "1s"
LOOKBACK = "5m"
"""Prometheus' own: how old a sample may be and still hold; divided, too."""
PER_SECOND = 2.0
"""Traces of one app: 120 an hour of the rules."""
RUNBOOKS = "https://git.example.com/ragsonde/blob/main/docs/runbooks"
ALERTMANAGER = PROMETHEUS.parent / "alertmanager" / "alertmanager.yaml"
PROGRAM = (str(Path(__file__).with_name("quick_monitor.py")), str(FACTOR))
QUICK = [quicken_rule(rule, FACTOR) for rule in read_rules()]


class AlertStack:
    """A running one.

    Attributes:
        traffic: of the apps; `webhook`: where people are told.
    """

    def __init__(
        self,
        *,
        deployment: Deployment,
        worker: Running,
        monitor: Running,
        prometheus: PrometheusServer,
        webhook: Webhook,
        traffic: Traffic,
    ) -> None:
        self.deployment, self.worker, self.monitor = deployment, worker, monitor
        self.prometheus, self.webhook, self.traffic = prometheus, webhook, traffic

    def wait_for_evaluations(self, number: int) -> None:
        """Returns when every group of rules was evaluated so many times more."""
        begun = self.count_evaluations()
        wait_for(
            lambda: all(count >= begun[group] + number for group, count in self.count_evaluations().items()),
            seconds=10 * number + 60,
            what=f"{number} more evaluations of each of {sorted(begun)}",
        )

    def count_evaluations(self) -> dict[str, float]:
        """How often each group of rules was evaluated."""
        return {
            group: float(count)
            for group, count in re.findall(
                r'^prometheus_rule_group_iterations_total\{rule_group="[^"]*;(\w+)"\} (\S+)$',
                self.prometheus.read_metrics(),
                flags=re.MULTILINE,
            )
        }

    def describe_alerts(self) -> str:
        """When which alert was pending and firing so far, in seconds since the first scrape."""
        now = time.time()
        found = self.prometheus.ask(
            "query_range", query="ALERTS", start=str(now - 600), end=str(now), step="1s"
        )["result"]
        first = min((line["values"][0][0] for line in found), default=0)
        return "\n".join(
            f"{line['metric']['alertname']} {line['metric'].get('app', '')} {line['metric']['alertstate']}: "
            f"{line['values'][0][0] - first:.0f} s to {line['values'][-1][0] - first:.0f} s"
            for line in found
        )

    def list_rules(self) -> list[dict[str, Any]]:
        """All rules as Prometheus knows them, with how their last evaluation went."""
        return [rule for group in self.prometheus.ask("rules")["groups"] for rule in group["rules"]]


@contextmanager
def running_alert_stack(deployment: Deployment, *, apps: tuple[str, ...]) -> Iterator[AlertStack]:
    """One whose apps are well and have been so for a week, as far as rules look back."""
    worker = deployment.start("worker", "--threads", "4")
    monitor = deployment.start("monitor", program=PROGRAM)
    folder = deployment.folder / "prometheus"
    for name in ("prometheus/rules", "alertmanager"):
        (deployment.folder / name).mkdir(parents=True)
    wait_for(worker.is_on_broker, seconds=120, what="a worker on its broker")
    traffic = Traffic(apps)
    with (
        serving_webhook() as webhook,
        run_alertmanager(_route_to(webhook.url), folder=deployment.folder / "alertmanager") as alertmanager,
        _flowing(traffic, deployment.broker_url, per_second=PER_SECOND * len(apps)),
    ):
        past = wait_for(lambda: _describe_past(worker, apps), seconds=120, what="numbers for every app")
        write_past(past, days_ago={one.days for one in list_remembered(read_rules())}, folder=folder)
        config = _configure(worker.url, monitor.url, alertmanager_url=alertmanager.url)
        options = ("--web.enable-lifecycle", f"--query.lookback-delta={quicken_duration(LOOKBACK, FACTOR)}")
        with running_prometheus(folder, config=config, options=options) as prometheus:
            # it looks for its targets for 5 seconds, which are minutes to the rules
            wait_for(
                lambda: (
                    len(prometheus.query(f"increase(ragsonde_traces_total[{LOOKBACK}]) > 0")) >= len(apps)
                    and prometheus.query("min(ragsonde_monitor_job_last_success_timestamp_seconds) > 0")
                ),
                seconds=120,
                what="series of the worker, and of a monitor whose jobs have all run",
            )
            _write_rules(folder / "rules")
            prometheus.reload()
            stack = AlertStack(
                deployment=deployment,
                worker=worker,
                monitor=monitor,
                prometheus=prometheus,
                webhook=webhook,
                traffic=traffic,
            )
            groups = {rule.group for rule in QUICK}
            wait_for(lambda: stack.count_evaluations().keys() == groups, what=f"groups of rules {groups}")
            try:
                yield stack
            finally:
                deployment.kill()


@contextmanager
def _flowing(traffic: Traffic, broker_url: str, *, per_second: float) -> Iterator[None]:
    with Load(broker_url, traffic.stream(), per_second=per_second):
        try:
            yield
        finally:
            traffic.stop()


def _route_to(url: str) -> dict[str, Any]:
    """The example's settings: each receiver is a path of ours."""
    settings = quicken_routes(yaml.safe_load(ALERTMANAGER.read_text()), FACTOR)
    settings["global"] = {name: value for name, value in settings["global"].items() if "smtp" not in name}
    settings["receivers"] = [
        {"name": one["name"], "webhook_configs": [{"url": f"{url}/{one['name']}", "send_resolved": True}]}
        for one in settings["receivers"]
    ]
    return settings


def _configure(worker_url: str, monitor_url: str, *, alertmanager_url: str) -> str:
    """The example's settings with these addresses, the page of this monitor, and no tokens."""
    config = yaml.safe_load((PROMETHEUS / "prometheus.yaml").read_text())
    config["global"] |= {
        "scrape_interval": SCRAPE,
        "scrape_timeout": SCRAPE,
        "evaluation_interval": quicken_duration(config["global"]["evaluation_interval"], FACTOR),
    }
    config["global"]["external_labels"] = {"ragsonde_page": monitor_url, "ragsonde_runbooks": RUNBOOKS}
    urls = {"ragsonde": worker_url, "ragsonde-monitor": monitor_url}
    # no receiver runs here: what it takes in is no subject of an alert
    config["scrape_configs"] = [job for job in config["scrape_configs"] if job["job_name"] in urls]
    for job in config["scrape_configs"]:
        job["static_configs"] = _name_target(urls.pop(job["job_name"]))
    assert not urls
    (alertmanager,) = config["alerting"]["alertmanagers"]
    alertmanager["static_configs"] = _name_target(alertmanager_url)
    return yaml.safe_dump(config)


def _name_target(url: str) -> list[dict[str, list[str]]]:
    return [{"targets": [url.removeprefix("http://")]}]


def _write_rules(folder: Path) -> None:
    for group, members in groupby(QUICK, key=lambda rule: rule.group):
        content = {"groups": [{"name": group, "rules": [rule.body for rule in members]}]}
        (folder / f"{group}.yaml").write_text(yaml.safe_dump(content))


def _describe_past(worker: Running, apps: tuple[str, ...]) -> list[Line] | None:
    """What was recorded a day and a week ago: as many traces as come now, all of them well.

    None while the worker has not shown numbers of every app and judge yet: judges and the rules by which
    fields are found are taken from what it exposes.
    """
    text = ""
    with suppress(OSError):
        text = worker.read("/metrics")
    judges = set(re.findall(r'^ragsonde_evaluations_total\{[^}]*judge="([^"]+)"', text, flags=re.MULTILINE))
    scored = set(
        re.findall(r'^ragsonde_score_count\{app="([^"]+)".*judge="([^"]+)"', text, flags=re.MULTILINE)
    )
    if not judges or scored != {(app, judge) for app in apps for judge in judges}:
        return None
    found = re.findall(r"^ragsonde_extraction_total\{(.*)\} (\S+)$", text, flags=re.MULTILINE)
    counts = [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(number)) for labels, number in found]
    traces = PER_SECOND * 3600 / FACTOR
    lines = [line for app in apps for line in _describe_app(app, judges, traces=traces)]
    lines += list(_describe_means(text))
    lines += [line for app in apps for line in _describe_fields(app, counts, traces=traces)]
    missing = {one.name for one in list_remembered(read_rules())} ^ {line.name for line in lines}
    assert not missing, f"a day ago is told of other series than rules read of it: {sorted(missing)}"
    return lines


def _describe_app(app: str, judges: set[str], *, traces: float) -> Iterator[Line]:
    place = (("app", app), ("environment", ENVIRONMENT))
    yield Line("app_environment:ragsonde_traces:increase1h", place, traces)
    yield Line("app_environment:ragsonde_empty_retrieval:share1h", place, 0.01)
    yield Line("app_environment:ragsonde_no_context:share1h", place, 0.01)
    for judge in judges:
        name = ("name", judge.partition("@")[0])
        yield Line("name_app_environment:ragsonde_insufficient:share1h", (name, *place), 0.05)
        yield Line("name_app_environment:ragsonde_judged:increase1h", (name, *place), traces)
        yield Line("name_app_environment:ragsonde_coverage:share1h", (name, *place), 1.0)


def _describe_means(text: str) -> Iterator[Line]:
    """The mean of each stream of scores: as now."""
    sums, counts = (
        dict(re.findall(rf"^ragsonde_score_{part}{{(.*)}} (\S+)$", text, flags=re.MULTILINE))
        for part in ("sum", "count")
    )
    means: dict[tuple[tuple[str, str], ...], float] = {}
    for written, number in counts.items():
        labels = {name: value for name, value in re.findall(r'(\w+)="([^"]*)"', written) if name != "release"}
        if float(number):
            means[tuple(labels.items())] = float(sums[written]) / float(number)
    for labels, mean in means.items():
        yield Line("scorer_judge_app_environment:ragsonde_score:mean1h", labels, mean)


def _describe_fields(
    app: str, counts: list[tuple[dict[str, str], float]], *, traces: float
) -> Iterator[Line]:
    """By which rule each field of an app was found: as now."""
    place = (("app", app), ("environment", ENVIRONMENT))
    own = [(labels["field"], labels["rule"], number) for labels, number in counts if labels["app"] == app]
    for field in {field for field, _, _ in own}:
        found = sum(number for name, _, number in own if name == field)
        yield Line("app_environment_field:ragsonde_extraction:increase1h", (*place, ("field", field)), traces)
        for rule, number in ((rule, number) for name, rule, number in own if name == field and found):
            yield Line(
                "app_environment_field_rule:ragsonde_extraction:share1h",
                (*place, ("field", field), ("rule", rule)),
                number / found,
            )
