"""Who may read the page, under which names."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ragsonde.page.authentication import COOKIE, SESSION_SECONDS
from ragsonde.page.options import PageOptions
from ragsonde.web.host_names import HostNames
from services.page_client import TOKEN, ask, log_in, read_cookie


class TestToken:
    def test_who_has_no_session_is_led_to_the_login_and_back(self, start):
        server = start(auth="token", token=TOKEN)
        status, headers, _ = ask(server, "/?days=3")
        assert status == 303
        assert headers["Location"] == "/login?next=/%3Fdays%3D3"
        _, _, body = ask(server, headers["Location"])
        assert 'name="next" value="/?days=3"' in body
        status, headers, _ = log_in(server, next="/?days=3")
        assert (status, headers["Location"]) == (303, "/?days=3")
        assert ask(server, "/", Cookie=read_cookie(headers))[0] == 200

    def test_the_cookie_holds_no_token_and_is_kept_from_scripts_and_other_sites(self, start):
        _, headers, _ = log_in(start(auth="token", token=TOKEN))
        cookie = headers["Set-Cookie"]
        assert TOKEN not in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie, "a link of an alert brings it along"
        assert f"Max-Age={SESSION_SECONDS}" in cookie

    def test_behind_a_proxy_that_encrypts_the_cookie_is_for_encrypted_connections_alone(self, start):
        server = start(auth="token", token=TOKEN)
        form = {"token": TOKEN}
        told = ask(server, "/login", method="POST", form=form, X_Forwarded_Proto="https")[1]
        assert "Secure" in told["Set-Cookie"]
        assert "Secure" not in log_in(server)[1]["Set-Cookie"]

    @pytest.mark.parametrize("shown", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ключ"])
    def test_another_token_is_refused(self, start, shown):
        status, headers, body = log_in(start(auth="token", token=TOKEN), shown)
        assert status == 401
        assert "Set-Cookie" not in headers
        assert "That is not the token." in body

    @pytest.mark.parametrize("forged", ["", "reader", "reader.abc.def", "x" * 5000])
    def test_a_forged_cookie_is_refused(self, start, forged):
        server = start(auth="token", token=TOKEN)
        assert ask(server, "/", Cookie=f"{COOKIE}={forged}")[0] == 303

    def test_a_replaced_token_ends_all_sessions(self, start, tmp_path):
        path = tmp_path / "token"
        path.write_text(TOKEN)
        server = start(auth="token", token_file=path)
        cookie = read_cookie(log_in(server)[1])
        assert ask(server, "/", Cookie=cookie)[0] == 200
        path.write_text("another-token-entirely")
        assert ask(server, "/", Cookie=cookie)[0] == 303

    def test_a_token_file_that_is_gone_lets_nobody_in(self, start, tmp_path):
        path = tmp_path / "token"
        path.write_text(TOKEN)
        server = start(auth="token", token_file=path)
        path.unlink()
        assert ask(server, "/")[0] == 503
        status, _, body = log_in(server)
        assert status == 503
        assert "The token cannot be read" in body
        path.write_text("")
        assert log_in(server)[0] == 503

    @pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "x"])
    def test_the_login_leads_to_no_other_site(self, start, target):
        _, headers, _ = log_in(start(auth="token", token=TOKEN), next=target)
        assert headers["Location"] == "/"

    def test_a_program_may_show_it_as_a_bearer(self, start):
        server = start(auth="token", token=TOKEN)
        assert ask(server, "/", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(server, "/", Authorization=f"Basic {TOKEN}")[0] == 303

    def test_who_leaves_loses_the_cookie(self, start):
        server = start(auth="token", token=TOKEN)
        status, headers, _ = ask(server, "/logout", method="POST", form={})
        assert (status, headers["Location"]) == (303, "/login")
        assert f"{COOKIE}=;" in headers["Set-Cookie"]

    def test_a_link_ends_no_session(self, start):
        status, headers, _ = ask(start(auth="token", token=TOKEN), "/logout")
        assert (status, headers["Allow"]) == (405, "POST")
        assert "Set-Cookie" not in headers

    def test_probes_are_open(self, start):
        assert ask(start(auth="token", token=TOKEN), "/health/live")[0] == 200


class TestNames:
    """Whoever shows no token is answered under our names only: a web page must not bring one of its own."""

    @pytest.mark.parametrize(
        "host",
        ["localhost", "LOCALHOST:8321", "127.0.0.1:8321", "[::1]:8321", "10.0.0.7", "rag.example.org"],
    )
    def test_under_ours_everybody_is_answered(self, start, host):
        server = start(hosts=HostNames(names=("Rag.example.org",)))
        for path in ("/", "/metrics"):
            assert ask(server, path, Host=host)[0] == 200

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "a b"])
    def test_under_another_nothing_is_read(self, start, watching, host):
        watching.refuses_all = True
        for path in ("/", "/traces/t-1", "/metrics"):
            status, _, body = ask(start(), path, Host=host)
            assert status == 421
            assert "host_names" in body
        assert ask(start(), "/health/live", Host=host)[0] == 200

    def test_who_shows_a_token_may_use_any(self, start):
        server = start(auth="token", token=TOKEN, metrics_token="scrape-me")
        assert ask(server, "/", Host="rag.example", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(server, "/metrics", Host="rag.example", Authorization="Bearer scrape-me")[0] == 200
        assert ask(server, "/", Host="rag.example")[0] == 303

    def test_behind_a_proxy_on_this_machine_the_name_counts_too(self, start):
        server = start(auth="proxy_header")
        assert ask(server, "/", Host="evil.example", X_Forwarded_User="ada")[0] == 421
        named = start(auth="proxy_header", hosts=HostNames(names=("rag.example",)))
        assert ask(named, "/", Host="rag.example", X_Forwarded_User="ada")[0] == 200


class TestProxyHeader:
    def test_a_proxy_names_the_reader(self, start):
        server = start(auth="proxy_header")
        assert ask(server, "/", X_Forwarded_User="ada")[0] == 200
        assert ask(server, "/")[0] == 403
        assert ask(server, "/", X_Forwarded_User=" ")[0] == 403

    def test_a_header_from_elsewhere_counts_for_nothing(self, start):
        server = start(auth="proxy_header", proxies=["10.0.0.0/8"])
        assert ask(server, "/", X_Forwarded_User="ada")[0] == 403

    def test_the_header_may_have_another_name(self, start):
        server = start(auth="proxy_header", header="X-Auth-Request-Email")
        assert ask(server, "/", X_Auth_Request_Email="ada@example.org")[0] == 200
        assert ask(server, "/", X_Forwarded_User="ada")[0] == 403


class TestSeries:
    def test_they_are_served_as_asked_for(self, start):
        status, _, body = ask(start(), "/metrics", Accept="application/openmetrics-text")
        assert (status, body) == (200, "series for application/openmetrics-text")

    def test_a_scraper_shows_its_own_token(self, start):
        server = start(auth="token", token=TOKEN, metrics_token="scrape-me")
        status, headers, _ = ask(server, "/metrics")
        assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="ragsonde"')
        assert ask(server, "/metrics", Authorization="Bearer scrape-me")[0] == 200
        assert ask(server, "/", Authorization="Bearer scrape-me")[0] == 303


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"auth": "token"}, "page.token_file"),
        ({"token": TOKEN}, "asks for none"),
        ({"auth": "proxy_header", "proxies": ["proxy.example"]}, "neither an address nor a network"),
        ({"auth": "proxy_header", "header": "X User"}, "pattern"),
        ({"auth": "token", "token": TOKEN, "token_file": "t"}, "keep one"),
    ],
)
def test_options_that_let_in_nobody_or_everybody_are_refused(options, problem):
    with pytest.raises(ValidationError, match=problem):
        PageOptions.model_validate(options)
