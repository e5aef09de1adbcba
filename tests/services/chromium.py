"""Debian's Chromium, headless, and what of it the tests of the page look at."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import text_to_be_present_in_element
from selenium.webdriver.support.wait import WebDriverWait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver.chrome.webdriver import WebDriver

CONTRASTS = Path(__file__).with_name("contrasts.js").read_text(encoding="utf-8")


WAIT_SECONDS = 20


class Browser:
    """A browser with one window."""

    def __init__(self, driver: WebDriver) -> None:
        self.driver = driver

    def open(self, url: str, *, width: int = 1280, scheme: str = "light") -> None:
        """Loads a page at a width, for people who like it light or dark."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get(url)

    def run(self, script: str):
        """What a script returns that is run in the page."""
        return self.driver.execute_script(script)

    def wait_for(self, text: str) -> None:
        """Returns when the page holds a text; one that was followed to is not there at once."""
        WebDriverWait(self.driver, WAIT_SECONDS).until(
            text_to_be_present_in_element((By.TAG_NAME, "main"), text)
        )
        # a text may stand there before what follows it on the page
        WebDriverWait(self.driver, WAIT_SECONDS).until(
            lambda driver: driver.execute_script("return document.readyState") == "complete"
        )

    def list_requested(self) -> list[str]:
        """URLs that were asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser; without Chromium the test is skipped."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("needs Debian's packages chromium and chromium-driver")
    options = Options()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
