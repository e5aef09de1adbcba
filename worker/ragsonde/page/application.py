"""The page as a WSGI application: who may read, which view answers, what every answer carries."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from werkzeug import Request, Response
from werkzeug.exceptions import BadRequest, HTTPException, MethodNotAllowed, NotFound, ServiceUnavailable
from werkzeug.routing import Map, Rule
from werkzeug.utils import redirect

from ragsonde.page.authentication import Verdict
from ragsonde.page.reading_room import RETRY_SECONDS, ReadingRoom
from ragsonde.page.rendering import Missing, Partial, render
from ragsonde.web.host_names import HostNames
from ragsonde_schemas.errors import DatabaseLostError, GivenUpError, LockedOutError, RagsondeError
from ragsonde_schemas.token import shows_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from ragsonde.page.authentication import Authentication
    from ragsonde.page.views import Views
    from ragsonde.ports import PageAnswer

logger = logging.getLogger(__name__)

REQUEST_MAX_BYTES = 16 * 1024
_METRICS = "/metrics"
_LOGIN = "/login"
_LOGOUT = "/logout"
_VALUE_CHARACTERS = 512
"""Of a part of a URL: longer ones name nothing that is stored."""
_NOTHING_THERE = "This page has nothing under this address."
_TOKEN_UNREADABLE = "The token cannot be read; the monitor's log says why."  # noqa: S105 - no token
_SECURITY_HEADERS = {
    # styles are in the page itself, everything else is refused: nothing is loaded from anywhere
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class PageRequest(Request):
    """A request whose body is small or refused."""

    max_content_length = REQUEST_MAX_BYTES
    max_form_memory_size = REQUEST_MAX_BYTES
    max_form_parts = 10


@dataclass(frozen=True, kw_only=True)
class PageApplication:
    """Answers people with HTML, scrapers and probes with what they expect.

    Attributes:
        authentication: of people.
        views: what they see.
        machine_routes: `/metrics` and `/health/...`, by path; the argument is the Accept header.
        read_metrics_token: what `/metrics` asks for, read anew for each request; None: nothing. Where it
            raises, nobody is let in.
        hosts: names under which it is read by who shows no token.
        room: where the views read.
    """

    authentication: Authentication
    views: Views
    machine_routes: Mapping[str, Callable[[str], PageAnswer]]
    read_metrics_token: Callable[[], str | None]
    hosts: HostNames = field(default_factory=HostNames)
    room: ReadingRoom = field(default_factory=ReadingRoom)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """One answer, as WSGI (PEP 3333) defines it."""
        request = PageRequest(environ)
        try:
            response = self._answer(request)
        except HTTPException as error:
            response = _describe(error)
        except RagsondeError as error:
            logger.warning(
                "page_unreadable", extra={"path": request.path[:200], "error": type(error).__name__}
            )
            response = _describe(ServiceUnavailable(_say_why(error), retry_after=RETRY_SECONDS))
        except Exception:
            # whatever it is, this request ends with it and no other
            logger.exception("page_failed", extra={"path": request.path[:200]})
            response = Response(
                render(
                    "problem.html",
                    title="A fault of ragsonde itself",
                    text="Its log has the event page_failed.",
                ),
                500,
                mimetype="text/html",
            )
        for name, value in _SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        return response(environ, start_response)

    def _answer(self, request: Request) -> Response:
        machine = self.machine_routes.get(request.path)
        if machine is not None:
            return self._answer_machine(request, machine)
        if request.path == _LOGIN:
            return self._log_in(request)
        if request.path == _LOGOUT:
            return self._log_out(request)
        refusal = self._refuse_reader(request)
        return self._show(request) if refusal is None else refusal

    def _refuse_reader(self, request: Request) -> Response | None:
        host = request.headers.get("Host")
        if self.authentication.trusts_names(request) and not self.hosts.admits(host):
            return _refuse_name(self.hosts.describe(host))
        match self.authentication.judge_request(request):
            case Verdict.ADMITTED:
                return None
            case Verdict.MUST_LOG_IN:
                return redirect(f"{_LOGIN}?next={quote(_name_target(request), safe='/')}", 303)
            case Verdict.UNREADABLE:
                raise ServiceUnavailable(_TOKEN_UNREADABLE)
            case Verdict.REFUSED:
                return Response(
                    render(
                        "problem.html",
                        title="Not let in",
                        text="This page is read through the proxy that names its readers.",
                    ),
                    403,
                    mimetype="text/html",
                )

    def _answer_machine(self, request: Request, route: Callable[[str], PageAnswer]) -> Response:
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed(["GET", "HEAD"])
        if request.path == _METRICS and (refusal := self._refuse_scrape(request)) is not None:
            return refusal
        shown = route(request.headers.get("Accept", ""))
        return Response(shown.body, shown.status, content_type=shown.content_type)

    def _refuse_scrape(self, request: Request) -> Response | None:
        try:
            token = self.read_metrics_token()
        except RagsondeError:
            logger.exception("token_unreadable")
            return Response(f"{_TOKEN_UNREADABLE}\n", 503, mimetype="text/plain")
        if token is None:
            host = request.headers.get("Host")
            return None if self.hosts.admits(host) else _refuse_name(self.hosts.describe(host))
        if shows_token(request.headers.get("Authorization", ""), token=token):
            return None
        return Response(
            "found no token or another one, expected the header Authorization: Bearer TOKEN\n",
            401,
            {"WWW-Authenticate": 'Bearer realm="ragsonde"'},
            mimetype="text/plain",
        )

    def _log_in(self, request: Request) -> Response:
        target = _keep_local(request.values.get("next", "/"))
        if request.method != "POST":
            return Response(render("login.html", target=target, is_wrong=False), mimetype="text/html")
        entered = self.authentication.log_in(request, shown=request.form.get("token", ""), target=target)
        match entered:
            case Verdict.UNREADABLE:
                raise ServiceUnavailable(_TOKEN_UNREADABLE)
            case Verdict.REFUSED:
                return Response(render("login.html", target=target, is_wrong=True), 401, mimetype="text/html")
            case _:
                return entered

    def _log_out(self, request: Request) -> Response:
        if request.method != "POST":
            raise MethodNotAllowed(["POST"])
        return self.authentication.log_out(target=_LOGIN)

    def _show(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed(["GET", "HEAD"])
        if not all(_is_storable(text) for pair in request.args.items(multi=True) for text in pair):
            raise BadRequest(
                "The address holds a character that cannot be stored, or a part of more than "
                f"{_VALUE_CHARACTERS} characters."
            )
        # the header Host may hold what is no name at all
        endpoint, arguments = _ROUTES.bind("localhost", path_info=request.path).match()
        if not all(map(_is_storable, arguments.values())):
            raise NotFound
        view = getattr(self.views, endpoint)
        html = self.room.read(lambda: view(request.args, **arguments))
        if html is None:
            raise NotFound
        if isinstance(html, Partial):
            return Response(html, 503, {"Retry-After": str(RETRY_SECONDS)}, mimetype="text/html")
        return Response(html, 404 if isinstance(html, Missing) else 200, mimetype="text/html")


_ROUTES = Map(
    [
        Rule("/", endpoint="show_overview"),
        Rule("/traces", endpoint="show_list"),
        Rule("/traces/<path:trace_id>", endpoint="show_trace"),
        Rule("/trace", endpoint="show_trace"),
        Rule("/places", endpoint="show_places"),
        Rule("/alerts", endpoint="show_alerts"),
        Rule("/alerts/<name>", endpoint="show_alert"),
        Rule("/falls", endpoint="show_falls"),
        Rule("/falls/<number>", endpoint="show_fall"),
        Rule("/runbooks/<name>", endpoint="show_runbook"),
    ],
    merge_slashes=False,  # ids hold what they hold
)


def _name_target(request: Request) -> str:
    """What was asked for, as it was written: an id keeps its question marks and slashes."""
    query = request.query_string.decode("latin-1")
    return quote(request.path, safe="/:@") + (f"?{query}" if query else "")


def _keep_local(target: str) -> str:
    """A path of this page: a link to the login must lead nowhere else."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_local else "/"


def _is_storable(text: str) -> bool:
    """True for what may be in a column: Postgres refuses NUL, and ids and names are short."""
    return len(text) <= _VALUE_CHARACTERS and "\0" not in text


def _say_why(error: RagsondeError) -> str:
    """For a person who waits for the page."""
    match error:
        case LockedOutError():
            return (
                "Postgres is there, but somebody keeps a table locked that this page reads: a migration, "
                "perhaps, or a command that was left open. The page is back when the lock is gone."
            )
        case DatabaseLostError():
            return "Postgres is away; the page is back when it is."
        case GivenUpError():
            return "Postgres is there, but gave up on what this page reads: it takes too long. Try it later."
        case _:
            return "What this page shows cannot be read now; the monitor's log has the event page_unreadable."


def _refuse_name(text: str) -> Response:
    return Response(f"{text}\n", HTTPStatus.MISDIRECTED_REQUEST, mimetype="text/plain")


def _describe(error: HTTPException) -> Response:
    """A page in words for what went wrong, with the error's status and headers."""
    text = _NOTHING_THERE if isinstance(error, NotFound) else error.description or ""
    response = Response(
        render("problem.html", title=error.name, text=text),
        error.code or 500,
        mimetype="text/html",
    )
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(error.valid_methods)
    if isinstance(error, ServiceUnavailable) and isinstance(error.retry_after, int):
        response.headers["Retry-After"] = str(error.retry_after)
    return response
