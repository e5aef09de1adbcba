"""What an earlier claim did not end is a suspect: told apart, and not counted where it is to be spared."""

from __future__ import annotations

import pytest

from builders.spans import TRACE_ID
from fakes.evaluations import make_result, make_trace, plan_paid
from ragsonde_schemas.errors import Cause
from services.span_buffers import LEASE_SECONDS, ROOT, absorb, claim

LEASE = 150


@pytest.fixture
def key(stores):
    (pending,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
    return pending


def test_what_was_never_begun_is_none_and_is_claimed(stores, key):
    assert not stores.traces.is_suspect(key)
    assert stores.traces.claim(key, spares_suspects=True).unfinished_starts == 1


def test_what_runs_is_none_and_when_its_lease_is_over_it_is_one(stores, key):
    stores.traces.claim(key)
    assert not stores.traces.is_suspect(key)
    stores.clock.advance(LEASE + 1)
    assert stores.traces.is_suspect(key)
    assert stores.traces.claim(key, spares_suspects=True) is None
    assert stores.look(key).unfinished_starts == 1
    assert stores.traces.claim(key).unfinished_starts == 2


@pytest.mark.parametrize("way", ["finish", "postpone"])
def test_what_has_ended_or_was_put_back_is_none(stores, key, way):
    claimed = stores.traces.claim(key)
    if way == "finish":
        stores.traces.finish(claimed, make_result())
    else:
        stores.traces.postpone(claimed, until=stores.clock.now(), cause=Cause.JUDGE_UNAVAILABLE)
    assert not stores.traces.is_suspect(key)
    assert (stores.traces.claim(key, spares_suspects=True) is None) == (way == "finish")


def test_the_same_holds_for_gathered_spans(buffers):
    absorb(buffers, ROOT, whole=[TRACE_ID])
    assert not buffers.spans.is_suspect(TRACE_ID)
    claim(buffers)
    assert not buffers.spans.is_suspect(TRACE_ID)
    buffers.clock.advance(LEASE_SECONDS)
    assert buffers.spans.is_suspect(TRACE_ID)
    assert buffers.spans.claim(TRACE_ID, spares_suspects=True) is None
    assert claim(buffers).unfinished_claims == 2
    assert not buffers.spans.is_suspect("f" * 32)
