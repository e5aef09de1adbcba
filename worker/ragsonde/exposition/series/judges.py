"""Judges: calls, money, rates, and whether they have moved."""

from __future__ import annotations

from ragsonde.exposition.closed_labels import (
    CACHE_RESULTS,
    DIRECTIONS,
    REPLIES,
)
from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.series.shapes import JUDGE_BUCKETS

JUDGE_CALLS = Declaration(
    name="judge_calls_total",
    kind=Kind.COUNTER,
    help="Calls to a provider, by what became of the reply; judge_unavailable: an outage, none came.",
    labels=("judge", "model", "outcome"),
    born=REPLIES,
)
JUDGE_SECONDS = Declaration(
    name="judge_seconds",
    kind=Kind.HISTOGRAM,
    help="Duration of one call to a provider.",
    labels=("judge",),
    unit="seconds",
    buckets=JUDGE_BUCKETS,
)
JUDGE_TOKENS = Declaration(
    name="judge_tokens_total",
    kind=Kind.COUNTER,
    help="Tokens sent to and received from a provider, as it counts them.",
    labels=("judge", "direction"),
    unit="tokens",
    born=DIRECTIONS,
)
JUDGE_COST = Declaration(
    name="judge_cost_usd_total",
    kind=Kind.COUNTER,
    help="Known cost of calls in US dollars; calls of unknown price are in judge_cost_unknown_total.",
    labels=("judge",),
    unit="usd",
)
JUDGE_COST_UNKNOWN = Declaration(
    name="judge_cost_unknown_total",
    kind=Kind.COUNTER,
    help="Calls whose price is not known; those that an outage ended are not among them.",
    labels=("judge",),
)
JUDGE_CACHE = Declaration(
    name="judge_cache_total",
    kind=Kind.COUNTER,
    help="Looks for verdicts given earlier for the same content; a hit saves the call.",
    labels=("judge", "result"),
    born=CACHE_RESULTS,
)
JUDGE_REPAIRS = Declaration(
    name="judge_repairs_total",
    kind=Kind.COUNTER,
    help="Calls that asked a judge to repair an unusable reply.",
    labels=("judge",),
)
JUDGE_CIRCUIT_OPEN = Declaration(
    name="judge_circuit_open",
    kind=Kind.GAUGE,
    help="1 while this process leaves a judge's model alone because it does not answer.",
    labels=("judge", "model"),
)
JUDGE_PAUSED = Declaration(
    name="judge_paused",
    kind=Kind.SNAPSHOT,
    help="1 while no worker asks a judge's own model, because it refuses until somebody acts.",
    labels=("judge",),
)
JUDGE_BUDGET_RATIO = Declaration(
    name="judge_budget_ratio",
    kind=Kind.SNAPSHOT,
    help="Spent and reserved over what a judge may spend in the present hour or day (UTC).",
    labels=("judge", "period"),
)
JUDGE_BUDGET_WARNING = Declaration(
    name="judge_budget_warning",
    kind=Kind.SNAPSHOT,
    help="1 while at least 80 % of what a judge may spend in the present hour or day is spent or reserved.",
    labels=("judge", "period"),
)
JUDGE_SAMPLE_RATE = Declaration(
    name="judge_sample_rate",
    kind=Kind.SNAPSHOT,
    help="Rate in force for an app's traces under a judge, floor and budget included, as written each hour; "
    "an app without traces for a day has none and the configured rate.",
    labels=("judge", "app"),
)
JUDGE_AGREEMENT = Declaration(
    name="judge_agreement_ratio",
    kind=Kind.SNAPSHOT,
    help="Share of contexts on whose relevance a judge and the free one agree, over the last hour's "
    "assessments; suspected: of traces with a suspected injection.",
    labels=("judge", "against", "app", "suspected"),
    unit="ratio",
)
JUDGE_EPOCH = Declaration(
    name="judge_model_epoch",
    kind=Kind.SNAPSHOT,
    help="Number of the model that answers for a judge, of those that have under its fingerprint.",
    labels=("judge",),
)
JUDGE_DRIFT = Declaration(
    name="judge_drift",
    kind=Kind.SNAPSHOT,
    help="Mean change of a judge's scores of the check set since they were first given, newest results.",
    labels=("judge", "scorer"),
)
JUDGE_DRIFT_STDERR = Declaration(
    name="judge_drift_stderr",
    kind=Kind.SNAPSHOT,
    help="Standard error of the drift; absent below two traces.",
    labels=("judge", "scorer"),
)
JUDGE_CHECK_AGE = Declaration(
    name="judge_check_age_seconds",
    kind=Kind.SNAPSHOT,
    help="How long ago a judge last gave a score of the check set; absent before the first.",
    labels=("judge",),
    unit="seconds",
)
