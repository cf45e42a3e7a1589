"""Conditions, updates and projections of the fake."""

import re

import pytest

from singletable.errors import ConditionFailedError, StorageError

KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}
STORED = {
    "text": {"S": "hello"},
    "n": {"N": "5"},
    "b": {"B": b"\x01\x02"},
    "flag": {"BOOL": True},
    "nothing": {"NULL": True},
    "tags": {"SS": ["a", "b"]},
    "list": {"L": [{"N": "1"}, {"M": {"x": {"S": "y"}}}]},
    "map": {"M": {"k": {"S": "v"}, "deep": {"L": [{"N": "7"}]}}},
}
VALUES = {
    ":hello": {"S": "hello"},
    ":he": {"S": "he"},
    ":x": {"S": "x"},
    ":five": {"N": "5.0"},
    ":one": {"N": "1"},
    ":nine": {"N": "9"},
    ":type": {"S": "SS"},
    ":a": {"S": "a"},
    ":aset": {"SS": ["b", "a"]},
    ":seven": {"N": "7"},
    ":bytes": {"B": b"\x01"},
}


def used(expression):
    return {alias: VALUES[alias] for alias in re.findall(r":\w+", expression)}


@pytest.mark.parametrize(
    ("expression", "true"),
    [
        ("attribute_exists(n)", True),
        ("attribute_exists(gone)", False),
        ("attribute_not_exists(gone)", True),
        ("attribute_not_exists(n)", False),
        ("attribute_type(tags, :type)", True),
        ("attribute_type(n, :type)", False),
        ("begins_with(#text, :he)", True),
        ("begins_with(#text, :x)", False),
        ("begins_with(n, :x)", False),
        ("begins_with(b, :bytes)", True),
        ("contains(#text, :he)", True),
        ("contains(tags, :a)", True),
        ("contains(tags, :x)", False),
        ("contains(#list, :one)", True),
        ("contains(#list, :nine)", False),
        ("contains(b, :bytes)", True),
        ("contains(n, :one)", False),
        ("size(#text) = :five", True),
        ("size(tags) < :five", True),
        ("size(#map) > :one", True),
        ("size(n) = :one", False),
        ("size(gone) = :one", False),
        ("n = :five", True),
        ("n <> :five", False),
        ("gone <> :five", True),
        ("gone = :five", False),
        ("gone < :five", False),
        ("n < :nine", True),
        ("n <= :five", True),
        ("n > :nine", False),
        ("n >= :one", True),
        ("n >= :five", True),
        ("n > :five", False),
        ("n < :five", False),
        ("n BETWEEN :five AND :nine", True),
        ("n BETWEEN :one AND :five", True),
        ("n < :hello", False),
        ("n = :hello", False),
        ("tags = :aset", True),
        ("tags < :five", False),
        ("n BETWEEN :one AND :nine", True),
        ("n between :nine and :nine", False),
        ("n IN (:one, :five)", True),
        ("n IN (:one, :nine)", False),
        ("NOT n = :one", True),
        ("NOT NOT n = :five", True),
        ("n = :one OR n = :five AND #text = :hello", True),
        ("(n = :five OR n = :one) AND #text = :x", False),
        ("(n = :one AND n = :nine OR n = :five)", True),
        ("(n = :five OR n = :one AND n = :nine) AND attribute_exists(n)", True),
        ("#map.k = :x", False),
        ("#map.deep[0] = :seven", True),
        ("#map.deep[1] = :seven", False),
        ("#list[1].x = :x", False),
        ("n.k = :x", False),
        ("n.k.m = :x", False),
        ("gone.k.m = :x", False),
        ("contains(tags, gone)", False),
        ("n BETWEEN n2 AND :nine", False),
        (":five = n", True),
    ],
)
def test_condition(send, put, expression, true):
    put("p", "s", **STORED)
    params = {"Key": KEY, "ConditionExpression": expression}
    names = {"#text": "text", "#list": "list", "#map": "map"}
    if given := {alias: name for alias, name in names.items() if alias in expression}:
        params["ExpressionAttributeNames"] = given
    if values := used(expression):
        params["ExpressionAttributeValues"] = values
    if true:
        assert send("DeleteItem", **params) == {}
    else:
        with pytest.raises(ConditionFailedError):
            send("DeleteItem", **params)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "can not be empty"),
        ("   ", "can not be empty"),
        ("n = ", "Syntax error"),
        ("n = :five n", "Syntax error"),
        ("n = (:five", "Syntax error"),
        ("n ! :five", "Syntax error"),
        ("(n = :five", "Syntax error"),
        ("n[x] = :five", "Syntax error"),
        ("n.:five", "Syntax error"),
        ("attribute_exists(:five)", "requires a document path"),
        ("size = :five", "reserved keyword"),
        ("name = :five", "reserved keyword"),
        ("n = :gone", "value used in expression is not defined"),
        ("#gone = :five", "name used in the document path is not defined"),
        ("((n = :five))", "redundant parentheses"),
        ("n = n", "distinct"),
        ("n < :flag", "Incorrect operand type"),
        ("begins_with(n, :five)", "Incorrect operand type"),
        ("attribute_type(n, :five)", "Incorrect operand type"),
        ("attribute_type(n, n2)", "Incorrect operand type"),
        ("attribute_type(n, :hello)", "Invalid attribute type name"),
        ("n BETWEEN :nine AND :five", "upper bound to be greater"),
        ("n BETWEEN :hello AND :five", "same data type"),
        ("n IN (" + ", ".join([":five"] * 101) + ")", "too many operands"),
        ("n = :five" + " OR n = :five" * 400, "Expression size has exceeded"),
    ],
)
def test_condition_that_is_refused(send, expression, message):
    values = {**VALUES, ":flag": {"BOOL": True}}
    with pytest.raises(StorageError, match=rf"^ValidationException: .*{message}"):
        send("DeleteItem", Key=KEY, ConditionExpression=expression, ExpressionAttributeValues=values)


def test_conditions_meet_a_missing_item_as_an_empty_one(send):
    assert send("DeleteItem", Key=KEY, ConditionExpression="attribute_not_exists(pk)") == {}
    with pytest.raises(ConditionFailedError) as caught:
        send(
            "DeleteItem",
            Key=KEY,
            ConditionExpression="attribute_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.item is None


@pytest.mark.parametrize("shown", [True, False])
def test_failed_condition_shows_what_is_stored_only_when_asked(send, put, shown):
    put("p", "s", n={"N": "1"})
    asked = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD" if shown else "NONE"}
    with pytest.raises(ConditionFailedError, match=r"^ConditionalCheckFailedException: ") as caught:
        send("PutItem", Item=KEY, ConditionExpression="attribute_not_exists(pk)", **asked)
    error = caught.value
    assert error.item == ({**KEY, "n": {"N": "1"}} if shown else None)
    assert (error.operation, error.table, error.key) == ("PutItem", "t", KEY)


@pytest.mark.parametrize(
    ("stored", "expression", "values", "expected"),
    [
        ({}, "SET a = :v", {":v": {"S": "x"}}, {"a": {"S": "x"}}),
        ({"a": {"N": "1"}}, "SET a = a + :v", {":v": {"N": "2"}}, {"a": {"N": "3"}}),
        ({"a": {"N": "1"}}, "SET a = a - :v", {":v": {"N": "2"}}, {"a": {"N": "-1"}}),
        ({"a": {"N": "1"}}, "SET b = (a + :v)", {":v": {"N": "2"}}, {"a": {"N": "1"}, "b": {"N": "3"}}),
        ({}, "SET a = if_not_exists(a, :z) + :v", {":z": {"N": "0"}, ":v": {"N": "2"}}, {"a": {"N": "2"}}),
        ({"a": {"N": "7"}}, "SET a = if_not_exists(a, :v)", {":v": {"N": "2"}}, {"a": {"N": "7"}}),
        (
            {"a": {"L": [{"N": "1"}]}},
            "SET a = list_append(a, :v)",
            {":v": {"L": [{"N": "2"}]}},
            {"a": {"L": [{"N": "1"}, {"N": "2"}]}},
        ),
        ({"a": {"N": "1"}, "b": {"N": "2"}}, "SET a = b, b = a", {}, {"a": {"N": "2"}, "b": {"N": "1"}}),
        ({"a": {"M": {}}}, "SET a.b = :v", {":v": {"N": "2"}}, {"a": {"M": {"b": {"N": "2"}}}}),
        ({"a": {"L": [{"N": "1"}]}}, "SET a[0] = :v", {":v": {"N": "2"}}, {"a": {"L": [{"N": "2"}]}}),
        (
            {"a": {"L": [{"N": "0"}]}},
            "SET a[9] = :v, a[5] = :w",
            {":v": {"N": "9"}, ":w": {"N": "5"}},
            {"a": {"L": [{"N": "0"}, {"N": "5"}, {"N": "9"}]}},
        ),
        ({"a": {"N": "1"}, "b": {"N": "2"}}, "REMOVE a, gone", {}, {"b": {"N": "2"}}),
        ({"a": {"L": [{"N": "0"}, {"N": "1"}, {"N": "2"}]}}, "REMOVE a[0], a[1], a[7]", {}, {"a": {"L": [{"N": "2"}]}}),
        ({"a": {"M": {"b": {"N": "1"}}}}, "REMOVE a.b, a.c", {}, {"a": {"M": {}}}),
        ({}, "ADD a :v", {":v": {"N": "2"}}, {"a": {"N": "2"}}),
        ({"a": {"N": "1"}}, "ADD a :v", {":v": {"N": "-2"}}, {"a": {"N": "-1"}}),
        ({"a": {"SS": ["b"]}}, "ADD a :v", {":v": {"SS": ["a", "b"]}}, {"a": {"SS": ["a", "b"]}}),
        ({"a": {"NS": ["10"]}}, "ADD a :v", {":v": {"NS": ["9"]}}, {"a": {"NS": ["9", "10"]}}),
        ({}, "ADD a :v", {":v": {"SS": ["a"]}}, {"a": {"SS": ["a"]}}),
        ({"a": {"SS": ["a", "b"]}}, "DELETE a :v", {":v": {"SS": ["a", "c"]}}, {"a": {"SS": ["b"]}}),
        ({"a": {"SS": ["a"]}}, "DELETE a :v", {":v": {"SS": ["a"]}}, {}),
        ({}, "DELETE a :v", {":v": {"SS": ["a"]}}, {}),
        ({"a": {"N": "1"}}, "set b = a remove a", {}, {"b": {"N": "1"}}),
    ],
)
def test_update(put, update, stored, expression, values, expected):
    put("p", "s", **stored)
    assert update(expression, values) == expected


@pytest.mark.parametrize(
    ("expression", "values", "message"),
    [
        ("", {}, "can not be empty"),
        ("SET a = :v SET b = :v", {":v": {"N": "1"}}, "only be used once"),
        ("SET a = :v, a.b = :v", {":v": {"N": "1"}}, "overlap"),
        ("SET a = :v REMOVE a", {":v": {"N": "1"}}, "overlap"),
        ("SET a.b = :v, a[0] = :v", {":v": {"N": "1"}}, "conflict"),
        ("SET pk = :v", {":v": {"S": "1"}}, "part of the key"),
        ("REMOVE sk", {}, "part of the key"),
        ("SET a = gone", {}, "does not exist in the item"),
        ("SET a = gone + :v", {":v": {"N": "1"}}, "does not exist in the item"),
        ("SET a = txt + :v", {":v": {"N": "1"}}, "incorrect data type"),
        ("SET a = n + :v", {":v": {"S": "1"}}, "Incorrect operand type"),
        ("SET a = list_append(txt, :v)", {":v": {"L": []}}, "incorrect data type"),
        ("SET a = list_append(l, :v)", {":v": {"S": "1"}}, "Incorrect operand type"),
        ("SET gone.b = :v", {":v": {"N": "1"}}, "invalid for update"),
        ("SET txt.b = :v", {":v": {"N": "1"}}, "invalid for update"),
        ("SET n[0] = :v", {":v": {"N": "1"}}, "invalid for update"),
        ("REMOVE gone.b", {}, "invalid for update"),
        ("ADD txt :v", {":v": {"N": "1"}}, "incorrect data type"),
        ("ADD n :v", {":v": {"SS": ["a"]}}, "incorrect data type"),
        ("ADD n :v", {":v": {"S": "a"}}, "Incorrect operand type"),
        ("DELETE txt :v", {":v": {"SS": ["a"]}}, "incorrect data type"),
        ("DELETE n :v", {":v": {"N": "1"}}, "Incorrect operand type"),
        ("SET n = n + :v", {":v": {"N": "9.9E125"}}, "38 significant digits"),
        ("SET gsi1pk = :v", {":v": {"N": "1"}}, "Type mismatch for Index Key"),
        ("ADD n n", {}, "Syntax error"),
        ("SET n :v", {":v": {"N": "1"}}, "Syntax error"),
        ("SET n = :v,", {":v": {"N": "1"}}, "Syntax error"),
    ],
)
def test_update_that_is_refused(put, update, database, expression, values, message):
    put("p", "s", txt={"S": "x"}, n={"N": "1"}, l={"L": []})
    before = database.items("t")
    with pytest.raises(StorageError, match=rf"^ValidationException: .*{message}"):
        update(expression, values)
    assert database.items("t") == before


def test_update_creates_an_item_that_is_not_there(update, database):
    update("SET a = :v", {":v": {"N": "1"}})
    assert database.items("t") == [{**KEY, "a": {"N": "1"}}]


def test_update_without_expression_creates_the_key(send, database):
    assert send("UpdateItem", Key=KEY) == {}
    assert database.items("t") == [KEY]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", {**KEY, "a": {"N": "1"}, "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}}}),
        ("ALL_NEW", {**KEY, "m": {"M": {"x": {"N": "5"}, "y": {"N": "2"}}}}),
        ("UPDATED_OLD", {"a": {"N": "1"}, "m": {"M": {"x": {"N": "1"}}}}),
        ("UPDATED_NEW", {"m": {"M": {"x": {"N": "5"}}}}),
    ],
)
def test_return_values_of_an_update(send, put, returned, expected):
    put("p", "s", a={"N": "1"}, m={"M": {"x": {"N": "1"}, "y": {"N": "2"}}})
    response = send(
        "UpdateItem",
        Key=KEY,
        UpdateExpression="SET m.x = :v REMOVE a",
        ExpressionAttributeValues={":v": {"N": "5"}},
        ReturnValues=returned,
    )
    assert response.get("Attributes") == expected


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
def test_return_values_of_put_and_delete(send, put, operation):
    target = {"Item": KEY} if operation == "PutItem" else {"Key": KEY}
    assert send(operation, ReturnValues="ALL_OLD", **target) == {}
    put("p", "s", a={"N": "1"})
    assert send(operation, ReturnValues="ALL_OLD", **target) == {"Attributes": {**KEY, "a": {"N": "1"}}}
    with pytest.raises(StorageError, match="Return values set to invalid value"):
        send(operation, ReturnValues="ALL_NEW", **target)


def test_projection_keeps_the_shape(send, put):
    put("p", "s", **STORED)
    names = {"#list": "list", "#map": "map"}
    asked = "n, flag.x, #list[1].x, #list[7], #map.deep[0], gone, n2.x, tags[0], #map.gone"
    response = send("GetItem", Key=KEY, ProjectionExpression=asked, ExpressionAttributeNames=names)
    assert response["Item"] == {
        "n": {"N": "5"},
        "list": {"L": [{"M": {"x": {"S": "y"}}}]},
        "map": {"M": {"deep": {"L": [{"N": "7"}]}}},
    }


def test_projection_refuses_overlapping_paths(send):
    with pytest.raises(StorageError, match="overlap"):
        send("GetItem", Key=KEY, ProjectionExpression="a.b, a")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ExpressionAttributeNames": {"#x": "x"}}, "can only be specified when using expressions"),
        ({"ProjectionExpression": "a", "ExpressionAttributeNames": {"#x": "x"}}, "unused in expressions: keys: {#x}"),
        ({"ProjectionExpression": "a", "ExpressionAttributeNames": {}}, "must not be empty"),
        ({"ProjectionExpression": "a", "ExpressionAttributeNames": {"x": "x"}}, "contains invalid key"),
        ({"ProjectionExpression": "#a"}, "not defined"),
    ],
)
def test_placeholders_of_a_read_that_are_refused(send, params, message):
    with pytest.raises(StorageError, match=message):
        send("GetItem", Key=KEY, **params)


def test_unused_value_is_refused(send):
    values = {":v": {"N": "1"}, ":unused": {"N": "1"}}
    with pytest.raises(StorageError, match=r"ExpressionAttributeValues unused in expressions: keys: {:unused}"):
        send("UpdateItem", Key=KEY, UpdateExpression="SET a = :v", ExpressionAttributeValues=values)
