"""Under which names a server without a token is read."""

import pytest

from ragsonde.web.host_names import HostNames


@pytest.mark.parametrize(
    ("bound", "header", "is_ours"),
    [
        ("127.0.0.1", None, True),
        ("127.0.0.1", "127.0.0.1:8321", True),
        ("127.0.0.1", "[::1]", True),
        ("127.0.0.1", "localhost.", True),
        ("127.0.0.1", "app.localhost:80", True),
        ("127.0.0.1", "monitor:8321", False),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "127.0.0.1:80@evil.example", False),
        ("127.0.0.1", "localhost, evil.example", False),
        ("0.0.0.0", "10.1.2.3:8321", True),
        ("0.0.0.0", "monitor:8321", True),
        ("0.0.0.0", "monitor.monitoring.svc:8321", False),
        ("0.0.0.0", "evil.example", False),
        ("rag.example", "RAG.example:8321", True),
        ("rag.example", "evil.example", False),
        ("localhost", "monitor", False),
    ],
)
def test_a_name_that_somebody_elsewhere_can_own_is_not_ours(bound, header, is_ours):
    assert HostNames(bound=bound).admits(header) == is_ours


def test_configured_names_are_ours():
    names = HostNames(names=("monitor.monitoring.svc",))
    assert names.admits("Monitor.Monitoring.svc:8321")
    assert not names.admits("x.monitor.monitoring.svc")
