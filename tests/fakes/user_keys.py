"""Keys of users' ids, in memory."""

from __future__ import annotations

from ragsonde_schemas.user_key import KeyRing, make_user_key


class FakeUserKeys:
    """One key, and those that were active before it.

    Args:
        secrets: newest first.
    """

    def __init__(self, *secrets: bytes) -> None:
        active, *older = (make_user_key(one) for one in secrets or (b"a secret of thirty-two characters",))
        self.ring = KeyRing(active, tuple(older))

    def read(self) -> KeyRing:
        return self.ring
