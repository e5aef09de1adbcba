"""A report as HTML in a real browser: narrow, dark, readable, and without a word to anybody."""

from __future__ import annotations

import pytest

from fakes.reports import (
    make_cost,
    make_empty_report,
    make_fall,
    make_line,
    make_place,
    make_report,
    make_worst,
)
from ragsonde.reporting.html import write_html
from services.chromium import CONTRASTS

pytestmark = pytest.mark.integration

LONG = "w" * 300
OUTSIDE = """return [...document.querySelectorAll('td, th, h2, h3, h4, p, li, figure')].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width && box.right > innerWidth && !one.closest('thead');
}).map((one) => one.textContent.trim().slice(0, 40))"""


def make_full():
    """Everything that can stand in one, with names that do not break."""
    lines = (make_line(), make_line(scorer=LONG, judge=LONG, name=LONG, move=None))
    worst = (make_worst(trace_id=LONG, reason=LONG, link=f"https://page.invalid/traces/{LONG}"),)
    place = make_place(app=LONG, environment=LONG, scorers=lines, worst=worst)
    falls = (make_fall(app=LONG, words=LONG, reason=LONG, link="https://page.invalid/falls/7"), make_fall())
    costs = (make_cost(judge=LONG), make_cost(cost_usd=None, unpriced=3))
    return make_report(app=LONG, places=(place, make_place()), falls=falls, costs=costs)


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    reports = {"full": make_full(), "empty": make_empty_report()}
    for name, report in reports.items():
        (folder / f"{name}.html").write_text(write_html(report), "utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in reports}


@pytest.mark.parametrize("name", ["full", "empty"])
def test_nothing_is_asked_of_anybody(browser, urls, name):
    browser.list_requested()
    browser.open(urls[name])
    assert browser.list_requested() == [urls[name]]


@pytest.mark.parametrize("name", ["full", "empty"])
def test_a_telephone_shows_all_of_it_without_scrolling_sideways(browser, urls, name):
    browser.open(urls[name], width=375)
    assert browser.run("return document.documentElement.scrollWidth") <= 375
    assert browser.run(OUTSIDE) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_wcag_aa(browser, urls, scheme):
    browser.open(urls["full"], scheme=scheme)
    texts = browser.run(CONTRASTS)
    assert texts
    assert [(text, ratio) for text, ratio, is_large in texts if ratio < (3.0 if is_large else 4.5)] == []


def test_pictures_have_a_name_and_bars(browser, urls):
    browser.open(urls["full"])
    names = browser.run("return [...document.querySelectorAll('svg')].map((one) => one.ariaLabel)")
    assert len(names) == 5
    assert all("scores by tenths" in name for name in names)
    heights = browser.run(
        "return [...document.querySelectorAll('svg rect')].map((one) => one.getBoundingClientRect().height)"
    )
    assert min(heights) > 0


def test_on_paper_its_ground_is_white_though_the_screen_is_dark(browser, urls):
    browser.open(urls["full"], scheme="dark")
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert browser.run(ground) != "rgb(255, 255, 255)"
    browser.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    try:
        assert browser.run(ground) == "rgb(255, 255, 255)"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
