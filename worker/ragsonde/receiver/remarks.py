"""What is told of the parts of a posted body: a list that does not grow with the number of faults."""

from __future__ import annotations

from dataclasses import dataclass, field

LISTED_AT_MOST = 100


@dataclass
class Remarks:
    """Problems with their places.

    Attributes:
        listed: the first hundred: place and problem.
        unlisted: how many more there were.
    """

    listed: list[tuple[str, str]] = field(default_factory=list)
    unlisted: int = 0

    def note(self, place: str, problem: str) -> None:
        """Adds one."""
        if len(self.listed) < LISTED_AT_MOST:
            self.listed.append((place, problem))
        else:
            self.unlisted += 1

    def tell(self, name: str) -> dict[str, object]:
        """The list under this name; `NAME_not_listed` is how many are not in it, where there are any."""
        told: dict[str, object] = {
            name: [{"place": place, "problem": problem} for place, problem in self.listed]
        }
        return {**told, f"{name}_not_listed": self.unlisted} if self.unlisted else told
