"""Whether a lease may be taken: what one who wants it has seen of it.  Pure.

No two clocks agree.  Safe is a lease by its token alone, which every write under it demands; when it has ended is
judged twice, so that who died is neither waited for in vain nor robbed a moment too soon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from singletable.schemas import Lease

from ..conditions import missing

SKEW = timedelta(seconds=5)
"""By how much the clocks of two machines may differ.  Those who are further apart take a lease from a living holder,
who then is refused what it writes."""


@dataclass
class LeaseWatch:
    """A lease as it was seen last, and since when it is like that."""

    seen: Lease | None = None
    since: float = 0.0

    def see(self, lease: Lease | None, seconds: float) -> None:
        """What is stored now, and what the stopwatch says."""
        if lease != self.seen:
            self.seen, self.since = lease, seconds

    def is_free(self, now: datetime, seconds: float) -> bool:
        """Whether nobody has it: it was given back, or its time is over by the clock, or by the stopwatch."""
        lease = self.seen
        return lease is None or lease.holder is None or lease.ends_at < now - SKEW or self._is_dead(seconds)

    def next_token(self, now: datetime) -> int:
        """The time, so that it grows even where the item has gone; more than the last token in any case."""
        return max(int(now.timestamp() * 1000), 0 if self.seen is None else self.seen.token + 1)

    def may_take(self, token: int, now: datetime, seconds: float) -> Callable[[Lease], bool]:
        """The condition under which the lease is taken, from nobody or from the holder that was seen to be dead."""
        dead = self.seen if self._is_dead(seconds) else None

        def is_free(lease: Lease) -> bool:
            free = missing(lease.holder) | (lease.ends_at < now - SKEW)
            if dead is not None:
                free |= (lease.token == dead.token) & (lease.ends_at == dead.ends_at)
            return (lease.token < token) & free

        return is_free

    def _is_dead(self, seconds: float) -> bool:
        """Whether it has not been renewed for as long as it lasts, by this machine's own time."""
        return self.seen is not None and seconds - self.since >= self.seen.ttl_seconds
