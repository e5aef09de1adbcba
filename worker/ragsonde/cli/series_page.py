"""The reference page of series, written from their declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.exposition.admission import Limits
from ragsonde.exposition.labels import EXEMPLAR_MAX_CHARACTERS
from ragsonde.exposition.series import MONITOR_SERIES, RECEIVER_SERIES, WORKER_SERIES
from ragsonde_schemas.label_names import BUSIEST_RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde.exposition.declaration import Declaration

PROCESSES = {"worker": WORKER_SERIES, "monitor": MONITOR_SERIES, "receiver": RECEIVER_SERIES}

_LIMITS = Limits()
_OPENING = f"""\
# Series

Written by `ragsonde list-series --output markdown`. Every process answers `GET /metrics`: workers from port
9321 on, the monitor on 8321, the receiver on 4318. Only what is committed is counted, after the commit.

- **Over processes**: a worker counts what it did itself, so its counters and histograms are added up
  (`sum(rate(...))`). A monitor shows what Postgres and the broker say of the whole deployment: a second
  monitor shows the same once more, so its gauges are never added up but read with `max`. A job that changes
  things is done by one monitor at a time, so its counters are added up.
- **Births**: a counter whose labels are known in advance is 0 from the start: its first event is an increase.
  One of an app and release appears with its first trace, so what came before the first scrape is in no
  `increase`. The recording rules and dashboards count it: a series that was not there before, of a process
  that was, counts whole.
- **Ages**: a gauge that the monitor takes from Postgres or the broker is there while the job that takes it
  succeeds. When its last success is as old as three runs are apart (two minutes at the least) it is absent,
  instead of showing what was true long ago, whether the runs since then failed or hang;
  `ragsonde_monitor_job_last_success_timestamp_seconds` says since when. A run that hangs counts in
  `ragsonde_monitor_job_failures_total` once a minute, that of `invariants` once in ten. Counting many rows is
  done less often, at most three intervals and five minutes apart.
  `/metrics` itself asks nobody and answers at once.
- **Names**: `app`, `environment` and `release` are what producers send, so their number is bounded. The
  monitor decides each minute (table `label_budget`), and all processes show the same: the
  {_LIMITS.max_apps} apps and {_LIMITS.max_environments} environments with the most traces of the last day,
  those of the settings `series.apps` and `series.environments` before all others, and of an app in an
  environment the {BUSIEST_RELEASES} releases with the most traces in the last hour and the one that was
  busiest before them, so that a release keeps its name when it is rolled back to. All others are `other`,
  with a warning (`labels_without_a_name`). An app keeps its name until one without has more than twice as
  many traces in a day; after a week without traces, any other. A producer's own `other` is called `other_`.
  What has no name any more leaves `/metrics` ten minutes later. While the names cannot be read, those read
  last hold; a process that never could names the first it sees.
- **Bounds**: a process exposes at most {_LIMITS.max_lines:,} lines; what would go beyond is counted in
  `ragsonde_series_dropped_total`. No trace, user, session or text is ever a label. Buckets of
  `ragsonde_score` carry exemplars with a `trace_id`, where the id has at most {EXEMPLAR_MAX_CHARACTERS}
  characters: scrape with OpenMetrics and turn on Prometheus' exemplar storage.

## Means

The mean of each scorer in the last hour; precision is named with its basis, `context_precision:answer` or
`context_precision:reference`:

```promql
sum by (scorer, judge) (rate(ragsonde_score_sum[1h]))
/ sum by (scorer, judge) (rate(ragsonde_score_count[1h]))
```

## Shares

Which part of the traces has a number, by app; a judge that looks at a sample has about its rate:

```promql
max by (app, environment, judge) (
  sum by (app, environment, judge, scorer) (increase(ragsonde_score_count[1h]))
)
/ on (app, environment) group_left () sum by (app, environment) (increase(ragsonde_traces_total[1h]))
```

Which part of a judge's evaluations ended with a score, of those it was to look at:

```promql
sum by (judge) (increase(ragsonde_evaluations_total{{state="scored"}}[1h]))
/ sum by (judge) (increase(ragsonde_evaluations_total{{state=~"scored|not_evaluable|failed|shed"}}[1h]))
```

Which part of the traces does not say what was retrieved:

```promql
sum by (app, environment) (increase(ragsonde_no_context_total[1h]))
/ sum by (app, environment) (increase(ragsonde_traces_total[1h]))
```

How many traces are to be expected in a quarter of an hour, from the hour around this time a week ago:

```promql
sum by (app, environment) (increase(ragsonde_traces_total[1h] offset 167h30m)) / 4
```

Which part of what was retrieved is relevant, by its length:

```promql
sum by (app, environment, judge) (increase(ragsonde_context_tokens_total{{relevant="yes"}}[1h]))
/ sum by (app, environment, judge) (increase(ragsonde_context_tokens_total[1h]))
```

How many messages wait in a queue, whichever monitor says so:

```promql
max by (queue) (ragsonde_queue_messages{{queue="ragsonde.work"}})
```

How many seconds a trace waits that is published now. No broker tells how old the oldest message is: this is
how many are before it, at the rate at which workers take them. For work that is already in Postgres,
`ragsonde_queue_oldest_seconds` says how long the oldest has been due.

```promql
max(ragsonde_queue_messages{{queue="ragsonde.traces"}}) / sum(rate(ragsonde_messages_received_total[5m]))
```
"""


def write_page() -> str:
    """The page, as Markdown."""
    shared = [declared for declared in WORKER_SERIES if list_processes(declared) == list(PROCESSES)]
    parts = [_OPENING]
    for process, declarations in PROCESSES.items():
        own = [declared for declared in declarations if declared not in shared]
        parts.append(f"## {process.capitalize()}\n\n{_write_table(own)}")
    buckets = "".join(_list_buckets())
    return "\n".join([*parts, f"## All of them\n\n{_write_table(shared)}", f"## Buckets\n\n{buckets}"])


def list_processes(declared: Declaration) -> list[str]:
    """Names of the processes that expose a series."""
    return [process for process, declarations in PROCESSES.items() if declared in declarations]


def list_all() -> list[Declaration]:
    """Every series once, as the processes expose them."""
    return list(dict.fromkeys(declared for declarations in PROCESSES.values() for declared in declarations))


def _write_table(declarations: Sequence[Declaration]) -> str:
    return "".join(
        (
            "| series | type | labels | unit | over processes | what it says |\n",
            "| --- | --- | --- | --- | --- | --- |\n",
            *(_write_row(declared) for declared in sorted(declarations, key=lambda one: one.name)),
        )
    )


def _write_row(declared: Declaration) -> str:
    labels = ", ".join(f"`{label}`" for label in declared.labels)
    cells = (f"`{declared.full_name}`", declared.type_name, labels, declared.unit, declared.over_processes)
    return f"| {' | '.join((*cells, declared.help.replace('|', '&#124;')))} |\n"


def _list_buckets() -> Iterator[str]:
    for declared in list_all():
        if declared.buckets:
            yield f"- `{declared.full_name}`: {', '.join(f'{edge:g}' for edge in declared.buckets)}\n"
