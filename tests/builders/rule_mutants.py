"""Rules with one fault each, as a hand that slips would make it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from builders.alert_rules import RECORDED, THRESHOLDS, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

FLIPPED = {">": "<", "<": ">", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}
_QUOTED = re.compile(r"\{[^}]*\}|\"[^\"]*\"")
_COMPARISON = re.compile(r"(?<![<>=!])(?:>=|<=|==|!=|>|<)(?!=)")
_MATCHERS = re.compile(r"\{([^}]*)\}")
_MATCHER = re.compile(r"\w+(?:=~|!~|!=|=)\"[^\"]*\"")
_LABELS = re.compile(r"\b(by|on) \(([^)]+)\)")
_NUMBER = re.compile(r"(?<![\w.:\[])\d+(?:\.\d+)?(?![\w.:])")
_OFFSET = re.compile(r" offset \w+")
_WINDOW = re.compile(r"\[(\d+)([mh])\]")
_BIRTH = re.compile(
    r"(?:max_over_time\(([^()]*)\)\s*unless\s*present_over_time\()"
    r"|(?:count_over_time\(([^()]*)\)\s*<\s*on \(instance, job\))"
)
"""What had no sample before the window has none in a wider one: a change that changes nothing."""


class Mutant(NamedTuple):
    """A rule that is wrong in one place, and what is wrong."""

    rule: Rule
    change: str


def list_mutants(rules: list[Rule]) -> list[Mutant]:
    """All of them, in the order of the rules."""
    return [mutant for rule in rules for mutant in _mutate(rule)]


def _mutate(rule: Rule) -> Iterator[Mutant]:
    expr = rule.body["expr"]
    if rule.group == THRESHOLDS:
        value = float(expr.removeprefix("vector(").removesuffix(")"))
        for factor in (2, 0.5):
            yield _replace(rule, f"vector({value * factor:g})", f"times {factor:g}")
        return
    if "for" in rule.body:
        body = {key: value for key, value in rule.body.items() if key != "for"}
        yield Mutant(Rule(rule.group, body), "no for")
    yield from _mutate_operators(rule, expr)
    yield from _mutate_labels(rule, expr)
    for found in _OFFSET.finditer(expr):
        yield _cut(rule, found.span(), "", f"no{found.group()}")
    births = [range(*found.span()) for found in _BIRTH.finditer(expr)]
    for found in _WINDOW.finditer(expr):
        if any(found.start() in birth for birth in births):
            continue
        wider = f"[{int(found[1]) * 3}{found[2]}]"
        yield _cut(rule, found.span(), wider, f"{found.group()} becomes {wider}")


def _mutate_operators(rule: Rule, expr: str) -> Iterator[Mutant]:
    covered = _QUOTED.sub(lambda found: "_" * len(found.group()), expr)
    for found in _COMPARISON.finditer(covered):
        other = FLIPPED[found.group()]
        yield _cut(rule, found.span(), other, f"{found.group()} becomes {other} at {found.start()}")
    for found in re.finditer(r"\bunless\b", covered):
        yield _cut(rule, found.span(), "and", f"unless becomes and at {found.start()}")
    if rule.is_alert:
        plain = RECORDED.sub(lambda found: "_" * len(found.group()), covered)
        for found in _NUMBER.finditer(plain):
            other = f"{float(found.group()) * 2 or 1:g}"
            yield _cut(rule, found.span(), other, f"{found.group()} becomes {other} at {found.start()}")


def _mutate_labels(rule: Rule, expr: str) -> Iterator[Mutant]:
    for found in _MATCHERS.finditer(expr):
        matchers = _MATCHER.findall(found[1])
        for gone in matchers:
            rest = ",".join(matcher for matcher in matchers if matcher != gone)
            yield _cut(rule, found.span(), f"{{{rest}}}" if rest else "", f"no {gone} at {found.start()}")
    for found in _LABELS.finditer(expr):
        if found[1] != "by":
            continue
        labels = found[2].split(", ")
        for gone in labels:
            rest = ", ".join(label for label in labels if label != gone)
            yield _cut(
                rule, found.span(), f"by ({rest})", f"by ({found[2]}) without {gone} at {found.start()}"
            )


def _cut(rule: Rule, span: tuple[int, int], other: str, change: str) -> Mutant:
    expr = rule.body["expr"]
    return _replace(rule, expr[: span[0]] + other + expr[span[1] :], change)


def _replace(rule: Rule, expr: str, change: str) -> Mutant:
    return Mutant(Rule(rule.group, {**rule.body, "expr": expr}), change)
