"""How a stream of scores is named: in the labels of series and wherever people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.app_name import show_app

if TYPE_CHECKING:
    from ragsonde_schemas.score_stream import ScoreStream

FINGERPRINT_CHARACTERS = 6


def scorer_label(scorer: str, version: str) -> str:
    """The instance's name, its basis and the 6 hex of its options: `context_precision:answer@1f2e3d`.

    Args:
        scorer: the instance's name.
        version: of the score: code version, `+` and 6 hex where options that change raw differ from their
            defaults, `:` and the basis where there is one: `1`, `1+1f2e3d`, `1:answer`, `1+1f2e3d:answer`.
    """
    code_and_options, colon, basis = version.partition(":")
    _, plus, options = code_and_options.partition("+")
    return scorer + (f":{basis}" if colon else "") + (f"@{options}" if plus else "")


def judge_label(judge: str, fingerprint: str, epoch: int = 1) -> str:
    """The judge's name, the first 6 hex of its fingerprint, and the epoch from the second on: `gpt@3fa2c1.2`.

    Args:
        judge: its name.
        fingerprint: of what answered: the judge's own, or a fallback's.
        epoch: counts the models that have answered under this fingerprint.
    """
    if not fingerprint:
        return judge
    return f"{judge}@{fingerprint[:FINGERPRINT_CHARACTERS]}" + (f".{epoch}" if epoch > 1 else "")


def label_stream(stream: ScoreStream) -> dict[str, str]:
    """Its scorer, judge, app and environment as series, logs and notices name them, in this order."""
    return {
        "scorer": scorer_label(stream.scorer, stream.version),
        "judge": judge_label(stream.judge, stream.fingerprint, stream.judge_epoch),
        "app": show_app(stream.app),
        "environment": stream.environment,
    }
