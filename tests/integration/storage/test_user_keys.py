"""Keys of users' ids: one for all processes, changed without losing anybody."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select

from fakes.clock import FakeClock
from ragsonde.storage.tables import UserKeyRow
from ragsonde.storage.user_keys import (
    NOTICE,
    REFRESH,
    PostgresUserKeys,
    find_user_id_forms,
    list_user_keys,
    retire_user_key,
    rotate_user_key,
)
from ragsonde_schemas.errors import InputError

pytestmark = pytest.mark.integration

PROGRAM = """
import sys
from fakes.clock import FakeClock
from ragsonde.storage.engine import build_engine
from ragsonde.storage.user_keys import PostgresUserKeys
engine = build_engine(sys.argv[1], application_name="test", pool_size=1)
sys.stdin.read(1)
print(PostgresUserKeys(engine, clock=FakeClock()).read().active.id)
"""


def test_processes_that_start_at_once_share_one_key(database_url, own_engine):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, database_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        for _ in range(3)
    ]
    with ThreadPoolExecutor(len(started)) as pool:
        told = list(pool.map(lambda process: process.communicate("x")[0].strip(), started))

    (stored,) = list_user_keys(own_engine)
    assert told == [stored.id] * len(started)


def test_threads_that_begin_at_once_share_one_key(engine):
    keys = [PostgresUserKeys(engine, clock=FakeClock()) for _ in range(8)]
    with ThreadPoolExecutor(len(keys)) as pool:
        rings = list(pool.map(lambda one: one.read(), keys))

    assert len({ring.active.id for ring in rings}) == 1
    assert len(list_user_keys(engine)) == 1


def test_a_new_key_is_used_when_all_know_it_and_the_old_one_still_finds(engine):
    clock = FakeClock()
    keys = PostgresUserKeys(engine, clock=clock)
    before = keys.read().hide("anna")

    rotated = rotate_user_key(engine, now=clock.now())
    clock.advance(REFRESH.total_seconds())
    assert keys.read().hide("anna") == before
    assert rotated.id in {key.id for key in keys.read().older}

    clock.advance(NOTICE.total_seconds())
    after = keys.read().hide("anna")
    assert after.startswith(f"{rotated.id}:")
    assert find_user_id_forms(engine, "anna", now=clock.now()) == (after, before, "anna")


def test_a_retired_key_finds_nobody_and_its_pseudonyms_stay(engine):
    clock = FakeClock()
    keys = PostgresUserKeys(engine, clock=clock)
    old = keys.read()
    rotate_user_key(engine, now=clock.now())

    with pytest.raises(InputError, match="is the one that is used"):
        retire_user_key(engine, old.active.id, now=clock.now())
    clock.advance((NOTICE + timedelta(seconds=1)).total_seconds())
    retire_user_key(engine, old.active.id, now=clock.now())

    new = PostgresUserKeys(engine, clock=clock).read()
    assert len(new.list_forms("anna")) == 2
    assert new.hide(old.hide("anna")) == old.hide("anna")
    with engine.connect() as connection:
        secrets = connection.execute(
            select(UserKeyRow.secret).where(UserKeyRow.id == old.active.id)
        ).scalar_one()
    assert secrets is None
    with pytest.raises(InputError, match="retired already"):
        retire_user_key(engine, old.active.id, now=clock.now())
    with pytest.raises(InputError, match="found no key nokey"):
        retire_user_key(engine, "nokey", now=clock.now())


def test_keys_of_the_settings_are_used_and_only_their_ids_are_stored(engine):
    clock = FakeClock()
    own = PostgresUserKeys(engine, clock=clock).read()
    given = PostgresUserKeys(
        engine, clock=clock, given=(b"the newer of two secrets", b"the older of two secrets")
    )

    ring = given.read()

    assert [key.secret for key in (ring.active, *ring.older)][:2] == [
        b"the newer of two secrets",
        b"the older of two secrets",
    ]
    assert own.active in ring.older
    assert [one.has_secret for one in list_user_keys(engine)].count(True) == 1
    # a process without the settings' secrets knows their pseudonyms as such
    assert PostgresUserKeys(engine, clock=clock).read().is_pseudonym(ring.hide("anna"))
