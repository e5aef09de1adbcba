"""`ragsonde baseline` over a real Postgres: what is shown, chosen, dropped and refused."""

from __future__ import annotations

import json

import pytest

from ragsonde_schemas.score_stream import block_at
from services.steering_ground import DAY

pytestmark = pytest.mark.integration


@pytest.fixture
def call(call):
    return lambda *words: call("baseline", *words)


def ask(call, *words):
    code, out, _ = call(*words, "--output", "json")
    return code, json.loads(out)


def tell(ground, block):
    return block_at(ground.first + block).isoformat()


@pytest.mark.usefixtures("stream")
def test_pinned_listed_and_dropped(ground, call):
    (own,) = ask(call, "list")[1]
    assert (own["kind"], own["is_chosen"], own["is_judging"], own["n"]) == ("pinned", False, True, 8064)
    assert own["mean"] == pytest.approx(0.8, abs=0.02)
    stretch = ("--since", tell(ground, DAY), "--until", tell(ground, 8 * DAY), "--reason", "a better week")
    code, (dry,) = ask(call, "pin", "--app", "shop", *stretch, "--dry-run")
    assert (code, dry["baseline"], dry["n"]) == (0, None, 8064)
    code, out, _ = call("pin", "--app", "shop", *stretch)
    assert (code, "pinned as baseline" in out) == (0, True)
    chosen, own_now = ask(call, "list", "--app", "shop")[1]
    assert (chosen["reason"], chosen["is_judging"], own_now["is_judging"]) == ("a better week", True, False)
    assert chosen["smallest_visible_drop"] < 0.06
    _, out, _ = call("list")
    assert "a better week" in out
    assert f"{chosen['baseline']}*" in out
    number = str(chosen["baseline"])
    assert call("drop", number, "--reason", "no more")[0] == 0
    code, out, err = call("drop", number, "--reason", "no more")
    assert (code, out, "does not stand since" in err) == (2, "", True)
    assert [one["is_judging"] for one in ask(call, "list")[1]] == [True]
    gone = [one for one in ask(call, "list", "--all")[1] if one["replaced_reason"] is not None]
    assert [(one["baseline"], one["replaced_reason"]) for one in gone] == [(chosen["baseline"], "no more")]
    assert "no more" in call("list", "--all")[1]


@pytest.mark.usefixtures("stream")
def test_too_few_traces_end_with_one(ground, call):
    stretch = ("--since", tell(ground, DAY), "--until", tell(ground, DAY + 50), "--reason", "x")
    code, out, _ = call("pin", "--app", "shop", *stretch)
    assert (code, "left out: 200 traces, 500 are needed" in out) == (1, True)


@pytest.mark.usefixtures("ground", "stream")
def test_a_floor_is_set_and_listed(call):
    names = ("--app", "shop", "--scorer", "context_precision")
    code, out, _ = call("floor", *names, "--mean", ".7", "--reason", "promised")
    assert (code, "floor 0.700 is set" in out) == (0, True)
    assert "It holds 1: shop, prod: context_precision by lexical@f" in " ".join(out.split())
    assert "held to a floor of 0.700" in " ".join(call("list")[1].split())
    assert "floor 0.700 was set" in call("floor", *names, "--mean", ".7", "--reason", "promised")[1]
    floor = ask(call, "list")[1][0]
    assert (floor["kind"], floor["is_chosen"], floor["mean"], floor["reason"]) == (
        "floor",
        True,
        0.7,
        "promised",
    )
    assert (floor["smallest_visible_drop"], [one["scorer"] for one in floor["holds"]]) == (
        None,
        ["context_precision"],
    )


@pytest.mark.usefixtures("stream")
def test_a_pin_tells_what_it_takes_the_place_of(ground, call):
    names = ("--app", "shop", "--reason", "x", "--since", tell(ground, DAY), "--until")
    assert call("pin", *names, tell(ground, 7 * DAY))[0] == 0
    number = ask(call, "list")[1][0]["baseline"]
    for more in (("--dry-run",), ()):
        out = " ".join(call("pin", *names, tell(ground, 8 * DAY), *more)[1].split())
        assert f", in place of baseline {number}, which a person chose: mean" in out


@pytest.mark.usefixtures("ground")
def test_before_there_is_any_the_list_says_so(call):
    code, out, _ = call("list")
    assert (code, out.startswith("no baseline yet")) == (0, True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("drop", "--reason", "x"), "drop: the number of a baseline is missing"),
        (("drop", "3"), "drop: --reason is missing"),
        (("drop", "999", "--reason", "x"), "baseline 999: there is none"),
        (("list", "3"), "list takes no number"),
        (("list", "--mean", ".5"), "list: takes no --mean"),
        (("pin", "--app", "shop", "--since", "7d", "--reason", "x"), "pin: --until is missing"),
        (("pin", "--app", "shop", "--since", "1d", "--until", "2d", "--reason", "x"), "expected later than"),
        (("floor", "--app", "shop", "--scorer", "s", "--reason", "x"), "floor: --mean is missing"),
        (("floor", "--app", "shop", "--scorer", "s", "--mean", "2", "--reason", "x"), "--mean"),
        (("floor", "--app", "nobody", "--scorer", "s", "--mean", ".5", "--reason", "x"), "no scores from"),
    ],
)
@pytest.mark.usefixtures("ground")
def test_what_cannot_be_done_is_said_in_a_line(call, words, expected):
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


PINNED = ("--since", "7d", "--until", "1d", "--reason", "x")
FLOOR = ("--scorer", "s", "--mean", ".5", "--reason", "x")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (("--app", "shpo"), "--app shpo: no such app; did you mean shop? (known: shop)"),
        (
            ("--app", "shop", "--environment", "prd"),
            "--environment prd: no stream of this app has it; did you mean prod? (known: prod)",
        ),
    ],
)
@pytest.mark.parametrize("words", [("pin", *PINNED), ("pin", *PINNED, "--dry-run"), ("floor", *FLOOR)])
@pytest.mark.usefixtures("stream")
def test_a_place_that_nobody_knows_is_told_with_those_that_are_known(call, words, place, expected):
    code, out, err = call(*words, *place)
    assert (code, out) == (2, "")
    assert expected in " ".join(err.split())
