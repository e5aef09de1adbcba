"""A process's series as a scraper reads them."""

import logging
import time

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain

from ragsonde.exposition.admission import Limits
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.places import Place
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import (
    BUILD,
    CONFIG,
    EVALUATIONS,
    EXTRACTION,
    IN_FLIGHT,
    JUDGE_AGREEMENT,
    JUDGE_CALLS,
    JUDGE_SAMPLE_RATE,
    JUDGE_TOKENS,
    LEDGER_EVALUATIONS,
    MAPPING_FOUND_NOTHING,
    MONITOR_JOB_FAILURES,
    MONITOR_SERIES,
    PARKED,
    QUEUE_MESSAGES,
    REGRESSION_STATE,
    SCORE,
    SCORE_SQUARES,
    TRACES,
    UNSCORED,
    WORKER_SERIES,
)
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.label_names import LabelNames

KNOWN = KnownLabels(
    judges=("lexical@aaaaaa", "gpt@3fa2c1"),
    models=(("gpt@3fa2c1", "openai/gpt-5-mini"),),
    scorers=("context_position", "context_precision:answer"),
    formats=("native", "otlp"),
    stages=("decoding", "storage"),
)
OPENMETRICS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,*/*;q=0.1"
)
SHOP = {"app": "shop", "environment": "production", "release": "1.2"}


@pytest.fixture
def series():
    return Series(WORKER_SERIES, known=KNOWN)


def samples(series: Series, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    families = read_openmetrics(series.render(OPENMETRICS).body.decode())
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
        if sample.name == f"ragsonde_{name}"
    }


def value(series: Series, name: str, **labels: str) -> float:
    return samples(series, name)[tuple(sorted(labels.items()))]


def test_counters_of_closed_label_sets_are_born_at_zero(series):
    assert dict.fromkeys(((("reason", reason.value),) for reason in ParkReason), 0.0) == samples(
        series, "parked_total"
    )
    assert len(samples(series, "unscored_total")) == 2 * 2 * len(Cause)
    assert (
        value(
            series,
            "unscored_total",
            scorer="context_position",
            judge="gpt@3fa2c1",
            status="skipped",
            cause="no_answer",
        )
        == 0
    )
    assert value(series, "evaluations_total", judge="lexical@aaaaaa", state="scored", cause="") == 0
    assert (
        value(series, "evaluations_total", judge="gpt@3fa2c1", state="failed", cause="verdict_mismatch") == 0
    )
    assert (
        value(series, "evaluations_total", judge="gpt@3fa2c1", state="waiting", cause="judge_unavailable")
        == 0
    )
    assert value(series, "duplicates_total", kind="over_limit") == 0
    assert value(series, "messages_received_total", format="otlp") == 0
    assert value(series, "messages_received_total", format="unknown") == 0
    assert (
        value(series, "judge_calls_total", judge="gpt@3fa2c1", model="openai/gpt-5-mini", outcome="ok") == 0
    )
    assert value(series, "judge_tokens_total", judge="gpt@3fa2c1", direction="out") == 0
    assert value(series, "stage_seconds_count", stage="decoding") == 0
    assert value(series, "occurred_at_guessed_total") == 0


def test_calls_are_born_only_for_judges_that_call_a_model(series):
    judges = {dict(labels)["judge"] for labels in samples(series, "judge_calls_total")}
    assert judges == {"gpt@3fa2c1"}


def test_no_cause_belongs_to_two_statuses(series):
    pairs = {(dict(labels)["cause"], dict(labels)["status"]) for labels in samples(series, "unscored_total")}
    assert len(pairs) == len(Cause)


def test_a_histogram_counts_into_the_edge_above(series):
    for raw in (0.0, 0.49, 0.5, 1.0):
        series.observe(SCORE, raw, scorer="s", judge="j", **SHOP)
    labels = {"scorer": "s", "judge": "j", **SHOP}
    assert value(series, "score_bucket", le="0.0", **labels) == 1
    assert value(series, "score_bucket", le="0.4999", **labels) == 2
    assert value(series, "score_bucket", le="0.5", **labels) == 3
    assert value(series, "score_bucket", le="+Inf", **labels) == 4
    assert value(series, "score_sum", **labels) == pytest.approx(1.99)


def test_exemplars_are_shown_in_openmetrics_and_left_out_of_the_plain_format(series):
    series.observe(SCORE, 0.5, exemplar={"trace_id": "t" * 120}, scorer="s", judge="j", **SHOP)
    exemplars = [
        sample.exemplar.labels
        for family in read_openmetrics(series.render(OPENMETRICS).body.decode())
        for sample in family.samples
        if sample.exemplar
    ]
    assert exemplars == [{"trace_id": "t" * 120}]
    assert b"tttt" not in series.render("text/plain").body


def test_the_id_of_an_erased_trace_is_gone_from_the_exemplars_after_a_while():
    minutes = {"passed": 0.0}
    series = Series(WORKER_SERIES, known=KNOWN, now=lambda: time.time() + 60 * minutes["passed"])
    series.observe(SCORE, 0.5, exemplar={"trace_id": "h-1"}, scorer="s", judge="j", **SHOP)
    shown = {}
    for minutes["passed"] in (0, 14, 16):
        body = series.render(OPENMETRICS).body
        shown[minutes["passed"]] = b'trace_id="h-1"' in body
        assert b'ragsonde_score_count{app="shop"' in body
    assert shown == {0: True, 14: True, 16: False}


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
        (
            "application/openmetrics-text;version=zero",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*;q=0.1,application/openmetrics-text;q=0", "text/plain; version=0.0.4; charset=utf-8"),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.5", "text/plain; version=0.0.4; charset=utf-8"),
        ("application/openmetrics-text;q=0.2,text/*;q=0.5", "text/plain; version=0.0.4; charset=utf-8"),
        ("application/openmetrics-text;q=x", "text/plain; version=0.0.4; charset=utf-8"),
        ("application/openmetrics-text;q=nan", "text/plain; version=0.0.4; charset=utf-8"),
        ("x-application/openmetrics-text", "text/plain; version=0.0.4; charset=utf-8"),
        (
            "Application/OpenMetrics-Text; Q=0.5, text/plain;q=0.2, */*;q=0.1",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
        ("text/html", "text/plain; version=0.0.4; charset=utf-8"),
        ("text/plain;version=1.0.0;escaping=allow-utf-8", "text/plain; version=0.0.4; charset=utf-8"),
    ],
)
def test_the_format_is_the_one_asked_for(series, accept, content_type):
    page = series.render(accept)
    assert content_type == page.content_type
    read = read_openmetrics if "openmetrics" in content_type else read_plain
    assert any(family.name == "ragsonde_score" for family in read(page.body.decode()))


def test_no_created_series_are_exposed(series):
    series.add(PARKED, reason="oversize")
    assert b"_created" not in series.render(OPENMETRICS).body


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_a_flood_of_names_never_exposes_more_than_the_limit(accept):
    series = Series(WORKER_SERIES, known=KNOWN, limits=Limits(max_lines=2000))
    for number in range(400):
        place = {"app": f"a{number}", "environment": f"e{number}", "release": f"r{number}"}
        series.observe(SCORE, 0.5, scorer=f"s{number}", judge=f"j{number}", **place)
        series.add(SCORE_SQUARES, 0.25, scorer=f"s{number}", judge=f"j{number}", **place)
        pair = {"app": f"a{number}", "environment": f"e{number}"}
        series.add(EXTRACTION, field=f"f{number}", rule=f"r{number}", **pair)
        series.add(JUDGE_CALLS, judge=f"j{number}", model=f"m{number}", outcome="ok")
    assert len(series.render(accept).body.splitlines()) <= 2000
    assert value(series, "series_dropped_total") > 0


def test_apps_alone_never_drop_a_known_scorers_score():
    series = Series(WORKER_SERIES, known=KNOWN, limits=Limits(max_lines=2000))
    for number in range(400):
        place = {"app": f"a{number}", "environment": f"e{number % 9}", "release": f"r{number}"}
        for scorer in KNOWN.scorers:
            for judge in KNOWN.judges:
                series.observe(SCORE, 0.5, scorer=scorer, judge=judge, **place)
    assert sum(samples(series, "score_count").values()) == 400 * 4
    assert value(series, "series_dropped_total") == 0


def test_dropping_is_logged_once_a_series(caplog):
    series = Series(WORKER_SERIES, limits=Limits(max_lines=0))
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            series.add(MAPPING_FOUND_NOTHING, field="query")
    assert [(record.message, vars(record)["series"]) for record in caplog.records] == [
        ("series_dropped", "ragsonde_mapping_found_nothing_total")
    ]


def test_a_series_of_an_app_and_an_environment_is_named_as_their_traces_are():
    names = [LabelNames(apps=("shop",), environments=("production",))]
    series = Series(WORKER_SERIES, limits=Limits(max_apps=1), find_names=lambda: names[0])
    for app in ("shop", "blog"):
        pair = {"app": app, "environment": "production"}
        series.add(TRACES, release="1", **pair)
        series.add(EXTRACTION, field="query", rule="native:query", **pair)
    found = samples(series, "extraction_total")
    assert {(dict(labels)["app"], dict(labels)["environment"]) for labels in found} == {
        ("shop", "production"),
        ("other", "production"),
    }


def test_without_room_a_series_of_an_app_and_an_environment_is_other():
    series = Series(WORKER_SERIES, known=KNOWN, limits=Limits(max_lines=2000))
    for number in range(19):
        series.add(EXTRACTION, field="query", rule="r", app=f"a{number}", environment=f"e{number % 5}")
    found = {
        (dict(labels)["app"], dict(labels)["environment"]) for labels in samples(series, "extraction_total")
    }
    assert ("other", "other") in found
    assert 1 < len(found) < 19
    assert sum(samples(series, "extraction_total").values()) == 19


def test_an_app_without_a_name_loses_what_is_of_all_its_releases_and_a_release_does_not():
    series = Series(WORKER_SERIES)
    before = series._budget.left
    series.add(EXTRACTION, field="query", rule="r", app="shop", environment="production")
    series._retire(Place("shop", "production", "1"))
    assert len(samples(series, "extraction_total")) == 1
    series._retire(Place("shop", "production", "other"))
    assert samples(series, "extraction_total") == {}
    assert series._budget.left == before


def test_a_release_without_a_name_loses_its_series_and_its_lines_come_back():
    names, retired = (
        [LabelNames(releases={("shop", "production"): ("1", "2", "3")})],
        Place("shop", "production", "1"),
    )
    series = Series(WORKER_SERIES, find_names=lambda: names[0])
    shop = {"app": "shop", "environment": "production"}

    def score(release: str) -> None:
        series.observe(SCORE, 0.5, scorer="s", judge="j", release=release, **shop)
        series.add(SCORE_SQUARES, 0.25, scorer="s", judge="j", release=release, **shop)

    score("2")
    before, lines = series._budget.left, len(series.render().body.splitlines())
    score("1")
    assert series._budget.left < before
    series._retire(retired)
    assert series._budget.left == before
    assert len(series.render().body.splitlines()) == lines
    assert {dict(labels)["release"] for labels in samples(series, "score_count")} == {"2"}
    score("1")
    assert value(series, "score_count", scorer="s", judge="j", release="1", **shop) == 1


def test_apps_of_the_monitor_are_those_that_the_deployment_names():
    names = LabelNames(apps=("shop", ""))
    series = Series(MONITOR_SERIES, limits=Limits(max_apps=2), find_names=lambda: names)
    series.replace(
        JUDGE_SAMPLE_RATE,
        {("gpt", "desk"): 0.5, ("gpt", "default"): 1.0, ("gpt", "shop"): 0.1},
    )
    assert {dict(labels)["app"] for labels in samples(series, "judge_sample_rate")} == {
        *("shop", "default", "other")
    }


def test_hostile_label_values_leave_a_page_that_can_be_read(series):
    hostile = 'a"} 1\nragsonde_parked_total{reason="x'
    series.observe(SCORE, 0.5, scorer="s", judge="j", app=hostile, environment="\udc80", release="\\")
    series.add(EXTRACTION, field="query", rule="\x00\n", app="a", environment="e")
    for accept, read in (("", read_plain), (OPENMETRICS, read_openmetrics)):
        families = {family.name: family for family in read(series.render(accept).body.decode())}
        apps = {sample.labels["app"] for sample in families["ragsonde_score"].samples}
        assert apps == {hostile.replace("\n", "\ufffd")}
    assert set(samples(series, "parked_total")) == {(("reason", reason.value),) for reason in ParkReason}


def test_wrong_labels_are_refused_with_the_expected_ones(series):
    with pytest.raises(
        ValueError, match=r"parked_total: got labels \['kind', 'reason'\], expected \['reason'\]"
    ):
        series.add(PARKED, reason="oversize", kind="x")


def test_info_shows_its_labels(series):
    series.state(CONFIG, hash="0a1b2c")
    series.state(BUILD, version="0.1.0")
    assert samples(series, "config_info") == {(("hash", "0a1b2c"),): 1}
    assert samples(series, "build_info") == {(("version", "0.1.0"),): 1}


def test_in_flight_goes_down_again_when_the_work_fails(series):
    def fail_at_work() -> None:
        with series.count_in_flight():
            assert value(series, "in_flight") == 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_at_work()
    assert value(series, "in_flight") == 0


def test_shares_that_are_folded_into_one_become_their_mean_not_their_sum():
    series = Series(MONITOR_SERIES, limits=Limits(max_apps=1))
    keys = [("gpt", "lexical", app, "no") for app in ("shop", "desk", "news")]
    series.replace(
        JUDGE_AGREEMENT,
        dict(zip(keys, (0.5, 1.0, 0.2), strict=True)),
        weights=dict(zip(keys, (9, 30, 10), strict=True)),
    )
    shares = [
        sample.value
        for family in read_plain(series.render().body.decode())
        for sample in family.samples
        if sample.name == "ragsonde_judge_agreement_ratio"
    ]
    assert shares == [0.5, pytest.approx((30 * 1.0 + 10 * 0.2) / 40)]


def test_states_that_are_folded_into_one_become_the_greatest():
    series = Series(MONITOR_SERIES, limits=Limits(max_apps=1))
    keys = [("precision", "lexical", app, "prod") for app in ("shop", "desk", "news", "wiki")]
    series.replace(REGRESSION_STATE, dict(zip(keys, (1.0, 0.0, 2.0, 1.0), strict=True)), is_greatest=True)
    states = [
        sample.value
        for family in read_plain(series.render().body.decode())
        for sample in family.samples
        if sample.name == "ragsonde_regression_state"
    ]
    assert states == [1.0, 2.0]


def test_a_snapshot_replaces_all_earlier_label_sets():
    series = Series(MONITOR_SERIES)
    series.replace(LEDGER_EVALUATIONS, {("gpt@aaaaaa", "waiting"): 3, ("gpt@aaaaaa", "scored"): 1})
    series.replace(LEDGER_EVALUATIONS, {("gpt@bbbbbb", "scored"): 4})
    assert samples(series, "ledger_evaluations") == {(("judge", "gpt@bbbbbb"), ("state", "scored")): 4}


def test_an_empty_snapshot_shows_nothing():
    series = Series(MONITOR_SERIES)
    series.replace(QUEUE_MESSAGES, {("ragsonde.work",): 3})
    series.replace(QUEUE_MESSAGES, {})
    assert samples(series, "queue_messages") == {}


def test_the_monitors_jobs_are_born_at_zero():
    series = Series(MONITOR_SERIES, known=KnownLabels(jobs=("sweeper", "retention")))
    series.add(MONITOR_JOB_FAILURES, job_name="sweeper")
    assert samples(series, "monitor_job_failures_total") == {
        (("job_name", "sweeper"),): 1,
        (("job_name", "retention"),): 0,
    }


def test_unknown_label_values_find_their_way_into_series(series):
    series.add(UNSCORED, scorer="new", judge="gpt@3fa2c1", status="error", cause="refused")
    series.add(EVALUATIONS, judge="lexical@bbbbbb", state="scored", cause="")
    series.add(JUDGE_TOKENS, 12, judge="gpt@3fa2c1", direction="in")
    assert (
        value(series, "unscored_total", scorer="new", judge="gpt@3fa2c1", status="error", cause="refused")
        == 1
    )
    assert value(series, "judge_tokens_total", judge="gpt@3fa2c1", direction="in") == 12


def test_two_thousand_lines_take_at_most_150_ms():
    series = Series(WORKER_SERIES, known=KNOWN)
    for number in range(18):
        for scorer in KNOWN.scorers:
            for judge in KNOWN.judges:
                exemplar = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}
                series.observe(
                    SCORE,
                    0.5,
                    exemplar=exemplar,
                    scorer=scorer,
                    judge=judge,
                    app=f"a{number}",
                    environment="",
                    release="",
                )
                series.add(
                    SCORE_SQUARES,
                    0.25,
                    scorer=scorer,
                    judge=judge,
                    app=f"a{number}",
                    environment="",
                    release="",
                )
    durations = []
    for _ in range(3):
        begun = time.process_time()
        page = series.render(OPENMETRICS)
        durations.append((time.process_time() - begun) / len(page.body.splitlines()) * 2000)
    assert min(durations) <= 0.150


def test_the_gauge_of_work_in_flight_exists_from_the_start(series):
    series.set(IN_FLIGHT, 0)
    assert value(series, "in_flight") == 0


def test_a_process_reads_its_own_values_as_they_are_scraped(series):
    series.state(CONFIG, hash="a20b")
    series.set(IN_FLIGHT, 3)
    assert series.read("in_flight") == {(): 3.0}
    assert series.read("config_info") == {("a20b",): 1.0}
    assert series.read("no_such_series") == {}
