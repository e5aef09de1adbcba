"""Becomes another program, on the conditions its caller set; run as a script.

It exists because these things must happen between fork and exec, where Python code in a process with threads
is not safe: give up root, ask the kernel for a signal when the parent dies, and undo the parent's signal mask
and ignored signals, which exec would hand on. It runs with `-I -S`, so only the standard library is here.

Arguments: parent pid, death signal, uid and gid (-1: stay who we are), working directory, then the program
and its arguments.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

PR_SET_PDEATHSIG = 1
CANNOT_BECOME_USER = 125
CANNOT_ENTER_DIRECTORY = 126
CANNOT_RUN_PROGRAM = 127


def fail(message: str, *, exit_code: int) -> None:
    """Ends this process before the program began; the message goes to the program's log."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()
    os._exit(exit_code)


def clear_signals() -> None:
    """Every signal at its default, none blocked: with an inherited mask the program would ignore SIGTERM."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):  # some belong to the C library
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def become(uid: int, gid: int) -> None:
    """Gives up root for good; no supplementary group is kept."""
    if uid < 0:
        return
    try:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    except OSError as error:
        fail(f"cannot become user {uid}: {error.strerror}", exit_code=CANNOT_BECOME_USER)


def die_with_parent(parent_pid: int, death_signal: int) -> None:
    """Asks for `death_signal` when the parent is gone; after `become`, for a change of user forgets it."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent_pid:  # it died before we asked
        os._exit(0)


def main(arguments: list[str]) -> None:
    """Sets the conditions and becomes the program; returns never."""
    parent_pid, death_signal, uid, gid = map(int, arguments[:4])
    working_dir, *command = arguments[4:]
    os.umask(0o077)
    become(uid, gid)
    die_with_parent(parent_pid, death_signal)
    clear_signals()
    try:
        os.chdir(working_dir)
    except OSError as error:
        fail(f"cannot enter {working_dir}: {error.strerror}", exit_code=CANNOT_ENTER_DIRECTORY)
    try:
        os.execv(command[0], command)  # noqa: S606 - what this file is for
    except OSError as error:
        fail(f"cannot run {command[0]}: {error.strerror}", exit_code=CANNOT_RUN_PROGRAM)


if __name__ == "__main__":
    main(sys.argv[1:])
