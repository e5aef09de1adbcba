"""Reads promptfoo's tests as traces: variables are question and contexts, assertions are thresholds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragsonde.api.promptfoo_assertions import read_demands
from ragsonde.api.promptfoo_files import REFERENCE, YAML_SUFFIXES, RawTest, read_raw_tests, read_reference
from ragsonde.api.promptfoo_paths import follow_path, read_path
from ragsonde.extraction.documents import read_document
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.api.promptfoo_assertions import Demands

_QUESTION_VARS = ("query", "question")
_ANSWER_VARS = ("output", "answer")
_ANSWER_KEYS = ("answer", "output", "response", "text", "content")
_TRACE_ID_CHARACTERS = 120
_SHOWN_TESTS = 3


@dataclass(frozen=True, kw_only=True)
class PromptfooTest:
    """One test.

    Attributes:
        place: where it stands, for people.
        trace_id: its description, or its number; no other test of the file has it.
        body: it as a native message.
        thresholds: lowest raw score by formula, as its assertions ask.
        notes: what in it is not read.
        output_notes: what is not found in its output; without meaning where a target answers anew.
    """

    place: str
    trace_id: str
    body: bytes
    thresholds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    output_notes: tuple[str, ...] = ()


def is_promptfoo(path: str | Path) -> bool:
    """True for a file that is read as promptfoo's tests: YAML, by its name."""
    return Path(path).suffix.lower() in YAML_SUFFIXES


def read_tests(path: str | Path) -> list[PromptfooTest]:
    """The tests of a YAML file, a list or a configuration with `tests`, and of the files that it names.

    `vars.query` (or `question`) is the question; `vars.context`, or `contextTransform` on the output, gives
    the contexts; `providerOutput`, `vars.output` or `vars.answer` is the output, and so the answer. An
    assertion of a type that a formula stands for (`context-relevance`: essential_context) sets that
    formula's threshold.

    Raises:
        InputError: a file cannot be read, or a test holds what cannot be read without running code.
    """
    raw = read_raw_tests(Path(path))
    taken: set[str] = set()
    tests = []
    for number, test in enumerate(raw.tests, 1):
        merged = _merge(raw.default, test)
        demands = read_demands(merged.content["assert"], templates=raw.templates, place=test.place)
        trace_id = _name_trace(merged.content.get("description"), number=number, taken=taken)
        try:
            tests.append(_read_test(merged, demands=demands, trace_id=trace_id))
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{test.place}: cannot be written as JSON: {error}") from error
    return tests


def collect_notes(tests: Sequence[PromptfooTest], *, has_target: bool = False) -> list[str]:
    """What is not read, each thing once with the first tests that hold it.

    Args:
        tests: of one file.
        has_target: a target answers anew, so that nothing is said of the outputs in the file.
    """
    places: dict[str, list[str]] = {}
    for test in tests:
        for note in dict.fromkeys(test.notes if has_target else (*test.notes, *test.output_notes)):
            places.setdefault(note, []).append(test.place)
    return [f"{_list_places(found)}: {note}" for note, found in places.items()]


def _list_places(places: list[str]) -> str:
    more = f" and {len(places) - _SHOWN_TESTS} more" if len(places) > _SHOWN_TESTS else ""
    return ", ".join(places[:_SHOWN_TESTS]) + more


def _merge(default: dict[str, Any], test: RawTest) -> RawTest:
    """The test with what `defaultTest` sets and it does not; the assertions of both."""
    merged = {**default, **test.content}
    for key in ("vars", "options", "metadata"):
        ours, theirs = (_read_mapping(side.get(key), key, test) for side in (default, test.content))
        merged[key] = {**ours, **theirs}
    is_alone = merged["options"].get("disableDefaultAsserts") is True
    lists = [side.get("assert") for side in ([test.content] if is_alone else [default, test.content])]
    if any(not isinstance(listed, list | None) for listed in lists):
        raise InputError(f"{test.place}: assert: expected a list of assertions")
    merged["assert"] = [one for listed in lists for one in listed or []]
    return test._replace(content=merged)


def _read_mapping(value: object, key: str, test: RawTest) -> dict[str, Any]:
    place = f"{test.place}: {key}"
    if isinstance(value, str):
        value = read_reference(value, folder=test.folder, place=place)
    if not isinstance(value, dict | None):
        raise InputError(f"{place}: found a {type(value).__name__}, expected a mapping")
    return {str(name): item for name, item in (value or {}).items()}


def _name_trace(description: object, *, number: int, taken: set[str]) -> str:
    text = description if isinstance(description, str) else ""
    name = "".join(sign if sign.isprintable() else " " for sign in text).strip()[:_TRACE_ID_CHARACTERS]
    name = name or f"test {number}"
    if name in taken:
        name = f"{name} ({number})"
    taken.add(name)
    return name


def _read_test(test: RawTest, *, demands: Demands, trace_id: str) -> PromptfooTest:
    variables = {name: _read_variable(value, name=name, test=test) for name, value in _vars_of(test).items()}
    output = _find_output(test, variables)
    notes, output_notes = [*demands.notes], list[str]()
    contexts = variables.get("context")
    if demands.contexts_path is not None:
        found = follow_path(demands.contexts_path, roots={"output": output, "vars": variables})
        if found is None:
            has_output = output is not None
            reason = (
                "finds nothing in the output" if has_output else "has no output to read; --target gives one"
            )
            output_notes.append(f"contextTransform {reason}")
        contexts = contexts if found is None else found
    message = {
        "schema_version": "1",
        "trace_id": trace_id,
        "query": _find_question(test, variables, notes),
        "contexts": _read_contexts(contexts, place=test.place),
        "answer": _find_answer(test, output),
        "reference": _read_text(variables.get("reference")) or demands.reference,
        "metadata": test.content["metadata"],
    }
    return PromptfooTest(
        place=test.place,
        trace_id=trace_id,
        body=json.dumps(message, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"),
        thresholds=demands.thresholds,
        notes=tuple(notes),
        output_notes=tuple(output_notes),
    )


def _vars_of(test: RawTest) -> dict[str, Any]:
    variables: dict[str, Any] = test.content["vars"]
    return variables


def _read_variable(value: object, *, name: str, test: RawTest) -> Any:  # noqa: ANN401 - whatever the file holds
    if isinstance(value, str) and value.startswith(REFERENCE):
        return read_reference(value, folder=test.folder, place=f"{test.place}: vars.{name}")
    return value


def _find_question(test: RawTest, variables: dict[str, Any], notes: list[str]) -> str:
    for name in _QUESTION_VARS:
        value = variables.get(name)
        if isinstance(value, list):
            raise InputError(
                f"{test.place}: vars.{name}: found a list, expected one question: write a test for each"
            )
        text = _read_text(value)
        if text is not None:
            if "{{" in text or "{%" in text:
                notes.append(f"vars.{name} holds a template, which is not filled in")
            return text
    found = ", ".join(variables) or "no variable"
    raise InputError(f"{test.place}: vars: found {found}, expected `query` (or `question`)")


def _find_output(test: RawTest, variables: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever the file holds
    """What the application answered, as it stands in the test: None where it does not."""
    given = [test.content.get("providerOutput"), *(variables.get(name) for name in _ANSWER_VARS)]
    return next((value for value in given if value is not None), None)


def _find_answer(test: RawTest, output: object) -> str | None:
    """The output as a text: what `options.transform` points at, else itself, else its key for the answer."""
    transform = test.content["options"].get("transform")
    if transform is not None and output is not None:
        path = read_path(transform, place=f"{test.place}: options.transform")
        output = follow_path(path, roots={"output": output, "vars": _vars_of(test)})
    held = read_embedded(output) if isinstance(output, str) else output
    if not isinstance(held, dict):
        return _read_text(output)
    texts = (_read_text(held.get(key)) for key in _ANSWER_KEYS)
    return next((text for text in texts if text is not None), None)


def _read_contexts(value: object, *, place: str) -> list[dict[str, Any]] | str | None:
    """Contexts as the native message has them: one text stays one, so that its lines are told apart."""
    if isinstance(value, str):
        held = read_embedded(value)
        if not isinstance(held, list):
            return value
        value = held
    if value is None:
        return None
    documents = [read_document(item) for item in (value if isinstance(value, list) else [value])]
    for number, document in enumerate(documents, 1):
        if document.content is None:
            raise InputError(f"{place}: context {number} has no text, only an id or a score")
    return [document._asdict() for document in documents]


def _read_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    is_plain = isinstance(value, int | float | date) and not isinstance(value, bool)
    return str(value) if is_plain else None
