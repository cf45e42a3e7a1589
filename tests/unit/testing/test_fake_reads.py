"""Query, Scan and pages of the fake."""

import pytest

from singletable.errors import StorageError, TableNotFoundError
from singletable.testing import MemoryDatabase, MemoryTransport
from singletable.wire import Request

BY_PARTITION = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}


def key(sk, pk="p"):
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def sort_keys(response):
    return [item["sk"]["S"] for item in response["Items"]]


@pytest.fixture
def abc(put):
    for sk in "bca":
        put("p", sk, n={"N": "1" if sk == "b" else "2"})
    put("other", "b")


def test_items_are_ordered_by_utf8_bytes(send, put):
    texts = ["b", "a", "B", "é", "z", "\uffff", "\U0001f600", "a#"]
    for sk in texts:
        put("p", sk)
    assert sort_keys(send("Query", **BY_PARTITION)) == sorted(texts, key=str.encode)
    assert sort_keys(send("Query", ScanIndexForward=False, **BY_PARTITION)) == sorted(texts, key=str.encode)[::-1]


@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        ("sk = :a", ["b"], "b"),
        ("sk < :a", ["b"], "a"),
        ("sk <= :a", ["b"], "ab"),
        ("sk > :a", ["b"], "c"),
        ("sk >= :a", ["b"], "bc"),
        ("sk BETWEEN :a AND :b", ["a", "b"], "ab"),
        ("begins_with(sk, :a)", ["c"], "c"),
    ],
)
@pytest.mark.usefixtures("abc")
def test_sort_key_conditions(send, condition, values, expected):
    given = {f":{name}": {"S": value} for name, value in zip("ab", values, strict=False)}
    response = send(
        "Query",
        KeyConditionExpression=f"{condition} AND pk = :p",
        ExpressionAttributeValues={":p": {"S": "p"}, **given},
    )
    assert sort_keys(response) == list(expected)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("sk = :p", "missed key schema element: pk"),
        ("pk > :p", "key condition not supported"),
        ("pk <> :p", "Invalid operator"),
        ("pk = :p OR sk = :p", "Invalid operator"),
        ("pk = :p AND n = :p", "missed key schema element: sk"),
        ("pk = :p AND sk = :p AND sk = :p", "one condition per key"),
        ("pk = :p AND contains(sk, :p)", "Invalid operator"),
        ("pk = :p AND sk.x = :p", "nested attributes"),
        ("pk = :p AND sk = pk", "compared with values"),
        ("pk = :n", "does not match schema type"),
        ("pk = :p AND sk > :n", "does not match schema type"),
        ("pk = :empty", "empty string value. Key: pk"),
        ("pk = :p AND sk > :empty", "empty string value. Key: sk"),
        ("pk = :long", "maximum size limit of 2048"),
        ("pk = :p AND sk = :long", "maximum size limit of 1024"),
        ("pk = :p AND sk BETWEEN :p AND :a", "upper bound to be greater"),
    ],
)
def test_key_conditions_that_are_refused(send, expression, message):
    values = {
        ":p": {"S": "p"},
        ":n": {"N": "1"},
        ":empty": {"S": ""},
        ":long": {"S": "x" * 2049},
        ":a": {"S": "a"},
    }
    used = {alias: value for alias, value in values.items() if alias in expression.split()}
    used |= {":p": values[":p"]} if ":p" in expression else {}
    with pytest.raises(StorageError, match=rf"^ValidationException: .*{message}"):
        send("Query", KeyConditionExpression=expression, ExpressionAttributeValues=used)


@pytest.mark.usefixtures("abc")
def test_limit_gives_a_cursor_even_when_nothing_follows(send):
    first = send("Query", Limit=2, **BY_PARTITION)
    assert (sort_keys(first), first["LastEvaluatedKey"]) == (["a", "b"], key("b"))
    second = send("Query", Limit=1, ExclusiveStartKey=first["LastEvaluatedKey"], **BY_PARTITION)
    assert (sort_keys(second), second["LastEvaluatedKey"]) == (["c"], key("c"))
    third = send("Query", Limit=1, ExclusiveStartKey=second["LastEvaluatedKey"], **BY_PARTITION)
    assert third == {"Items": [], "Count": 0, "ScannedCount": 0}
    assert "LastEvaluatedKey" not in send("Query", Limit=4, **BY_PARTITION)


@pytest.mark.usefixtures("abc")
def test_backward_pages_and_a_start_that_is_not_stored(send):
    page = send("Query", ScanIndexForward=False, ExclusiveStartKey=key("bb"), **BY_PARTITION)
    assert sort_keys(page) == ["b", "a"]


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_is_at_least_one(send, limit):
    with pytest.raises(StorageError, match="greater than or equal to 1"):
        send("Query", Limit=limit, **BY_PARTITION)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (key("a", pk="other"), "outside query boundaries"),
        (key("c"), "does not match the range key predicate"),
        ({"pk": {"S": "p"}}, "starting key is invalid"),
        ({**key("a"), "more": {"S": "x"}}, "starting key is invalid"),
        ({"pk": {"S": "p"}, "sk": {"N": "1"}}, "starting key is invalid"),
        ({"pk": {"S": "p"}, "sk": {"S": ""}}, "starting key is invalid"),
    ],
)
def test_foreign_start_keys_are_refused(send, start, message):
    with pytest.raises(StorageError, match=message):
        send(
            "Query",
            KeyConditionExpression="pk = :p AND sk < :b",
            ExpressionAttributeValues={":p": {"S": "p"}, ":b": {"S": "b"}},
            ExclusiveStartKey=start,
        )


@pytest.mark.usefixtures("abc")
def test_filter_is_applied_after_the_limit(send, transport):
    values = {":p": {"S": "p"}, ":one": {"N": "1"}}
    response = send(
        "Query",
        KeyConditionExpression="pk = :p",
        FilterExpression="n = :one",
        ExpressionAttributeValues=values,
        Limit=1,
    )
    assert response == {"Items": [], "Count": 0, "ScannedCount": 1, "LastEvaluatedKey": key("a")}
    assert transport.scanned_counts == [1]


@pytest.mark.parametrize(
    "expression", ["sk = :p", "attribute_exists(pk)", "attribute_exists(n) AND n = :p OR NOT pk = :p"]
)
def test_filter_on_a_key_attribute_is_refused(send, expression):
    with pytest.raises(StorageError, match="Filter Expression can only contain non-primary key attributes"):
        send("Query", FilterExpression=expression, **BY_PARTITION)


def test_filter_on_the_key_of_an_index_is_refused_and_on_that_of_the_table_is_not(send, put):
    put("p", "s", gsi1pk={"S": "g"}, gsi1sk={"S": "1"})
    on_index = {"IndexName": "gsi1", "KeyConditionExpression": "gsi1pk = :p"}
    values = {":p": {"S": "g"}}
    found = send("Query", FilterExpression="pk <> :p", ExpressionAttributeValues=values, **on_index)
    assert found["Count"] == 1
    with pytest.raises(StorageError, match=r"Primary key attribute: gsi1sk"):
        send("Query", FilterExpression="gsi1sk = :p", ExpressionAttributeValues=values, **on_index)


@pytest.mark.usefixtures("abc")
def test_count_gives_no_items(send):
    assert send("Query", Select="COUNT", **BY_PARTITION) == {"Count": 3, "ScannedCount": 3}


@pytest.mark.parametrize(
    "params",
    [
        {"Select": "COUNT", "ProjectionExpression": "n"},
        {"Select": "SPECIFIC_ATTRIBUTES"},
        {"Select": "ALL_PROJECTED_ATTRIBUTES"},
        {"Select": "NONSENSE"},
    ],
)
def test_select_that_does_not_fit_is_refused(send, params):
    with pytest.raises(StorageError, match=r"^ValidationException: "):
        send("Query", **params, **BY_PARTITION)


def test_select_that_fits(send, put):
    put("p", "s", n={"N": "1"}, gsi1pk={"S": "p"}, gsi1sk={"S": "s"})
    assert send("Query", Select="SPECIFIC_ATTRIBUTES", ProjectionExpression="n", **BY_PARTITION)["Items"] == [
        {"n": {"N": "1"}}
    ]
    on_index = {**BY_PARTITION, "KeyConditionExpression": "gsi1pk = :p", "IndexName": "gsi1"}
    assert send("Query", Select="ALL_PROJECTED_ATTRIBUTES", **on_index)["Count"] == 1


def test_page_ends_at_one_megabyte(send, put):
    for number in range(5):
        put("p", str(number), text={"S": "x" * 300_000})
    first = send("Query", **BY_PARTITION)
    assert (sort_keys(first), first["LastEvaluatedKey"]) == (["0", "1", "2"], key("2"))
    second = send("Query", ExclusiveStartKey=key("2"), **BY_PARTITION)
    assert sort_keys(second) == ["3", "4"]
    assert "LastEvaluatedKey" not in second


def test_page_holds_one_megabyte_exactly(send, put):
    overhead = len("pk" + "p" + "sk" + "0" + "text")
    for number in range(4):
        put("p", str(number), text={"S": "x" * (256 * 1024 - overhead)})
    assert "LastEvaluatedKey" not in send("Query", **BY_PARTITION)
    put("p", "3", text={"S": "x" * (256 * 1024 - overhead + 1)})
    assert send("Query", **BY_PARTITION)["LastEvaluatedKey"] == key("2")


def test_index_is_sparse_and_follows_the_item(send, put):
    put("p", "both", gsi1pk={"S": "g"}, gsi1sk={"S": "2"})
    put("p", "half", gsi1pk={"S": "g"})
    put("q", "both", gsi1pk={"S": "g"}, gsi1sk={"S": "1"})
    asked = {
        "IndexName": "gsi1",
        "KeyConditionExpression": "gsi1pk = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}},
    }
    found = send("Query", Limit=1, **asked)
    assert found["Items"][0]["pk"] == {"S": "q"}
    start = found["LastEvaluatedKey"]
    assert set(start) == {"pk", "sk", "gsi1pk", "gsi1sk"}
    assert [item["pk"]["S"] for item in send("Query", ExclusiveStartKey=start, **asked)["Items"]] == ["p"]
    send("DeleteItem", Key=key("both"))
    assert send("Query", **asked)["Count"] == 1


def test_ties_in_an_index_are_paged_without_loss(send, put):
    for number in range(4):
        put(f"p{number}", "s", gsi1pk={"S": "g"}, gsi1sk={"S": "same"})
    asked = {
        "IndexName": "gsi1",
        "KeyConditionExpression": "gsi1pk = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}},
        "Limit": 3,
    }
    first = send("Query", **asked)
    second = send("Query", ExclusiveStartKey=first["LastEvaluatedKey"], **asked)
    assert [item["pk"]["S"] for item in [*first["Items"], *second["Items"]]] == ["p0", "p1", "p2", "p3"]


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_consistent_read_of_an_index_is_refused(send, operation):
    key_condition = {"KeyConditionExpression": "gsi1pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
    with pytest.raises(StorageError, match="Consistent reads are not supported on global secondary indexes"):
        send(operation, IndexName="gsi1", ConsistentRead=True, **(key_condition if operation == "Query" else {}))


def test_scan_reads_everything_in_pages_and_in_no_useful_order(send, put):
    stored = {f"p{number}" for number in range(20)}
    for pk in stored:
        put(pk, "s")
    found, start = [], {}
    while True:
        page = send("Scan", Limit=6, **start)
        found += [item["pk"]["S"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert sorted(found) == sorted(stored)
    assert found != sorted(found)


def test_scan_may_filter_by_key(send, put):
    put("p", "a")
    put("q", "a")
    found = send("Scan", FilterExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}})
    assert (found["Items"], found["ScannedCount"]) == ([key("a")], 2)


def test_scan_segments_share_the_table(send, put):
    for number in range(20):
        put(f"p{number}", "s")
    found = [send("Scan", Segment=segment, TotalSegments=3)["Items"] for segment in range(3)]
    assert sum(map(len, found)) == 20
    assert all(found)
    foreign = {name: found[1][0][name] for name in ("pk", "sk")}
    with pytest.raises(StorageError, match="starting key is invalid"):
        send("Scan", Segment=0, TotalSegments=3, ExclusiveStartKey=foreign)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"Segment": 0}, "required together"),
        ({"TotalSegments": 2}, "required together"),
        ({"Segment": 3, "TotalSegments": 3}, "must be less than"),
        ({"Segment": -1, "TotalSegments": 3}, "zero-based"),
        ({"Segment": 0, "TotalSegments": 0}, "must be less than"),
        ({"Segment": 0, "TotalSegments": 1_000_001}, "TotalSegments"),
    ],
)
def test_segments_that_are_refused(send, params, message):
    with pytest.raises(StorageError, match=rf"^ValidationException: .*{message}"):
        send("Scan", **params)


@pytest.mark.parametrize("index", [{}, {"IndexName": "gsi1"}])
def test_a_segment_is_read_in_pages(send, put, index):
    for number in range(20):
        put(f"p{number}", "s", gsi1pk={"S": f"g{number}"}, gsi1sk={"S": "s"})
    segment = {"Segment": 1, "TotalSegments": 2, **index}
    whole = send("Scan", **segment)["Items"]
    found, start = [], {}
    while (page := send("Scan", Limit=3, **segment, **start))["Items"]:
        found += page["Items"]
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert found == whole
    assert 3 < len(whole) < 20


def test_a_partition_is_in_one_segment(send, put):
    for number in range(10):
        put("p", str(number))
    assert sorted(send("Scan", Segment=segment, TotalSegments=2)["Count"] for segment in range(2)) == [0, 10]


def test_scan_of_an_index_reads_what_the_index_holds(send, put):
    put("p", "s", gsi1pk={"S": "g"}, gsi1sk={"S": "1"})
    put("p", "t")
    assert sort_keys(send("Scan", IndexName="gsi1")) == ["s"]


def test_missing_table(put):
    transport = MemoryTransport(MemoryDatabase(missing_tables=["gone"]))
    for operation, params in (
        ("GetItem", {"TableName": "gone", "Key": key("s")}),
        ("PutItem", {"TableName": "gone", "Item": key("s")}),
        ("Scan", {"TableName": "gone"}),
        ("BatchWriteItem", {"RequestItems": {"gone": [{"PutRequest": {"Item": key("s")}}]}}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": {"TableName": "gone", "Key": key("s")}}]}),
    ):
        with pytest.raises(TableNotFoundError, match=r"^ResourceNotFoundException: ") as caught:
            transport.send(Request(operation, params))
        assert caught.value.table == "gone"


def test_get_of_nothing_is_empty(send):
    assert send("GetItem", Key=key("s"), ConsistentRead=True) == {}


def test_values_are_copied_in_and_out(send, database):
    item = {**key("s"), "l": {"L": [{"S": "x"}]}, "b": {"B": bytearray(b"1")}}
    send("PutItem", Item=item)
    item["l"]["L"].append({"S": "y"})
    send("GetItem", Key=key("s"))["Item"]["l"]["L"].clear()
    database.items("t")[0]["l"]["L"].clear()
    assert send("GetItem", Key=key("s"))["Item"] == {**key("s"), "l": {"L": [{"S": "x"}]}, "b": {"B": b"1"}}
