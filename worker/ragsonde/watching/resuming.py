"""Where the judging of a stream goes on when counts of it have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.alert_state import Level, StreamState
from ragsonde.regression.baseline import BASELINE_DAYS
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.latching import find_rest
from ragsonde.regression.rolling import SPAN_DAYS
from ragsonde.regression.watched_stream import NEVER, Armed
from ragsonde.storage.regression_states import StoredState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.regression.latching import ToldFall
    from ragsonde.storage.block_changes import StreamChange

WEEK = BASELINE_DAYS * BLOCKS_PER_DAY
JUDGED_AGAIN = 7 * BLOCKS_PER_DAY
"""Blocks older than that stay judged as they were."""


KEPT_BASELINES = JUDGED_AGAIN + 2 * BLOCKS_PER_DAY
"""Of those that move along: states that a stream may go on from have theirs."""


class Resume(NamedTuple):
    """Where to go on.

    Attributes:
        begun: the first block of the stream.
        resumed: the block that `state` is the state after.
        judged: the last block that was judged before.
        read_from: the first block whose counts are needed; of the hour before outcomes are.
        is_fresh: baselines that came by themselves are armed anew.
        checkpoint: what was remembered of `resumed`; None at rest.
    """

    begun: int
    resumed: int
    judged: int
    part: int
    armed: Armed | None
    state: StreamState
    read_from: int
    is_fresh: bool
    checkpoint: StoredState | None = None


def plan_resume(
    change: StreamChange,
    *,
    states: Sequence[StoredState],
    baselines: Sequence[Armed],
    falls: Sequence[ToldFall],
    first: int | None,
    last: int,
    judges_from: int = NEVER,
    dropped: int = NEVER,
) -> Resume | None:
    """Where a stream is judged from; None where nothing is to be judged.

    From the newest state before what changed, as long as its baseline is of counts that have not changed. In
    its first week a stream begins anew with every change of the days that its baseline is of; later only
    changes of the last 7 days count.

    Args:
        change: of the stream.
        states: that are remembered, the newest last.
        baselines: that none has replaced.
        falls: that were told of it lately.
        first: the first block that has a score now; None where none has.
        last: the last closed block.
        judges_from: blocks before it make baselines and are never judged.
        dropped: the block from which it is judged by what came by itself again; there it is at rest.
    """
    if first is None:
        return None
    horizon = last + 1 - JUDGED_AGAIN
    chosen = next((one for one in reversed(baselines) if one.is_chosen), None)
    if chosen is not None:
        return _plan_chosen(change, chosen, states=states, falls=falls, first=first, last=last)
    earliest = max(horizon, judges_from, dropped)
    if not states:
        return _begin(first, earliest=earliest, judged=NEVER)
    newest = states[-1]
    is_week_over = newest.part >= BASELINE_DAYS
    changed = change.recent if is_week_over else change.earliest
    if changed is None or dropped > last:
        return None
    anew = newest.begun + (WEEK if is_week_over else max(newest.part, 0) * BLOCKS_PER_DAY)
    found = next((one for one in reversed(states) if one.block < max(changed, dropped)), None)
    armed = {one.number: one for one in baselines}
    is_known = found is not None and (found.baseline is None or found.baseline in armed)
    if (found is None or found.block + 1 < dropped) and dropped > horizon:
        found, is_known = _rest_at(dropped, newest, baselines=armed, falls=falls)
    if changed < anew or found is None or not is_known:
        return _begin(first, earliest=earliest, judged=newest.block)
    return Resume(
        begun=found.begun,
        resumed=found.block,
        judged=newest.block,
        part=found.part,
        armed=None if found.baseline is None else armed[found.baseline],
        state=_find_state(found, newest=newest, falls=falls),
        read_from=_find_read_from(found, last=last),
        is_fresh=False,
        checkpoint=found,
    )


def _rest_at(
    dropped: int,
    newest: StoredState,
    *,
    baselines: Mapping[int | None, Armed],
    falls: Sequence[ToldFall],
) -> tuple[StoredState | None, bool]:
    """The state of a stream when its chosen baseline was dropped; nothing where no other is there yet."""
    own = [one for one in baselines.values() if one.judges_from <= dropped and one.is_whole]
    if not own or newest.part < BASELINE_DAYS:
        return None, False
    rest = newest._replace(
        block=dropped - 1, baseline=own[-1].number, state=find_rest(falls, dropped - 1), hold=None
    )
    return rest, True


def span_window(resume: Resume, *, last: int) -> Resume:
    """The same, with the counts that a rolling baseline is of where one is due until block `last`."""
    days = ((block - resume.begun) // BLOCKS_PER_DAY for block in (resume.resumed, last))
    if resume.armed is not None and len(set(days)) == 1:
        return resume
    first = resume.begun + max(resume.resumed + 1 - resume.begun, 0) // BLOCKS_PER_DAY * BLOCKS_PER_DAY
    begin = max(resume.begun, first - SPAN_DAYS * BLOCKS_PER_DAY)
    return resume._replace(read_from=min(resume.read_from, begin))


def _plan_chosen(
    change: StreamChange,
    chosen: Armed,
    *,
    states: Sequence[StoredState],
    falls: Sequence[ToldFall],
    first: int,
    last: int,
) -> Resume | None:
    """Where a stream goes on that is judged by a baseline of a person: never before that judges.

    It begins there at rest. So it stays as it was judged by another one before, and its state now depends on
    the counts since then alone, in whatever order they came.
    """
    if states and change.recent is None:
        return None
    changed = max(change.recent or change.earliest, chosen.judges_from)
    if changed > last:
        return None
    newest = states[-1] if states else None
    found = next(
        (one for one in reversed(states) if one.block < changed and one.baseline == chosen.number), None
    )
    if found is None:
        resumed = max(chosen.judges_from, last + 1 - JUDGED_AGAIN, first) - 1
        found = StoredState(
            stream=change.stream,
            block=resumed,
            begun=first if newest is None else newest.begun,
            part=NEVER if newest is None else newest.part,
            baseline=chosen.number,
            state=find_rest(falls, resumed),
        )
    return Resume(
        begun=found.begun,
        resumed=found.block,
        judged=NEVER if newest is None else newest.block,
        part=found.part,
        armed=chosen,
        state=_find_state(found, newest=newest, falls=falls),
        read_from=found.block + 1,
        is_fresh=False,
        checkpoint=found,
    )


def _find_state(found: StoredState, *, newest: StoredState | None, falls: Sequence[ToldFall]) -> StreamState:
    is_open = any(fall.closed is None for fall in falls)
    if found is newest and found.state.level is not Level.QUIET and not is_open:
        return StreamState()  # a person closed it
    return found.state


def may_begin_anew(change: StreamChange, states: Sequence[StoredState]) -> bool:
    """Whether the first block of a stream has to be looked for: it may be another one, or is not known."""
    if not states or states[-1].part < BASELINE_DAYS:
        return True
    return change.recent is not None and change.recent < states[-1].begun + WEEK


def _begin(first: int, *, earliest: int, judged: int) -> Resume:
    resumed = max(first, earliest) - 1
    return Resume(first, resumed, judged, NEVER, None, StreamState(), first, is_fresh=True)


def _find_read_from(found: StoredState, *, last: int) -> int:
    part = min((last - found.begun) // BLOCKS_PER_DAY, BASELINE_DAYS)
    if part != found.part and found.part < BASELINE_DAYS:
        return found.begun
    return found.block + 1
