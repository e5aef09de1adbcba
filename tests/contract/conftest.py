"""Each port's promises are held against its fake and the real one."""

from __future__ import annotations

import pytest

from fakes.clock import FakeClock
from ragsonde.assembly.closing import ClosingTimes
from services.span_buffers import FakeBuffers, PostgresBuffers
from services.stores import FakeStores, PostgresStores

BOTH = ("fake", pytest.param("postgres", marks=pytest.mark.integration))


@pytest.fixture(params=BOTH)
def stores(request):
    if request.param == "fake":
        return FakeStores(FakeClock())
    return PostgresStores(FakeClock(), request.getfixturevalue("engine"))


@pytest.fixture(params=BOTH)
def make_buffers(request):
    def make(**times):
        clock = FakeClock()
        if request.param == "fake":
            return FakeBuffers(clock, times=ClosingTimes(**times))
        return PostgresBuffers(clock, request.getfixturevalue("engine"), times=ClosingTimes(**times))

    return make


@pytest.fixture
def buffers(make_buffers):
    return make_buffers()
