"""The names, labels and edges that dashboards and rules are written against."""

import re
from itertools import chain

from ragsonde.exposition import series
from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.registry import Series

DECLARED = {value.name: value for value in vars(series).values() if isinstance(value, Declaration)}
PROCESSES = (series.WORKER_SERIES, series.MONITOR_SERIES, series.RECEIVER_SERIES)
# As the reference of the series has them: name, kind, labels.
REFERENCE = [
    ("score", "histogram", "scorer judge app environment release"),
    ("score_squares_total", "counter", "scorer judge app environment release"),
    ("scores_below_threshold_total", "counter", "scorer judge app environment release"),
    ("unscored_total", "counter", "scorer judge status cause"),
    ("assessed_total", "counter", "judge app environment release"),
    ("insufficient_total", "counter", "judge app environment release"),
    ("context_tokens_total", "counter", "judge relevant app environment release"),
    ("messages_received_total", "counter", "format"),
    ("messages_settled_total", "counter", "outcome"),
    ("evaluations_total", "counter", "judge state cause"),
    ("parked_total", "counter", "reason"),
    ("duplicates_total", "counter", "kind"),
    ("scores_superseded_total", "counter", ""),
    ("traces_total", "counter", "app environment release"),
    ("empty_retrieval_total", "counter", "app environment release"),
    ("no_context_total", "counter", "app environment release"),
    ("redactions_total", "counter", "kind"),
    ("suspected_injection_total", "counter", "app environment release"),
    ("backfilled_total", "counter", "judge state"),
    ("extraction_total", "counter", "field rule app environment"),
    ("mapping_found_nothing_total", "counter", "field"),
    ("traces_filtered_total", "counter", "cause"),
    ("traces_closed_total", "counter", "reason"),
    ("late_spans_total", "counter", "effect"),
    ("occurred_at_guessed_total", "counter", ""),
    ("judge_calls_total", "counter", "judge model outcome"),
    ("judge_seconds", "histogram", "judge"),
    ("judge_tokens_total", "counter", "judge direction"),
    ("judge_cost_usd_total", "counter", "judge"),
    ("judge_cost_unknown_total", "counter", "judge"),
    ("judge_repairs_total", "counter", "judge"),
    ("judge_cache_total", "counter", "judge result"),
    ("judge_circuit_open", "gauge", "judge model"),
    ("judge_paused", "snapshot", "judge"),
    ("judge_budget_ratio", "snapshot", "judge period"),
    ("judge_budget_warning", "snapshot", "judge period"),
    ("judge_sample_rate", "snapshot", "judge app"),
    ("judge_agreement_ratio", "snapshot", "judge against app suspected"),
    ("judge_model_epoch", "snapshot", "judge"),
    ("judge_drift", "snapshot", "judge scorer"),
    ("judge_drift_stderr", "snapshot", "judge scorer"),
    ("judge_check_age_seconds", "snapshot", "judge"),
    ("alert_notices_sent_total", "counter", "sink"),
    ("alert_notices_failed_total", "counter", "sink"),
    ("alert_notices_dropped_total", "counter", "sink"),
    ("score_sink_sent_total", "counter", "sink"),
    ("score_sink_dropped_total", "counter", "sink"),
    ("end_to_end_seconds", "histogram", ""),
    ("stage_seconds", "histogram", "stage"),
    ("in_flight", "gauge", ""),
    ("last_committed_timestamp_seconds", "gauge", ""),
    ("database_lost_total", "counter", ""),
    ("config_info", "info", "hash"),
    ("build_info", "info", "version"),
    ("series_dropped_total", "counter", ""),
    ("sink_failures_total", "counter", ""),
    ("queue_messages", "snapshot", "queue"),
    ("queue_oldest_seconds", "snapshot", ""),
    ("ledger_evaluations", "snapshot", "judge state"),
    ("ledger_violations", "snapshot", "invariant"),
    ("open_traces", "snapshot", ""),
    ("monitor_last_block_timestamp_seconds", "snapshot", ""),
    ("monitor_lag_seconds", "snapshot", ""),
    ("regression_state", "snapshot", "scorer judge app environment"),
    ("regression_page_threshold_days", "snapshot", "scorer judge app environment"),
    ("regression_evidence_days", "snapshot", "scorer judge app environment"),
    ("regression_drop", "snapshot", "scorer judge app environment"),
    ("regression_drop_lower", "snapshot", "scorer judge app environment"),
    ("regression_drop_upper", "snapshot", "scorer judge app environment"),
    ("regression_since_timestamp_seconds", "snapshot", "scorer judge app environment"),
    ("regression_mix_shift", "snapshot", "scorer judge app environment"),
    ("regression_baseline_mean", "snapshot", "scorer judge app environment"),
    ("regression_overdispersion", "snapshot", "scorer judge app environment"),
    ("regression_arming_ratio", "snapshot", "scorer judge app environment"),
    ("score_mean_lower", "snapshot", "scorer judge app environment"),
    ("score_mean_upper", "snapshot", "scorer judge app environment"),
    ("swept_total", "counter", ""),
    ("backfill_done_ratio", "snapshot", "backfill judge"),
    ("backfill_evaluations", "snapshot", "backfill judge state"),
    ("monitor_job_last_success_timestamp_seconds", "gauge", "job_name"),
    ("monitor_job_seconds", "gauge", "job_name"),
    ("monitor_job_failures_total", "counter", "job_name"),
    ("monitor_job_skips_total", "counter", "job_name"),
    ("receiver_requests_total", "counter", "path status"),
    ("receiver_messages_total", "counter", "outcome"),
    ("receiver_request_seconds", "histogram", "path"),
]


def test_the_declared_series_are_those_of_the_reference():
    assert sorted(REFERENCE) == sorted(
        (declared.name, declared.kind.value, " ".join(declared.labels)) for declared in DECLARED.values()
    )


def test_a_score_falls_into_the_edges_that_the_rules_read():
    edges = (0, 0.1, 0.2, 0.2999, 0.3, 0.4, 0.4999, 0.5, 0.6, 0.6999, 0.7, 0.8, 0.8999, 0.9, 1)
    assert edges == series.SCORE.buckets


def test_every_series_belongs_to_a_process():
    assert set(DECLARED.values()) == set(chain(*PROCESSES))


def test_labels_name_no_trace_user_session_or_text():
    """A new label is added here by whoever has made sure that its values are few and nobody's."""
    few = (
        "scorer judge model status cause state format reason kind field rule outcome direction result effect"
    )
    few += " period against suspected relevant sink stage queue invariant backfill job_name path hash version"
    labels = {label for declared in DECLARED.values() for label in declared.labels}
    assert labels == {*few.split(), "app", "environment", "release"}


def test_names_tell_kind_and_unit():
    for declared in DECLARED.values():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", declared.name), declared.name
        assert declared.name.endswith("_total") == (declared.kind is Kind.COUNTER), declared.name
        assert declared.name.removesuffix("_total").endswith(declared.unit), declared.name
        assert declared.help.endswith("."), declared.name
        assert bool(declared.buckets) == (declared.kind is Kind.HISTOGRAM), declared.name
        assert list(declared.buckets) == sorted(set(declared.buckets)), declared.name


def test_the_exposed_names_are_the_declared_ones():
    for declarations in PROCESSES:
        text = Series(declarations).render().body.decode()
        exposed = set(re.findall(r"^# TYPE (ragsonde_\w+)", text, re.MULTILINE))
        assert {f"ragsonde_{declared.name}" for declared in declarations} == exposed


READERS = {"page/standing.py"}
"""It may not import the declarations, and asks for series by name: its own test holds the names to them."""


def test_no_other_file_of_the_package_names_a_series(request):
    package = request.config.rootpath / "worker" / "ragsonde"
    names = "|".join(declared.name for declared in DECLARED.values() if "_" in declared.name)
    literal = re.compile(rf"[\"'](ragsonde_)?({names})[\"']")
    found = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if path.parent.name != "series" and literal.search(path.read_text())
    ]
    assert set(found) == READERS
