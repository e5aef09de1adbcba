"""Runs what users configured that may do I/O: functions that find fields, and texts for ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragsonde.decoding.limits import DecodingLimits
from ragsonde.extraction.findings import cite
from ragsonde.extraction.mapping import Mappings, Outcome, apply_paths, cut_rule, join_contexts, settle
from ragsonde.extraction.mapping_trace import build_decoded_trace
from ragsonde.extraction.mapping_tree import read_tree
from ragsonde.extraction.mapping_values import LABEL_FIELDS, MAPPED_FIELDS
from ragsonde.resolving.answering import check_count
from ragsonde.resolving.fingerprint import hash_findings, hash_tree
from ragsonde.resolving.processes import ProcessCalls
from ragsonde.resolving.question import Question
from ragsonde.resolving.recent_results import RecentResults
from ragsonde_schemas.errors import Cause, ExtractionError
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ragsonde.extraction.findings import Findings, FoundContext
    from ragsonde.extraction.mapping import CompiledRule
    from ragsonde.extraction.mapping_options import ExtractionOptions, FunctionOptions, SourceOptions
    from ragsonde_schemas.decoded import Record


class Calls(Protocol):
    """Calls users' functions."""

    def ask(self, question: Question, /) -> Any:  # noqa: ANN401 - by the field
        """The answer, read as `answering.answer` reads it.

        Raises:
            ExtractionError: there is none.
        """
        ...


class _Matter(NamedTuple):
    """What a function is asked about: for which field, of what is known so far.

    Attributes:
        key: the hash of all that the function sees.
    """

    field: str
    found: Findings
    record: Record
    key: str


class UserCodeResolver:
    """The resolver that runs users' functions, in a process of their own and each for a limited time.

    Args:
        extraction: the setting of that name.
        limits: of a message: no function may give more.
        start_calls: makes what calls the functions, of their names with the places where they are set;
            not called where no function is set.

    Raises:
        ConfigError: one of the functions cannot be found or imported; all such problems together.
        SetupError: importing them ends their process or takes too long.
    """

    def __init__(
        self,
        extraction: Iterable[ExtractionOptions] = (),
        *,
        limits: DecodingLimits | None = None,
        start_calls: Callable[..., Calls] = ProcessCalls,
    ) -> None:
        self._mappings = Mappings(extraction)
        self._limits = limits or DecodingLimits()
        self._recent = RecentResults()
        places = _list_functions(self._mappings)
        self._calls = start_calls(places, limits=self._limits) if places else None

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
            matter = _Matter(field, found, record, hash_findings(found, tree_hash=tree_hash))
            try:
                outcome = self._ask(matter, rule)
            except ExtractionError as error:
                outcome = Outcome(failure=str(error))
            found = settle(found, field=field, outcome=outcome)
            if outcome.value is None and outcome.failure is None:
                found = apply_paths(found, rule, field=field, tree=tree)
        return found

    def _ask(self, matter: _Matter, rule: CompiledRule) -> Outcome:
        sources = rule.functions[matter.field]
        if matter.field == "contexts":
            return self._ask_for_contexts(matter, sources, deduplicate=rule.options.deduplicate)
        for source in sources:
            text = self._call_extractor(source, matter)
            if text is not None:
                return Outcome(text, cut_rule(f"extractor:{source.function}"))
        return Outcome()

    def _ask_for_contexts(
        self, matter: _Matter, sources: Sequence[SourceOptions], *, deduplicate: bool
    ) -> Outcome:
        lists = [self._call_extractor(source, matter) for source in sources]
        asked = [source for source, given in zip(sources, lists, strict=True) if given is not None]
        names = " + ".join(str(source.function) for source in asked)
        contexts = join_contexts(lists, deduplicate=deduplicate)
        check_count(len(contexts or ()), label=f"contexts: extractors {names}", limits=self._limits)
        searched = any(source.re_retrieved for source in asked)
        is_filtered = not contexts and bool(matter.found.contexts) and not searched
        return Outcome(
            contexts,
            cut_rule(f"extractor:{names}"),
            gap=Cause.FILTERED_EMPTY if is_filtered else None,
            re_retrieved=searched,
        )

    def _call_extractor(self, source: SourceOptions, matter: _Matter) -> Any:  # noqa: ANN401 - text or contexts
        question = Question(
            name=str(source.function),
            argument=build_decoded_trace(matter.found, matter.record),
            timeout_seconds=source.timeout_seconds,
            field=matter.field,
        )
        return self._find_answer(question, key=(matter.field, question.name, matter.key))

    def _find_answer(self, question: Question, *, key: object) -> Any:  # noqa: ANN401 - by the field
        kept = self._recent.find(key)
        if kept is not None:
            return kept[0]
        if self._calls is None:
            raise ExtractionError(f"{question.label} is not called: it is not set")
        value = self._calls.ask(question)
        self._recent.keep(key, value, characters=_count_characters(value))
        return value

    def _fill_texts(self, found: Findings, options: FunctionOptions) -> Findings:
        missing = _list_missing(found)
        if not missing:
            return found
        name = options.function
        question = Question(name=name, argument=missing, timeout_seconds=options.timeout_seconds)
        try:
            texts: dict[str, str] = self._find_answer(
                question, key=("texts", name, found.trace_id, found.record_key, missing)
            )
        except ExtractionError as error:
            return replace(found, failure=str(error))
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


def _list_functions(mappings: Mappings) -> dict[str, str]:
    """The functions' names, each with the first place where it is set."""
    places: dict[str, str] = {}
    for name, place in _list_names(mappings):
        places.setdefault(name, place)
    return places


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
    return sum(map(len, value.values())) if isinstance(value, dict) else 0
