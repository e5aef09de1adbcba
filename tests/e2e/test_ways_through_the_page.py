"""The ways through the page in a real browser: from a number or an alert to the verdicts, and in and out."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.keys import Keys

from services.page_ground import ALERT, LONG, TOKEN, VIEWS, serve

pytestmark = pytest.mark.integration


def ask(url, path):
    """The status of the answer to a path."""
    address = urlsplit(url)
    with closing(HTTPConnection(address.hostname, address.port, timeout=10)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def test_every_link_of_the_page_leads_somewhere(browser, url):
    found = set()
    for path in VIEWS.values():
        browser.open(url + path)
        found |= set(
            browser.run("return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
        )
    links = sorted(link for link in found if link.startswith("/"))
    assert any(link.startswith("/traces?") for link in links)
    assert any("page=2" in link for link in links)
    unknown = tuple(f"/traces/{trace_id}?" for trace_id in ("t-2", "t-3"))
    assert [link for link in links if not link.startswith(unknown) and ask(url, link) != 200] == []


def test_from_an_alert_to_the_offending_context_in_three_clicks(browser, url):
    browser.open(f"{url}{ALERT}?app=shop&environment=production")  # the first: the link in the alert
    browser.driver.find_element("link text", LONG).click()
    browser.wait_for("Contexts, as gpt@ffffff judged them")
    browser.driver.find_element("link text", "lexical@ffffff").click()
    browser.wait_for("Contexts, as lexical@ffffff judged them")
    context = browser.driver.find_element("id", "record-1-context-2").text
    assert "not relevant" in context
    assert "A battery should not burn." in context


def test_from_an_alert_about_a_fall_to_the_offending_context_in_three_clicks(browser, url):
    browser.open(url + VIEWS["alert-of-falls"])  # the first: the link in the alert
    browser.driver.find_element("partial link text", "weighted relevance fell by .12").click()
    browser.wait_for("How far, and how sure")
    browser.driver.find_element("link text", LONG).click()
    browser.wait_for("Contexts, as lexical@ffffff judged them")
    assert "A battery should not burn." in browser.driver.find_element("id", "record-1-context-2").text


def test_from_the_verdict_to_the_fall_in_one_click(browser, url):
    browser.open(url)
    browser.driver.find_element("partial link text", "position by lexical fell by .12").click()
    browser.wait_for("What was told and done")


def test_from_an_alert_about_all_apps_to_the_verdicts_in_two_clicks(browser, url):
    browser.open(url + ALERT)  # the first: the link in the alert
    browser.driver.find_element("link text", LONG).click()
    browser.wait_for("Contexts, as gpt@ffffff judged them")


def test_from_a_bar_of_a_histogram_to_the_verdicts_in_two_clicks(browser, url):
    browser.open(url)
    browser.driver.find_element("css selector", ".histogram a").click()
    browser.wait_for("raw score 0 to 0.1")
    browser.driver.find_element("link text", LONG).click()
    browser.wait_for("Contexts, as gpt@ffffff judged them")


def test_a_person_logs_in_with_the_token(browser):
    server = serve(auth="token", token=TOKEN)
    try:
        browser.open(server.url)
        browser.wait_for("Log in")
        browser.driver.find_element("id", "token").send_keys("wrong", Keys.ENTER)
        browser.wait_for("That is not the token.")
        browser.driver.find_element("id", "token").send_keys(TOKEN, Keys.ENTER)
        browser.wait_for("shop, production")
        browser.driver.find_element("xpath", "//button[text()='Log out']").click()
        browser.wait_for("Log in")
    finally:
        server.close()
