"""One request, and what its answer means for what it sends."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Protocol

from ragsonde.sinks.delivery import DeliveryError
from ragsonde.sinks.time_limit import LimitedHttp, LimitedHttps, TimeLimit
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.http_place import find_url_problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONGEST_ANSWER_BYTES = 64 * 1024
_PASSING = frozenset({408, 425, 429})
"""Refusals that may pass; so may every 5xx."""
_ABOUT_CONTENT = frozenset({400, 413, 415, 422})
"""Bad request, too large, of no known type, cannot be processed."""
_FIRST_SERVER_ERROR = 500
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t -~]*")
"""Of a header, RFC 9110 section 5; what is not ASCII has no meaning there that all agree upon."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET, and take the headers to another host."""

    def http_error_302(self, *_: Any, **__: Any) -> None:  # noqa: ANN401 - whatever it is given
        """None, before anything reads where to: the redirect is an error like another."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class Place(Protocol):
    """Where to: `url`, or the file that holds it."""

    @property
    def url(self) -> str | None: ...  # noqa: D102
    @property
    def url_file(self) -> Path | None: ...  # noqa: D102
    @property
    def headers_file(self) -> Path | None: ...  # noqa: D102
    @property
    def timeout_seconds(self) -> float: ...  # noqa: D102


class Poster:
    """Posts bodies to a configured place; URL, headers and token are read anew where they stand in files.

    Args:
        options: with `url` or `url_file`.
        content_type: of the bodies.
        path: is added to a URL that has none.
        read_token: tells the bearer token in force; None: none is shown.

    Raises:
        ConfigError: a file cannot be read or does not hold what it should.
    """

    def __init__(
        self,
        options: Place,
        *,
        content_type: str,
        path: str = "",
        read_token: Callable[[], str | None] | None = None,
    ) -> None:
        self._options = options
        self._content_type = content_type
        self._path = path
        self._read_token = read_token or (lambda: None)
        self._read_url()
        self._read_headers()

    def post(self, body: bytes) -> bytes:
        """What was answered, at most 64 KiB of it.

        Raises:
            DeliveryError: it was not taken.
        """
        return self.send("POST", body)

    def send(self, method: str, body: bytes | None, *, suffix: str = "") -> bytes:
        """The same by any method, below the configured URL.

        Raises:
            DeliveryError: it was not taken.
        """
        try:
            url = self._read_url()
            request = urllib.request.Request(  # noqa: S310 - http and https only, see find_url_problem
                f"{url.rstrip('/')}{suffix}" if suffix else url,
                data=body,
                headers=self._read_headers(),
                method=method,
            )
        except ConfigError as error:
            raise DeliveryError(str(error)) from error
        seconds = self._options.timeout_seconds
        with TimeLimit(seconds) as limit:
            try:
                answer = _open(request, limit, seconds=seconds)
            except urllib.error.HTTPError as error:
                with error:
                    raise _explain(error) from error
            except (OSError, HTTPException) as error:
                words = _tell_late(seconds) if limit.is_over else f"cannot be reached: {type(error).__name__}"
                raise DeliveryError(words) from error
            except ValueError as error:
                # its text may hold a header; whatever shows this error shall not show that one
                raise DeliveryError(f"cannot be sent: {type(error).__name__}") from None
            if limit.is_over:
                raise DeliveryError(_tell_late(seconds))
        return answer

    def _read_url(self) -> str:
        url = self._options.url
        if url is None:
            url = _read(self._options.url_file, key="url_file").strip()
            problem = find_url_problem(url)
            if problem is not None:
                raise ConfigError(f"url_file: {self._options.url_file}: {problem}")
        scheme, _, rest = url.partition("://")
        host, _, path = rest.partition("/")
        return url if path or not self._path else f"{scheme}://{host}{self._path}"

    def _read_headers(self) -> dict[str, str]:
        headers = {"content-type": self._content_type, "user-agent": "ragsonde"}
        if (token := self._read_token()) is not None:
            if not _VALUE.fullmatch(token):
                raise ConfigError("token: found characters that no header can hold, expected visible ASCII")
            headers["authorization"] = f"Bearer {token}"
        if self._options.headers_file is None:
            return headers
        text = _read(self._options.headers_file, key="headers_file")
        for number, line in enumerate(text.splitlines(), start=1):
            name, colon, value = line.partition(":")
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if not colon or not _NAME.fullmatch(name.strip()) or not _VALUE.fullmatch(value.strip()):
                raise ConfigError(
                    f"headers_file: {self._options.headers_file}: line {number} is no `Name: value` of "
                    "visible ASCII characters"
                )
            headers[name.strip().lower()] = value.strip()
        return headers


def _open(request: urllib.request.Request, limit: TimeLimit, *, seconds: float) -> bytes:
    opener = urllib.request.build_opener(_NoRedirects, LimitedHttp(limit), LimitedHttps(limit))
    with opener.open(request, timeout=seconds) as response:
        answer: bytes = response.read(LONGEST_ANSWER_BYTES)
    return answer


def _tell_late(seconds: float) -> str:
    return f"no whole answer within {seconds:g} s"


def _read(path: Path | None, *, key: str) -> str:
    if path is None:
        raise ConfigError(f"{key}: is not set")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise ConfigError(f"{key}: {path} cannot be read ({cause})") from error


def _explain(error: urllib.error.HTTPError) -> DeliveryError:
    may_pass = error.code in _PASSING or error.code >= _FIRST_SERVER_ERROR
    retry_after = error.headers.get("retry-after", "") if error.headers else ""
    return DeliveryError(
        f"answered {error.code}",
        is_final=not may_pass,
        is_about_content=error.code in _ABOUT_CONTENT,
        retry_after_seconds=float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None,
    )
