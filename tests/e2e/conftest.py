"""What the tests of the page in a real browser share: the browser, and the page it opens."""

from __future__ import annotations

import pytest

from services.chromium import open_browser
from services.page_ground import serve
from services.up_stack import end_stacks


@pytest.fixture(scope="module", autouse=True)
def _no_stack_is_left():
    yield
    end_stacks()


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url():
    server = serve()
    yield server.url
    server.close()
