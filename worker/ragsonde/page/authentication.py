"""Who may read the page: decided before a view is chosen."""

from __future__ import annotations

import ipaddress
import logging
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Literal

from itsdangerous import BadSignature, TimestampSigner
from werkzeug.utils import redirect

from ragsonde.page.options import PageAuth, PageOptions
from ragsonde.web.host_names import is_address
from ragsonde_schemas.errors import RagsondeError
from ragsonde_schemas.token import is_same_token, shows_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug import Request, Response

logger = logging.getLogger(__name__)

COOKIE = "ragsonde_session"
SESSION_SECONDS = 12 * 3600
"""A working day; after it the token is asked for again."""
_SAME_SITE = "Lax"
"""Who follows a link of an alert is let in at once: a GET changes nothing, others bring no cookie."""
_SALT = "ragsonde.page.session"
_READER = "reader"


class Verdict(Enum):
    """What becomes of a request."""

    ADMITTED = auto()
    MUST_LOG_IN = auto()
    REFUSED = auto()
    UNREADABLE = auto()


@dataclass(frozen=True, kw_only=True)
class Authentication:
    """Lets readers in.

    Attributes:
        options: as configured.
        read_token: the token in force, read anew for each request; None where none is asked for. Where it
            raises, nobody is let in.
    """

    options: PageOptions
    read_token: Callable[[], str | None]

    def judge_request(self, request: Request) -> Verdict:
        """Whether the one who asks may read the page."""
        match self.options.auth:
            case PageAuth.NONE:
                return Verdict.ADMITTED
            case PageAuth.PROXY_HEADER:
                return self._judge_proxy(request)
            case PageAuth.TOKEN:
                return self._judge_token(request)

    def trusts_names(self, request: Request) -> bool:
        """True where no secret keeps out a web page that asks under a name of its own.

        Behind a proxy on this machine, too: a browser beside it could write the proxy's header.
        """
        match self.options.auth:
            case PageAuth.NONE:
                return True
            case PageAuth.PROXY_HEADER:
                client = request.remote_addr or ""
                return is_address(client) and ipaddress.ip_address(client).is_loopback
            case PageAuth.TOKEN:
                return False

    def log_in(
        self, request: Request, *, shown: str, target: str
    ) -> Response | Literal[Verdict.REFUSED, Verdict.UNREADABLE]:
        """A redirect, with the session's cookie where a token is asked for; else why there is none."""
        if self.options.auth is not PageAuth.TOKEN:
            return redirect(target, 303)
        token = self._read()
        if token is None:
            return Verdict.UNREADABLE
        if not is_same_token(shown.strip(), token):
            logger.warning("page_login_refused", extra={"client": request.remote_addr})
            return Verdict.REFUSED
        response = redirect(target, 303)
        response.set_cookie(
            COOKIE,
            _sign_with(token).sign(_READER).decode(),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite=_SAME_SITE,
            secure=self._is_secure(request),
        )
        return response

    def log_out(self, *, target: str) -> Response:
        """A redirect that takes the cookie away."""
        response = redirect(target, 303)
        response.delete_cookie(COOKIE, httponly=True, samesite=_SAME_SITE)
        return response

    def _judge_proxy(self, request: Request) -> Verdict:
        """The header counts only from a proxy: anybody else could write it."""
        is_named = bool(request.headers.get(self.options.header, "").strip())
        return Verdict.ADMITTED if is_named and self._is_proxy(request.remote_addr) else Verdict.REFUSED

    def _is_secure(self, request: Request) -> bool:
        """True when the person's own connection is encrypted; a proxy tells it."""
        is_told = request.headers.get("X-Forwarded-Proto", "") == "https"
        return request.is_secure or (is_told and self._is_proxy(request.remote_addr))

    def _is_proxy(self, address: str | None) -> bool:
        try:
            client = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        return any(client in ipaddress.ip_network(proxy) for proxy in self.options.proxies)

    def _judge_token(self, request: Request) -> Verdict:
        token = self._read()
        if token is None:
            return Verdict.UNREADABLE
        if shows_token(request.headers.get("Authorization", ""), token=token):
            return Verdict.ADMITTED
        try:
            _sign_with(token).unsign(request.cookies.get(COOKIE, ""), max_age=SESSION_SECONDS)
        except BadSignature:
            return Verdict.MUST_LOG_IN
        return Verdict.ADMITTED

    def _read(self) -> str | None:
        try:
            return self.read_token()
        except RagsondeError:
            logger.exception("token_unreadable")
            return None


def _sign_with(token: str) -> TimestampSigner:
    """The cookie holds no token, and a replaced token ends all sessions."""
    return TimestampSigner(token, salt=_SALT)
