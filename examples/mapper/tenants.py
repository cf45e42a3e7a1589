"""Tenants: one table, and nobody reaches what is another's."""

from documents import Document

from singletable import Table
from singletable.testing import MemoryTransport

table = Table("library", MemoryTransport(), entities=[Document])
acme, other = table.scoped("acme"), table.scoped("other")

acme.create(Document(id="d1", author="ada", title="Notes"))
print(acme.get(Document.Key(id="d1")))
print(other.get(Document.Key(id="d1")), table.get(Document.Key(id="d1")))  # None, None
print(acme.query(Document.ByAuthor(author="ada")).request().params["ExpressionAttributeValues"])  # @acme#document#ada
