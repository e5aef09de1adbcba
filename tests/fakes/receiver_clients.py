"""A client that never stops posting."""

from __future__ import annotations

import itertools
import threading
from contextlib import closing
from http.client import HTTPConnection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Poster(threading.Thread):
    """Posts one body after another to /traces until nobody listens any more.

    Attributes:
        told: what was answered to each body.
        end: the error that it ended with.
    """

    def __init__(self, port: int, write_body: Callable[[int], bytes], *, keeps_connection: bool) -> None:
        super().__init__()
        self.told: dict[bytes, int] = {}
        self.end: OSError | None = None
        self._port, self._write_body, self._keeps = port, write_body, keeps_connection

    def run(self) -> None:
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=30)) as connection:
            try:
                self._post(connection)
            except OSError as error:
                self.end = error

    def _post(self, connection: HTTPConnection) -> None:
        for number in itertools.count():
            body = self._write_body(number)
            connection.request("POST", "/traces", body=body)
            response = connection.getresponse()
            response.read()
            self.told[body] = response.status
            if not self._keeps:
                connection.close()
