"""Evaluates traces here and now, by the path that the worker takes from extraction to scoring."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from ragsonde.api.daemons import map_in_order
from ragsonde.api.report import ItemResult, Report, summarise
from ragsonde.api.rules import choose_rules
from ragsonde.api.targets import answer_anew
from ragsonde.api.traces import Item, read_items
from ragsonde.judging.options import JudgeKind, JudgeOptions
from ragsonde.judging.table import build_judge
from ragsonde.pipeline.judging import fail_evaluation, judge_and_score
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import list_judge_kinds, load_judge_kinds
from ragsonde.scoring.scorer import Scorer
from ragsonde.scoring.table import build_scorers
from ragsonde.settings.origin import join_path
from ragsonde.settings.problems import list_problems
from ragsonde_schemas.errors import Cause, ConfigError, InputError, JudgeUnavailableError, RagsondeError
from ragsonde_schemas.trace import EvaluationWish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ragsonde.api.rules import Rules
    from ragsonde.api.targets import Target
    from ragsonde.api.traces import Source
    from ragsonde.ports import Judge
    from ragsonde_schemas.evaluation import EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace

    ScorerChoice = Mapping[str, Mapping[str, object] | None] | Sequence[str] | Sequence[Scorer]
    JudgeChoice = str | Mapping[str, Any] | JudgeOptions | Judge

DEFAULT_THREADS = 8
PATIENCE_SECONDS = (2.0, 10.0, 30.0)
"""Waits before further tries when a judge cannot answer; its Retry-After counts instead, up to a minute."""

_LONGEST_WAIT_SECONDS = 60.0
RECORDED_PREFIX = "recorded:"
_SHOWN_PROBLEMS = 10


def evaluate(
    data: Source,
    *,
    scorers: ScorerChoice | None = None,
    judge: JudgeChoice = "lexical",
    target: Target | None = None,
    extraction: Sequence[Mapping[str, Any]] = (),
    on_item_complete: Callable[[Trace, ItemResult], None] | None = None,
    threads: int = DEFAULT_THREADS,
) -> Report:
    """The scores of all traces, one by one and summed up; no service is needed, and no network for `lexical`.

    No settings are read: nothing is redacted, an LLM judge is shown the texts as they are.

    Args:
        data: a path (JSON lines, a JSON array or one message of any known format), such text itself, native
            messages as mappings, or traces.
        scorers: instance name -> options, or names of formulas; None: those that are on by default.
        judge: `lexical`, `recorded:FILE`, options as under `judges:` of the settings, or a judge.
        target: asked each question anew; its answer and contexts are judged in place of the recorded ones.
            What it raises, SystemExit too, is recorded with the item, the others go on.
        extraction: mappings for fields that the formats' rules do not find, as under `extraction:` of the
            settings.
        on_item_complete: called with each trace and its result, in the order of the data.
        threads: how many traces are judged at once, where the judge or a target makes us wait.

    Raises:
        InputError: the data hold something that is no trace, or nothing at all.
        ConfigError: a scorer or the judge is configured wrongly.
        JudgePausedError: the judge refuses our credentials or does not know the model.
    """
    items = read_whole(data, rules=choose_rules(extraction))
    chosen = choose_scorers(scorers)
    evaluation = Evaluation(chosen, choose_judge(judge, scorers=chosen), target)
    results = []
    for result in evaluation.run(items, threads=threads):
        results.append(result)
        if on_item_complete is not None:
            on_item_complete(result.trace, result)
    return evaluation.report(results)


def score(trace: Trace | Mapping[str, Any], scorer: str | Scorer, judge: JudgeChoice = "lexical") -> Outcome:
    """What one scorer makes of one trace: a score, or an unscored with its cause; nothing is redacted.

    Raises:
        InputError: the mapping is no native message.
        ConfigError: there is no such scorer or judge.
    """
    items = read_whole([trace])
    if len(items) != 1:
        raise InputError(f"found {len(items)} traces, expected one")
    chosen = choose_scorers(scorer if isinstance(scorer, str) else (scorer,))
    wanted = Item(items[0].place, items[0].trace.model_copy(update={"wish": EvaluationWish()}))
    (result,) = Evaluation(chosen, choose_judge(judge, scorers=chosen)).run([wanted])
    return result.outcomes[0]


def read_whole(data: Source, *, rules: Rules | None = None) -> list[Item]:
    """The traces in the data, all of which must be traces.

    Raises:
        InputError: something is none, each with its place; or there is none at all.
    """
    items, bad = read_items(data, rules=rules)
    if bad:
        hidden = len(bad) - _SHOWN_PROBLEMS
        more = [f"and {hidden} more"] if hidden > 0 else []
        raise InputError("; ".join([*map(str, bad[:_SHOWN_PROBLEMS]), *more]))
    if not items:
        raise InputError("the data hold no trace")
    return items


@dataclass(frozen=True)
class Evaluation:
    """Scorers, a judge and perhaps a target, ready to be run over traces."""

    scorers: tuple[Scorer, ...]
    judge: Judge
    target: Target | None = None
    patience_seconds: tuple[float, ...] = PATIENCE_SECONDS
    on_away: Callable[[JudgeUnavailableError, float], None] | None = None
    """Called before each further try with the outage and the seconds until then, from any thread."""

    def run(self, items: Sequence[Item], *, threads: int = DEFAULT_THREADS) -> Iterator[ItemResult]:
        """The result of each trace, in order, as soon as it and those before it are there.

        Raises:
            JudgePausedError: the judge will not answer until somebody acts.
        """
        if threads == 1 or (self.judge.is_free and self.target is None):
            yield from map(self._run_one, items)
            return
        yield from map_in_order(self._run_one, items, threads=threads)

    def report(self, results: Sequence[ItemResult]) -> Report:
        """The results summed up."""
        return Report(
            judge=self.judge.name,
            fingerprint=self.judge.fingerprint,
            items=tuple(results),
            scores=summarise(results, scorers=self.scorers),
        )

    def _run_one(self, item: Item) -> ItemResult:
        trace = item.trace
        if self.target is not None:
            try:
                trace = answer_anew(trace, target=self.target)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - the user's function may raise anything, SystemExit too; the other items go on
                return ItemResult(place=item.place, trace=trace, error=describe_error(error))
        return ItemResult(place=item.place, trace=trace, result=self._judge_patiently(trace))

    def _judge_patiently(self, trace: Trace) -> EvaluationResult:
        paid: tuple[JudgeCall, ...] = ()
        for seconds in (*self.patience_seconds, None):
            try:
                result = judge_and_score(trace, scorers=self.scorers, judge=self.judge)
            except JudgeUnavailableError as outage:
                message = str(outage)
                paid += tuple(call for call in outage.calls if call.is_answered)
                if seconds is None:
                    break
                pause_seconds = min(outage.retry_after_seconds or seconds, _LONGEST_WAIT_SECONDS)
                if self.on_away is not None:
                    self.on_away(outage, pause_seconds)
                time.sleep(pause_seconds)
            else:
                return _add_calls(result, paid)
        failed = fail_evaluation(trace, scorers=self.scorers, cause=Cause.JUDGE_UNAVAILABLE, message=message)
        return failed.model_copy(update={"calls_before_outage": paid})


def _add_calls(result: EvaluationResult, earlier: tuple[JudgeCall, ...]) -> EvaluationResult:
    """The result with what tries that an outage ended had been answered, and may have cost."""
    assessment = result.assessment
    if assessment is None or not earlier:
        return result
    told = assessment.model_copy(update={"calls": (*earlier, *assessment.calls)})
    return result.model_copy(update={"assessment": told})


def choose_scorers(choice: ScorerChoice | None) -> tuple[Scorer, ...]:
    """The scorers that are meant.

    Raises:
        ConfigError: a name is not known, or options are wrong.
    """
    if choice is None or isinstance(choice, Mapping):
        return build_scorers(choice, formulas=load_formulas())
    if isinstance(choice, str):
        return build_scorers({choice: None}, formulas=load_formulas())
    if all(isinstance(one, Scorer) for one in choice):
        return tuple(cast("Sequence[Scorer]", choice))
    return build_scorers({str(one): None for one in choice}, formulas=load_formulas())


def choose_judge(choice: JudgeChoice, *, scorers: Sequence[Scorer] = ()) -> Judge:
    """The judge that is meant, to be asked for what these scorers need.

    Raises:
        InputError: the name means none, or the file of recorded verdicts cannot be read.
        ConfigError: the options are wrong.
    """
    if isinstance(choice, Mapping):
        choice = _read_options(choice)
    if isinstance(choice, JudgeOptions):
        return build_judge(choice, scorers=scorers, added=load_judge_kinds())
    if not isinstance(choice, str):
        return choice
    if choice == JudgeKind.LEXICAL.value:
        return build_judge(JudgeOptions(name=choice, kind=JudgeKind.LEXICAL))
    if choice.startswith(RECORDED_PREFIX) and choice != RECORDED_PREFIX:
        path = Path(choice.removeprefix(RECORDED_PREFIX))
        return build_judge(JudgeOptions(name="recorded", kind=JudgeKind.RECORDED, path=path))
    raise InputError(f"judge {choice!r}: expected lexical, recorded:FILE, or the options of a judge")


def _read_options(choice: Mapping[str, Any]) -> JudgeOptions:
    try:
        return JudgeOptions.model_validate(
            {"name": choice.get("kind"), **choice}, context={"judge_kinds": list_judge_kinds()}
        )
    except ValidationError as error:
        raise ConfigError(
            *list_problems(error, model=JudgeOptions, name_place=lambda path: join_path(("judge", *path)))
        ) from error


def describe_error(error: BaseException) -> str:
    """Why a target failed, in one line: what we say of it, or the type and words of the user's error."""
    if isinstance(error, RagsondeError):
        return str(error)
    return f"{type(error).__name__}: {error}".strip().rstrip(":")
