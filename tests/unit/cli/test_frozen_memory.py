"""What a worker has loaded is not looked at again by the garbage collector."""

import gc

import pytest

from ragsonde.cli.worker import freeze_loaded


@pytest.fixture(autouse=True)
def _thaw():
    yield
    gc.unfreeze()


def test_a_full_collection_skips_what_was_loaded_and_sees_what_comes_later():
    loaded = [[number] for number in range(1000)]
    freeze_loaded()
    assert gc.get_freeze_count() > len(loaded)
    assert not any(one is loaded for one in gc.get_objects())
    later: list = []
    later.append(later)
    later_id = id(later)
    del later
    assert any(id(one) == later_id for one in gc.get_objects())
    assert gc.collect() >= 1
