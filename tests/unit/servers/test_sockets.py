from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from ragsonde.servers.sockets import LONGEST_SOCKET_PATH_BYTES, choose_socket_dir, drop_socket_dir
from ragsonde_schemas.errors import SetupError

OWNER = (os.geteuid(), os.getegid())


@pytest.fixture
def chosen(request):
    """Chooses for a preferred directory; what was made for it is removed afterwards."""

    def choose(preferred: Path) -> Path:
        directory = choose_socket_dir(preferred, socket_name="s.sock", owner=OWNER)
        if directory != preferred:
            request.addfinalizer(lambda: directory.is_dir() and directory.rmdir())
        return directory

    return choose


def test_a_short_plain_directory_is_kept(chosen):
    assert chosen(Path("/srv/ragsonde-data/valkey")) == Path("/srv/ragsonde-data/valkey")


@pytest.mark.parametrize(
    "preferred",
    [
        Path("/srv") / ("long" * 30),
        Path("/srv/it's here"),
        Path("/srv/a,b"),
        Path("/srv/50%"),
        Path("/srv/dätä"),
        Path("/srv/a?b"),
    ],
    ids=["long", "space", "comma", "percent", "umlaut", "question mark"],
)
def test_another_directory_gets_a_short_private_one(chosen, preferred):
    directory = chosen(preferred)

    assert directory.stat().st_mode & 0o777 == 0o700
    assert len(str(directory / "s.sock")) <= LONGEST_SOCKET_PATH_BYTES
    assert choose_socket_dir(preferred, socket_name="s.sock", owner=OWNER) == directory
    assert chosen(preferred / "other") != directory


def test_the_longest_path_that_is_kept_has_the_limits_length(chosen):
    room = LONGEST_SOCKET_PATH_BYTES - len("//s.sock")
    kept, too_long = Path("/") / ("d" * room), Path("/") / ("d" * (room + 1))

    assert chosen(kept) == kept
    assert chosen(too_long) != too_long


def test_a_temporary_directory_that_is_itself_too_long_is_not_used(chosen, tmp_path, monkeypatch):
    long_tmp = tmp_path / ("t" * 100)
    long_tmp.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long_tmp))

    assert chosen(Path("/srv") / ("long" * 30)).parent == Path("/tmp")


def test_a_directory_others_can_enter_is_refused(chosen):
    directory = chosen(Path("/srv/a b"))
    directory.chmod(0o755)

    with pytest.raises(SetupError, match=r"mode 700.*remove it, or choose a shorter --data-dir"):
        chosen(Path("/srv/a b"))


def test_a_link_in_its_place_is_refused(chosen, tmp_path):
    directory = chosen(Path("/srv/a b"))
    directory.rmdir()
    directory.symlink_to(tmp_path)

    try:
        with pytest.raises(SetupError, match="is needed for a socket"):
            chosen(Path("/srv/a b"))
    finally:
        directory.unlink()


def test_only_a_short_directory_is_dropped(chosen, tmp_path):
    directory = chosen(Path("/srv/a b"))

    drop_socket_dir(directory, preferred=Path("/srv/a b"))
    drop_socket_dir(tmp_path, preferred=tmp_path)

    assert not directory.exists()
    assert tmp_path.exists()
