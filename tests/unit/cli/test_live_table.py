import io
import re
from datetime import timedelta
from itertools import count

import pytest
from rich.console import Console

from fakes.clock import NOON
from ragsonde.cli.live_table import _count, build_table, show_live
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.engine import build_engine
from ragsonde.storage.recent_scores import ScoreSummary
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState


class Stopping:
    """An event that is set at the fourth look at it, and notes how long it was waited for."""

    def __init__(self):
        self.waited = []

    def wait(self, seconds):
        self.waited.append(seconds)
        return len(self.waited) == 4


@pytest.fixture
def engine():
    """Of a port on which nobody listens: each look says so."""
    engine = build_engine("postgresql://postgres@127.0.0.1:1/none", application_name="test")
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    ("is_terminal", "look_seconds", "waited"),
    [
        (True, 0, [1, 1, 1, 1]),
        (True, 2, [1, 20, 20, 20]),
        (True, 132, [1, 30, 30, 30]),
        (False, 0, [5, 5, 5, 5]),
        (False, 2, [5, 20, 20, 20]),
        (False, 132, [5, 30, 30, 30]),
    ],
)
def test_the_next_look_is_ten_times_as_far_away_as_the_last_one_took_and_half_a_minute_at_most(
    engine, is_terminal, look_seconds, waited
):
    stopping, ticks = Stopping(), count(0, look_seconds)
    console = Console(file=io.StringIO(), force_terminal=is_terminal)

    show_live(engine, console, stopping=stopping, monotonic=lambda: next(ticks))

    assert stopping.waited == waited
    assert "Postgres is away" in console.file.getvalue()


def test_each_look_says_when_it_was_taken_and_an_equal_one_is_not_printed_again(engine):
    for is_terminal in (True, False):
        times = iter(NOON + timedelta(seconds=seconds) for seconds in (0, 5, 10))
        console = Console(file=io.StringIO(), force_terminal=is_terminal)
        show_live(engine, console, stopping=Stopping(), tell_time=lambda times=times: next(times))
        # the last one is drawn once more when all is over
        told = list(dict.fromkeys(re.findall(r"as of ([0-9:]+) UTC", console.file.getvalue())))
        assert told == (["12:00:00", "12:00:05", "12:00:10"] if is_terminal else ["12:00:00"])


def summarise(scorer, mean=0.5, *, judge="lexical", environment="", version="1"):
    unscored = {Cause.CONTEXT_WINDOW_EXCEEDED: 23, Cause.EMPTY_RETRIEVAL: 5}
    return ScoreSummary(
        app="default",
        environment=environment,
        judge=judge,
        scorer=scorer,
        version=version,
        n=54,
        mean_raw=mean,
        mean_value=mean,
        unscored=unscored,
        last_at=NOON,
    )


def draw(columns, *summaries, **options):
    console = Console(file=io.StringIO(), width=columns)
    console.print(build_table(summaries, columns=columns, **options))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_at_80_columns_bar_and_judge_are_left_out_and_no_word_is_torn():
    head, *rows = draw(80, summarise("statement_relevancy"), summarise("essential_context", 0.1))

    assert head.split() == ["app", "scorer", "mean", "scored", "not", "scored", "reads", "as"]
    assert "█" not in "".join(rows)
    assert rows[0].startswith("default  statement_relevancy  0.50      54  23 context ")
    assert any(row.split()[:4] == ["default", "essential_context", "0.10", "54"] for row in rows)
    words = set(" ".join(rows).split())
    assert {"exceeded", "retrieval", "mixed", "mostly", "essential"} <= words


def test_a_judge_without_new_evaluations_is_told_as_such():
    states = {("lexical", EvaluationState.SCORED): 3}
    assert _count(states, judge="lexical") == "3 scored"
    assert _count(states, judge="gone") == "scores of earlier evaluations alone"


def test_a_wide_table_has_all_columns():
    head, row, _ = draw(160, summarise("context_position", 0.75))

    assert head.split() == ["app", "judge", "scorer", "mean", "scored", "not", "scored", "reads", "as"]
    assert "█" * 15 in row
    assert row.endswith("23 context_window_exceeded   good")


def test_at_100_columns_there_is_the_judge_but_no_bar():
    head, row, *_ = draw(100, summarise("context_position"))

    assert "judge" in head
    assert "█" not in row


def test_what_the_page_tells_apart_has_a_row_of_its_own():
    _, *rows = draw(
        160,
        summarise("context_precision", 0.8, environment="production", version="1:answer"),
        summarise("context_precision", 0.4, environment="staging", version="1+1f2e3d:query"),
    )
    assert rows[0].startswith("default, production   lexical   context_precision:answer ")
    assert rows[2].startswith("default, staging      lexical   context_precision:query@1f2e3d ")


def test_an_instance_is_read_by_its_formula_and_an_unknown_one_not_at_all():
    (position,) = build_scorers({"strict": {"scorer": "context_position"}})

    rows = draw(160, summarise("strict", 1.0), summarise("gone", 1.0), formulas={"strict": position.formula})

    assert rows[1].endswith("optimal")
    assert rows[3].endswith("23 context_window_exceeded")
