"""Of choose-a-judge-and-its-sample.md the arithmetic, of choose-a-scorer.md the table and the settings."""

import re
from pathlib import Path

import pytest
import yaml

from fakes.judged_traces import make_trace
from ragsonde.cli.cost import TRACES_TO_SEE
from ragsonde.judging.litellm_tokens import LitellmTokens
from ragsonde.judging.model_prices import find_prices, price_tokens
from ragsonde.judging.options import Reasons
from ragsonde.judging.prompt import render_prompt
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.settings import read_settings

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to"
JUDGE = (HOW_TO / "choose-a-judge-and-its-sample.md").read_text()
SCORER = (HOW_TO / "choose-a-scorer.md").read_text()
MODEL = "openai/gpt-5-mini"
TRACES_A_DAY = 10_000
TOKENS_IN, TOKENS_OUT = 1_500, 150
HARMONIC = {count: sum(1 / (rank + 1) for rank in range(count)) for count in (3, 5, 10)}


def read_rows(page, heading):
    table = page.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def say_time(days):
    return f"{days:.1f} days" if days >= 1 else f"{24 * days:.1f} hours"


def price_a_trace():
    return price_tokens(find_prices(MODEL, configured=None), tokens_in=TOKENS_IN, tokens_out=TOKENS_OUT)


def test_the_price_is_the_models_and_the_sum_is_right():
    prices = find_prices(MODEL, configured=None)
    assert f"{prices.input_usd_per_million:g} dollars a million tokens" in JUDGE
    assert f"and {prices.output_usd_per_million:g} a million received" in JUDGE
    sent, received = (
        price_tokens(prices, tokens_in=TOKENS_IN, tokens_out=0),
        price_tokens(prices, tokens_in=0, tokens_out=TOKENS_OUT),
    )
    assert f"{TOKENS_IN:,} x {prices.input_usd_per_million:g} / 1,000,000 = {sent:.6f} dollars" in JUDGE
    assert f"{TOKENS_OUT} x {prices.output_usd_per_million:g} / 1,000,000 = {received:.6f} dollars" in JUDGE
    assert f"{price_a_trace():.6f} dollars a trace" in JUDGE
    assert f"or {TRACES_A_DAY * price_a_trace():.2f} dollars for all {TRACES_A_DAY:,}" in JUDGE


def test_the_prompt_of_such_a_trace_has_about_so_many_tokens():
    count = LitellmTokens(MODEL)
    word = "The returned parcel is looked at and its price is paid back to the card within days. "
    context = word * (180 // count(word))
    trace = make_trace(*[context] * 5)
    prompt = render_prompt(trace, needed_aspects(build_scorers(None), trace), reasons=Reasons.TRACE)
    tokens = sum(count(message["content"]) for message in prompt.messages)
    assert tokens == pytest.approx(TOKENS_IN, rel=0.1)


def test_every_row_of_the_table_is_what_its_sample_costs_and_sees():
    rows = read_rows(JUDGE, "sample | judged a day")
    assert [row[0] for row in rows] == ["0.01", "0.05", "0.2", "1.0"]
    for sample, judged, a_day, a_month, *seen in rows:
        traces = float(sample) * TRACES_A_DAY
        assert judged == f"{traces:,.0f}"
        # as people round: 2.025 is 2.03
        assert a_day == f"{traces * price_a_trace() + 1e-9:.2f}"
        assert a_month == f"{30 * traces * price_a_trace() + 1e-9:.2f}"
        assert seen == [say_time(needed / traces) for needed in TRACES_TO_SEE.values()]


def test_its_settings_are_valid_and_their_budget_is_twice_the_row(tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", JUDGE, re.DOTALL)
    (tmp_path / "ragsonde.yaml").write_text(block)
    _, gpt = read_settings(tmp_path / "ragsonde.yaml").judges
    row = 0.05 * TRACES_A_DAY * price_a_trace()
    assert gpt.sample == 0.05
    assert gpt.budget.usd_per_day == pytest.approx(2 * row, rel=0.1)


def test_every_scorer_has_a_row_in_the_order_of_the_table():
    named = [row[1].strip("`") for row in read_rows(SCORER, "what you want to know | scorer")]
    ids = {f"{formula.id}:NAME" if formula.is_named else formula.id for formula in FORMULAS}
    assert set(named) == ids
    assert len(named) == len(ids)


def test_the_settings_of_scorers_are_valid():
    (block,) = re.findall(r"```yaml\n(.*?)```", SCORER, re.DOTALL)
    assert len(build_scorers(yaml.safe_load(block)["scorers"])) == 5


def test_what_position_gives_one_relevant_context_at_the_top():
    told = " ".join(SCORER.split())
    first, second, third = (f"{1 / HARMONIC[count]:.2f}".removeprefix("0") for count in (3, 5, 10))
    assert f"gives {first} of three, {second} of five and {third} of ten" in told
