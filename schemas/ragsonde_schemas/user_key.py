"""Keys by which a user's id becomes a pseudonym: `<key id>:<64 hex digits>`."""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

KEY_ID_DIGITS = 8
SECRET_BYTES = 32
LEAST_SECRET_CHARACTERS = 16

_DIGEST_DIGITS = 64
_HEX = frozenset("0123456789abcdef")


class UserKey(NamedTuple):
    """A secret, and the name that pseudonyms made with it begin with."""

    id: str
    secret: bytes

    def __repr__(self) -> str:
        return f"UserKey(id={self.id!r})"

    def hide(self, user_id: str) -> str:
        """The pseudonym of an id: HMAC-SHA256 of its UTF-8 without blanks around it."""
        raw = user_id.strip().encode(errors="replace")
        return f"{self.id}:{hmac.new(self.secret, raw, hashlib.sha256).hexdigest()}"


class KeyRing(NamedTuple):
    """The keys of a deployment.

    Attributes:
        active: the one for what comes now.
        older: others whose secret is still known.
        retired: ids of keys whose secret is gone: their pseudonyms are still known as such.
    """

    active: UserKey
    older: tuple[UserKey, ...] = ()
    retired: frozenset[str] = frozenset()

    def hide(self, user_id: str) -> str:
        """The pseudonym of an id; what is one already stays as it is."""
        return user_id.strip() if self.is_pseudonym(user_id) else self.active.hide(user_id)

    def is_pseudonym(self, text: str) -> bool:
        """True for what one of the keys of this deployment made."""
        key_id, _, digest = text.strip().partition(":")
        is_digest = len(digest) == _DIGEST_DIGITS and set(digest) <= _HEX
        return is_digest and (
            key_id in self.retired or any(key_id == key.id for key in (self.active, *self.older))
        )

    def list_forms(self, user_id: str) -> tuple[str, ...]:
        """All that may be stored for an id: its pseudonyms, newest key first, and the id as it is.

        The last is how ids were stored before there were keys.
        """
        raw = user_id.strip()
        if self.is_pseudonym(raw):
            return (raw,)
        return (*(key.hide(raw) for key in (self.active, *self.older)), raw)


def make_user_key(secret: bytes) -> UserKey:
    """The key of a secret; the same secret has the same id, from which it cannot be told."""
    digest = hashlib.sha256(b"ragsonde user key\x00" + secret).hexdigest()
    return UserKey(digest[:KEY_ID_DIGITS], secret)
