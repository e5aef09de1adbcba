"""What each alert means, for who follows its link: a sentence, and the traces that show it."""

from __future__ import annotations

from typing import NamedTuple

from ragsonde_schemas.watched_list import Sign


class AlertMeaning(NamedTuple):
    """One alert.

    Attributes:
        title: what people read instead of the alert's name.
        meaning: one or two sentences.
        sign: which traces show it.
    """

    title: str
    meaning: str
    sign: Sign = Sign.NONE


ALERTS: dict[str, AlertMeaning] = {
    "RagsondeRegression": AlertMeaning(
        "Scores have fallen",
        "Scores of one app in one environment have fallen, and chance does not do that: it would show "
        "as much about once in the days that the alert says, where a page needs a year, or what "
        "`regression.page_days` says, for each stream of scores that is watched. A stream is one scorer "
        "by one judge. The fall stays open "
        "until there is as good evidence of recovery, or a person closes it.",
    ),
    "RagsondeRegressionSuspected": AlertMeaning(
        "Scores may have fallen",
        "Scores of one app in one environment may have fallen: chance would show as much about once "
        "in 30 days. A fall that is real becomes a page as evidence gathers, or ends by itself. "
        "Streams without a baseline of a whole week, and scorers that are good near a target, are "
        "never more than suspected.",
    ),
    "RagsondeRegressionFallback": AlertMeaning(
        "Scores seem to have fallen, by a coarse rule: no monitor watches",
        "No monitor has told for 5 minutes, or judged for 90, whether scores fell, so a coarse rule "
        "stands in: the mean of the last hour of one scorer by one judge, over at least 30 scores, is "
        ".10 and five standard errors below the mean of the week before. It knows only what workers "
        "count.",
    ),
    "RagsondeEmptyRetrieval": AlertMeaning(
        "Retrieval returns nothing more often than before",
        "Retrieval of one app returned nothing, or only blank contexts, for a share of the last hour's "
        "traces that is 5 points above what was expected, and more than chance would do. Expected is the "
        "share of the same hour a day ago; where no trace came then that of a week ago, else the mean of "
        "the week before; 10 % for an app without a past. The alert says which.",
        Sign.EMPTY_RETRIEVAL,
    ),
    "RagsondeInsufficientUp": AlertMeaning(
        "Contexts lack the answer more often than before",
        "For a share of the last hour's questions that is 15 points above what was expected, a judge says"
        " that the contexts do not suffice to answer. Expected is its own share of the same hour a day "
        "ago; where it assessed none then that of a week ago, else the mean of the week before. A judge "
        "is known by its name: one with a new prompt or model is compared with what it said before. One "
        "without a past in this app never fires.",
        Sign.INSUFFICIENT,
    ),
    "RagsondeNoTraces": AlertMeaning(
        "No traces for 15 minutes",
        "No trace of one app was stored for 15 minutes, where at least 20 were expected: at this hour a "
        "day or a week ago there were that many, whichever had less. Apps without a name of their own "
        "(`other`) have no such alert: `other` is empty as soon as they get one.",
    ),
    "RagsondeNoContextShareUp": AlertMeaning(
        "More traces do not say what was retrieved than before",
        "For a share of the last hour's traces that is 5 points above what was expected, nobody knows "
        "what was retrieved: the trace has no contexts at all, or contexts without texts. Expected is the"
        " share of the same hour a day ago; where no trace came then that of a week ago, else the mean of"
        " the week before; 30 % for an app without a past. The alert says which.",
        Sign.NO_CONTEXT,
    ),
    "RagsondeExtractionChanged": AlertMeaning(
        "Fields of traces are found by other rules than a day ago",
        "A field of one app's traces is found by another rule than at the same hour a day ago: the share "
        "of one rule moved by more than 10 points, of at least 100 fields an hour.",
        Sign.NO_CONTEXT,
    ),
    "RagsondeCoverageDrop": AlertMeaning(
        "Fewer traces get a number than a day ago",
        "Of an app's traces that a judge should give a number (they have contexts, and its sample rate "
        "drew them), 10 points fewer have one than at the same hour a day ago. The description has the "
        "share of each judge.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgeDown": AlertMeaning(
        "A judge does not answer",
        "A model of a judge does not answer: its circuit was open within 5 minutes and no worker got a "
        "reply, or more than half of at least 20 calls within 15 minutes were not answered (429, 5xx, "
        "timeout, no connection).",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgePaused": AlertMeaning(
        "A judge is paused until somebody acts",
        "A judge's provider refuses until somebody acts: 401, 402, 403, 404, an unknown model, no quota, "
        "or a key that cannot be read. No worker asks it; once a minute one of them tries.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgeErrors": AlertMeaning(
        "A judge gives replies that cannot be used",
        "More than 10 % of at least 20 replies of a model within 30 minutes could not be used: not the "
        "form that was asked for, wrong numbers, cut off, refused. Calls that nobody answered are not "
        "among them.",
        Sign.FAILED,
    ),
    "RagsondeBudgetNearlySpent": AlertMeaning(
        "A judge's budget is nearly spent, and its day or hour is not over",
        "At least 80 % of what a judge may spend in this day or hour (UTC) is spent or reserved, and it "
        "is ahead of the clock by 5 points: at noon, not late in the evening.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgeMoved": AlertMeaning(
        "A judge scores the check set differently than at first",
        "A judge scores the check set, traces that never change, by more than .03 and three standard "
        "errors differently than it did at first. The traces are the same, so the judge is not.",
    ),
    "RagsondeQueueGrowing": AlertMeaning(
        "Messages come faster than workers take them",
        "A queue holds more than 1,000 messages and half as many again as 15 minutes ago, while workers "
        "take messages: more comes than they can do.",
    ),
    "RagsondeQueueOld": AlertMeaning(
        "Traces wait too long before they are scored",
        "A message that comes now waits more than 10 minutes for a worker (what is in `ragsonde.traces`, "
        "at the rate at which workers take messages), or an evaluation, or a trace to be closed, has been"
        " due for as long (`ragsonde_queue_oldest_seconds`). Brokers do not tell how old the oldest "
        "message is. A deployment that also reads queues of others takes those into the rate.",
    ),
    "RagsondeParked": AlertMeaning(
        "Messages cannot be read and are parked",
        "At least 10 messages within an hour, and 5 of 1,000, could not become traces and were parked: "
        "not JSON, not a known format, too large, without a trace id. Dead letters have their own alert.",
    ),
    "RagsondeDeadLetters": AlertMeaning(
        "The broker has given up messages",
        "RabbitMQ delivered a message 20 times without an end and gave it up: it is in "
        "`ragsonde.traces.dead`, or was taken from there and parked with the reason `dead_letter`.",
    ),
    "RagsondeWorkerStalled": AlertMeaning(
        "Messages wait and no worker is done with any",
        "Messages have waited for 5 minutes in `ragsonde.traces` or `ragsonde.work`, and in that time no "
        "worker was done with one, nor with an evaluation. The description says how many workers are "
        "scraped: none is a worker that is dead.",
    ),
    "RagsondeDatabaseErrors": AlertMeaning(
        "Postgres does not answer",
        "For 5 minutes workers, or those jobs of the monitor that need nothing else, found Postgres away:"
        " no connection, an error that says so, or no answer for a minute.",
    ),
    "RagsondeConfigDiffers": AlertMeaning(
        "Processes of this deployment have different settings",
        "For 15 minutes processes of this deployment had different settings in force: what decides about "
        "scores, not ports, secrets or what belongs to one machine.",
    ),
    "RagsondeLedgerBroken": AlertMeaning(
        "The ledger does not add up",
        "Rows of the last 25 hours break an invariant of the ledger: a trace without one of its "
        "evaluations, a scored evaluation without a score, a run that nobody takes over. This is a fault "
        "of ragsonde, or rows were changed by hand.",
    ),
    "RagsondeMonitorStale": AlertMeaning(
        "The monitor is gone, or its jobs do not succeed",
        "No monitor is scraped, or a job of it has not succeeded for long: 5 minutes for a quick one, 90 "
        "minutes for one that counts a whole day or comes once an hour. What a monitor before this one "
        "did counts.",
    ),
}
"""By the alert's name, as in deploy/prometheus/rules; titles and meanings are those of rules and runbooks."""
