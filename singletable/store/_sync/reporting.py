# Generated from ../_async/reporting.py by scripts/generate_sync.py; edit that file.
"""What there is to know of a thread as a whole: how large it is, and what may be wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from singletable.schemas import Message

from ...codec import item_size_bytes
from ..periods import earlier
from ..thread_reports import Diagnosis, Findings, StoredMessage, ThreadStats
from .domain import Domain
from .paging import require_count
from .walking import stored_pages


class Reporting(Domain):
    """Reports on threads, for who operates them; each reads the whole thread, one page at a time."""

    def stats(self, thread_id: str) -> ThreadStats:
        """How many messages a thread has, how large they are, and when the next of them expires.

        Reads, strongly consistent, and pays for, all of them: one request for each MB, and one more.  Nothing for a
        thread that is not there, or was deleted."""
        found = ThreadStats()
        for stored in self._stored(thread_id):
            found = ThreadStats(
                items=found.items + 1,
                bytes=found.bytes + stored.bytes,
                oldest=found.oldest or stored.message.created_at,
                newest=stored.message.created_at,
                next_expiry=earlier(found.next_expiry, stored.expires),
            )
        return ThreadStats() if self._is_deleted(thread_id) else found

    def diagnose(self, thread_id: str, *, large_bytes: int = 100 * 1024) -> Diagnosis:
        """What may be wrong with the messages of a thread: tool calls without a result, results without a call,
        messages of equal times, and those of `large_bytes` or more.

        Reads, strongly consistent, and pays for, all of them: one request for each MB, and one more.  In memory are
        one page, and the ids of calls that have no result.  Nothing for a thread that is not there, or was deleted."""
        require_count("large_bytes", large_bytes, least=1)
        findings = Findings(large_bytes)
        for stored in self._stored(thread_id):
            findings.add(stored)
        return Diagnosis() if self._is_deleted(thread_id) else findings.report()

    def _stored(self, thread_id: str) -> Iterator[StoredMessage]:
        """The messages of a thread as they are stored, oldest first."""
        query = self.table.query(Message.InThread(thread_id=thread_id))
        attribute = query.sender.settings.expiry.attribute
        for items in stored_pages(query):
            for item in items:
                stamp = item.get(attribute, {}).get("N")  # DynamoDB takes no notice of one that is no number
                expires = None if stamp is None else datetime.fromtimestamp(float(stamp), UTC)
                yield StoredMessage(self.table.load(Message, item), item_size_bytes(item), expires)
