"""The user's mappings: where fields are found that the formats' rules miss, or find in the wrong place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.findings import cite
from ragsonde.extraction.mapping_paths import compile_path, show_expression
from ragsonde.extraction.mapping_tree import read_tree
from ragsonde.extraction.mapping_values import MAPPED_FIELDS, Reader
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.unknown_keys import forget_used_keys
from ragsonde_schemas.errors import Cause, ExtractionError
from ragsonde_schemas.trace import ContextOrigin, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ragsonde.extraction.findings import Findings, FoundContext
    from ragsonde.extraction.mapping_options import ExtractionOptions, MatchOptions, SourceOptions
    from ragsonde.extraction.mapping_paths import Path
    from ragsonde.extraction.mapping_tree import Tree
    from ragsonde_schemas.decoded import Record

RULE_CHARACTERS = 80
"""A path in the name of a rule is cut to so many."""

_JOINED_AT_MOST = 6


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One entry of the setting `extraction`.

    Attributes:
        place: in the setting, from 0.
        paths, functions: by field, in the order in which they are given; a field is in each that has some.
    """

    place: int
    options: ExtractionOptions
    paths: Mapping[str, tuple[Path, ...]]
    functions: Mapping[str, tuple[SourceOptions, ...]]


class Outcome(NamedTuple):
    """What the paths or functions of one field found.

    Attributes:
        value: a text or a tuple of contexts; None = not here: the next in order holds.
        rule: names what found it.
        gap: why contexts are empty, where that is known.
        failure: what went wrong; there is no value then, and nothing else is tried.
        re_retrieved: as in `Extraction`.
    """

    value: Any = None
    rule: str = ""
    gap: Cause | None = None
    failure: str | None = None
    re_retrieved: bool = False


class Mappings:
    """The setting `extraction`, compiled.

    Attributes:
        rules: its entries; of those that match a trace, the first one holds.
    """

    def __init__(self, entries: Iterable[ExtractionOptions] = ()) -> None:
        self.rules = tuple(_compile(place, options) for place, options in enumerate(entries))

    def list_rules(self) -> tuple[str, ...]:
        """The names, as in `Extraction`, of the rules that paths and functions can make.

        Where more than six sources are joined, only those of each one and of all are listed.
        """
        names: dict[str, None] = {}
        for rule in self.rules:
            for field in MAPPED_FIELDS:
                paths = [path.text for path in rule.paths.get(field, ())]
                functions = [str(source.function) for source in rule.functions.get(field, ())]
                is_joined = field == "contexts"
                names |= dict.fromkeys(f"mapping:{name}" for name in _list_joins(paths, is_joined=is_joined))
                names |= dict.fromkeys(
                    f"extractor:{name}" for name in _list_joins(functions, is_joined=is_joined)
                )
        return tuple(map(cut_rule, names))

    def choose(self, found: Findings) -> CompiledRule | None:
        """The entry for a record, by what the format's rules found, whatever mappings made of it since."""
        if found.mapping is not None:
            return self.rules[found.mapping]
        return next((rule for rule in self.rules if _is_match(rule.options.match, found)), None)

    def choose_options(self, found: Findings) -> RetrievalOptions | None:
        """How the contexts are to be put together; None where the defaults hold."""
        rule = self.choose(found)
        if rule is None or rule.options.retrieval == RetrievalOptions():
            return None
        return rule.options.retrieval

    def apply(self, found: Findings, record: Record) -> Findings:
        """The findings with what the paths found, for every field that no function is asked for first."""
        rule = self.choose(found)
        if rule is None:
            return found
        found = replace(found, mapping=rule.place)
        fields = [field for field in MAPPED_FIELDS if field in rule.paths and field not in rule.functions]
        if not fields:
            return found
        tree = read_tree(record)
        for field in fields:
            found = apply_paths(found, rule, field=field, tree=tree)
        return found

    def settle_warnings(self, found: Findings, record: Record) -> Findings:
        """The findings without warnings of what paths and functions have made untrue."""
        rule = self.choose(found)
        return found if rule is None else forget_used_keys(found, record, paths=rule.paths)


def apply_paths(found: Findings, rule: CompiledRule, *, field: str, tree: Tree) -> Findings:
    """The findings with what the paths of one field found; without paths, as they were."""
    paths = rule.paths.get(field, ())
    if not paths:
        return found
    try:
        if field == "contexts":
            outcome = _find_contexts(found, rule, paths, tree)
        else:
            outcome = _find_single(field, paths, tree)
    except ExtractionError as error:
        outcome = Outcome(failure=str(error))
    return settle(found, field=field, outcome=outcome)


def settle(found: Findings, *, field: str, outcome: Outcome) -> Findings:
    """The findings with the outcome of one field.

    A failure leaves the field unknown: what the rules found in its place would be taken for the right one.
    """
    if outcome.failure is None and outcome.value is None:
        return replace(found, mapped_to_nothing=tuple(dict.fromkeys((*found.mapped_to_nothing, field))))
    changes: dict[str, Any] = {field: outcome.value}
    evidence = {name: cited for name, cited in found.evidence.items() if name != field}
    if outcome.failure is not None:
        changes["failure"] = "; ".join(text for text in (found.failure, outcome.failure) if text)
    else:
        evidence[field] = cite(outcome.rule)
        if field == "reference":
            changes["reference"] = Reference(answer=outcome.value)
    if field == "contexts":
        changes |= {"gap": outcome.gap, "re_retrieved": outcome.re_retrieved}
    return replace(found, evidence=evidence, **changes)


def join_contexts(
    lists: Sequence[list[FoundContext] | None], *, deduplicate: bool
) -> tuple[FoundContext, ...] | None:
    """The contexts of several sources in order; None where none of them found anything.

    Of several sources, each is a retrieval step of its own: by its place, also where an earlier one found
    nothing. Contexts with equal id and text count once, at the first one's rank.
    """
    if all(contexts is None for contexts in lists):
        return None
    joined = [
        context._replace(retrieval_step=step) if len(lists) > 1 else context
        for step, contexts in enumerate(lists)
        for context in contexts or ()
    ]
    if deduplicate:
        first: dict[object, FoundContext] = {}
        for rank, context in enumerate(joined):
            is_known = context.id is not None or context.content is not None
            first.setdefault((context.id, context.content) if is_known else rank, context)
        joined = list(first.values())
    return tuple(joined)


def cut_rule(name: str) -> str:
    """The name of a rule, cut to 80 characters."""
    return name if len(name) <= RULE_CHARACTERS else f"{name[: RULE_CHARACTERS - 1]}…"


def _list_joins(sources: Sequence[str], *, is_joined: bool) -> Iterator[str]:
    """Which of the sources may be named together: those that found something, in their order."""
    if not is_joined:
        yield from sources
        return
    sizes = range(1, len(sources) + 1) if len(sources) <= _JOINED_AT_MOST else (1, len(sources))
    for size in sizes:
        yield from map(" + ".join, combinations(sources, size))


def _compile(place: int, options: ExtractionOptions) -> CompiledRule:
    paths: dict[str, tuple[Path, ...]] = {}
    functions: dict[str, tuple[SourceOptions, ...]] = {}
    for field in MAPPED_FIELDS:
        sources: tuple[SourceOptions, ...] = getattr(options, field) or ()
        if found := tuple(compile_path(source.path) for source in sources if source.path is not None):
            paths[field] = found
        if asked := tuple(source for source in sources if source.function is not None):
            functions[field] = asked
    return CompiledRule(place, options, paths, functions)


def _is_match(match: MatchOptions, found: Findings) -> bool:
    return match.covers(
        app=(found.app or "").strip(),
        environment=(found.environment or "").strip(),
        format_name=found.format,
        tags=found.tags,
    )


def _find_single(field: str, paths: tuple[Path, ...], tree: Tree) -> Outcome:
    """The first of the paths that finds anything holds."""
    for path in paths:
        value = _follow(path, tree, field=field)
        text = _make_reader(path, tree).read_single(value, field=field)
        if text is not None:
            return Outcome(text, cut_rule(f"mapping:{path.text}"))
    return Outcome()


def _find_contexts(found: Findings, rule: CompiledRule, paths: tuple[Path, ...], tree: Tree) -> Outcome:
    lists = [_make_reader(path, tree).read_contexts(_follow(path, tree, field="contexts")) for path in paths]
    contexts = join_contexts(lists, deduplicate=rule.options.deduplicate)
    if contexts is None:
        return Outcome()
    gap = None
    if not contexts and (found.contexts or any(path.is_emptied_by_filter(tree.root) for path in paths)):
        gap = Cause.FILTERED_EMPTY
    names = [path.text for path, given in zip(paths, lists, strict=True) if given is not None]
    return Outcome(contexts, cut_rule(f"mapping:{' + '.join(names)}"), gap=gap)


def _follow(path: Path, tree: Tree, *, field: str) -> Any:  # noqa: ANN401 - JSON holds anything
    try:
        return path.find(tree.root)
    except ExtractionError as error:
        raise ExtractionError(f"{field}: mapping {error}") from error


def _make_reader(path: Path, tree: Tree) -> Reader:
    return Reader(f"mapping {show_expression(path.text)}", ContextOrigin.MAPPING, tree)
