"""`ragsonde compare`: names, waiting and what is shown; a database is in the integration tests."""

import signal
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from ragsonde.cli.compare import EXIT_CODES, choose_environment, read_names_of_rivals
from ragsonde.cli.compared_releases import describe_look, print_look, tell_progress
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.moments import read_span
from ragsonde.cli.release_looks import (
    PAUSE_SECONDS,
    ComparedPair,
    ReleaseLook,
    Wish,
    choose_pairs,
    wait_for_verdict,
)
from ragsonde.cli.stopping import keeping_interrupts
from ragsonde.regression.blocks import gather_counts
from ragsonde.regression.release_comparison import ReleaseComparison, Verdict
from ragsonde.regression.release_gate import GatedRelease, Model, ReleaseScores, Way
from ragsonde.storage.engine import GivenUpError
from ragsonde.storage.release_scores import NamedRelease, ReleaseKind, Rivals, Sides
from ragsonde_schemas.errors import DatabaseLostError, InputError

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
RIVALS = Rivals("shop", ReleaseKind.RELEASE, "2.4", "2.3", NOON - timedelta(days=14), NOON)
MODEL = Model("1:answer", "0123456789abcdef", 1)


def a_pair(verdict=Verdict.UNDECIDED, *, way=Way.SIDE_BY_SIDE, needed=120, scorer="context_relevance"):
    known = (0.03, -0.01, 0.07) if way else (0.0, -1.0, 1.0)
    comparison = ReleaseComparison(verdict, *known, 1200, 340, needed)
    return ComparedPair(scorer, "lexical", GatedRelease(comparison, way, "both had traces", MODEL))


def a_look(*pairs):
    return ReleaseLook(RIVALS, "production", 0.01 / max(1, len(pairs)), pairs)


@pytest.mark.parametrize(
    ("new", "against", "names"),
    [
        ("release=2.4", "2.3", (ReleaseKind.RELEASE, "2.4", "2.3")),
        ("variant=b", "variant=a", (ReleaseKind.VARIANT, "b", "a")),
        ("release=a=b", "c=d", (ReleaseKind.RELEASE, "a=b", "c=d")),
    ],
)
def test_a_release_or_variant_is_named(new, against, names):
    assert read_names_of_rivals(new, against) == names


@pytest.mark.parametrize(
    ("new", "against", "told"),
    [
        ("2.4", "2.3", "--new: found '2.4', expected release=NAME or variant=NAME"),
        ("release=", "2.3", "--new: found 'release='"),
        ("model=x", "y", "--new: found 'model=x'"),
        ("release=2.4", "variant=2.3", "expected a release, as --new names one"),
        ("release=2.4", "2.4", "expected the name of another release than 2.4"),
        ("release=2.4", "release=", "expected the name of another release"),
    ],
)
def test_what_names_no_two_releases_is_refused(new, against, told):
    with pytest.raises(InputError, match=told):
        read_names_of_rivals(new, against)


def test_every_verdict_has_a_code_of_its_own():
    assert {verdict.value: int(code) for verdict, code in EXIT_CODES.items()} == {
        "not_worse": 0,
        "worse": 1,
        "undecided": 3,
    }
    assert ExitCode.BAD_INPUT == 2


def test_how_long_is_read_as_people_write_it():
    assert read_span("2h", option="--wait") == timedelta(hours=2)
    assert read_span("30m", option="--wait") == timedelta(minutes=30)
    with pytest.raises(InputError, match="--wait: found 'soon', expected how long"):
        read_span("soon", option="--wait")


def test_the_only_environment_that_both_run_in_is_taken():
    found = [NamedRelease(*row, 10, NOON) for row in (("prod", "2.4"), ("prod", "2.3"), ("dev", "2.5"))]
    assert choose_environment(found, None, rivals=RIVALS) == "prod"
    assert choose_environment(found, "dev", rivals=RIVALS) == "dev"
    both = [*found, NamedRelease("", "2.4", 10, NOON)]
    with pytest.raises(InputError, match=r'--environment is missing: expected one of .*\("", prod\)'):
        choose_environment(both, None, rivals=RIVALS)
    with pytest.raises(InputError, match=r"--environment pord.* did you mean prod"):
        choose_environment(found, "pord", rivals=RIVALS)


class Clock:
    """Stands but for pauses, and for what a look takes."""

    def __init__(self):
        self.seconds, self.pauses = 0.0, []

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.seconds += seconds


def wait(looks, *, seconds, takes=0.0):
    clock, told, noted = Clock(), [], []
    given = iter(looks)

    def look():
        clock.seconds += takes
        found = next(given)
        if isinstance(found, Exception):
            raise found
        return found

    found = wait_for_verdict(
        look,
        seconds=seconds,
        tell=told.append,
        note=noted.append,
        pause=clock.pause,
        clock=lambda: clock.seconds,
    )
    return found, clock, told, noted


OPEN, SURE = a_look(a_pair()), a_look(a_pair(Verdict.WORSE, needed=0))


def test_without_waiting_there_is_one_look():
    found, clock, told, _ = wait([OPEN], seconds=0)
    assert (found, clock.pauses, told) == (OPEN, [], [])


def test_it_is_waited_until_there_is_a_verdict():
    found, clock, told, _ = wait([OPEN, OPEN, SURE], seconds=3600)
    assert found is SURE
    assert (clock.pauses, told) == ([PAUSE_SECONDS] * 2, [OPEN, OPEN])


def test_the_last_look_is_at_the_end_of_the_time():
    found, clock, _, _ = wait([OPEN] * 3, seconds=20)
    assert found is OPEN
    assert clock.pauses == [15, 5]


def test_a_look_that_takes_long_makes_the_pause_longer():
    _, clock, _, _ = wait([OPEN, SURE], seconds=3600, takes=10)
    assert clock.pauses == [90]


@pytest.mark.parametrize("error", [DatabaseLostError("away"), GivenUpError("too slow")])
def test_an_outage_is_waited_out_but_not_for_ever(error):
    found, _, _, noted = wait([error, SURE], seconds=3600)
    assert (found, noted) == (SURE, [f"{error}; asked again"])
    with pytest.raises(DatabaseLostError, match=str(error)):
        wait([error] * 2, seconds=10)


def test_the_strictest_of_all_pairs_is_the_verdict():
    good, bad = a_pair(Verdict.NOT_WORSE), a_pair(Verdict.WORSE)
    assert a_look(good, a_pair()).verdict is Verdict.UNDECIDED
    assert a_look(good, a_pair(), bad).verdict is Verdict.WORSE
    assert a_look().verdict is Verdict.UNDECIDED


def make_sides(*, has_scores=True):
    counts = {MODEL: gather_counts([0], [0], [80], [5], strata=("other",))} if has_scores else {}
    return Sides(ReleaseScores(counts, failed=1), ReleaseScores({}, failed=1))


def test_scorers_without_direction_or_scores_are_left_out_unless_named():
    found = {
        ("relevance", "lexical"): make_sides(),
        ("relevance", "gpt"): make_sides(),
        ("share", "lexical"): make_sides(),
        ("statements", "lexical"): make_sides(has_scores=False),
    }
    wish = Wish("production", 0.02, left_out={"share"})
    assert list(choose_pairs(found, wish)) == [("relevance", "lexical"), ("relevance", "gpt")]
    named = Wish("production", 0.02, scorers=["statements"])
    assert list(choose_pairs(found, named)) == [("statements", "lexical")]
    judged = Wish("production", 0.02, judges=["gpt"])
    assert list(choose_pairs(found, judged)) == [("relevance", "gpt")]
    with pytest.raises(InputError, match=r"--scorer relevanc: neither release .* did you mean relevance"):
        choose_pairs(found, Wish("production", 0.02, scorers=["relevanc"]))
    with pytest.raises(InputError, match="--judge gtp: neither release has an outcome of it"):
        choose_pairs(found, Wish("production", 0.02, judges=["gtp"]))
    assert choose_pairs({}, named) == {}


def test_scripts_get_every_number_and_none_where_nothing_was_compared():
    told = describe_look(a_look(a_pair(), a_pair(way=None, needed=None)), smallest_drop=0.02)
    assert (told["verdict"], told["alpha"], told["by"], told["new"], told["against"]) == (
        "undecided", 0.005, "release", "2.4", "2.3",
    )  # fmt: skip
    first, second = told["comparisons"]
    assert (first["drop"], first["drop_lower"], first["drop_upper"]) == (0.03, -0.01, 0.07)
    assert (first["way"], first["traces_needed"], first["fingerprint"]) == (
        "side_by_side", 120, MODEL.fingerprint,
    )  # fmt: skip
    assert (second["drop"], second["way"], second["traces_needed"]) == (None, None, None)


def test_people_get_a_line_a_scorer_and_the_verdict_last(capsys):
    print_look(a_look(a_pair(Verdict.NOT_WORSE, needed=0), a_pair(scorer="other\x1b[2J")))
    head, first, second, why, last = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["scorer", "judge"]
    assert "not worse" in first
    assert "0.030 (-0.010 to 0.070)" in first
    assert "120 more" in second
    assert "\x1b" not in second
    assert why.startswith(
        "context_relevance by lexical, other\ufffd[2J by lexical: side by side, as both had"
    )
    assert last == "shop, production: release 2.4 against 2.3: not known yet"
    print_look(a_look())
    assert "neither release has a score yet" in capsys.readouterr().out


def test_while_it_is_waited_what_is_open_is_told():
    look = a_look(a_pair(Verdict.NOT_WORSE, scorer="position"), a_pair())
    assert tell_progress(look) == "not known yet: context_relevance by lexical, 340 traces, 120 more"
    assert tell_progress(a_look()) == "no score of either release yet"


def test_an_interrupt_that_a_library_swallowed_ends_the_next_pause():
    usual = signal.getsignal(signal.SIGINT)
    with keeping_interrupts() as pause:
        pause(0)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            pause(60)
    assert signal.getsignal(signal.SIGINT) is usual
