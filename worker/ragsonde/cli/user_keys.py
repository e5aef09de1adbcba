"""`ragsonde user-keys`: the keys by which users' ids become pseudonyms."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.program import name_command
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import make_console, make_table, show, write_json
from ragsonde.private_data import read_given_keys
from ragsonde.settings import read_settings
from ragsonde.storage.user_keys import (
    NOTICE,
    check_retirable,
    find_user_id_forms,
    list_user_keys,
    read_key_ring,
    retire_user_key,
    rotate_user_key,
)
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.user_key import make_user_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.storage.user_keys import StoredUserKey

EXAMPLES = (
    ("ragsonde user-keys list", "the keys, and which one is used"),
    ("ragsonde user-keys find customer-4711", "under which pseudonyms a user's id may be stored"),
    ("ragsonde user-keys rotate", "another key for what comes from now on; older ids are still found"),
    ("ragsonde user-keys retire 3fa2c1d0 --dry-run", "whether a key may go, with its secret"),
)


class Action(StrEnum):
    """What is done with the keys."""

    LIST = "list"
    FIND = "find"
    ROTATE = "rotate"
    RETIRE = "retire"


def user_keys(
    action: Annotated[
        Action,
        typer.Argument(
            help="list: show them; find: an id's pseudonyms; rotate: a new one; retire: erase one."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="find: the user's id; retire: the key's id, as list shows it."),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Show, rotate and retire the keys by which users' ids become pseudonyms.

    A user's id is never stored as it is, but as its HMAC-SHA256 with the key that is used, after the key's
    own id. The first key is made when the first trace comes, and all processes share it.

    rotate makes another key. It is used two minutes later, when every process knows it; ids of before are
    still found, because their keys are kept. retire erases the secret of such a key: nobody can be found by
    its pseudonyms any more, not even by `forget`, and this cannot be undone.

    Secrets are never shown. Where user_key or user_key_file of the settings give keys, these are used, and
    they are rotated and retired there.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    given, now = read_given_keys(settings), datetime.now(UTC)
    if action in {Action.FIND, Action.RETIRE} and not (name and name.strip()):
        meant = "the user's id" if action is Action.FIND else "the key's id, as `list` shows it"
        raise InputError(f"{action}: an ID is missing; expected {meant}")
    with open_database(settings, command="user-keys") as engine:
        match action:
            case Action.LIST:
                _list(engine, given=given, now=now, output=output)
            case Action.FIND:
                _find(engine, str(name), given=given, now=now, output=output)
            case Action.ROTATE:
                _rotate(engine, given=given, now=now, is_dry=dry_run)
            case Action.RETIRE:
                _retire(engine, str(name), now=now, is_dry=dry_run)


def _list(engine: Engine, *, given: Sequence[bytes], now: datetime, output: OutputForm) -> None:
    ring = read_key_ring(engine, now=now, given=[make_user_key(secret) for secret in given])
    keys = list_user_keys(engine)
    if output is OutputForm.JSON:
        described = [{**one.model_dump(mode="json"), "is_used": one.id == ring.active.id} for one in keys]
        write_json({"keys": described})
        return
    table = make_table("key", "made", "state")
    for one in keys:
        made = one.created_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        state = _describe_state(one, is_used=one.id == ring.active.id, now=now)
        table.add_row(*map(show, (one.id, made, state)))
    make_console().print(table)


def _describe_state(key: StoredUserKey, *, is_used: bool, now: datetime) -> str:
    place = "" if key.has_secret or key.retired_at else ", given by the settings"
    if is_used:
        return f"used{place}"
    if key.retired_at is not None:
        return f"retired {key.retired_at.astimezone(UTC):%Y-%m-%d}: its pseudonyms find nobody"
    if key.used_from is not None and key.used_from > now:
        return f"used from {key.used_from.astimezone(UTC):%H:%M:%S} UTC on"
    return f"kept to find ids{place}"


def _find(engine: Engine, user_id: str, *, given: Sequence[bytes], now: datetime, output: OutputForm) -> None:
    forms = find_user_id_forms(engine, user_id, now=now, given=given)
    if output is OutputForm.JSON:
        write_json({"forms": list(forms)})
        return
    for form in forms:
        told = describe_form(form, user_id, is_alone=len(forms) == 1)
        make_console().print(show(f"{form}   {told}"), soft_wrap=True)


def describe_form(form: str, user_id: str, *, is_alone: bool) -> str:
    """What one of the forms of a user's id is; `is_alone`: there is no other."""
    if form != user_id.strip():
        return f"its pseudonym by key {form.partition(':')[0]}"
    if is_alone:
        return "a pseudonym already: it stands for itself alone"
    return "the id as it is: so it is stored where it came before there were keys"


def _rotate(engine: Engine, *, given: Sequence[bytes], now: datetime, is_dry: bool) -> None:
    if given:
        raise InputError(
            "the settings give the keys: write a new line at the top of user_key_file, keep the older ones "
            "below it, and restart all processes"
        )
    minutes = int(NOTICE.total_seconds() // 60)
    if is_dry:
        _say(f"a new key would be made, and used in {minutes} minutes")
        return
    key = rotate_user_key(engine, now=now)
    _say(f"key {key.id} is made and will be used in {minutes} minutes; the older ones are kept to find ids")
    _say(f"to let go of one: {name_command('user-keys retire KEY')}")


def _retire(engine: Engine, key_id: str, *, now: datetime, is_dry: bool) -> None:
    if is_dry:
        check_retirable(engine, key_id, now=now)
        _say(f"the secret of key {key_id} would be erased: nobody could be found by its pseudonyms any more")
        return
    retire_user_key(engine, key_id, now=now)
    _say(f"the secret of key {key_id} is erased: its pseudonyms stay, and nobody can be found by them")


def _say(text: str) -> None:
    make_console().print(show(text))
