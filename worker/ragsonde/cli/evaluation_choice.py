"""What a person named on the command line: scorers, a judge, a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde.api.evaluation import RECORDED_PREFIX
from ragsonde.api.evaluation import choose_judge as choose_free_judge
from ragsonde.api.messages import read_messages
from ragsonde.api.traces import decode_messages
from ragsonde.cli.terminal import write_note
from ragsonde.judging.cover import choose_cover
from ragsonde.judging.table import build_judge
from ragsonde.pipeline.assignments import covers_trace, list_unknown_scorers
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import load_judge_kinds
from ragsonde.redaction.covered_judge import CoveredJudge
from ragsonde.scoring.options import suggest
from ragsonde.scoring.table import build_scorers, find_formula
from ragsonde.text_redaction import build_redaction
from ragsonde_schemas.errors import ConfigError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.api.rules import Rules
    from ragsonde.api.traces import Item
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings

_SHOWN_PROBLEMS = 20
_FREE = "lexical"


def choose_scorers(names: str | None, *, settings: Settings) -> tuple[Scorer, ...]:
    """The scorers named, separated by commas: those of the settings, else formulas with their defaults.

    Raises:
        InputError: a name is neither.
    """
    formulas = load_formulas()
    if names is None:
        return build_scorers(settings.scorers, formulas=formulas)
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    known = [*settings.scorers, *(formula.id for formula in formulas)]
    for name in wanted:
        if name not in settings.scorers and find_formula(name, formulas=formulas) is None:
            nearest = suggest(name, valid=known)
            raise InputError(
                f"--scorers: {name!r} is no scorer{nearest} (known: {', '.join(dict.fromkeys(known))})"
            )
    if not wanted:
        raise InputError(f"--scorers: names none; expected for example {known[0]}")
    return build_scorers({name: settings.scorers.get(name) for name in wanted}, formulas=formulas)


def narrow_scorers(
    scorers: tuple[Scorer, ...], *, judge: str, settings: Settings, is_named: bool
) -> tuple[Scorer, ...]:
    """The scorers of the judge: those that the settings give to it, unless others are named; tells which.

    Args:
        scorers: that are chosen.
        judge: as named.
        settings: in which it may be configured.
        is_named: a person named the scorers, which counts.

    Raises:
        ConfigError: the settings give it a scorer that is not configured.
    """
    place, options = _find_options(judge, settings=settings)
    if options is None or options.scorers is None:
        return scorers
    if is_named:
        others = [scorer.instance for scorer in scorers if scorer.instance not in options.scorers]
        if others:
            write_note(f"judge {judge}: not for {', '.join(others)} in a worker (judges[{place}].scorers)")
        return scorers
    problems = list_unknown_scorers(
        options.scorers, known=[scorer.instance for scorer in scorers], place=place
    )
    if problems:
        raise ConfigError(*problems)
    write_note(f"judge {judge}: for its own scorers only (judges[{place}].scorers); --scorers names others")
    return tuple(scorer for scorer in scorers if scorer.instance in options.scorers)


def tell_unmatched(items: Sequence[Item], *, judge: str, settings: Settings) -> None:
    """Tells on standard error how many traces the judge's `match` would leave out in a worker."""
    place, options = _find_options(judge, settings=settings)
    if options is None:
        return
    count = sum(not covers_trace(options.match, item.trace) for item in items)
    if count:
        write_note(
            f"judge {judge}: {count} of {len(items)} traces are not for it in a worker "
            f"(judges[{place}].match); here all are judged"
        )


def _find_options(judge: str, *, settings: Settings) -> tuple[int, JudgeOptions | None]:
    found = ((place, one) for place, one in enumerate(settings.judges) if one.name == judge)
    return next(found, (0, None))


def choose_judge(
    name: str, *, settings: Settings, scorers: Sequence[Scorer], option: str = "--judge"
) -> Judge:
    """The judge named: one of the settings, `lexical`, or `recorded:FILE`; asked for all of the scorers.

    Args:
        name: as given.
        settings: in which judges are configured.
        scorers: that it is asked for.
        option: by which it was named.

    Raises:
        InputError: there is no such judge, or the file cannot be read.
    """
    configured = {options.name: options for options in settings.judges}
    if name in configured:
        options = configured[name].model_copy(update={"scorers": None})
        redaction = build_redaction(settings)
        judge = build_judge(options, scorers=scorers, added=load_judge_kinds(), cover=choose_cover(redaction))
        redaction = None if judge.is_free else redaction
        return judge if redaction is None else CoveredJudge(judge, redaction)
    if name == _FREE or name.startswith(RECORDED_PREFIX):
        return choose_free_judge(name)
    names = [*dict.fromkeys([*configured, _FREE]), f"{RECORDED_PREFIX}FILE"]
    raise InputError(
        f"{option} {name}: no such judge{suggest(name, valid=names)} (known: {', '.join(names)}); "
        "judges are configured under `judges` in ragsonde.yaml"
    )


def read_file(file: str | Path, *, rules: Rules, skip_bad: bool) -> tuple[list[Item], int]:
    """The traces of a file, and how many messages in it are none; each of those is named on standard error.

    Raises:
        InputError: a message is no trace and must not be left out, or nothing remains.
    """
    items, bad = decode_messages(read_messages(file, formats=rules.formats), rules=rules)
    for message in bad[:_SHOWN_PROBLEMS]:
        write_note(str(message))
    if len(bad) > _SHOWN_PROBLEMS:
        write_note(f"{file}: and {len(bad) - _SHOWN_PROBLEMS} more")
    if bad and not skip_bad:
        raise InputError(
            f"{file}: {len(bad)} of {len(items) + len(bad)} messages are no traces, nothing was judged; "
            "mend them, or leave them out with --skip-bad"
        )
    if not items:
        raise InputError(f"{file}: holds no trace")
    return items, len(bad)
