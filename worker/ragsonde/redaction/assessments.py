"""Assessments as they may be kept: a model may quote, and put into words, what it should not have seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.redaction.values import redact_value, withhold_value
from ragsonde_schemas.errors import ExtractionError

if TYPE_CHECKING:
    from ragsonde.ports import Redaction
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.judge_call import JudgeCall

_LISTS = ("statements", "claims", "answer_statements", "reference_statements")
_WORDS = ("text", "reason")


def redact_assessment(assessment: Assessment, redaction: Redaction) -> Assessment:
    """An assessment whose words are redacted; verdicts and numbers stay. Where that fails, without words."""
    return _rebuild(assessment, _keep(_gather(assessment), redaction))


def redact_calls(calls: tuple[JudgeCall, ...], redaction: Redaction) -> tuple[JudgeCall, ...]:
    """Calls whose replies are redacted."""
    replies = _keep([call.reply for call in calls], redaction)
    pairs = zip(calls, replies, strict=True)
    return tuple(call.model_copy(update={"reply": reply}) for call, reply in pairs)


def redact_texts(texts: tuple[str, ...], redaction: Redaction) -> tuple[str, ...]:
    """Texts that are redacted; where that fails, nothing of them."""
    return tuple(_keep(list(texts), redaction))


def _keep(words: Any, redaction: Redaction) -> Any:  # noqa: ANN401 - of any shape
    try:
        return redact_value(words, redaction).value
    except ExtractionError:
        return withhold_value(words)


def _gather(assessment: Assessment) -> dict[str, Any]:
    return {
        "reason": assessment.reason,
        "missing": assessment.missing,
        "contexts": [one.reason for one in (assessment.contexts or {}).values()],
        "rubrics": [one.rating for one in (assessment.rubrics or {}).values()],
        "faults": [one.message for one in assessment.faults.values()],
        "notes": assessment.notes,
        "calls": [call.reply for call in assessment.calls],
        **{
            name: [[getattr(one, word, None) for word in _WORDS] for one in getattr(assessment, name) or ()]
            for name in _LISTS
        },
    }


def _rebuild(assessment: Assessment, kept: dict[str, Any]) -> Assessment:
    changes: dict[str, Any] = {
        "reason": kept["reason"],
        "missing": kept["missing"],
        "notes": kept["notes"],
        "faults": _put(assessment.faults, "message", kept["faults"]),
        "calls": tuple(
            call.model_copy(update={"reply": reply})
            for call, reply in zip(assessment.calls, kept["calls"], strict=True)
        ),
    }
    if assessment.contexts is not None:
        changes["contexts"] = _put(assessment.contexts, "reason", kept["contexts"])
    if assessment.rubrics is not None:
        changes["rubrics"] = _put(assessment.rubrics, "rating", kept["rubrics"])
    for name in _LISTS:
        given = getattr(assessment, name)
        if given is not None:
            changes[name] = tuple(
                one.model_copy(
                    update={
                        word: said
                        for word, said in zip(_WORDS, words, strict=True)
                        if word in type(one).model_fields
                    }
                )
                for one, words in zip(given, kept[name], strict=True)
            )
    return assessment.model_copy(update=changes)


def _put(values: dict[Any, Any], field: str, words: list[Any]) -> dict[Any, Any]:
    pairs = zip(values.items(), words, strict=True)
    return {name: value.model_copy(update={field: said}) for (name, value), said in pairs}
