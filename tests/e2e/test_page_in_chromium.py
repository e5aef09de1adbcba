"""The page in a real browser: narrow, dark, by keyboard, readable, and without a word to anybody else."""

from __future__ import annotations

from itertools import pairwise

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from fakes.histories import evaluate, tell
from fakes.judged_traces import make_trace
from fakes.watching import FakeWatching, make_activity, make_ledger, make_place, make_summary, make_window
from ragsonde.exposition.http import Response
from ragsonde.page.application import PageApplication
from ragsonde.page.authentication import Authentication
from ragsonde.page.options import PageOptions
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.spending import Limit, Period, Spent
from ragsonde_schemas.watched import AlertEvidence, ExampleTrace, LowTrace, Place, Spending
from services.chromium import CONTRASTS, open_browser

pytestmark = pytest.mark.integration

LONG = "w" * 300
TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


def make_watching() -> FakeWatching:
    """Everything that the page can show, with words that do not break."""
    trace = make_trace(
        f"The torch needs one battery. {LONG} It lasts.", "A battery should not burn.", trace_id=LONG
    )
    low = LowTrace(
        trace_id=LONG,
        record_key="",
        judge="lexical",
        scorer="context_precision",
        raw=0.0,
        reason=f"none of 5 contexts is relevant {LONG}",
        occurred_at=trace.occurred_at,
    )
    summaries = (make_summary(), make_summary(judge="gpt@3fa2c1", mean=0.1, unscored={Cause.REFUSED: 3}))
    shown = make_place(
        scorers=summaries,
        counts=(make_window(assessed=54, insufficient=25, causes={Cause.EMPTY_RETRIEVAL: 5}),),
        lowest=(low,),
    )
    spending = Spending(
        judge="gpt", spent=Spent(calls=30, usd=1.25), limit=Limit(period=Period.DAY, calls=100, usd=5.0)
    )
    return FakeWatching(
        places=[shown, make_place(make_activity("help", "staging"))],
        ledger=make_ledger(
            revisions=54, judges={"lexical": {"scored": 50, "failed": 4}}, parked={"invalid_json": 3}
        ),
        spending=(spending,),
        evidence=AlertEvidence(
            place=Place(app="shop", environment="production"),
            windows=(
                make_window(causes={Cause.EMPTY_RETRIEVAL: 60}),
                make_window(1, hours=24),
                make_window(25),
            ),
            examples=(
                ExampleTrace(trace_id=LONG, record_key="", occurred_at=trace.occurred_at, release="2.4.0"),
            ),
        ),
        histories={LONG: tell(trace, evaluate(trace), evaluate(trace, judge="gpt", calls=1))},
    )


def serve(**options) -> PageServer:
    application = PageApplication(
        authentication=Authentication(
            options=PageOptions.model_validate(options), read_token=lambda: options.get("token")
        ),
        views=Views(
            watching=make_watching(), scorers={scorer.instance: scorer for scorer in build_scorers(None)}
        ),
        machine_routes={"/metrics": lambda _accept: Response(200, "text/plain", b"")},
        read_metrics_token=lambda: None,
    )
    return PageServer(application, host="127.0.0.1", port=0)


@pytest.fixture(scope="module")
def url():
    server = serve()
    yield server.url
    server.close()


ALERT = "/alerts/RagsondeEmptyRetrieval"
PATHS = ("/", f"/traces/{LONG}", f"{ALERT}?app=shop&environment=production", ALERT, "/nothing", "/login")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_asked_of_anybody_else(browser, url, path):
    browser.list_requested()
    browser.open(url + path)
    asked = browser.list_requested()
    assert asked
    assert [one for one in asked if not one.startswith(url)] == []


@pytest.mark.parametrize("path", PATHS)
def test_a_telephone_shows_it_without_scrolling_sideways(browser, url, path):
    browser.open(url + path, width=375)
    assert browser.run("return document.documentElement.scrollWidth") <= 375


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_every_text_has_the_contrast_of_wcag_aa(browser, url, path, scheme):
    browser.open(url + path, scheme=scheme)
    browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)")
    texts = browser.run(CONTRASTS)
    assert texts
    assert [(text, ratio) for text, ratio, is_large in texts if ratio < (3.0 if is_large else 4.5)] == []


def test_light_and_dark_differ(browser, url):
    grounds = []
    for scheme in ("light", "dark"):
        browser.open(url, scheme=scheme)
        grounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1]


def test_the_keyboard_leads_to_the_worst_trace(browser, url):
    browser.open(url)
    ActionChains(browser.driver).send_keys(Keys.TAB).perform()
    assert browser.driver.switch_to.active_element.text == "Skip to the content"
    for _ in range(40):
        if browser.driver.switch_to.active_element.text == LONG:
            break
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    browser.wait_for(f"Trace {LONG}")


@pytest.mark.parametrize("path", PATHS)
def test_a_screen_reader_finds_its_way(browser, url, path):
    browser.open(url + path)
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.run("return document.querySelectorAll('h1').length") == 1
    levels = browser.run("return [...document.querySelectorAll('h1,h2,h3,h4')].map((one) => +one.tagName[1])")
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert browser.run("return [...document.querySelectorAll('svg')].filter((s) => !s.ariaLabel).length") == 0
    inputs = "[...document.querySelectorAll('input:not([type=hidden])')]"
    assert browser.run(f"return {inputs}.filter((one) => !one.labels.length).length") == 0
    assert browser.run("return document.querySelectorAll('script').length") == 0


def test_from_an_alert_to_the_offending_context_in_three_clicks(browser, url):
    browser.open(f"{url}{ALERT}?app=shop&environment=production")  # the first: the link in the alert
    browser.driver.find_element("link text", LONG).click()
    browser.wait_for("Contexts, as gpt@ffffff judged them")
    browser.driver.find_element("link text", "lexical@ffffff").click()
    browser.wait_for("Contexts, as lexical@ffffff judged them")
    context = browser.driver.find_element("id", "context-2").text
    assert "not relevant" in context
    assert "A battery should not burn." in context


def test_a_person_logs_in_with_the_token(browser):
    server = serve(auth="token", token=TOKEN)
    try:
        browser.open(server.url)
        browser.wait_for("Log in")
        browser.driver.find_element("id", "token").send_keys("wrong", Keys.ENTER)
        browser.wait_for("That is not the token.")
        browser.driver.find_element("id", "token").send_keys(TOKEN, Keys.ENTER)
        browser.wait_for("shop, production")
    finally:
        server.close()
