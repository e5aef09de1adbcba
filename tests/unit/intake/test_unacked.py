import pytest

from ragsonde.cli.failures import ExitCode, choose_exit_code
from ragsonde_schemas.errors import BrokerLostError

redis = pytest.importorskip("redis", reason="[embedded] is not installed")
from ragsonde.intake.unacked import worker_presence  # noqa: E402 - needs redis


@pytest.mark.parametrize("kind", ["redis+socket", "redis"])
def test_an_embedded_broker_that_is_away_is_a_lost_broker_and_no_fault_of_ours(tmp_path, kind):
    where = "127.0.0.1:1/0" if kind == "redis" else f"{tmp_path}/no.sock"
    with (
        pytest.raises(BrokerLostError, match=r"ragsonde up") as caught,
        worker_presence(tmp_path, broker_url=f"{kind}://{where}"),
    ):
        pytest.fail("must not begin")
    assert choose_exit_code(caught.value) is ExitCode.UNAVAILABLE


def test_what_the_worker_itself_raises_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("ragsonde.intake.unacked.restore_unacked", lambda _url: 0)
    with pytest.raises(redis.ConnectionError), worker_presence(tmp_path, broker_url="redis://127.0.0.1/"):
        raise redis.ConnectionError
