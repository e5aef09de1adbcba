"""Baselines as a table and as objects for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.cli.alert_table import name_stream
from ragsonde.cli.terminal import make_console, make_table, show, write_json
from ragsonde.regression.baseline import LEAST_PINNED, BaselineKind
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.storage.chosen_baselines import ShownBaseline
    from ragsonde.watching.baseline_choosing import Choice
    from ragsonde_schemas.score_stream import ScoreStream


def describe_shown(one: ShownBaseline, *, held: Mapping[int, Sequence[ScoreStream]]) -> dict[str, Any]:
    """A baseline for scripts.

    Args:
        one: the baseline.
        held: by the number of a person's floor, the streams that it holds.
    """
    fitted = one.stored.baseline
    visible = fitted.smallest_visible_drop
    return {
        "baseline": one.stored.number,
        **label_stream(one.stream),
        "kind": fitted.kind.value,
        "is_chosen": one.stored.reason is not None,
        "is_judging": one.is_judging,
        "since": one.since.isoformat(),
        "until": one.until.isoformat(),
        "n": fitted.trace_count,
        "mean": round(fitted.mean, 4),
        "smallest_visible_drop": None if visible is None or one.is_floor else round(visible, 4),
        "holds": [label_stream(stream) for stream in held.get(one.stored.number or 0, ())],
        "armed_at": one.armed_at.isoformat(),
        "reason": one.stored.reason,
        "replaced_at": None if one.replaced_at is None else one.replaced_at.isoformat(),
        "replaced_reason": one.replaced_reason,
    }


def print_baselines(
    found: Sequence[ShownBaseline], *, held: Mapping[int, Sequence[ScoreStream]], with_past: bool
) -> None:
    """Baselines for people; a star marks those that judge now."""
    console = make_console()
    if not found:
        console.print(show("no baseline yet: a stream gets one by itself, the first within a day of traces"))
        return
    right = ("baseline", "n", "mean", "sees falls of")
    headings = ("baseline", "stream", "kind", "of", "n", "mean", "sees falls of", "since", "why")
    table = make_table(*headings, *(("gone",) if with_past else ()), right=right, gap=2)
    for one in found:
        streams = held.get(one.stored.number or 0) or (one.stream,)
        table.add_row(*_list_cells(one, streams=streams), *((_tell_end(one),) if with_past else ()))
    console.print(table)
    console.print(show("*: judges its stream now. A person's floor stands beside what judges.", "dim"))


def tell_choices(choices: Sequence[Choice], *, is_dry: bool, as_json: bool) -> None:
    """What became of each stream."""
    if as_json:
        write_json([_describe_choice(one) for one in choices])
        return
    for one in choices:
        told = _tell_choice(one, is_dry=is_dry)
        make_console().print(show(told if one.held else f"{name_stream(one.stream)}: {told}"))


def _list_cells(one: ShownBaseline, *, streams: Sequence[ScoreStream]) -> tuple[Any, ...]:
    fitted = one.stored.baseline
    visible = fitted.smallest_visible_drop
    is_floor = one.is_floor
    return (
        f"{one.stored.number}{'*' if one.is_judging and not is_floor else ''}",
        show("\n".join(name_stream(stream) for stream in streams)),
        f"{fitted.kind.value}{', chosen' if one.stored.reason is not None else ''}",
        "" if is_floor else f"{one.since:%Y-%m-%d %H:%M} to {one.until:%Y-%m-%d %H:%M}",
        "" if is_floor else f"{fitted.trace_count:,}",
        f"{fitted.mean:.3f}",
        _tell_seen(one, visible=visible),
        f"{one.armed_at:%Y-%m-%d %H:%M}",
        show(one.stored.reason or ""),
    )


def _tell_seen(one: ShownBaseline, *, visible: float | None) -> str:
    if one.stored.baseline.kind is BaselineKind.FLOOR:
        return f"held to a floor of {one.stored.baseline.mean:.3f}"
    return "none" if visible is None else f"{visible:.3f}"


def _tell_end(one: ShownBaseline) -> Any:  # noqa: ANN401 - of Rich
    if one.replaced_at is None:
        return ""
    return show(f"{one.replaced_at:%Y-%m-%d %H:%M} {one.replaced_reason or ''}".strip())


def _describe_choice(one: Choice) -> dict[str, Any]:
    fitted = one.baseline
    visible = None if fitted is None else fitted.smallest_visible_drop
    return {
        **label_stream(one.stream),
        "baseline": one.number,
        "is_new": one.is_new,
        "replaces": one.replaces,
        "holds": [label_stream(stream) for stream in one.held],
        "n": one.traces,
        "mean": None if fitted is None else round(fitted.mean, 4),
        "smallest_visible_drop": None if visible is None else round(visible, 4),
    }


def _tell_choice(one: Choice, *, is_dry: bool) -> str:
    fitted = one.baseline
    if fitted is None:
        return f"left out: {one.traces:,} traces, {LEAST_PINNED} are needed"
    if fitted.kind.value == "floor":
        streams = "; ".join(name_stream(stream) for stream in one.held)
        return (
            f"floor {fitted.mean:.3f} {'is' if one.is_new else 'was'} set, baseline {one.number}"
            f"{_tell_replaced(one)}. It holds {len(one.held)}: {streams}"
        )
    visible = fitted.smallest_visible_drop
    seen = "no fall can be seen" if visible is None else f"falls by more than {visible:.3f} are seen"
    what = f"mean {fitted.mean:.3f} of {one.traces:,} traces, {seen}"
    if not one.is_new:
        return f"as it was, baseline {one.number}: {what}"
    done = "would be pinned" if is_dry else f"pinned as baseline {one.number}"
    return f"{done}{_tell_replaced(one)}: {what}"


def _tell_replaced(one: Choice) -> str:
    return "" if one.replaces is None else f", in place of baseline {one.replaces}, which a person chose"
