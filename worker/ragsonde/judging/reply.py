"""An LLM's reply, from its text to the form of a recorded assessment."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from ragsonde.extraction.texts import mend_text
from ragsonde.judging.instructions import KEYS_OF, PER_CONTEXT_KEYS
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde_schemas.rubric import Rubric

LONGEST_REPLY = 200_000
"""Characters; a longer reply is not read at all."""
MOST_STARTS = 200
"""So many opening braces are tried before a text counts as holding no object."""
MOST_MISSING = 5
LONGEST_WORDS = 600
"""Characters of any text of the model's own that is kept."""
_LONGEST_NAMED = 20
"""Characters of a key that is named; a longer one is not: half an address would be found by nothing."""

_LEVELS = {"0": "none", "1": "low", "2": "medium", "3": "high"}
_BITS = {"0": False, "1": True}
_TEXTS = {
    "cl": ("claims", "supported"),
    "as": ("answer_statements", "relevant"),
    "rs": ("reference_statements", "attributed"),
}
_FLAGS = {"y": "relevant", "s": "supports", "u": "used"}
_THOUGHT = r"(?:think|thinking|thought|reasoning|reflection)\b"
_THOUGHT_BEGINS = re.compile(rf"<\s*{_THOUGHT}", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"<\s*/\s*{_THOUGHT}[^<>]*>|<\s*{_THOUGHT}[^<>]*/>", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\W*(?:i['\u2019]?m (?:very |so )?sorry|sorry|i apologi[sz]e|unfortunately,? i|as an ai|"
    r"i (?:cannot|can['\u2019]?t|can not|am unable|am not able|must decline|won['\u2019]t))\b",
    re.IGNORECASE,
)


class UnreadableReplyError(Exception):
    """A reply whose text holds no object in the form asked for.

    Attributes:
        cause: INVALID_REPLY, or REFUSED where the text says that the model will not answer.
    """

    def __init__(self, cause: Cause, message: str) -> None:
        self.cause = cause
        super().__init__(message)


def parse_reply(text: str) -> dict[str, Any]:
    """The one JSON object that a reply is or holds.

    Prose, code fences and reasoning (`strip_thoughts`) around it are passed over. Numbers with a point stay
    text, so that 1.10 is not 1.1.

    Raises:
        UnreadableReplyError: there is none, there are several that differ, or a key has two values.
    """
    if len(text) > LONGEST_REPLY:
        raise UnreadableReplyError(
            Cause.INVALID_REPLY, f"the reply is longer than {LONGEST_REPLY} characters"
        )
    try:
        whole = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _pick_object(strip_thoughts(text))
    if not isinstance(whole, dict):
        raise UnreadableReplyError(
            Cause.INVALID_REPLY, f"the reply is a JSON {type(whole).__name__}, not an object"
        )
    return whole


def normalise_reply(
    found: dict[str, Any], *, keys: tuple[str, ...], rubrics: tuple[Rubric, ...] = ()
) -> dict[str, Any]:
    """The same verdicts under the names of a recorded assessment; words and numbers are passed on unchecked.

    What was not asked for is dropped: nobody can plant an answer to it.
    """
    raw: dict[str, Any] = {}
    if any(key in PER_CONTEXT_KEYS for key in keys) and isinstance(found.get("c"), list):
        raw["contexts"] = [_name_verdict(item, keys) for item in found["c"]]
    for key, name in (("rel", "relevant_sentences"), ("need", "essential")):
        if key in keys and key in found:
            raw[name] = _read_numbers(found[key])
    if "ins" in keys and "ins" in found:
        raw["insufficient"] = _read_bit(found["ins"])
    if "miss" in keys and "miss" in found:
        raw["missing"] = _read_missing(found["miss"])
    if "st" in keys and isinstance(found.get("st"), list):
        raw["statements"] = [_name_statement(item) for item in found["st"]]
    raw |= _name_answers({key: found[key] for key in keys if key in found}, rubrics=rubrics)
    if "why" in keys and isinstance(found.get("why"), str):
        raw["why"] = _keep_words(found["why"])
    return raw


def find_gaps(found: dict[str, Any], *, aspects: frozenset[Aspect]) -> dict[Aspect, Fault]:
    """The aspects that a reply leaves out wholly or answers with null, each with what is missing."""
    gaps = {}
    for aspect, keys in KEYS_OF.items():
        lacking = [key for key in keys if aspect in aspects and not _is_given(found, key, aspect)]
        if lacking:
            message = f"key {' and '.join(lacking)} is missing or null"
            gaps[aspect] = Fault(cause=Cause.INVALID_REPLY, message=message)
    return gaps


def strip_thoughts(text: str) -> str:
    """A reply without its reasoning: what stands behind its last end, up to where it begins again.

    Chat templates leave out the opening tag, and a reply that is cut off has no closing one: a draft in there
    is no answer. A closing tag need not fit the opening one.
    """
    start = max((end.end() for end in _THOUGHT_ENDS.finditer(text)), default=0)
    again = _THOUGHT_BEGINS.search(text, start)
    return text[start : again.start() if again else len(text)]


def is_refusal(text: str) -> bool:
    """True when a text opens as models do that will not answer."""
    return _REFUSAL.match(text) is not None


def _is_given(found: dict[str, Any], key: str, aspect: Aspect) -> bool:
    if aspect not in PER_CONTEXT:
        return found.get(key) is not None
    items = found.get("c")
    return isinstance(items, list) and (
        not items or any(isinstance(item, dict) and item.get(key) is not None for item in items)
    )


def _name_verdict(item: Any, keys: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401 - whatever the model wrote
    if not isinstance(item, dict):
        return {"number": _read_number(item)}
    verdict: dict[str, Any] = {"number": _read_number(item.get("k"))}
    if "r" in keys and "r" in item:
        verdict["level"] = _LEVELS.get(str(item["r"]).strip(), item["r"])
    for key, name in _FLAGS.items():
        if key in keys and key in item:
            verdict[name] = _read_bit(item[key])
    if "t" in keys and isinstance(item.get("t"), str):
        verdict["reason"] = _keep_words(item["t"])
    return verdict


def _name_statement(item: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the model wrote
    if not isinstance(item, dict):
        return {"text": item}
    text = item.get("x")
    return {
        "context": _read_number(item.get("k")),
        "text": _keep_words(text) if isinstance(text, str) else text,
        "relevant": _read_bit(item.get("y")),
    }


def _name_answers(found: dict[str, Any], *, rubrics: tuple[Rubric, ...]) -> dict[str, Any]:
    """Claims, statements of answer and reference, and ratings."""
    raw = {
        name: _name_texts(found[key], verdict=verdict)
        for key, (name, verdict) in _TEXTS.items()
        if key in found
    }
    return raw | ({"rubrics": _name_ratings(found["rub"], rubrics)} if "rub" in found else {})


def _name_texts(items: Any, *, verdict: str) -> Any:  # noqa: ANN401 - whatever the model wrote
    if not isinstance(items, list):
        return items
    return [_name_text(item, verdict=verdict) if isinstance(item, dict) else item for item in items]


def _name_text(item: dict[str, Any], *, verdict: str) -> dict[str, Any]:
    text = item.get("x")
    named = {"text": _keep_words(text) if isinstance(text, str) else text, verdict: item.get("v")}
    return named | ({"contexts": _read_numbers(item["in"])} if "in" in item else {})


def _name_ratings(items: Any, rubrics: tuple[Rubric, ...]) -> Any:  # noqa: ANN401 - whatever the model wrote
    """Ratings under the rubrics' names; of a number that no rubric has, under one that no rubric can have."""
    if not isinstance(items, list):
        return items
    asked = {str(number): rubric for number, rubric in enumerate(rubrics, start=1)}
    named = []
    for item in items:
        if not isinstance(item, dict):
            named.append(item)
            continue
        number = _read_number(item.get("k"))
        rubric = asked.get(number) if isinstance(number, str) else None
        identity = (
            {"name": f"#{number}"} if rubric is None else {"name": rubric.name, "digest": rubric.digest}
        )
        named.append({**identity, "rating": item.get("v")})
    return named


def _read_numbers(value: Any) -> Any:  # noqa: ANN401 - whatever the model wrote
    return [_read_number(item) for item in value] if isinstance(value, list) else value


def _read_number(value: Any) -> Any:  # noqa: ANN401 - whatever the model wrote
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def _read_bit(value: Any) -> Any:  # noqa: ANN401 - whatever the model wrote
    return value if isinstance(value, bool) else _BITS.get(str(value).strip(), value)


def _read_missing(value: Any) -> Any:  # noqa: ANN401 - whatever the model wrote
    if not isinstance(value, list):
        return value
    return [_keep_words(item) if isinstance(item, str) else item for item in value[:MOST_MISSING]]


def _keep_words(text: str) -> str:
    return mend_text(text)[:LONGEST_WORDS]


def _pick_object(text: str) -> dict[str, Any]:
    different: list[dict[str, Any]] = []
    for candidate in _list_objects(text):
        if candidate not in different:
            different.append(candidate)
    if len(different) == 1:
        return different[0]
    if different:
        raise UnreadableReplyError(
            Cause.INVALID_REPLY, f"the reply holds {len(different)} different JSON objects, not one"
        )
    if is_refusal(text):
        raise UnreadableReplyError(Cause.REFUSED, "the reply is a refusal")
    raise UnreadableReplyError(Cause.INVALID_REPLY, "the reply is not the JSON object that was asked for")


def _list_objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost objects with a key of ours; the pieces of one that is cut off have none."""
    position = text.find("{")
    for _ in range(MOST_STARTS):
        if position < 0:
            return
        try:
            candidate, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if not _OUTER_KEYS.isdisjoint(candidate):
                yield candidate
        position = text.find("{", end)


_OUTER_KEYS = frozenset({"c", "rel", "need", "ins", "miss", "st", "cl", "as", "rs", "rub"})


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for key, value in pairs:
        if key in joined and joined[key] != value:
            named = f"key {key}" if len(key) <= _LONGEST_NAMED else "a key"
            raise UnreadableReplyError(Cause.INVALID_REPLY, f"{named} is given twice with different values")
        joined[key] = value
    return joined


_DECODER = json.JSONDecoder(parse_float=str, parse_constant=_refuse_constant, object_pairs_hook=_join_pairs)
