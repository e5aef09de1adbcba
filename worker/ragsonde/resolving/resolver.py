"""Runs what users configured that may do I/O: functions that find fields, and texts for ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.findings import cite
from ragsonde.extraction.mapping import Mappings, Outcome, apply_paths, cut_rule, join_contexts, settle
from ragsonde.extraction.mapping_trace import build_decoded_trace
from ragsonde.extraction.mapping_tree import read_tree
from ragsonde.extraction.mapping_values import LABEL_FIELDS, MAPPED_FIELDS, Reader
from ragsonde.resolving.fingerprint import hash_findings, hash_tree
from ragsonde.resolving.loading import load_function
from ragsonde.resolving.recent_results import RecentResults
from ragsonde.resolving.reply import read_texts
from ragsonde.resolving.timed_calls import CallError, TimedCalls
from ragsonde_schemas.errors import Cause, ConfigError, ExtractionError
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragsonde.extraction.findings import Findings, FoundContext
    from ragsonde.extraction.mapping import CompiledRule
    from ragsonde.extraction.mapping_options import ExtractionOptions, FunctionOptions, SourceOptions
    from ragsonde.resolving.loading import UserFunction
    from ragsonde_schemas.decoded import Record


class _Question(NamedTuple):
    """What a function is asked: for which field, of what is known so far.

    Attributes:
        key: the hash of all that the function sees.
    """

    field: str
    found: Findings
    record: Record
    key: str


class UserCodeResolver:
    """The resolver that runs users' functions, each in a thread of its own and for a limited time.

    Args:
        extraction: the setting of that name.
        calls: runs the functions.

    Raises:
        ConfigError: one of the functions cannot be found or imported; all such problems together.
    """

    def __init__(
        self, extraction: Iterable[ExtractionOptions] = (), *, calls: TimedCalls | None = None
    ) -> None:
        self._mappings = Mappings(extraction)
        self._calls = calls or TimedCalls()
        self._recent = RecentResults()
        self._functions = _load_functions(self._mappings)

    def resolve(self, found: Findings, record: Record) -> Findings:
        """What was found, completed: functions before paths, then texts for contexts known by id only.

        A failure of the user's code is in `failure`, never raised; after one, only labels are still looked
        for, so that the trace is counted where it belongs.
        """
        rule = self._mappings.choose(found)
        if rule is None:
            return found
        if rule.functions:
            found = self._extract(found, rule, record)
        options = rule.options.resolver
        return found if options is None or found.failure else self._fill_texts(found, options)

    def _extract(self, found: Findings, rule: CompiledRule, record: Record) -> Findings:
        tree = read_tree(record)
        tree_hash = hash_tree(tree)
        for field in MAPPED_FIELDS:
            if field not in rule.functions or (found.failure and field not in LABEL_FIELDS):
                continue
            question = _Question(field, found, record, hash_findings(found, tree_hash=tree_hash))
            try:
                outcome = self._ask(question, rule)
            except ExtractionError as error:
                outcome = Outcome(failure=str(error))
            found = settle(found, field=field, outcome=outcome)
            if outcome.value is None and outcome.failure is None:
                found = apply_paths(found, rule, field=field, tree=tree)
        return found

    def _ask(self, question: _Question, rule: CompiledRule) -> Outcome:
        sources = rule.functions[question.field]
        if question.field == "contexts":
            lists = [self._call_extractor(source, question) for source in sources]
            asked = [source for source, given in zip(sources, lists, strict=True) if given is not None]
            contexts = join_contexts(lists, deduplicate=rule.options.deduplicate)
            searched = any(source.re_retrieved for source in asked)
            is_filtered = not contexts and bool(question.found.contexts) and not searched
            return Outcome(
                contexts,
                cut_rule(f"extractor:{' + '.join(str(source.function) for source in asked)}"),
                gap=Cause.FILTERED_EMPTY if is_filtered else None,
                re_retrieved=searched,
            )
        for source in sources:
            text = self._call_extractor(source, question)
            if text is not None:
                return Outcome(text, cut_rule(f"extractor:{source.function}"))
        return Outcome()

    def _call_extractor(self, source: SourceOptions, question: _Question) -> Any:  # noqa: ANN401 - text or contexts
        field, name = question.field, str(source.function)
        kept = self._recent.find((field, name, question.key))
        if kept is not None:
            return kept[0]
        given = self._call(
            name,
            build_decoded_trace(question.found, question.record),
            label=f"{field}: extractor {name}",
            timeout_seconds=source.timeout_seconds,
        )
        reader = Reader(f"extractor {name}", ContextOrigin.EXTRACTOR)
        try:
            value = (
                reader.read_contexts(given) if field == "contexts" else reader.read_single(given, field=field)
            )
        except ExtractionError:
            raise
        except Exception as error:  # an object of a class of the user's may do anything when it is read
            raise ExtractionError(f"{field}: extractor {name} gave a value that raised when read") from error
        self._recent.keep((field, name, question.key), value, characters=_count_characters(value))
        return value

    def _fill_texts(self, found: Findings, options: FunctionOptions) -> Findings:
        missing = _list_missing(found)
        if not missing:
            return found
        name = options.function
        key = ("texts", name, found.trace_id, found.record_key, missing)
        kept = self._recent.find(key)
        try:
            texts = kept[0] if kept else self._call_resolver(options, missing)
        except ExtractionError as error:
            return replace(found, failure=str(error))
        self._recent.keep(key, texts, characters=sum(map(len, texts.values())))
        contexts = tuple(_fill(context, texts) for context in found.contexts or ())
        evidence = dict(found.evidence)
        if texts:
            earlier = f"{evidence['contexts'].rule} + " if "contexts" in evidence else ""
            evidence["contexts"] = cite(cut_rule(f"{earlier}resolver:{name}"), is_exact=False)
        left = len(missing) - len(texts)
        warning = f"contexts: resolver {name} has no text for {left} of {len(missing)} ids"
        return replace(
            found,
            contexts=contexts,
            evidence=evidence,
            warnings=(*found.warnings, warning) if left else found.warnings,
            gap=None if not left and found.gap is Cause.CONTEXT_TEXT_MISSING else found.gap,
        )

    def _call_resolver(self, options: FunctionOptions, ids: tuple[str, ...]) -> dict[str, str]:
        label = f"contexts: resolver {options.function}"
        given = self._call(options.function, list(ids), label=label, timeout_seconds=options.timeout_seconds)
        try:
            return read_texts(given, ids=ids, label=label)
        except ExtractionError:
            raise
        except Exception as error:  # as above
            raise ExtractionError(f"{label} gave a value that raised when read") from error

    def _call(self, name: str, argument: object, *, label: str, timeout_seconds: float) -> Any:  # noqa: ANN401 - user's
        try:
            return self._calls.call(
                self._functions[name], argument, name=name, timeout_seconds=timeout_seconds
            )
        except CallError as error:
            raise ExtractionError(f"{label} {error}") from error


def _load_functions(mappings: Mappings) -> dict[str, UserFunction]:
    functions: dict[str, UserFunction] = {}
    problems: list[str] = []
    for name, place in _list_names(mappings):
        if name not in functions:
            try:
                functions[name] = load_function(name, place=place)
            except ConfigError as error:
                problems += error.problems
    if problems:
        raise ConfigError(*problems)
    return functions


def _list_names(mappings: Mappings) -> Iterator[tuple[str, str]]:
    for rule in mappings.rules:
        for field, sources in rule.functions.items():
            for source in sources:
                yield str(source.function), f"extraction[{rule.place}].{field}"
        if rule.options.resolver is not None:
            yield rule.options.resolver.function, f"extraction[{rule.place}].resolver"


def _list_missing(found: Findings) -> tuple[str, ...]:
    """The ids of contexts without text, each once, in order."""
    ids = [item.id for item in found.contexts or () if item.content is None and item.id is not None]
    return tuple(dict.fromkeys(ids))


def _fill(context: FoundContext, texts: dict[str, str]) -> FoundContext:
    if context.content is not None or context.id not in texts:
        return context
    return context._replace(content=texts[context.id], origin=ContextOrigin.RESOLVER)


def _count_characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(len(str(context)) for context in value)
    return 0
