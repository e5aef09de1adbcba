"""Pseudonyms of users' ids."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from ragsonde_schemas.user_key import KeyRing, make_user_key

SECRET = b"0123456789abcdef0123456789abcdef"
RING = KeyRing(
    make_user_key(SECRET), (make_user_key(b"an older secret of some length"),), frozenset({"0badc0de"})
)


def test_a_pseudonym_is_the_key_s_id_and_the_hmac_of_rfc_2104():
    key_id, _, digest = RING.hide("  anna ").partition(":")

    assert digest == hmac.new(SECRET, b"anna", hashlib.sha256).hexdigest()
    assert key_id == RING.active.id
    assert len(key_id) == 8


@given(user_id=st.text(min_size=1))
def test_hiding_twice_is_hiding_once(user_id):
    hidden = RING.hide(user_id)

    assert RING.hide(hidden) == hidden
    assert RING.is_pseudonym(hidden)


def test_pseudonyms_of_older_and_retired_keys_stay_as_they_are():
    older = RING.older[0].hide("anna")
    retired = f"0badc0de:{'a' * 64}"

    assert RING.hide(older) == older
    assert RING.hide(retired) == retired


def test_what_only_looks_like_a_pseudonym_is_hidden():
    of_no_key = f"12345678:{'a' * 64}"

    assert RING.hide(of_no_key) == RING.active.hide(of_no_key)
    assert not RING.is_pseudonym(f"{RING.active.id}:{'a' * 63}")


def test_an_id_is_looked_for_under_all_keys_and_as_it_is():
    assert RING.list_forms(" anna ") == (RING.active.hide("anna"), RING.older[0].hide("anna"), "anna")
    assert RING.list_forms(RING.active.hide("anna")) == (RING.active.hide("anna"),)


def test_a_key_shows_no_secret():
    assert "0123456789" not in repr(RING)
