"""A package that is installed beside ragsonde adds a kind of score sink, by nothing but its entry point."""

from __future__ import annotations

import pytest

from fakes.score_events import make_event
from ragsonde.plugins.sinks import load_sink_kinds
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde.sinks.table import build_destinations
from ragsonde_schemas.errors import ConfigError

OWN = """
class Shelf:
    def __init__(self, options):
        self.kept = []
        self.room = options.get("room", 10)

    def deliver(self, batch):
        taken = batch[: self.room]
        self.kept += taken
        return len(batch) - len(taken)


NOTHING = 5
"""


def install(packages, target, *, kind="shelf"):
    packages.write("acme_sinks", group="ragsonde.score_sinks", points={kind: target}, code=OWN)


def test_its_kind_is_built_with_its_options(packages):
    install(packages, "Shelf")
    (shelf,) = build_destinations(
        [ScoreSinkOptions(kind="shelf", options={"room": 1})], added=load_sink_kinds()
    )
    assert shelf.deliver([make_event(1), make_event(2)]) == 1
    assert [one.trace_id for one in shelf.kept] == ["t-1"]


@pytest.mark.parametrize(
    ("target", "kind", "problem"),
    [
        ("Shelf", "webhook", "named webhook, and so is one of ragsonde"),
        ("NOTHING", "shelf", "found a int, expected a function from options to a sink"),
        ("MISSING", "shelf", "cannot be loaded"),
    ],
)
def test_one_that_cannot_be_used_is_refused_by_name(packages, target, kind, problem):
    install(packages, target, kind=kind)
    with pytest.raises(ConfigError, match=problem):
        load_sink_kinds()
