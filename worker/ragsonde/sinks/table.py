"""Every kind of sink, read top to bottom; each is imported when one of its kind is built."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import TYPE_CHECKING

from ragsonde.sinks.exporting import Export
from ragsonde.sinks.options import OTLP
from ragsonde.sinks.outbox import Outbox
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.http_place import WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragsonde.sinks.delivery import Destination, DestinationFactory
    from ragsonde.sinks.options import ScoreSinkOptions

SINKS = {
    WEBHOOK: "ragsonde.sinks.webhook:Webhook",
    OTLP: "ragsonde.sinks.otlp:OtlpSink",
}


def build_exports(
    sinks: Sequence[ScoreSinkOptions],
    *,
    added: Mapping[str, DestinationFactory],
    on_sent: Callable[[str, int], None],
    on_dropped: Callable[[str, int], None],
) -> tuple[Export, ...]:
    """All configured sinks, each behind an outbox of its own; nothing is connected or started yet.

    Args:
        sinks: as configured.
        added: kinds of installed packages.
        on_sent: told a sink's name and how many results it took.
        on_dropped: likewise of those it never gets.

    Raises:
        ConfigError: with every problem found.
    """
    destinations = build_destinations(sinks, added=added)
    return tuple(
        Export(
            Outbox(
                options.label,
                destination,
                size=options.queue,
                batch=options.batch,
                attempts=options.attempts,
                on_sent=lambda number, name=options.label: on_sent(name, number),  # type: ignore[misc]
                on_dropped=lambda number, name=options.label: on_dropped(name, number),  # type: ignore[misc]
            ),
            link=options.link,
        )
        for options, destination in zip(sinks, destinations, strict=True)
    )


def build_destinations(
    sinks: Sequence[ScoreSinkOptions], *, added: Mapping[str, DestinationFactory]
) -> tuple[Destination, ...]:
    """What the options describe, in order.

    Raises:
        ConfigError: with every problem found.
    """
    problems = [
        f"score_sinks: {count} are named {name}; give each a `name` of its own"
        for name, count in Counter(options.label for options in sinks).items()
        if count > 1
    ]
    built: list[Destination] = []
    for place, options in enumerate(sinks):
        try:
            built.append(_build(options, added=added))
        except ConfigError as error:
            problems += [f"score_sinks[{place}].{problem}" for problem in error.problems]
    if problems:
        raise ConfigError(*problems)
    return tuple(built)


def _build(options: ScoreSinkOptions, *, added: Mapping[str, DestinationFactory]) -> Destination:
    path = SINKS.get(options.kind)
    if path is not None:
        return _build_own(options, path)
    factory = added.get(options.kind)
    if factory is None:
        known = ", ".join((*SINKS, *added))
        raise ConfigError(
            f"kind: found {options.kind}, expected one of {known}; further ones come with packages that "
            "have an entry point of the group ragsonde.score_sinks"
        )
    try:
        return factory(options.options)
    except Exception as error:
        raise ConfigError(f"options: kind {options.kind}: {type(error).__name__}: {error}") from error


def _build_own(options: ScoreSinkOptions, path: str) -> Destination:
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"kind: {options.kind} needs packages that are not installed ({error.name}): "
            f"pip install 'ragsonde[{options.kind}]'"
        ) from error
    build: Callable[[ScoreSinkOptions], Destination] = getattr(module, name)
    return build(options)
