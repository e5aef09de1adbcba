"""The series of a worker, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import BUILD, CONFIG, WORKER_SERIES
from ragsonde.extraction.mapping import Mappings
from ragsonde.judging.llm_chain import LlmChain
from ragsonde.pipeline.stages import STAGES
from ragsonde.plugins.formats import load_formats
from ragsonde.settings.effective import hash_settings
from ragsonde_schemas.label_names import NO_NAMES
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings
    from ragsonde_schemas.label_names import LabelNames


def build_worker_series(
    settings: Settings,
    *,
    scorers: Sequence[Scorer],
    judges: Mapping[str, Judge],
    version: str,
    find_names: Callable[[], LabelNames] = lambda: NO_NAMES,
) -> Series:
    """The series of a worker, its counters born at 0 for all that is configured."""
    labels = {name: judge_label(name, judge.fingerprint) for name, judge in judges.items()}
    series = Series(
        WORKER_SERIES,
        known=KnownLabels(
            judges=tuple(labels.values()),
            fallbacks=tuple(
                judge_label(name, fingerprint)
                for name, judge in judges.items()
                if isinstance(judge, LlmChain)
                for fingerprint in judge.fallback_fingerprints
            ),
            models=tuple(
                dict.fromkeys(
                    (labels[one.name], model)
                    for one in settings.judges
                    for model in (one.model, *(fallback.model for fallback in one.fallbacks))
                    if model
                )
            ),
            scorers=tuple(
                scorer_label(scorer.instance, version) for scorer in scorers for version in scorer.versions
            ),
            formats=load_formats().names,
            stages=STAGES,
            rules=Mappings(settings.extraction).list_rules(),
        ),
        find_names=find_names,
    )
    series.state(CONFIG, hash=hash_settings(settings))
    series.state(BUILD, version=version)
    return series
