"""The page as a WSGI application: who may read, which view answers, what every answer carries."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from werkzeug import Request, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, ServiceUnavailable
from werkzeug.routing import Map, Rule
from werkzeug.utils import redirect

from ragsonde.page.authentication import Verdict
from ragsonde.page.rendering import render
from ragsonde_schemas.errors import DatabaseLostError, RagsondeError
from ragsonde_schemas.token import shows_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from ragsonde.page.authentication import Authentication
    from ragsonde.page.views import Views

logger = logging.getLogger(__name__)

REQUEST_MAX_BYTES = 16 * 1024
_METRICS = "/metrics"
_LOGIN = "/login"
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


class MachineAnswer(Protocol):
    """What a path for machines answers."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def content_type(self) -> str:
        """The media type of the body."""
        ...

    @property
    def body(self) -> bytes:
        """The whole of it."""
        ...


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
    """

    authentication: Authentication
    views: Views
    machine_routes: Mapping[str, Callable[[str], MachineAnswer]]
    read_metrics_token: Callable[[], str | None]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """One answer, as WSGI (PEP 3333) defines it."""
        request = PageRequest(environ)
        try:
            response = self._answer(request)
        except HTTPException as error:
            response = _describe(error)
        except DatabaseLostError:
            response = _describe(ServiceUnavailable("Postgres is away; the page is back when it is."))
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
        match self.authentication.judge_request(request):
            case Verdict.ADMITTED:
                return self._show(request)
            case Verdict.MUST_LOG_IN:
                return redirect(f"{_LOGIN}?next={quote(request.full_path.rstrip('?'), safe='/')}", 303)
            case Verdict.UNREADABLE:
                raise ServiceUnavailable("The token cannot be read; the monitor's log says why.")
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

    def _answer_machine(self, request: Request, route: Callable[[str], MachineAnswer]) -> Response:
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed(["GET", "HEAD"])
        if request.path == _METRICS and not self._may_scrape(request):
            return Response(
                "found no token or another one, expected the header Authorization: Bearer TOKEN\n",
                401,
                {"WWW-Authenticate": 'Bearer realm="ragsonde"'},
                mimetype="text/plain",
            )
        shown = route(request.headers.get("Accept", ""))
        return Response(shown.body, shown.status, content_type=shown.content_type)

    def _may_scrape(self, request: Request) -> bool:
        try:
            token = self.read_metrics_token()
        except RagsondeError:
            logger.exception("token_unreadable")
            return False
        return token is None or shows_token(request.headers.get("Authorization", ""), token=token)

    def _log_in(self, request: Request) -> Response:
        target = _keep_local(request.values.get("next", "/"))
        if request.method != "POST":
            return Response(render("login.html", target=target, is_wrong=False), mimetype="text/html")
        if request.form.get("leave"):
            return self.authentication.log_out(target=_LOGIN)
        entered = self.authentication.log_in(request, shown=request.form.get("token", ""), target=target)
        if entered is not None:
            return entered
        return Response(render("login.html", target=target, is_wrong=True), 401, mimetype="text/html")

    def _show(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed(["GET", "HEAD"])
        routes = _ROUTES.bind_to_environ(request.environ)
        endpoint, arguments = routes.match()
        html = getattr(self.views, endpoint)(request.args, **arguments)
        if html is None:
            raise NotFound
        return Response(html, mimetype="text/html")


_ROUTES = Map(
    [
        Rule("/", endpoint="show_overview"),
        Rule("/traces/<path:trace_id>", endpoint="show_trace"),
        Rule("/alerts/<name>", endpoint="show_alert"),
    ]
)


def _keep_local(target: str) -> str:
    """A path of this page: a link to the login must lead nowhere else."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_local else "/"


def _describe(error: HTTPException) -> Response:
    """A page in words for what went wrong, with the error's status and headers."""
    response = Response(
        render("problem.html", title=error.name, text=error.description or ""),
        error.code or 500,
        mimetype="text/html",
    )
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(error.valid_methods)
    return response
