"""Asks a page as browsers and scrapers do."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

TOKEN = "correct-horse-battery"


def ask(server, path, *, method="GET", form=None, **headers):
    """Status, headers and body of one answer; redirects are not followed."""
    address = urlsplit(server.url)
    with closing(HTTPConnection(address.hostname, address.port, timeout=10)) as connection:
        body = urlencode(form) if form is not None else None
        if form is not None:
            headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=named)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def log_in(server, token=TOKEN, **form):
    return ask(server, "/login", method="POST", form={"token": token, **form})


def read_cookie(headers):
    return headers["Set-Cookie"].partition(";")[0]
