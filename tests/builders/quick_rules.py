"""The rule files and routes of deploy/, with all times divided: what takes minutes takes seconds.

Divided are windows (`[5m]`), `for:`, offsets under a day, thresholds that are seconds, and Alertmanager's
waits. Whole days of an offset stay, so that a day ago is a day ago: `offset 23h30m` is a day less half an
hour, and becomes a day less half a minute where minutes become seconds. Counts an hour stay as they are: the
traffic of a test comes as many times quicker. Only a worker is not as many times quicker, so what may wait in
a queue is divided, too.

What is not known is refused: a rule that would keep its own time would be tested by chance.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from builders.alert_rules import THRESHOLDS, Rule

DAY_MS = 86_400_000
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": DAY_MS, "w": 7 * DAY_MS, "y": 365 * DAY_MS}
_PART = re.compile(r"(\d+)(ms|[smhdwy])")
_DURATION = r"(?:\d+(?:ms|[smhdwy]))+"
_TOKEN = re.compile(
    r"(?P<calendar>\btime\(\) % (?P<period>86400|3600) / (?P=period)(?!\d))"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|\[(?P<window>[^\]]*)\]"
    r"|\boffset\s+(?P<offset>[-\w]+)"
    rf"|(?<![\w:.])(?P<stray>{_DURATION}|@)(?![\w:])"
    r"|(?<![\w:.])(?P<number>\d+(?:\.\d+)?)(?![\w:.])"
)
_WINDOW = re.compile(rf"({_DURATION})(?:(:)({_DURATION})?)?")
_REMEMBERED = re.compile(rf"([a-z_]+:[a-z_]+:[a-z0-9_]+)(?:\[[^\]]*\])? offset ({_DURATION})")
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]*\"")
_HAS_TIME = re.compile(r"\[|\boffset\b")
_KEYS = {"record", "alert", "expr", "for", "labels", "annotations"}
_LEAST_SECONDS = 60
"""Plain numbers from here on may be seconds."""

TIMES = frozenset(
    {
        "ragsonde:queue_wait_seconds:limit",
        "ragsonde:monitor_age_seconds:limit",
        "ragsonde:monitor_slow_age_seconds:limit",
        "ragsonde:worker_silent_seconds:limit",
    }
)
BACKLOGS = frozenset({"ragsonde:queue_messages:limit"})
KEPT = frozenset(
    {
        "ragsonde:empty_retrieval_rise:limit",
        "ragsonde:insufficient_rise:limit",
        "ragsonde:no_context_rise:limit",
        "ragsonde:rise_noise:limit",
        "ragsonde:empty_retrieval_first_day:share",
        "ragsonde:no_context_first_day:share",
        "ragsonde:traces_expected:limit",
        "ragsonde:coverage_drop:limit",
        "ragsonde:extraction_shift:limit",
        "ragsonde:extraction_fields:limit",
        "ragsonde:fallback_drop:limit",
        "ragsonde:fallback_noise:limit",
        "ragsonde:fallback_scores:limit",
        "ragsonde:judge_calls:limit",
        "ragsonde:judge_unavailable_share:limit",
        "ragsonde:judge_error_share:limit",
        "ragsonde:judge_drift:limit",
        "ragsonde:judge_drift_errors:limit",
        "ragsonde:budget_ahead:limit",
        "ragsonde:queue_growth:limit",
        "ragsonde:parked_messages:limit",
        "ragsonde:parked_share:limit",
    }
)
"""Shares, factors, and counts an hour or a quarter of one."""


class Remembered(NamedTuple):
    """A recorded series that a rule reads of a day or more ago."""

    name: str
    days: int


def read_ms(duration: str) -> int:
    """Milliseconds of a duration of Prometheus, such as `1h30m`; ValueError for anything else."""
    if not re.fullmatch(_DURATION, duration):
        raise ValueError(f"found {duration!r}, expected a duration such as 5m or 1h30m")
    return sum(int(number) * _UNIT_MS[unit] for number, unit in _PART.findall(duration))


def quicken_duration(duration: str, factor: int) -> str:
    """It divided, in milliseconds; ValueError where that is no whole number of them."""
    milliseconds, rest = divmod(read_ms(duration), factor)
    if rest:
        raise ValueError(f"{duration} cannot be divided by {factor} into whole milliseconds")
    return f"{milliseconds}ms"


def quicken_offset(offset: str, factor: int) -> str:
    """The whole days that it is nearest to, and what is more or less than these divided."""
    milliseconds = read_ms(offset)
    days, beyond = divmod(milliseconds, DAY_MS)
    if beyond == DAY_MS // 2:
        raise ValueError(f"offset {offset} is as near to {days} days as to {days + 1}")
    if beyond > DAY_MS // 2:
        days, beyond = days + 1, beyond - DAY_MS
    if beyond % factor:
        raise ValueError(f"offset {offset} cannot be divided by {factor} into whole milliseconds")
    return f"{days * DAY_MS + beyond // factor}ms"


def quicken_expression(expression: str, factor: int) -> str:
    """PromQL with its windows and offsets divided.

    Raises:
        ValueError: a duration or a time stands where none is known, or a plain number may be seconds: it is
            60 or more, or the expression reckons with time() and it is not 0.
    """
    is_timed = bool(re.search(r"\btime\(\)(?! % (86400|3600) / \1(?!\d))", expression))

    def divide(found: re.Match[str]) -> str:
        if found["window"] is not None:
            return f"[{_quicken_window(found['window'], factor)}]"
        if found["offset"] is not None:
            return f"offset {quicken_offset(found['offset'], factor)}"
        if found["stray"] is not None:
            raise ValueError(
                f"found {found['stray']!r} in {expression!r}, expected it in [ ] or after offset"
            )
        if found["number"] is not None:
            number = float(found["number"])
            if number >= _LEAST_SECONDS or (is_timed and number):
                raise ValueError(
                    f"found {found['number']} in {expression!r}: are these seconds? expected a threshold of "
                    "thresholds.yaml"
                )
        return found.group()

    return _TOKEN.sub(divide, expression)


def _quicken_window(window: str, factor: int) -> str:
    found = _WINDOW.fullmatch(window)
    if found is None:
        raise ValueError(f"found [{window}], expected a window such as [5m] or [1h:5m]")
    step = f":{quicken_duration(found[3], factor) if found[3] else ''}" if found[2] else ""
    return quicken_duration(found[1], factor) + step


def quicken_text(text: str, factor: int) -> str:
    """An annotation whose queries are divided; words are as they were."""

    def divide(quoted: re.Match[str]) -> str:
        query = quoted.group()[1:-1]
        return f'"{quicken_expression(query, factor)}"' if _HAS_TIME.search(query) else quoted.group()

    return _ACTION.sub(lambda action: _QUOTED.sub(divide, action.group()), text)


def quicken_rule(rule: Rule, factor: int) -> Rule:
    """The rule, divided; ValueError for a key or a threshold that is not known."""
    body = dict(rule.body)
    if unknown := body.keys() - _KEYS:
        raise ValueError(f"{rule.name}: found {sorted(unknown)}, expected {sorted(_KEYS)}")
    if rule.group == THRESHOLDS:
        return Rule(rule.group, {**body, "expr": _quicken_threshold(rule, factor)})
    body["expr"] = quicken_expression(body["expr"], factor)
    if "for" in body:
        body["for"] = quicken_duration(body["for"], factor)
    if "annotations" in body:
        body["annotations"] = {name: quicken_text(text, factor) for name, text in body["annotations"].items()}
    return Rule(rule.group, body)


def _quicken_threshold(rule: Rule, factor: int) -> str:
    expression = str(rule.body["expr"])
    if rule.name in KEPT:
        return expression
    if rule.name not in TIMES | BACKLOGS:
        raise ValueError(f"{rule.name}: is it a time? expected it in TIMES, BACKLOGS or KEPT")
    found = re.fullmatch(r"vector\((\d+(?:\.\d+)?)\)", expression)
    if found is None:
        raise ValueError(f"{rule.name}: found {expression!r}, expected vector(NUMBER)")
    return f"vector({float(found[1]) / factor:g})"


def quicken_routes(settings: dict[str, Any], factor: int) -> dict[str, Any]:
    """Alertmanager's settings, with its waits divided."""
    return {
        **settings,
        "global": _quicken_keys(settings["global"], factor),
        "route": _quicken_route(settings["route"], factor),
    }


def _quicken_route(route: dict[str, Any], factor: int) -> dict[str, Any]:
    below = [_quicken_route(one, factor) for one in route.get("routes", ())]
    return _quicken_keys(route, factor) | ({"routes": below} if below else {})


def _quicken_keys(values: dict[str, Any], factor: int) -> dict[str, Any]:
    waits = {"group_wait", "group_interval", "repeat_interval", "resolve_timeout"}
    return {key: quicken_duration(value, factor) if key in waits else value for key, value in values.items()}


def list_remembered(rules: list[Rule]) -> set[Remembered]:
    """Every recorded series that a rule, as committed, reads of a day or more ago."""
    return {
        Remembered(name, days)
        for rule in rules
        for name, offset in _REMEMBERED.findall(rule.body["expr"])
        if (days := round(read_ms(offset) / DAY_MS))
    }
