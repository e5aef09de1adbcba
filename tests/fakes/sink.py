"""A score sink that remembers what it was told."""

from __future__ import annotations


class FakeSink:
    """Remembers every call.

    Attributes:
        told: (method, arguments) in order.
    """

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple]] = []

    def names(self) -> list[str]:
        return [name for name, _ in self.told if name != "on_stage"]

    def of(self, name: str) -> list[tuple]:
        return [arguments for told, arguments in self.told if told == name]

    def on_admitted(self, trace, admission, planned) -> None:
        self.told.append(("on_admitted", (trace, admission, tuple(planned))))

    def on_calls(self, key, calls) -> None:
        self.told.append(("on_calls", (key, calls)))

    def on_superseded(self, result) -> None:
        self.told.append(("on_superseded", (result,)))

    def on_withdrawn(self, scores) -> None:
        self.told.append(("on_withdrawn", (scores,)))

    def on_finished(self, trace, key, result) -> None:
        self.told.append(("on_finished", (trace, key, result)))

    def on_backfilled(self, trace, key, result) -> None:
        self.told.append(("on_backfilled", (trace, key, result)))

    def on_cache_read(self, key, *, is_hit) -> None:
        self.told.append(("on_cache_read", (key, is_hit)))

    def on_shed(self, key, cause) -> None:
        self.told.append(("on_shed", (key, cause)))

    def on_postponed(self, judge, cause) -> None:
        self.told.append(("on_postponed", (judge, cause)))

    def on_received(self, format_name) -> None:
        self.told.append(("on_received", (format_name,)))

    def on_settled(self, end) -> None:
        self.told.append(("on_settled", (end,)))

    def on_parked(self, reason) -> None:
        self.told.append(("on_parked", (reason,)))

    def on_parked_again(self, reason) -> None:
        self.told.append(("on_parked_again", (reason,)))

    def on_stage(self, stage, seconds) -> None:
        self.told.append(("on_stage", (stage, seconds)))

    def on_filtered(self, cause) -> None:
        self.told.append(("on_filtered", (cause,)))

    def on_closed(self, reason) -> None:
        self.told.append(("on_closed", (reason,)))

    def on_late_spans(self, effect) -> None:
        self.told.append(("on_late_spans", (effect,)))

    def on_mapped_to_nothing(self, field) -> None:
        self.told.append(("on_mapped_to_nothing", (field,)))
