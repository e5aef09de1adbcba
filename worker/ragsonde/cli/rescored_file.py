"""Rescoring over files: traces, and verdicts that are recorded for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde.api.evaluation import Evaluation
from ragsonde.api.rescoring import find_raw
from ragsonde.api.rules import build_rules
from ragsonde.cli.evaluation_answers import describe_answerer
from ragsonde.cli.evaluation_choice import choose_judge, read_file
from ragsonde.cli.evaluation_json import describe_outcome
from ragsonde.cli.rescoring_run import Rescoring
from ragsonde.cli.terminal import track
from ragsonde.scoring.scorer import Scorer
from ragsonde.text_redaction import build_redaction
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.api.traces import Item
    from ragsonde.ports import Judge
    from ragsonde.settings import Settings


def read_judged(
    file: str, *, judge: str | None, settings: Settings, scorers: Sequence[Scorer]
) -> tuple[list[Item], Judge]:
    """The traces of a file and the judge whose verdicts cost nothing.

    Raises:
        InputError: there is no such judge, or asking it would cost something; or the file holds no traces.
    """
    if judge is None:
        raise InputError("--file: needs --judge recorded:VERDICTS, the file of the verdicts")
    chosen = choose_judge(judge, settings=settings, scorers=tuple(scorers))
    if not chosen.is_free:
        raise InputError(
            f"--judge {judge}: would be asked anew, which costs; expected recorded:VERDICTS or lexical"
        )
    rules = build_rules(
        settings.extraction, limits=settings.message_limits, redaction=build_redaction(settings)
    )
    items, _ = read_file(file, rules=rules, skip_bad=False)
    return items, chosen


def rescore_file(
    file: str,
    *,
    judge: str | None,
    out: str | None,
    settings: Settings,
    scorers: Sequence[Scorer],
    is_dry: bool = False,
) -> Rescoring:
    """The scores of a file by the scorers' options; before: the same formulas with their defaults.

    Args:
        file: of traces.
        judge: `recorded:FILE` or another one that is free.
        out: where the scores are written as a whole, a JSON object a trace; None for nowhere.
        settings: in which a judge may be configured.
        scorers: with the options that are tried.
        is_dry: nothing is written.

    Raises:
        InputError: as for `read_judged`, or `out` cannot be written.
    """
    items, chosen = read_judged(file, judge=judge, settings=settings, scorers=scorers)
    plain = tuple(Scorer(scorer.instance, scorer.formula) for scorer in scorers)
    before = Evaluation(plain, chosen).run(items)
    after = Evaluation(tuple(scorers), chosen).run(items)
    run = Rescoring(settings=settings, scorers=scorers, is_of_file=True, out=out)
    lines = []
    both = zip(before, after, strict=True)
    for old, new in track(both, total=len(items), description="rescoring"):
        stream = run.open_stream(
            chosen.name, chosen.fingerprint, new.result.assessment if new.result else None
        )
        for was, outcome in zip(old.outcomes, new.outcomes, strict=True):
            run.count(stream, find_raw(was), outcome)
            run.new_rows += 1
        scores = [describe_outcome(outcome) for outcome in new.outcomes]
        line = {
            "trace_id": new.trace.trace_id,
            "judge": chosen.name,
            **describe_answerer(new, fingerprint=chosen.fingerprint),
            "scores": scores,
        }
        lines.append(json.dumps(line, ensure_ascii=False, allow_nan=False))
    if out is not None and not is_dry:
        _write_whole(Path(out), "".join(f"{line}\n" for line in lines))
    return run


def _write_whole(path: Path, text: str) -> None:
    """Either all of it is there in the end, or what was there before."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise InputError(f"--out {path}: cannot be written: {error.strerror}") from error
