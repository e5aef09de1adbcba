"""Who answered in an evaluation, what became of the judge's own model, and what the answers cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ragsonde.cli.terminal import write_note
from ragsonde_schemas.stream_labels import FINGERPRINT_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.api.report import Answers, ItemResult, Report
    from ragsonde_schemas.judge_call import JudgeCall

_Number = TypeVar("_Number", int, float)


class Usage(NamedTuple):
    """What was asked of providers.

    Attributes:
        calls: all of them; unanswered: of these, the ones that an outage ended.
        tokens_in, tokens_out: of the answered calls; None where one of them does not tell.
        cost_usd: of the answered calls; None where the price of one of them is not known.
    """

    calls: int
    unanswered: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None


class FallbackNotes:
    """Tells on standard error why a fallback answered; each reason once, however many traces it holds for."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def add(self, result: ItemResult) -> None:
        """Looks at one more trace."""
        if not any(call.is_answered for call in result.calls):
            return
        for call in result.calls:
            if call.is_answered or (call.model, call.reply) in self._told:
                continue
            self._told.add((call.model, call.reply))
            write_note(f"{call.model} did not answer, {result.answered_model} did in its place: {call.reply}")


def count_usage(calls: Iterable[JudgeCall]) -> Usage:
    """The calls summed up; what is not known of one is not known of the whole."""
    listed = tuple(calls)
    answered = [call for call in listed if call.is_answered]
    return Usage(
        calls=len(listed),
        unanswered=len(listed) - len(answered),
        tokens_in=_sum_known([call.tokens_in for call in answered]),
        tokens_out=_sum_known([call.tokens_out for call in answered]),
        cost_usd=_sum_known([call.cost_usd for call in answered]),
    )


def tell_usage(usage: Usage) -> str:
    """One line: calls, tokens, cost."""
    unanswered = f" ({usage.unanswered} unanswered)" if usage.unanswered else ""
    tokens = "tokens unknown"
    if usage.tokens_in is not None and usage.tokens_out is not None:
        tokens = f"{usage.tokens_in} tokens in, {usage.tokens_out} out"
    cost = "cost unknown" if usage.cost_usd is None else f"{usage.cost_usd:.6f} USD"
    return f"{usage.calls} call{'' if usage.calls == 1 else 's'}{unanswered}, {tokens}, {cost}"


def tell_fallbacks(report: Report) -> str:
    """`, 10 answered by openai/b (fallback 5b1c2d)` for each that answered; empty without any."""
    return "".join(f", {one.n} answered by {name_answerer(one)}" for one in report.answers if one.is_fallback)


def name_answerer(answers: Answers) -> str:
    """The model, whether it stood in for the judge's own, and its fingerprint."""
    role = "fallback " if answers.is_fallback else ""
    return f"{answers.model or 'no model'} ({role}{answers.fingerprint[:FINGERPRINT_CHARACTERS]})"


def describe_answerer(result: ItemResult, *, fingerprint: str) -> dict[str, Any]:
    """`answered_model` and `answered_fingerprint`; both null where the judge gave no verdicts.

    Args:
        result: of one trace.
        fingerprint: the judge's own.
    """
    is_answered = result.result is not None and result.result.assessment is not None
    return {
        "answered_model": result.answered_model,
        "answered_fingerprint": (result.fallback_fingerprint or fingerprint) if is_answered else None,
    }


def describe_answers(report: Report) -> list[dict[str, Any]]:
    """Who answered how many traces."""
    return [
        {"model": one.model, "fingerprint": one.fingerprint, "fallback": one.is_fallback, "traces": one.n}
        for one in report.answers
    ]


def list_calls(report: Report) -> list[JudgeCall]:
    """All that was asked of providers in this evaluation."""
    return [call for item in report.items for call in item.calls]


def _sum_known(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
