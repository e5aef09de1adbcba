"""Which label sets exist at 0 before anything happens, so that a first event is an increase.

Those of places are none of them: nobody knows an app before its first trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ragsonde.exposition.closed_labels import UNKNOWN_FORMAT
from ragsonde.exposition.declaration import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.exposition.declaration import Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLabels:
    """Label values that the configuration and the code know in advance.

    Attributes:
        judges: labels of all judges, `gpt@3fa2c1`.
        fallbacks: labels of what may answer in their place; scores have them, evaluations and calls do not.
        models: judge label and model, for each model that a judge may call.
        scorers: labels of all scorer instances, `context_precision:answer@1f2e3d`.
        formats: names of the message formats.
        stages: names of the path's stages.
        jobs: names of the monitor's jobs.
        rules: by which the configuration finds fields; they have a name of their own, and no series yet.
    """

    judges: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()
    models: tuple[tuple[str, str], ...] = ()
    scorers: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def list_rows(self) -> tuple[Rows, ...]:
        """What is known, the widest rows first."""
        paying = tuple(dict.fromkeys(judge for judge, _ in self.models))
        judges = self.judges or paying
        streams = tuple(product(self.scorers, dict.fromkeys((*judges, *self.fallbacks))))
        return (
            Rows(("scorer", "judge"), streams),
            Rows(("judge", "model"), self.models),
            Rows(("judge",), tuple((judge,) for judge in judges)),
            Rows(("scorer",), tuple((scorer,) for scorer in self.scorers)),
            Rows(("format",), tuple((name,) for name in dict.fromkeys((*self.formats, UNKNOWN_FORMAT)))),
            Rows(("stage",), tuple((name,) for name in self.stages)),
            Rows(("job_name",), tuple((name,) for name in self.jobs)),
        )


def list_births(declaration: Declaration, known: KnownLabels) -> Iterator[dict[str, str]]:
    """Every label set of `declaration` that is known in advance; none where one of its labels is open."""
    own = (declaration.born,) if declaration.born else ()
    missing = set(declaration.labels)
    chosen: list[Rows] = []
    for rows in (*own, *known.list_rows()):
        if missing.issuperset(rows.labels) and rows.rows:
            chosen.append(rows)
            missing.difference_update(rows.labels)
    if missing or not declaration.labels:
        return
    names = [name for rows in chosen for name in rows.labels]
    for combination in product(*(rows.rows for rows in chosen)):
        yield dict(zip(names, (value for values in combination for value in values), strict=True))
