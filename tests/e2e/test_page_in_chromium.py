"""The page in a real browser: narrow, dark, by keyboard, readable, and without a word to anybody else."""

from __future__ import annotations

import base64
import os
from itertools import pairwise
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from services.chromium import CONTRASTS
from services.page_ground import LONG, PATHS, VIEWS

pytestmark = pytest.mark.integration

SCREENSHOTS = "RAGSONDE_SCREENSHOTS"
"""Names the folder that pictures of each view are put into; `build/screenshots` where it is not set."""


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


OUTSIDE = """return [...document.querySelectorAll('td, th, dd, dt')].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width && box.right > innerWidth && !one.closest('thead');
}).map((one) => one.textContent.trim().slice(0, 40))"""


@pytest.mark.parametrize("path", PATHS)
def test_on_a_telephone_no_cell_lies_outside(browser, url, path):
    browser.open(url + path, width=375)
    browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)")
    assert browser.run(OUTSIDE) == []


def test_on_a_telephone_a_cell_stands_under_the_one_before_with_its_heading(browser, url):
    browser.open(url + VIEWS["alert"], width=375)
    cell = "document.querySelector('td[data-name=\"empty retrieval\"]')"
    assert browser.run(f"return {cell}.getBoundingClientRect().left") < 40
    assert browser.run(f"return getComputedStyle({cell}, '::before').content") == '"empty retrieval: "'


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("path", PATHS)
def test_what_scrolls_can_be_reached_by_keyboard_and_has_a_name(browser, url, path, width):
    browser.open(url + path, width=width)
    scrolling = """return [...document.querySelectorAll('main *')].filter((one) =>
      getComputedStyle(one).overflowX === 'auto' && one.scrollWidth > one.clientWidth &&
      (one.tabIndex < 0 || !one.ariaLabel)).map((one) => one.className)"""
    assert browser.run(scrolling) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/login", "/places"])
def test_the_edges_of_fields_and_buttons_are_seen(browser, url, path, scheme):
    """WCAG 2.1, 1.4.11: three to one."""
    browser.open(url + path, scheme=scheme)
    probe = """document.querySelectorAll('input:not([type=hidden]), button').forEach((one) => {
      const line = document.createElement('b'); line.textContent = 'edge';
      line.style.color = getComputedStyle(one).borderTopColor; one.after(line); });"""
    browser.run(probe)
    edges = [ratio for text, ratio, _ in browser.run(CONTRASTS) if text == "edge"]
    assert edges
    assert min(edges) >= 3


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("name", VIEWS)
def test_a_picture_is_taken_of_each_view(browser, url, request, name, width, scheme):  # noqa: PLR0917 - fixtures
    folder = Path(os.environ.get(SCREENSHOTS) or request.config.rootpath / "build" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    browser.open(url + VIEWS[name], width=width, scheme=scheme)
    whole = {"format": "png", "captureBeyondViewport": True}
    taken = browser.driver.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
    picture = folder / f"{name}-{width}-{scheme}.png"
    picture.write_bytes(base64.b64decode(taken))
    assert picture.read_bytes().startswith(b"\x89PNG")
