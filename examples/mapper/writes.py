"""What to write with: the intents, optimistic locking, and index keys that follow."""

from documents import Document

from singletable import AlreadyExistsError, NotFoundError, Table, VersionConflictError
from singletable.testing import MemoryTransport

table = Table("library", MemoryTransport(), entities=[Document])
key = Document.Key(id="d1")

table.create(Document(id="d1", author="ada", title="Notes"))  # never over another one
try:
    table.create(Document(id="d1", author="bob", title="Mine"))
except AlreadyExistsError as error:
    print(error.current)

mine = table.get(key)
theirs = table.update(key, Document.Patch(folder="work", title="Notes on engines"))  # never a new one
if mine:
    try:
        table.put(mine.model_copy(update={"title": "My notes"}))  # only over the version that was read
    except VersionConflictError as error:
        print("changed meanwhile:", error.current)
table.update(key, Document.Patch(title="My notes", folder="work"), if_version=theirs.version)

# gsi1 has state, folder and title in its key; what the patch does not give is read and demanded to be still so.
table.update(key, Document.Patch(state="done"), refresh=True)

table.upsert(Document(id="d2", author="ada", title="New"))  # there was none: with its defaults
table.upsert(Document(id="d2", author="bob", title="Newer"))  # there is one: sets title, and keeps author

print(table.delete(key))  # what was there, or None
try:
    table.update(key, Document.Patch(title="x", folder="y", state="z"))
except NotFoundError as error:
    print(error)
