import pytest

from ragsonde.storage.engine import read_url
from ragsonde_schemas.errors import ConfigError


@pytest.mark.parametrize(
    "url",
    [
        "hunter2",
        "mysql://shop:hunter2@h/d",
        "postgresql://shop:hunter2@h:notaport/d",
        "postgresql://shop:x@hunter2:y@h/d",
    ],
)
def test_what_is_no_url_of_postgres_is_told_without_its_password(url):
    with pytest.raises(ConfigError, match=r"database_url: .*expected postgresql://") as caught:
        read_url(url)

    assert "hunter2" not in str(caught.value)


def test_the_driver_is_ours_whatever_the_scheme():
    assert read_url("postgres://u@h:5432/d").drivername == "postgresql+psycopg"
