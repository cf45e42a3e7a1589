"""What an item, a key or a request may not be, which moto lets pass in part."""

from types import MappingProxyType

import pytest

from singletable.errors import StorageError
from singletable.testing._sizes import item_size_bytes, wire_size_bytes
from singletable.wire import Request

KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}


def nested(levels):
    value = {"S": "x"}
    for level in range(levels):
        value = {"L": [value]} if level % 2 else {"M": {"m": value}}
    return value


def refused(message):
    return pytest.raises(StorageError, match=rf"^ValidationException: .*{message}")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"sk": {"S": "s"}}, "Missing the key pk"),
        ({"pk": {"S": "p"}}, "Missing the key sk"),
        ({**KEY, "pk": {"S": ""}}, "empty string value. Key: pk"),
        ({**KEY, "sk": {"S": ""}}, "empty string value. Key: sk"),
        ({**KEY, "pk": {"N": "1"}}, "Type mismatch for key pk"),
        ({**KEY, "sk": {"B": b"1"}}, "Type mismatch for key sk"),
        ({**KEY, "pk": {"S": "é" * 1025}}, "pk has exceeded the maximum size limit of 2048"),
        ({**KEY, "sk": {"S": "x" * 1025}}, "sk has exceeded the maximum size limit of 1024"),
        ({**KEY, "gsi1pk": {"N": "1"}}, "Type mismatch for Index Key of IndexName: gsi1"),
        ({**KEY, "gsi4sk": {"NULL": True}}, "Type mismatch for Index Key of IndexName: gsi4"),
        ({**KEY, "gsi1pk": {"S": ""}}, "empty string value. Key: gsi1pk"),
        ({**KEY, "gsi1pk": {"S": "x" * 2049}}, "gsi1pk has exceeded the maximum size limit of 2048"),
        ({**KEY, "gsi1sk": {"S": "x" * 1025}}, "gsi1sk has exceeded the maximum size limit of 1024"),
        ({**KEY, "": {"S": "x"}}, "Empty attribute name"),
        ({**KEY, "a": {}}, "Supplied AttributeValue is empty"),
        ({**KEY, "a": "text"}, "Supplied AttributeValue is empty"),
        ({**KEY, "a": {"S": "x", "N": "1"}}, "Supplied AttributeValue is empty"),
        ({**KEY, "a": {"S": 1}}, "datatype 'S'"),
        ({**KEY, "a": {"N": 1}}, "datatype 'N'"),
        ({**KEY, "a": {"B": "x"}}, "datatype 'B'"),
        ({**KEY, "a": {"X": "x"}}, "datatype 'X'"),
        ({**KEY, "a": {"NULL": False}}, "must have the value of true"),
        ({**KEY, "a": {"S": "\ud800"}}, "encodable as UTF-8"),
        ({**KEY, "a": {"M": {1: {"S": "x"}}}}, "name of an attribute must be a string"),
        ({**KEY, "a": {"SS": []}}, "set may not be empty"),
        ({**KEY, "a": {"NS": []}}, "set may not be empty"),
        ({**KEY, "a": {"BS": []}}, "set may not be empty"),
        ({**KEY, "a": {"SS": ["x", "x"]}}, "contains duplicates"),
        ({**KEY, "a": {"NS": ["1", "1.0"]}}, "contains duplicates"),
        ({**KEY, "a": {"BS": [b"x", b"x"]}}, "contains duplicates"),
        ({**KEY, "a": nested(33)}, "Nesting Levels have exceeded"),
        ({**KEY, "a": {"N": "abc"}}, "cannot be converted to a numeric value"),
        ({**KEY, "a": {"N": ""}}, "cannot be converted to a numeric value"),
        ({**KEY, "a": {"N": "NaN"}}, "cannot be converted to a numeric value"),
        ({**KEY, "a": {"N": "1" * 39}}, "more than 38 significant digits"),
        ({**KEY, "a": {"N": "0." + "1" * 39}}, "more than 38 significant digits"),
        ({**KEY, "a": {"N": "1E126"}}, "Number overflow"),
        ({**KEY, "a": {"N": "-1E126"}}, "Number overflow"),
        ({**KEY, "a": {"N": "9.9E-131"}}, "Number underflow"),
    ],
)
def test_item_that_is_refused(send, database, item, message):
    with refused(message):
        send("PutItem", Item=item)
    assert database.items("t") == []


def test_item_must_be_a_map(send):
    with refused("must be a map"):
        send("PutItem", Item=[])


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("1.0", "1"),
        ("1E+2", "100"),
        ("-0", "0"),
        ("0E9", "0"),
        ("+5", "5"),
        ("007.50", "7.5"),
        (".5", "0.5"),
        ("1e-3", "0.001"),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("9" * 38 + "0" * 88, "9" * 38 + "0" * 88),
        ("1" * 38 + ".000", "1" * 38),
    ],
)
def test_numbers_are_normalised(send, given, stored):
    send("PutItem", Item={**KEY, "n": {"N": given}})
    assert send("GetItem", Key=KEY)["Item"]["n"] == {"N": stored}


def test_what_is_just_allowed(send):
    item = {
        "pk": {"S": "x" * 2048},
        "sk": {"S": "y" * 1024},
        "a": nested(32),
        "n": {"N": "1" * 38},
        "empty": {"S": ""},
        "b": {"B": b""},
        "l": {"L": []},
        "m": {"M": {}},
    }
    send("PutItem", Item=item)
    assert send("GetItem", Key={name: item[name] for name in ("pk", "sk")})["Item"] == item


def test_item_size_limit_is_exact(send):
    overhead = len("pkpskstext")
    send("PutItem", Item={**KEY, "text": {"S": "x" * (400 * 1024 - overhead)}})
    with refused("Item size has exceeded"):
        send("PutItem", Item={**KEY, "text": {"S": "x" * (400 * 1024 - overhead + 1)}})


def test_update_may_not_grow_an_item_beyond_the_limit(update, put, database):
    put("p", "s", text={"S": "x" * 300_000})
    with refused("Item size has exceeded"):
        update("SET more = :v", {":v": {"S": "x" * 200_000}})
    assert "more" not in database.items("t")[0]


def test_update_may_not_nest_an_item_too_deep(update, put):
    put("p", "s", m={"M": {}})
    assert update("SET m.x = :v", {":v": nested(31)})["m"]
    with refused("Nesting Levels"):
        update("SET m.x = :v", {":v": nested(32)})


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "é"}, 2),
        ({"B": b"123"}, 3),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"N": "0"}, 2),
        ({"N": "100"}, 2),
        ({"N": "123"}, 3),
        ({"N": "-123"}, 4),
        ({"N": "0.05"}, 2),
        ({"L": []}, 3),
        ({"L": [{"S": "a"}, {"S": "b"}]}, 7),
        ({"M": {"k": {"S": "vv"}}}, 7),
        ({"SS": ["a", "bb"]}, 3),
        ({"NS": ["1", "22"]}, 4),
        ({"BS": [b"1"]}, 1),
    ],
)
def test_sizes(value, size):
    assert item_size_bytes({"name": value}) == 4 + size


def test_wire_size_takes_any_mapping_and_binary():
    assert wire_size_bytes({"a": MappingProxyType({"B": bytearray(b"123")})}) == len('{"a":{"B":"MTIz"}}')


@pytest.mark.parametrize("operation", ["GetItem", "DeleteItem", "UpdateItem"])
@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"pk": {"S": "p"}}, "does not match the schema"),
        ({**KEY, "more": {"S": "x"}}, "does not match the schema"),
        ({**KEY, "sk": {"N": "1"}}, "does not match the schema"),
        ({**KEY, "pk": {"S": ""}}, "empty string value. Key: pk"),
        ({**KEY, "sk": {"S": "x" * 1025}}, "maximum size limit of 1024"),
    ],
)
def test_key_that_is_refused(send, operation, key, message):
    with refused(message):
        send(operation, Key=key)


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        ("GetItem", {}, "'Key' is required"),
        ("GetItem", {"Key": KEY, "Projection": "a"}, "Unknown parameter 'Projection'"),
        ("UpdateItem", {"Key": KEY, "AttributeUpdates": {}}, "Unknown parameter 'AttributeUpdates'"),
        ("Query", {}, "'KeyConditionExpression' is required"),
        ("DropEverything", {}, "Unknown operation"),
        ("PutItem", {"Item": KEY, "ReturnValuesOnConditionCheckFailure": "SOME"}, "must be one of"),
    ],
)
def test_parameters_that_are_refused(send, operation, params, message):
    with refused(message):
        send(operation, **params)


def test_params_of_the_error(transport):
    with pytest.raises(StorageError) as caught:
        transport.send(Request("PutItem", {"TableName": "t", "Item": {**KEY, "a": {"SS": []}}}))
    assert (caught.value.operation, caught.value.table, caught.value.key) == ("PutItem", "t", KEY)
