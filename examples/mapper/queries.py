"""What to read with: collections, projections of indexes, pages, budgets and scans."""

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from singletable import CorruptItemError, Entity, Index, Pk, PrimaryKey, Sk, SkRange, Table, between, gte
from singletable.testing import IndexKeys, MemoryDatabase, MemoryTransport


class Project(Entity, entity="project", version=1):
    id: str
    name: str

    class Key(PrimaryKey["Project"], collection="work"):
        id: Pk[str]


class Task(Entity, entity="task", version=1):
    project_id: str
    number: int
    title: str
    state: str = "open"
    due: datetime
    notes: str = ""

    class Key(PrimaryKey["Task"], collection="work"):
        project_id: Pk[str]
        number: Sk[int]

    class InProject(Index["Task"], collection="work"):
        project_id: Pk[str]
        number: SkRange[int] = None

    class ByState(Index["Task"], on="gsi1", projection=("title",)):  # the index holds no notes
        state: Pk[str]
        due: SkRange[datetime] = None


class Title(BaseModel):
    title: str


database = MemoryDatabase(indexes={"gsi1": IndexKeys("gsi1pk", "gsi1sk", ("title", "ttl"))})
table = Table("work", MemoryTransport(database), entities=[Project, Task])
now = datetime.now(UTC)
tasks = [Task(project_id="p", number=n, title=f"Task {n}", due=now + timedelta(days=n)) for n in range(1, 8)]
table.put_many([Project(id="p", name="Engine"), *tasks])  # any mix of entities, 25 a request

# One request for a whole collection: in order, or by entity.
work = table.query(Project.Key(id="p"), Task.InProject(project_id="p"))
print([type(one).__name__ for one in work])
found = work.grouped()
print(found[Project], len(found[Task]))

# A range is over the values of a part, and never leaves the entity.
print([task.number for task in table.query(Task.InProject(project_id="p", number=between(3, 5))).reverse()])

# The index holds titles: these are read from it alone.  Whole tasks are fetched by their keys, 100 a request.
soon = table.query(Task.ByState(state="open", due=gte(now)))
print(soon.select(Title).limit(2).all())
print(soon.first())

# Pages, in both directions, whatever is written meanwhile.
first = table.query(Task.InProject(project_id="p")).page(3)
second = table.query(Task.InProject(project_id="p")).page(3, first.cursor)
print(second.items[0].number, second.has_more)
print(table.query(Task.InProject(project_id="p")).page(3, second.previous).items == first.items)

# A filter reads, and bills, what it leaves out: a budget bounds that.
rare = table.query(Task.InProject(project_id="p")).filter(lambda task: task.title == "Task 7").within(max_items=5)
page = rare.page(10)
print(page.items, page.has_more)  # nothing yet, and more to read
print(rare.page(10, page.cursor).items)

# A scan reads the whole table, so it is asked for by name; items that do not fit are set aside.
bad: list[CorruptItemError] = []
print(table.scan(Task, allow_scan=True, segments=4).on_corrupt(bad.append).count(), len(bad))
